"""Padded programs on NumPy, which compiles nothing: what is wrong with a mask is wrong there too,
and thousands of programs are tried in a minute. Numbers of rows that are padding lie anywhere, so
what JAX does with numbers out of range is done here: nothing is read or written there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import axon
from axon.backends.buckets import Buckets
from axon.backends.code import compile_graph
from axon.backends.numpy_arrays import NumpyArrays
from axon.graph.graph import Graph
from axon.run.bucketed import Bucketed
from axon.run.structures import with_records


class Lenient(NumpyArrays):
    """The namespace of NumPy, in which places out of range are not there."""

    def take(self, x: Any, numbers: Any, axis: int | None = None) -> Any:
        x, numbers = np.asarray(x), np.asarray(numbers)
        x, axis = (x.reshape(-1), 0) if axis is None else (x, axis % x.ndim)
        size = x.shape[axis]
        numbers = np.where(numbers < 0, numbers + size, numbers)
        inside = (numbers >= 0) & (numbers < size)
        if not size:
            shape = (*x.shape[:axis], *numbers.shape, *x.shape[axis + 1 :])
            return np.full(shape, _nothing(x.dtype), x.dtype)
        found = np.take(x, np.where(inside, numbers, 0), axis=axis)
        inside = inside.reshape((*inside.shape, *(1,) * (x.ndim - axis - 1)))
        return np.where(inside, found, _nothing(x.dtype))

    def take_along_axis(self, x: Any, numbers: Any, axis: int) -> Any:
        size = x.shape[axis]
        numbers = np.where(numbers < 0, numbers + size, numbers)
        inside = (numbers >= 0) & (numbers < size)
        found = np.take_along_axis(x, np.where(inside, numbers, 0), axis=axis)
        return np.where(inside, found, _nothing(x.dtype))

    def put(self, x: Any, index: tuple[Any, ...], values: Any, mode: str) -> Any:
        if not any(isinstance(part, np.ndarray) for part in index):
            return super().put(x, index, values, mode)
        if Ellipsis in [part for part in index if not isinstance(part, np.ndarray)]:
            at = next(i for i, part in enumerate(index) if part is Ellipsis)
            left = (slice(None),) * (x.ndim - len(index) + 1)
            index = (*index[:at], *left, *index[at + 1 :])
        wide = np.pad(x, [(0, 1)] * x.ndim)
        outer = tuple(
            _clipped(part, size) if isinstance(part, np.ndarray) else _within(part, size)
            for part, size in zip(index, x.shape, strict=False)
        )
        rest = tuple(slice(0, size) for size in x.shape[len(outer) :])
        made = super().put(wide, (*outer, *rest), values, mode)
        return made[tuple(slice(0, size) for size in x.shape)]


def _nothing(dtype: Any) -> Any:
    """What JAX reads where nothing is."""
    if dtype.kind in "iu":
        return np.iinfo(dtype).min if dtype.kind == "i" else np.iinfo(dtype).max
    return np.asarray(True if dtype.kind == "b" else float("nan")).astype(dtype)


def _clipped(numbers: Any, size: int) -> Any:
    numbers = np.where(numbers < 0, numbers + size, numbers)
    return np.where((numbers < 0) | (numbers >= size), size, numbers)


def _within(part: Any, size: int) -> Any:
    return slice(*part.indices(size)) if isinstance(part, slice) else part


ARRAYS = Lenient()


class OnNumpy:
    """NumPy as a backend that compiles."""

    def prepare(self, graph: Graph, externs: Any) -> Callable[..., Any]:
        function, _ = compile_graph(graph, ARRAYS, externs)

        def run(*args: Any) -> Any:
            with np.errstate(all="ignore"):
                return function(*args)

        return run

    traced_once = prepare

    def lengthened(self, array: Any, shape: tuple[int, ...], fill: float) -> Any:
        array = np.asarray(array)
        kind = array.dtype.kind
        harm: Any = fill
        if kind in "iu":
            harm = np.iinfo(array.dtype).max if fill != fill else np.iinfo(array.dtype).min
        made = np.full(shape, bool(fill) if kind == "b" else harm, array.dtype)
        made[tuple(slice(size) for size in array.shape)] = array
        return made

    def cut(self, array: Any, shape: tuple[int, ...]) -> Any:
        return np.asarray(array)[tuple(slice(size) for size in shape)]

    def kept(self, array: Any) -> Any:
        return array

    def parts(self, var: Any) -> int:
        return 1


class Padded:
    """A function in buckets on NumPy."""

    def __init__(self, net: axon.Program, name: str, buckets: Buckets) -> None:
        found = net.function(name)
        assert found is not None
        self.function = found
        self.bucketed = Bucketed(found.definition, buckets)

    def __call__(self, *args: Sequence[Any], derived: bool = False) -> Any:
        """The result; `None` where the call is exact."""
        function = self.function._without(args, {})
        arrays = function._arguments.arrays(function._arguments.arranged(args, {}))
        graph, exact = function._executables.bound(arrays)
        externs = function._executables.externs
        backend = OnNumpy()
        make = self.bucketed.traceable if derived else self.bucketed.ready
        before = self.bucketed.counts.exact
        run = make(graph, exact, arrays, backend, externs)
        if run is exact:
            return None
        result = with_records(graph, run)(*arrays)
        return None if self.bucketed.counts.exact > before else result
