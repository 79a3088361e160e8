"""Sizes that vary: one number for each row, nested where they vary inside a row."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce
from itertools import combinations, product
from typing import Any

import numpy

from axon.backends.ragged import Ragged, Row
from axon.backends.ragged_host import namespace, zeros
from axon.backends.row_facts import Offsets

MOST_SHOWN = 8

Number = Any
"""An `int`, or a `RowSizes`."""


class NotAligned(ValueError):
    """Sizes of tensors with different numbers of rows."""


@dataclass(frozen=True, slots=True, eq=False)
class RowSizes:
    """The sizes of rows: integers, or nested sizes for the rows of each."""

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

    def __gt__(self, _: Number) -> bool:
        """Rows that vary are not too large in total: the memory is checked for each."""
        return False

    def __str__(self) -> str:
        numbers = self.flat()
        some = ", ".join(map(str, numbers[:MOST_SHOWN]))
        return f"{some}{', …' if len(numbers) > MOST_SHOWN else ''} in its rows"

    def flat(self) -> list[int]:
        """All numbers, flattened."""
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
    """The number of rows in some sizes; None if none of them varies."""
    counts = {len(size) for size in sizes if isinstance(size, RowSizes)}
    if len(counts) > 1:
        raise NotAligned
    return counts.pop() if counts else None


def at(size: Number, index: int) -> Number:
    """A size in one row."""
    return size[index] if isinstance(size, RowSizes) else size


def depth_of(size: Number) -> int:
    """The number of dimensions that a size varies over."""
    if not isinstance(size, RowSizes):
        return 0
    return 1 + max(map(depth_of, size.rows), default=1) if isinstance(size.rows, tuple) else 1


def embeddings(sizes: Sequence[Number]) -> Iterator[list[Number]]:
    """Sizes that vary over fewer dimensions than the deepest of them, made uniform along the
    others: in each way that aligns their rows.
    """
    depths = [depth_of(size) for size in sizes]
    most = max(depths, default=0)
    like = sizes[depths.index(most)] if sizes else 0
    shallow = sorted({each for each in depths if 0 < each < most})
    for chosen in product(*(combinations(range(most), each) for each in shallow)):
        axes = dict(zip(shallow, chosen, strict=True))
        with suppress(NotAligned):
            yield [
                along(size, axes[depth], like) if depth in axes else size
                for size, depth in zip(sizes, depths, strict=True)
            ]


def same_sizes(a: Number, b: Number) -> bool:
    """Whether sizes are the same in all rows."""
    return any(_same(*each) for each in embeddings((a, b)))


def _same(a: Number, b: Number) -> bool:
    if isinstance(a, RowSizes) and isinstance(b, RowSizes):
        return len(a) == len(b) and all(_same(a[i], b[i]) for i in range(len(a)))
    numbers = [*(a.flat() if isinstance(a, RowSizes) else (a,))]
    numbers += b.flat() if isinstance(b, RowSizes) else (b,)
    return len(set(numbers)) < 2


def along(size: Number, axes: Sequence[int], like: Number) -> Number:
    """A size that varies over these dimensions of those that another one varies over, as one that
    varies over all of them.
    """
    if not isinstance(like, RowSizes):
        return size
    inner = [axis - 1 for axis in axes if axis]
    varies = bool(axes) and axes[0] == 0
    if varies and len(size) != len(like):
        raise NotAligned
    return _of_rows(
        [along(at(size, i) if varies else size, inner, like[i]) for i in range(len(like))]
    )


def varies(x: Any) -> bool:
    """Whether a value is a size for each row, or a shape in which there is one."""
    return isinstance(x, RowSizes) or (isinstance(x, tuple) and any(map(varies, x)))


def spread(sizes: tuple[Number, ...], levels: Sequence[Sequence[int]]) -> tuple[Number, ...]:
    """A shape in which each size that varies has a number for each index before it. `levels` are
    the dimensions that it varies over.
    """
    around = list(zip(sizes, levels, strict=True))
    return tuple(
        size if tuple(over) == tuple(range(len(over))) else _spread(size, over, around[:i])
        for i, (size, over) in enumerate(around)
    )


def _spread(
    size: Number, over: Sequence[int], around: Sequence[tuple[Number, Sequence[int]]]
) -> Number:
    if not over:
        return size
    (count, _), *inner = around
    return _of_rows(
        [
            _spread(*_in_row(size, over, i), [_in_row(*each, i) for each in inner])
            for i in range(count)
        ]
    )


def _in_row(size: Number, over: Sequence[int], index: int) -> tuple[Number, Sequence[int]]:
    varies = bool(over) and over[0] == 0
    return at(size, index) if varies else size, [axis - 1 for axis in over if axis]


def _of_rows(rows: list[Number]) -> RowSizes:
    if any(isinstance(row, RowSizes) for row in rows):
        return RowSizes(tuple(rows))
    return RowSizes(_numbers(rows))


def size_at(tensor: Row, axis: int, over: Sequence[int]) -> Number:
    """A size of a tensor that varies over these of its dimensions."""
    rank = tensor.rank if isinstance(tensor, Ragged) else tensor.ndim
    axis = axis % rank
    if axis == 0:
        return len(tensor)
    if not over and not isinstance(tensor, Ragged):
        return int(tensor.shape[axis])
    inner = [each - 1 for each in over if each]
    if not over or over[0] > 0:
        return size_at(_some_row(tensor), axis - 1, inner)
    if not inner and axis == 1 and isinstance(tensor, Ragged):
        return RowSizes(tensor.lengths)
    return _of_rows([size_at(row, axis - 1, inner) for row in tensor])


def _some_row(tensor: Row) -> Row:
    """A row of a tensor whose rows have equal sizes, where it may have none."""
    if isinstance(tensor, Ragged):
        return tensor[0] if len(tensor) else tensor.empty_row
    return tensor[0] if len(tensor) else zeros(namespace(tensor), tensor.shape[1:], tensor.dtype)


def _numbers(sizes: Sequence[int]) -> Offsets:
    return numpy.array(sizes, numpy.int64)
