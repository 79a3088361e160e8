"""Programs on a mesh of devices: JAX places each value as its type says, and compiles the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import jax
import numpy
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

from axon.backends.code import Externs, Placed, compile_graph
from axon.backends.jax_arrays import JaxArrays
from axon.backends.static import is_static
from axon.graph.graph import Graph
from axon.graph.sharding import CannotShard, Layout, Placement, Tree
from axon.types.type import DimValue, ShapeValue, Tuple, Type

Shard = tuple[tuple[str, tuple[str, ...]], ...]
"""Sizes as they are written, and the axes that cut each."""


def make_mesh(axes: Mapping[str, int]) -> Mesh:
    """The devices of all processes, or the first of them, as a mesh; raises `CannotShard`."""
    wanted = prod(axes.values())
    devices = jax.devices()
    shown = " x ".join(f"{name}={size}" for name, size in axes.items())
    if wanted > len(devices):
        there = "one device" if len(devices) == 1 else f"{len(devices)} devices"
        raise CannotShard(f"a mesh of {shown} has {wanted} devices, and there is only {there}")
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


class Sharding:
    """A mesh, and which sizes are cut along which of its axes."""

    def __init__(self, axes: Mapping[str, int], shard: Shard) -> None:
        self.axes = axes
        self.mesh = make_mesh(axes)
        self.shard = shard
        self.traced = 0
        self._arrays = JaxArrays()

    # --- programs ---

    def prepare(self, graph: Graph, externs: Externs, placement: Placement) -> Callable[..., Any]:
        with jax.enable_x64(True):
            inside = self.traceable(graph, externs, placement)
        types = [param.type for param in graph.params]
        trees = [placement.values.get(param) for param in graph.params]

        def traced(leaves: Sequence[Any], sizes: tuple[Any, ...]) -> Any:
            self.traced += 1  # this runs when JAX traces, which is when it compiles
            return inside(*_together(types, iter(leaves), iter(sizes)))

        whole = jax.jit(traced, static_argnums=1)

        def run(*args: Any) -> Any:
            if any(isinstance(arg, jax.core.Tracer) for arg in jax.tree.leaves(args)):
                return inside(*args)
            with jax.enable_x64(True):
                placed = self.placed(types, trees, args)
                leaves: list[Any] = []
                sizes: list[Any] = []
                for type_, arg in zip(types, placed, strict=True):
                    _apart(type_, arg, leaves, sizes)
                return whole(leaves, tuple(sizes))

        return run

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
            free = PartitionSpec.UNCONSTRAINED
            sharding = self._named([free if r is None else r.axes for r in tree.rules])
            constrained: Callable[..., Any] = jax.lax.with_sharding_constraint

            def put(x: Any) -> Any:
                self.check(tree, x.shape)
                return constrained(x, sharding)

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
        for type_, tree, arg in zip(types, trees, args, strict=True):
            self._check_all(type_, tree, arg)
        return [self._placed(t, tree, a) for t, tree, a in zip(types, trees, args, strict=True)]

    def _check_all(self, type_: Type, tree: Tree | None, arg: Any) -> None:
        if isinstance(tree, Layout):
            self.check(tree, arg.shape)
        elif tree is not None and isinstance(type_, Tuple):
            for inner, part, item in zip(type_.items, tree, arg, strict=True):
                self._check_all(inner, part, item)

    def _placed(self, type_: Type, tree: Tree | None, arg: Any) -> Any:
        if isinstance(type_, Tuple):
            parts = (None,) * len(type_.items) if tree is None else tree
            assert not isinstance(parts, Layout)
            items = zip(type_.items, parts, arg, strict=True)
            return tuple([self._placed(inner, part, item) for inner, part, item in items])
        if isinstance(type_, DimValue | ShapeValue):
            return arg
        assert tree is None or isinstance(tree, Layout)
        return self.put(arg, self.sharding(tree))

    def sharding(self, tree: Layout | None) -> NamedSharding:
        """How an argument lies: whole on each device where no rule says anything."""
        rules = () if tree is None else tree.rules
        return self._named([None if rule is None else rule.axes for rule in rules])

    def _named(self, axes: Sequence[Any]) -> NamedSharding:
        return NamedSharding(self.mesh, PartitionSpec(*axes))  # type: ignore[no-untyped-call]

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
            if rule is None:
                continue
            parts = prod(self.mesh.shape[axis] for axis in rule.axes)
            if size % parts:
                axes = " and ".join(f"`{axis}`" for axis in rule.axes)
                many = f"the {parts} devices along {axes}"
                raise CannotShard(f"`{rule.text}` is {size}, which {many} do not divide")


def _apart(type_: Type, arg: Any, leaves: list[Any], sizes: list[Any]) -> None:
    """What an argument consists of: arrays, and sizes, which JAX takes as they are."""
    if isinstance(type_, Tuple):
        for inner, item in zip(type_.items, arg, strict=True):
            _apart(inner, item, leaves, sizes)
    else:
        (sizes if isinstance(type_, DimValue | ShapeValue) else leaves).append(arg)


def _together(types: Sequence[Type], leaves: Any, sizes: Any) -> list[Any]:
    def whole(type_: Type) -> Any:
        if isinstance(type_, Tuple):
            return tuple([whole(item) for item in type_.items])
        return next(sizes if isinstance(type_, DimValue | ShapeValue) else leaves)

    return [whole(type_) for type_ in types]
