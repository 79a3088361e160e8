"""Functions that make arrays of new sizes, on any array library, after a check of the memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy

from axon.backends.fusion import Fusion
from axon.backends.layers import Stacks
from axon.graph.graph import Function, Graph, Value
from axon.ops import Operator
from axon.ops.arrays import Array, Meaning, wide
from axon.ops.memory import Refused, check_fits

Made = Any
"""The element types of a result: of a tensor its name, of a tuple theirs."""

WIDEST = (1 << 63) - 1
"""The largest number that an array library takes for a place or a step."""


AT_ONCE = 1 << 28
"""The most bytes of one value of all rows, which are taken in parts if it has more."""

SHARE = 32
"""Which part of an accelerator's memory it may be, where that is more."""


class Bounded:
    """Base class of a backend's namespace. `library` is the array library below it."""

    library: Any

    by_segments = True
    """Whether a function of rows is applied to all rows at once (see `segments`)."""

    tiled = False
    """Whether matrices of rows whose sizes differ are made in tiles, many at once; a processor is
    as fast with rows of equal size together, which are near.
    """

    tracing_errors: tuple[type[Exception], ...] = ()
    """What the library raises where a value is asked for while it traces."""

    def failure(self, problem: Exception) -> str | None:
        """The reason, where an exception of the library is about values or sizes."""
        return None

    def at_once(self) -> int:
        """The most bytes of one value of all rows of a ragged tensor."""
        return max(AT_ONCE, self.memory() // SHARE)

    def memory(self) -> int:
        """The bytes of the accelerator that the arrays are on; 0 if they are on none."""
        return 0

    layers: Stacks | None = None
    """How runs of layers are computed as loops; None if call by call."""

    def element(self, name: str) -> Any:
        """The dtype of an element type."""
        raise NotImplementedError

    def astype(self, x: Array, dtype: Any) -> Array:
        return x.astype(dtype, copy=False)

    def kind(self, dtype: Any) -> str:
        kind: str = dtype.kind
        return kind

    def fusions(self, whole: Graph | Function) -> Sequence[Fusion]:
        """Nodes that are computed together."""
        return ()

    def matmul(self, x: Array, y: Array) -> Array:
        return self.library.matmul(x, y)

    def wide_matmul(self, x: Array, y: Array) -> Array:
        arrays: Any = self
        return self.matmul(wide(arrays, x), wide(arrays, y))

    def stop_gradient(self, x: Array) -> Array:
        return x

    def shared(self, function: Callable[..., Value]) -> Callable[..., Value]:
        """A function that a program calls more than once."""
        return function

    def low32(self, x: Array) -> Array:
        """The lower 32 bits of a `word`."""
        return x

    @property
    def word(self) -> Any:
        """The dtype in which words of 32 bits are computed."""
        return self.element("u32")

    def constant(self, value: Any) -> Array:
        """A constant of the program; NumPy's arrays are constants."""
        return value

    def host_element(self, name: str) -> Any:
        """NumPy's dtype for the constants of an element type."""
        return self.element(name)

    def blank(self, shape: Sequence[int], dtype: Any) -> Array:
        """An array whose elements do not matter."""
        return numpy.empty(shape, dtype)

    def integer(self, x: Array) -> int:
        return int(x)

    def sizes(self, sizes: Any, elem: str) -> Array:
        """A size, or a shape, as elements; `OverflowError` where they are too large for that."""
        array: Array = self.library.asarray(numpy.asarray(sizes, self.element(elem)))
        return array

    def meaning_of(self, operator: Operator, given: frozenset[str], made: Made) -> Meaning:
        """What an operator does on this library, for operands and results of some element types."""
        assert operator.meaning is not None, operator.name
        return operator.meaning

    def around_meaning(
        self, operator: Operator, given: frozenset[str], made: Made
    ) -> Callable[[Meaning], Meaning] | None:
        """What is made of the meaning of an operator on values of rows, if these element types are
        not what the library computes with.
        """
        return None

    def zeros(self, shape: Any, dtype: Any = None) -> Array:
        self.ask(shape, dtype)
        return self.library.zeros(shape, dtype=dtype)

    def ones(self, shape: Any, dtype: Any = None) -> Array:
        self.ask(shape, dtype)
        return self.library.ones(shape, dtype=dtype)

    def eye(self, size: int, dtype: Any = None) -> Array:
        self.ask((size, size), dtype)
        return self.library.eye(size, dtype=dtype)

    def arange(self, *bounds: int, dtype: Any = None) -> Array:
        """Integers; an array library counts them in floats, and not always right."""
        start, stop, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
        numbers = range(start, stop, step)
        self.ask((max(0, -((start - stop) // step)),), dtype)
        if numbers and max(abs(numbers[0]), abs(numbers[-1])) > WIDEST:
            raise Refused("the numbers of a range do not fit into i64")
        if step == 1 and start == 0:
            return self.library.arange(len(numbers), dtype=dtype)
        places = self.library.arange(len(numbers), dtype=self.element("i64"))
        made = places * step + start if len(numbers) > 1 else places + start if numbers else places
        return made if dtype is None else made.astype(dtype)

    def broadcast_to(self, x: Array, shape: Sequence[int]) -> Array:
        self.ask(shape, getattr(x, "dtype", None))
        return self.library.broadcast_to(x, shape)

    def sliced(self, x: Array, index: tuple[Any, ...]) -> Array:
        return x[index]

    def tile(self, x: Array, reps: Sequence[int]) -> Array:
        rank = max(x.ndim, len(reps))
        times = (1,) * (rank - len(reps)) + tuple(reps)
        sizes = (1,) * (rank - x.ndim) + tuple(x.shape)
        self.ask([n * k for n, k in zip(sizes, times, strict=True)], x.dtype)
        if 0 in times or 0 in sizes:  # the others may be more than a library takes
            return self.zeros([n * k for n, k in zip(sizes, times, strict=True)], x.dtype)
        return self.library.tile(x, reps)

    def repeat(self, x: Array, times: int, axis: int) -> Array:
        sizes = list(x.shape)
        sizes[axis] *= times
        self.ask(sizes, x.dtype)
        return (
            self.library.repeat(x, times, axis=axis) if prod(sizes) else self.zeros(sizes, x.dtype)
        )

    def pad(self, x: Array, pairs: Sequence[tuple[int, int]], **how: Any) -> Array:
        sizes = [n + before + after for n, (before, after) in zip(x.shape, pairs, strict=True)]
        self.ask(sizes, x.dtype)
        return self.library.pad(x, pairs, **how)

    def ask(self, shape: Any, dtype: Any) -> None:
        """Refuse an array that is too large; `shape` may be a number, `dtype` what NumPy takes."""
        if isinstance(dtype, numpy.dtype):
            itemsize = dtype.itemsize
        else:
            itemsize = 8 if dtype is None else self.library.dtype(dtype).itemsize
        check_fits((shape,) if isinstance(shape, int) else shape, itemsize)
