"""Programs on a mesh of devices: JAX places each value as its type says, and compiles the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import jax
import jax.numpy as jnp
import numpy
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

from axon.backends.code import compile_graph
from axon.backends.coder import Externs, Placed
from axon.backends.collectives import Collective, collectives
from axon.backends.jax_arrays import JaxArrays
from axon.backends.jax_layers import Stacking
from axon.backends.meshes import Mesh as Axes
from axon.backends.meshes import Shard
from axon.backends.static import is_static
from axon.graph.graph import Graph
from axon.graph.sharding import CannotShard, Layout, Placement, Rule, Tree
from axon.ops.arrays import Array
from axon.types.type import DimValue, ShapeValue, Tuple, Type


def make_mesh(axes: Mapping[str, int]) -> Mesh:
    """The devices of all processes, or the first of them, as a mesh; raises `CannotShard`."""
    wanted = prod(axes.values())
    devices = jax.devices()
    shown = " x ".join(f"{name}={size}" for name, size in axes.items())
    if wanted > len(devices):
        there = "is one" if len(devices) == 1 else f"are {len(devices)}"
        raise CannotShard(f"a mesh of {shown} has {wanted} devices, and there {there}")
    if wanted < len(devices) and jax.process_count() > 1:
        raise CannotShard(
            f"a mesh of {shown} has {wanted} devices: with several processes it takes all of the"
            f" {len(devices)}"
        )
    return jax.make_mesh(
        tuple(axes.values()),
        tuple(axes),
        axis_types=(AxisType.Auto,) * len(axes),
        devices=devices[:wanted],
    )


MOST_COMPILED = 256
"""How many compiled versions of one graph are kept."""


class Transforms:
    """Fourier transforms of arrays that are whole along the axis; `whole` makes them so."""

    def __init__(self, whole: Callable[[Array, int], Array]) -> None:
        self._whole = whole

    def fft(self, x: Array, n: int | None = None, axis: int = -1) -> Array:
        return self._transformed(jnp.fft.fft, x, n, axis)

    def ifft(self, x: Array, n: int | None = None, axis: int = -1) -> Array:
        return self._transformed(jnp.fft.ifft, x, n, axis)

    def irfft(self, x: Array, n: int | None = None, axis: int = -1) -> Array:
        return self._transformed(jnp.fft.irfft, x, n, axis)

    def _transformed(
        self, transform: Callable[..., Array], x: Array, n: int | None, axis: int
    ) -> Array:
        return self._whole(transform(self._whole(jnp.asarray(x), axis), n=n, axis=axis), axis)


class MeshArrays(JaxArrays):
    """The array namespace on a mesh.

    XLA (0.10) computes wrong values, or ends the process, where it divides a convolution along the
    dimensions that its window slides over, or into groups. So these are whole on each device: only
    the batch and the features of the result may be cut, and nothing where there are groups. Nor
    does it divide a Fourier transform along its axis.
    """

    def __init__(self, mesh: Mesh, stacking: Stacking | None = None) -> None:
        super().__init__(stacking)
        self._mesh = mesh
        self.fft = Transforms(self._whole_along)

    def conv(self, x: Array, filters: Array, *, groups: int, **how: Any) -> Array:
        free = PartitionSpec.UNCONSTRAINED if groups == 1 else None
        x = self._whole(x, free)
        y = super().conv(x, self._whole(filters, free), groups=groups, **how)
        return self._whole(y, free, free)

    def _whole_along(self, x: Array, axis: int) -> Array:
        spec: list[Any] = [PartitionSpec.UNCONSTRAINED] * x.ndim
        spec[axis] = None
        return _constrained(x, named(self._mesh, spec))

    def _whole(self, x: Array, *first: Any) -> Array:
        """An array that is cut along its first dimensions at most."""
        spec = [*first, *[None] * (x.ndim - len(first))]
        return _constrained(jnp.asarray(x), named(self._mesh, spec))


def _constrained(x: Array, sharding: NamedSharding) -> Array:
    constrained: Callable[..., Array] = jax.lax.with_sharding_constraint
    return constrained(x, sharding)


def named(mesh: Mesh, axes: Sequence[Any]) -> NamedSharding:
    return NamedSharding(mesh, PartitionSpec(*axes))  # type: ignore[no-untyped-call]


class Sharding:
    """A mesh, and which sizes are cut along which of its axes. In `buckets` a size of 1, which is
    not padded, lies whole on each device.
    """

    def __init__(
        self, axes: Axes, shard: Shard, buckets: bool = False, stacking: Stacking | None = None
    ) -> None:
        self.axes = axes
        self.buckets = buckets
        self.mesh = make_mesh(dict(axes))
        self.shard = shard
        self.traced = 0
        self._arrays = MeshArrays(self.mesh, stacking)

    # --- programs ---

    def prepare(self, graph: Graph, externs: Externs, placement: Placement) -> Callable[..., Any]:
        with jax.enable_x64(True):
            inside = self.traceable(graph, externs, placement)
        types, trees = _laid_out(graph, placement)
        whole = self._compiled(types, inside)
        seen = 0

        def run(*args: Any) -> Any:
            nonlocal seen
            if any(isinstance(arg, jax.core.Tracer) for arg in jax.tree.leaves(args)):
                return inside(*args)
            before = self.traced
            given = _flattened(types, self.placed(types, trees, args))
            with jax.enable_x64(True):
                result = whole(*given)
            seen += self.traced - before
            if seen > MOST_COMPILED:
                whole.clear_cache()
                seen = 0
            return result

        return run

    def _compiled(self, types: Sequence[Type], inside: Callable[..., Any]) -> Any:
        def traced(leaves: Sequence[Any], sizes: tuple[Any, ...]) -> Any:
            self.traced += 1  # this runs when JAX traces, which is when it compiles
            return inside(*_unflattened(types, iter(leaves), iter(sizes)))

        return jax.jit(traced, static_argnums=1)

    def traced_once(
        self, graph: Graph, externs: Externs, placement: Placement
    ) -> Callable[..., Any]:
        """The same as `traceable` for a graph that is compiled once for each list of argument
        sizes, whatever the caller makes of it.
        """
        types, _ = _laid_out(graph, placement)
        whole = self._compiled(types, self.traceable(graph, externs, placement))
        return lambda *args: whole(*_flattened(types, args))

    def collectives(
        self, graph: Graph, externs: Externs, placement: Placement, args: Sequence[Any]
    ) -> list[Collective]:
        """What the devices send each other for arguments of these sizes; nothing is computed."""
        types, trees = _laid_out(graph, placement)
        with jax.enable_x64(True):
            whole = self._compiled(types, self.traceable(graph, externs, placement))
            laid = self._mapped(types, trees, args, self._described)
            text = whole.lower(*_flattened(types, laid)).compile().as_text()
        return list(collectives(text))

    def bytes(self, type_: Type, tree: Tree | None, arg: Any) -> int:
        """How many bytes of an argument are on each device."""
        found = 0

        def count(array: Any, sharding: NamedSharding) -> None:
            nonlocal found
            found += prod(sharding.shard_shape(array.shape)) * array.dtype.itemsize

        self._mapped([type_], [tree], [arg], count)
        return found

    def traceable(self, graph: Graph, externs: Externs, placement: Placement) -> Callable[..., Any]:
        """For `jax.grad` and similar: a derivative lies as what it is taken by."""
        if not is_static(graph):
            raise CannotShard("its sizes depend on values, and are not known when it is compiled")
        function, _ = compile_graph(
            graph, self._arrays, externs, placed=Placed(placement, self._constraint)
        )
        return function

    def _constraint(self, tree: Tree) -> Callable[[Any], Any]:
        """What puts a value where it lies inside of a program. The compiler chooses for the
        dimensions of which no rule says anything.
        """
        if isinstance(tree, Layout):

            def put(x: Any) -> Any:
                self.check(tree, x.shape)
                axes = self._axes(tree, x.shape, PartitionSpec.UNCONSTRAINED)
                return _constrained(x, named(self.mesh, axes))

            return put
        parts = [None if part is None else self._constraint(part) for part in tree]

        def put_all(value: tuple[Any, ...]) -> tuple[Any, ...]:
            pairs = zip(parts, value, strict=True)
            return tuple([x if part is None else part(x) for part, x in pairs])

        return put_all

    # --- arguments ---

    def placed(
        self, types: Sequence[Type], trees: Sequence[Tree | None], args: Sequence[Any]
    ) -> list[Any]:
        """The arguments on the devices where they belong; nothing is moved if one does not fit."""
        self.check_all(types, trees, args)
        return self.put_all(types, trees, args)

    def put_all(
        self, types: Sequence[Type], trees: Sequence[Tree | None], args: Sequence[Any]
    ) -> list[Any]:
        """The same of arguments of which those that do not fit lie whole on each device."""
        with jax.enable_x64(True):  # else what has 64 bits would lose half of them
            return self._mapped(types, trees, args, self.put)

    def check_all(
        self, types: Sequence[Type], trees: Sequence[Tree | None], args: Sequence[Any]
    ) -> None:
        """Each size that is cut must be divided; raises `CannotShard`."""
        for type_, tree, arg in zip(types, trees, args, strict=True):
            if isinstance(tree, Layout):
                self.check(tree, arg.shape)
            elif tree is not None and isinstance(type_, Tuple):
                self.check_all(type_.items, tree, arg)

    def _mapped(
        self,
        types: Sequence[Type],
        trees: Sequence[Tree | None],
        args: Sequence[Any],
        do: Callable[[Any, NamedSharding], Any],
    ) -> list[Any]:
        """Something of each array and how it lies; sizes stay."""
        found: list[Any] = []
        for type_, tree, arg in zip(types, trees, args, strict=True):
            if isinstance(type_, Tuple):
                parts = (None,) * len(type_.items) if tree is None else tree
                assert not isinstance(parts, Layout)
                found.append(tuple(self._mapped(type_.items, parts, arg, do)))
            elif isinstance(type_, DimValue | ShapeValue):
                found.append(arg)
            else:
                assert tree is None or isinstance(tree, Layout)
                found.append(do(arg, self.sharding(tree, arg.shape)))
        return found

    def _described(self, array: Any, sharding: NamedSharding) -> Any:
        described: Callable[..., Any] = jax.ShapeDtypeStruct
        return described(array.shape, array.dtype, sharding=sharding)

    def sharding(self, tree: Layout | None, shape: Sequence[int]) -> NamedSharding:
        """How an argument lies: whole on each device where no rule says anything."""
        return named(self.mesh, () if tree is None else self._axes(tree, shape, None))

    def _axes(self, tree: Layout, shape: Sequence[int], otherwise: Any) -> list[Any]:
        """The axes that cut each dimension; something else where no rule does."""
        return [
            otherwise if rule is None else rule.axes if size % self.parts(rule) == 0 else None
            for rule, size in zip(tree.rules, shape, strict=True)
        ]

    def parts(self, rule: Rule) -> int:
        """How many parts a rule cuts a size into."""
        return prod(self.mesh.shape[axis] for axis in rule.axes)

    def put(self, array: Any, sharding: NamedSharding) -> Any:
        if isinstance(array, jax.Array):
            if array.sharding.is_equivalent_to(sharding, array.ndim):
                return array
            if not array.is_fully_addressable or jax.process_count() == 1:
                return jax.device_put(array, sharding)
        if jax.process_count() == 1:
            return jax.device_put(array, sharding)
        host = numpy.asarray(array)  # the same in every process, which holds its part of it
        return jax.make_array_from_callback(host.shape, sharding, lambda index: host[index])

    def check(self, tree: Layout, shape: Sequence[int]) -> None:
        for rule, size in zip(tree.rules, shape, strict=True):
            if rule is None or (size == 1 and self.buckets):
                continue
            parts = self.parts(rule)
            if size % parts:
                axes = " and ".join(f"`{axis}`" for axis in rule.axes)
                many = f"the {parts} devices along {axes}"
                raise CannotShard(f"`{rule.text}` is {size}, which {many} do not divide")


def _laid_out(graph: Graph, placement: Placement) -> tuple[list[Type], list[Tree | None]]:
    types = [param.type for param in graph.params]
    return types, [placement.values.get(param) for param in graph.params]


def _flattened(types: Sequence[Type], args: Sequence[Any]) -> tuple[list[Any], tuple[Any, ...]]:
    """What arguments consist of: arrays, and sizes, which JAX takes as they are."""
    leaves: list[Any] = []
    sizes: list[Any] = []
    for type_, arg in zip(types, args, strict=True):
        if isinstance(type_, Tuple):
            inner, more = _flattened(type_.items, arg)
            leaves += inner
            sizes += more
        else:
            (sizes if isinstance(type_, DimValue | ShapeValue) else leaves).append(arg)
    return leaves, tuple(sizes)


def _unflattened(types: Sequence[Type], leaves: Any, sizes: Any) -> list[Any]:
    def rebuilt(type_: Type) -> Any:
        if isinstance(type_, Tuple):
            return tuple([rebuilt(item) for item in type_.items])
        return next(sizes if isinstance(type_, DimValue | ShapeValue) else leaves)

    return [rebuilt(type_) for type_ in types]
