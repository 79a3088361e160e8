"""Programs on JAX: compiled once for each list of argument sizes.

A graph whose sizes depend on values, or vary from row to row, cannot be compiled as one unit: its
operators run one by one, and functions of the rows of a tensor are compiled for buckets of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import numpy

from axon.backends.checks import Untraceable
from axon.backends.code import compile_graph, looping
from axon.backends.coder import Externs, Watcher
from axon.backends.home import Home
from axon.backends.jax_arrays import JaxArrays, compiled
from axon.backends.jax_buckets import cut, lengthened
from axon.backends.jax_layers import Stacking
from axon.backends.jax_sharding import Sharding
from axon.backends.meshes import Mesh, Shard
from axon.backends.options import DEFAULT, Options
from axon.backends.ragged import Ragged
from axon.backends.ragged_bucket import InBucket
from axon.backends.static import is_static
from axon.graph.graph import (
    Graph,
)
from axon.types.type import DimValue, ShapeValue, Tuple, Type
from axon.types.variables import DimVar

"""The name of XLA's status code, which an exception of JAX has in its text alone."""

MOST_COMPILED = 256
"""How many compiled versions of one graph are kept."""


class JaxBackend(Home):
    name = "jax"
    native = frozenset({"jax", "numpy"})
    options: Options = DEFAULT

    def __init__(
        self,
        mesh: Mesh = (),
        shard: Shard = (),
        buckets: bool = False,
        stack_layers: bool = False,
    ) -> None:
        """With a mesh programs run on its devices, and `shard` says what is cut."""
        self.stacking = Stacking() if stack_layers else None
        self.arrays = JaxArrays(self.stacking)
        self.sharding = Sharding(mesh, shard, buckets, self.stacking) if mesh else None
        self._traced = 0

    @property
    def compilations(self) -> int:
        """How many times JAX has traced, and so compiled, a graph or a function on rows."""
        here = self._traced + int(self.arrays.__dict__.get("traced", 0))
        return here if self.sharding is None else here + self.sharding.traced

    def stacked_layers(self, name: str) -> tuple[str, ...]:
        """What became of the layers of a definition that follow each other."""
        return () if self.stacking is None else self.stacking.told(name)

    def prepare(
        self, graph: Graph, externs: Externs, watcher: Watcher | None = None
    ) -> Callable[..., Any]:
        with jax.enable_x64(True):
            function, _ = compile_graph(graph, self.arrays, externs)
        if not is_static(graph):
            return self._by_operators(graph, externs, function)

        def traced(*args: Any) -> Any:
            self._traced += 1  # this runs when JAX traces, which is when it compiles
            return function(*args)

        types = [param.type for param in graph.params]
        spread = any(isinstance(t, Tuple) and _sizes(_parts(t)) for t in types)
        given = _of_leaves(traced, types) if spread else traced
        parts = [part for t in types for part in _parts(t)] if spread else types
        whole = compiled(given, _sizes(parts))
        seen = 0

        inside: Callable[..., Any] | None = None

        def run(*args: Any) -> Any:
            nonlocal inside
            if any(isinstance(arg, jax.core.Tracer) for arg in args):
                inside = inside or self.traceable(graph, externs)
                return inside(*args)
            with jax.enable_x64(True):
                return outside(*args)

        def outside(*args: Any) -> Any:
            nonlocal seen
            before = self._traced
            result = whole(*(_leaves(types, args) if spread else args))
            seen += self._traced - before
            if seen > MOST_COMPILED:
                whole.clear_cache()
                self.arrays.forget()
                seen = 0
            return result

        return run

    def _by_operators(
        self, graph: Graph, externs: Externs, function: Callable[..., Any]
    ) -> Callable[..., Any]:
        """One operator after another; where JAX traces, as it takes them."""
        inside: Callable[..., Any] | None = None

        def run(*args: Any) -> Any:
            nonlocal inside
            if any(map(_is_traced, jax.tree.leaves(args, is_leaf=_is_ragged))):
                inside = inside or self.traceable(graph, externs)
                return inside(*args)
            with jax.enable_x64(True):
                return jax.tree.map(_ours, function(*args), is_leaf=_is_ragged)

        run.looping = lambda: looping(function)  # type: ignore[attr-defined]
        return run

    def traceable(self, graph: Graph, externs: Externs) -> Callable[..., Any]:
        """For `jax.grad` and similar: the caller decides on compilation and precision."""
        if is_static(graph):
            return compile_graph(graph, self.arrays, externs)[0]
        arrays = JaxArrays()
        arrays.by_segments = True
        return _with_sizes(compile_graph(graph, arrays, externs)[0])

    def traced_once(self, graph: Graph, externs: Externs) -> Callable[..., Any]:
        """The same for a graph that is compiled once for each list of argument sizes, whatever the
        caller makes of it.
        """
        function, _ = compile_graph(graph, self.arrays, externs)
        types = [param.type for param in graph.params]
        spread = any(isinstance(t, Tuple) and _sizes(_parts(t)) for t in types)
        given = _of_leaves(function, types) if spread else function
        parts = [part for t in types for part in _parts(t)] if spread else types
        whole = jax.jit(given, static_argnums=_sizes(parts))
        return lambda *args: whole(*(_leaves(types, args) if spread else args))

    def lengthened(self, array: Any, shape: tuple[int, ...], fill: float) -> Any:
        """The array at the front of a larger one."""
        return lengthened(array, shape, fill)

    def cut(self, array: Any, shape: tuple[int, ...]) -> Any:
        """The front of an array."""
        return cut(array, shape)

    def parts(self, var: DimVar) -> int:
        """Into how many parts devices cut a size."""
        return 1

    def kept(self, array: Any) -> Any:
        """An array that many calls take, brought to the device once."""
        with jax.enable_x64(True):
            return jax.numpy.asarray(array)


