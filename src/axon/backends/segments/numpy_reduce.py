"""Reductions of the elements of each row on NumPy, whole arrays at a time.

Sums of floats are taken pairwise, or in blocks of a few elements whose sums are added in blocks
again, so that a long row loses no more than NumPy's own sum of it.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy

from axon.backends.segments.frames import Index, Segments
from axon.ops.arrays import Array

UFUNCS: dict[str, Any] = {
    "sum": numpy.add,
    "prod": numpy.multiply,
    "max": numpy.maximum,
    "min": numpy.minimum,
    "any": numpy.logical_or,
    "all": numpy.logical_and,
}

BLOCK = 16
"""How many elements are combined to one, wherever they are."""

SHORT = 8
"""Rows of so many numbers at most are gone through at once, number by number."""

REPEATABLE = ("max", "min", "any", "all")
"""Kinds to which it is the same how often a number is taken."""

NEAR = 1 << 17
"""How many numbers are combined at a time, so that they stay in the cache."""


def of_numpy(kind: str, values: Array, segments: Segments, dtype: Any) -> Array:
    """Rows without elements have any value."""
    ufunc = UFUNCS[kind]
    if dtype is None:
        dtype = ufunc.reduce(numpy.zeros(1, values.dtype)).dtype
    if kind not in ("any", "all"):
        values = values.astype(dtype, copy=False)
    elif values.dtype != bool:
        values = values != 0
    lengths, starts = segments.lengths, segments.starts
    full = numpy.flatnonzero(lengths) if segments.any_empty else None
    if full is not None:
        lengths, starts = lengths[full], starts[full]
    flat = numpy.ascontiguousarray(values).reshape(len(values), prod(values.shape[1:]))
    if not len(lengths) or not flat.shape[1]:
        made = numpy.zeros((len(lengths), flat.shape[1]), dtype)
    elif flat.shape[1] == 1:
        made = _numbers(kind, flat[:, 0], starts, lengths)[:, None]
    else:
        made = _rows(ufunc, flat, starts, lengths)
    if full is not None:
        whole = numpy.zeros((segments.count, flat.shape[1]), made.dtype)
        whole[full] = made
        made = whole
    return made.reshape(segments.count, *values.shape[1:])


def _numbers(kind: str, values: Array, starts: Index, lengths: Index) -> Array:
    """The numbers of each row, of which there are some. `reduceat` takes time for each row; where
    all are short, the n-th numbers of all rows are taken together, and of a shorter row its last.
    """
    ufunc, longest = UFUNCS[kind], int(lengths.max())
    if longest > SHORT or kind not in REPEATABLE:
        return ufunc.reduceat(values, starts, dtype=values.dtype)
    made, last = values.take(starts), starts + (lengths - 1)
    for place in range(1, longest):
        ufunc(made, values.take(numpy.minimum(starts + place, last)), out=made)
    return made


def _rows(ufunc: Any, values: Array, starts: Index, lengths: Index) -> Array:
    """The elements of each row, of which there are some. The blocks that begin at multiples of
    their size are combined all at once, whatever rows they are in: then those that lie in one row,
    and the elements before and behind them.
    """
    if lengths.max() < 2 * BLOCK:
        return _steps(ufunc, values, starts, lengths)
    stops = starts + lengths
    first, last = -(-starts // BLOCK), stops // BLOCK
    made = numpy.empty((len(starts), values.shape[1]), values.dtype)
    long, short = numpy.flatnonzero(last > first), numpy.flatnonzero(last <= first)
    if 4 * int(lengths[long].sum()) < len(values):
        rows = Segments.of_lengths(lengths[long])
        index = rows.within + numpy.repeat(starts[long], rows.lengths)
        packed = numpy.take(values, index, axis=0)
        made[long] = _rows(ufunc, packed, rows.starts, rows.lengths)
        made[short] = _steps(ufunc, values, starts[short], lengths[short])
        return made
    begin, end = first[long], last[long]
    made[long] = _rows(ufunc, _blocks(ufunc, values), begin, end - begin)
    sizes = [begin * BLOCK - starts[long], stops[long] - end * BLOCK, lengths[short]]
    before, behind = (numpy.flatnonzero(size) for size in sizes[:2])
    around = _steps(
        ufunc,
        values,
        numpy.concatenate([starts[long[before]], end[behind] * BLOCK, starts[short]]),
        numpy.concatenate([sizes[0][before], sizes[1][behind], sizes[2]]),
    )
    both = len(before) + len(behind)
    for some, part in (
        (long[before], around[: len(before)]),
        (long[behind], around[len(before) : both]),
    ):
        made[some] = ufunc(made[some], part)
    made[short] = around[both:]
    return made


def _blocks(ufunc: Any, values: Array) -> Array:
    """The elements of each block, combined."""
    count, width = len(values) // BLOCK, values.shape[1]
    blocks = values[: count * BLOCK]
    if ufunc is numpy.add and values.dtype in (numpy.float32, numpy.float64):
        return numpy.matmul(numpy.ones(BLOCK, values.dtype), blocks.reshape(count, BLOCK, width))
    flat, size = blocks.reshape(-1), BLOCK * width
    step, half = max(1, NEAR // size), size // 2
    made = numpy.empty((count, width), values.dtype)
    room = numpy.empty(step * size, values.dtype)
    for begin in range(0, count, step):
        some = flat[begin * size : (begin + step) * size]
        whole = room[: len(some)]
        ufunc(some[:-half], some[half:], out=whole[:-half])  # of half of them no use is made
        part = whole.reshape(-1, size)[:, :half]
        while part.shape[1] > 2 * width:
            middle = part.shape[1] // 2
            part = ufunc(part[:, :middle], part[:, middle:])
        ufunc(part[:, :width], part[:, width:], out=made[begin : begin + step])
    return made


def _steps(ufunc: Any, values: Array, starts: Index, lengths: Index) -> Array:
    """The elements of short rows one after another, of all rows that have one more: the longest
    stand first, so these are always the first ones.
    """
    made = numpy.empty((len(starts), values.shape[1]), values.dtype)
    count = max(1, NEAR // values.shape[1])
    for begin in range(0, len(starts), count):
        sizes = lengths[begin : begin + count].astype(numpy.uint8)
        order = numpy.argsort(~sizes, kind="stable")
        more = (len(sizes) - numpy.cumsum(numpy.bincount(sizes))).tolist()
        first = starts[begin : begin + count][order]
        total = numpy.take(values, first, axis=0)
        for step in range(1, len(more) - 1):
            part = total[: more[step]]
            ufunc(part, numpy.take(values, first[: more[step]] + step, axis=0), out=part)
        made[begin : begin + count][order] = total
    return made
