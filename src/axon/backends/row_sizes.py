"""Sizes that vary: one number for each row, and one for each row of a row where it varies there."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy

from axon.backends.ragged import Offsets, Ragged, Row

Number = Any
"""An `int`, or a `RowSizes`."""


class NotAligned(ValueError):
    """Sizes of tensors that have not the same number of rows."""


@dataclass(frozen=True, slots=True, eq=False)
class RowSizes:
    """The sizes of rows: integers, or again the sizes of the rows of each."""

    rows: Offsets | tuple[RowSizes, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Number:
        found = self.rows[index]
        return found if isinstance(found, RowSizes) else int(found)

    def __add__(self, other: Number) -> Number:
        return _combined(operator.add, self, other)

    def __mul__(self, other: Number) -> Number:
        return _combined(operator.mul, self, other)

    def __floordiv__(self, other: Number) -> Number:
        return _combined(operator.floordiv, self, other)

    def __sub__(self, other: Number) -> Number:
        return _combined(operator.sub, self, other)

    def __rfloordiv__(self, other: Number) -> Number:
        return _combined(lambda a, b: b // a, self, other)

    __radd__, __rmul__ = __add__, __mul__

    def flat(self) -> list[int]:
        """All of the numbers."""
        if isinstance(self.rows, tuple):
            return [number for each in self.rows for number in each.flat()]
        return [int(number) for number in self.rows]


def least(*parts: Number) -> Number:
    """`min`, of sizes that may vary."""
    if any(isinstance(part, RowSizes) for part in parts):
        return reduce(lambda a, b: _combined(numpy.minimum, a, b), parts)
    return min(parts)


def greatest(*parts: Number) -> Number:
    if any(isinstance(part, RowSizes) for part in parts):
        return reduce(lambda a, b: _combined(numpy.maximum, a, b), parts)
    return max(parts)


def _combined(how: Callable[[Any, Any], Any], a: Number, b: Number) -> Number:
    count = rows_among((a, b))
    if count is None:
        return int(how(a, b))
    if any(isinstance(x, RowSizes) and isinstance(x.rows, tuple) for x in (a, b)):
        return RowSizes(tuple(_combined(how, at(a, i), at(b, i)) for i in range(count)))
    plain = [x.rows if isinstance(x, RowSizes) else x for x in (a, b)]
    return RowSizes(numpy.asarray(how(*plain), numpy.int64))


def rows_among(sizes: Sequence[Number]) -> int | None:
    """How many rows some sizes speak of; None if none of them varies."""
    counts = {len(size) for size in sizes if isinstance(size, RowSizes)}
    if len(counts) > 1:
        raise NotAligned
    return counts.pop() if counts else None


def at(size: Number, index: int) -> Number:
    """A size in one row."""
    return size[index] if isinstance(size, RowSizes) else size


def depth_of(size: Number) -> int:
    """Over how many dimensions a size varies."""
    if not isinstance(size, RowSizes):
        return 0
    return 1 + max(map(depth_of, size.rows), default=1) if isinstance(size.rows, tuple) else 1


def same_for_all(size: Number, others: Sequence[Number]) -> Number:
    """A size that varies over fewer dimensions than the deepest of the others, as one that is the
    same for all their rows.
    """
    deepest = max(others, key=depth_of)
    if not 0 < depth_of(size) < depth_of(deepest):
        return size
    rows = (at(deepest, i) for i in range(len(deepest)))
    return RowSizes(tuple(same_for_all(size, (row,)) for row in rows))


def size_at(tensor: Row, axis: int, level: int) -> Number:
    """A size of a tensor that varies over so many of its first dimensions."""
    if not isinstance(tensor, Ragged):
        if level == 0:
            return int(tensor.shape[axis])
        if level == 1:
            return RowSizes(_numbers([tensor.shape[axis]] * len(tensor)))
        return RowSizes(tuple(size_at(row, axis - 1, level - 1) for row in tensor))
    axis = axis % tensor.rank
    if axis == 0:
        return len(tensor)
    if level == 0:
        return size_at(tensor[0] if len(tensor) else tensor.empty_row, axis - 1, 0)
    if level == 1:
        if axis == 1:
            return RowSizes(tensor.lengths)
        return RowSizes(_numbers([size_at(row, axis - 1, 0) for row in tensor]))
    return RowSizes(tuple(size_at(row, axis - 1, level - 1) for row in tensor))


def _numbers(sizes: Sequence[int]) -> Offsets:
    return numpy.array(sizes, numpy.int64)
