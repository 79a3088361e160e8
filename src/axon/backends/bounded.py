"""Functions that make arrays of new sizes, on any array library, after a check of the memory."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy

from axon.ops.arrays import Array
from axon.ops.memory import Refused, check_fits

WIDEST = (1 << 63) - 1
"""The largest number that an array library takes for a place or a step."""


class Bounded:
    """Base class of a backend's namespace. `library` is the array library below it."""

    library: Any

    def element(self, name: str) -> Any:
        """The dtype of an element type."""
        raise NotImplementedError

    def astype(self, x: Array, dtype: Any) -> Array:
        return x.astype(dtype, copy=False)

    def kind(self, dtype: Any) -> str:
        kind: str = dtype.kind
        return kind

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