def _sizes(types: Sequence[Type]) -> list[int]:
    """The places of sizes, which a compiled function does not take as arrays."""
    return [i for i, type_ in enumerate(types) if isinstance(type_, DimValue | ShapeValue)]


def _parts(type_: Type) -> list[Type]:
    """What a structure consists of, in order; sizes among it are arguments of their own."""
    if isinstance(type_, Tuple):
        return [part for item in type_.items for part in _parts(item)]
    return [type_]


def _leaves(types: Sequence[Type], values: Sequence[Any]) -> list[Any]:
    found: list[Any] = []
    for type_, value in zip(types, values, strict=True):
        found += _leaves(type_.items, value) if isinstance(type_, Tuple) else [value]
    return found


def _of_leaves(function: Callable[..., Any], types: Sequence[Type]) -> Callable[..., Any]:
    """The function of what its arguments consist of."""

    def structure(type_: Type, parts: Iterator[Any]) -> Any:
        if isinstance(type_, Tuple):
            return tuple([structure(item, parts) for item in type_.items])
        return next(parts)

    def run(*args: Any) -> Any:
        parts = iter(args)
        return function(*[structure(type_, parts) for type_ in types])

    return run


def _with_sizes(function: Callable[..., Any]) -> Callable[..., Any]:
    """The sizes of rows are known where JAX traces, but not those that depend on values."""

    def run(*args: Any) -> Any:
        try:
            return function(*args)
        except JaxArrays.tracing_errors:
            raise Untraceable from None

    return run


class _Sizes:
    """Where rows are, and which of their sizes vary: what JAX does not trace of a ragged tensor,
    and compiles for.
    """

    def __init__(self, ragged: Ragged) -> None:
        self.offsets, self.varying = ragged.offsets, ragged.varying
        offsets = None if ragged.offsets is None else ragged.offsets.tobytes()
        self.key = offsets, ragged.varying

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Sizes) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


for _kind in (Ragged, InBucket):
    jax.tree_util.register_pytree_node(
        _kind,
        lambda x: ((x.values, x.like), _Sizes(x)),
        lambda sizes, parts: Ragged(parts[0], sizes.offsets, sizes.varying, parts[1]),
    )


def _is_ragged(value: Any) -> bool:
    return isinstance(value, Ragged)


def _is_traced(value: Any) -> bool:
    """Whether JAX traces an array, or those of a ragged tensor."""
    if isinstance(value, Ragged):
        value = (value.stored, value.like)
        return any(map(_is_traced, jax.tree.leaves(value, is_leaf=_is_ragged)))
    return isinstance(value, jax.core.Tracer)


def _ours(value: Any) -> Any:
    """An array of JAX; one that was brought to the host on the way is brought back."""
    if isinstance(value, Ragged):
        return value.put(jax.numpy)
    return jax.numpy.asarray(value) if isinstance(value, numpy.ndarray | numpy.generic) else value
