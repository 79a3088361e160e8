"""The order of the elements of each row, on NumPy: a sort of numbers that hold the row, the element
and its place, most significant first. So equal elements stay in their order, whatever kind of sort
is the fastest, and it is as fast for many short rows as for a long one. Some rows at a time go
through all steps, so that they stay in the cache.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy

from axon.backends.segments.equal import along_rows
from axon.backends.segments.frames import Index, Segments
from axon.ops.arrays import Array

NEAR = 1 << 13
"""How many elements are sorted at a time, unless a row has more. Their rows, places and 32 bits of
each element have room in one number.
"""

SIGNED = {1: numpy.int8, 2: numpy.int16, 4: numpy.int32, 8: numpy.int64}

HALF = 1 << 31
"""Half as many numbers as 32 bits can hold."""


def places(values: Array, segments: Segments, descending: bool = False) -> Index | None:
    """Where in its row each element of the ordered rows comes from, along the first dimension; NaN
    last, or first if the largest are first. None if elements of this type are not ordered so.
    """
    if values.dtype.kind not in "biufV":
        return None
    made = numpy.empty(values.shape, numpy.int64)
    _in_parts(_narrowed(values), made, segments, partial(_places, descending=descending))
    return made


def ordered(values: Array, segments: Segments, descending: bool = False) -> Array | None:
    """The elements of each row in order, if equal ones cannot be told apart; else None."""
    kind = values.dtype.kind
    if kind not in "biufV" or (kind in "fV" and _told_apart(values)):
        return None
    if values.ndim > 1:
        return along_rows(values, segments, _backwards if descending else _forwards)
    narrow = _narrowed(values)
    made = numpy.empty_like(narrow)
    _in_parts(narrow, made, segments, partial(_ordered, descending=descending))
    return made if narrow is values else made.astype(values.dtype) + (values.min() + HALF)


def taken(values: Array, segments: Segments, found: Index) -> Array:
    """The elements at such places."""
    starts = numpy.repeat(segments.starts, segments.lengths)
    if values.ndim == 1:
        return numpy.take(values, found + starts)
    index = found + starts.reshape(-1, *(1,) * (values.ndim - 1))
    return numpy.take_along_axis(values, index, axis=0)


# --- some rows at a time -------------------------------------------------------------------------

Part = Callable[[Array, Index], Array]


def _in_parts(values: Array, made: Array, segments: Segments, function: Part) -> None:
    """What a function makes of the elements of some rows, and of their lengths."""
    lengths = segments.lengths[segments.lengths > 0] if segments.any_empty else segments.lengths
    ends = numpy.cumsum(lengths)
    starts = ends - lengths
    long = numpy.flatnonzero(lengths > NEAR)
    near = numpy.searchsorted(starts, numpy.arange(0, segments.total, NEAR))
    cuts = numpy.unique(numpy.concatenate([near, long, long + 1, [0, len(lengths)]])).tolist()
    for first, last in pairwise(cuts):
        own = slice(int(starts[first]), int(ends[last - 1]))
        for column in numpy.ndindex(values.shape[1:]):
            made[own, *column] = function(values[own, *column], lengths[first:last])


def _places(values: Array, lengths: Index, descending: bool) -> Index:
    ranks = _ranks(values)
    if values.dtype.kind in "fV":
        ranks[ranks == -1] = 0  # a zero and a negative one are equal
        nan = values != values
        if nan.any():
            ranks[nan] = numpy.iinfo(ranks.dtype).max
    if descending:
        ranks = ~ranks
    upper = ranks if ranks.dtype.itemsize < 8 else (ranks >> 32).astype(numpy.int32)
    behind = int(lengths.max()).bit_length()
    starts = numpy.cumsum(lengths) - lengths
    keys = _keys(upper, lengths, behind, starts)
    keys += numpy.arange(len(keys))
    keys.sort()
    keys &= (1 << behind) - 1
    return keys if upper is ranks else _refined(keys, ranks, lengths, starts)


def _refined(found: Index, ranks: Array, lengths: Index, starts: Index) -> Index:
    """The places in order of the upper halves of ranks, in order of all of them: the rows that are
    not yet are sorted again.
    """
    first = numpy.repeat(starts, lengths)
    there = ranks[found + first]
    wrong = there[1:] < there[:-1]
    wrong &= first[1:] == first[:-1]
    again = numpy.flatnonzero(wrong)
    for start in numpy.unique(first[again]).tolist():
        row = ranks[start : start + int(lengths[numpy.searchsorted(starts, start)])]
        found[start : start + len(row)] = numpy.argsort(row, kind="stable")
    return found


def _ordered(values: Array, lengths: Index, descending: bool) -> Array:
    if values.dtype.itemsize == 8:
        starts = numpy.repeat(numpy.cumsum(lengths) - lengths, lengths)
        return values[_places(values, lengths, descending) + starts]
    ranks = _ranks(values)
    keys = _keys(~ranks if descending else ranks, lengths, 0, 0)
    keys.sort()
    ranks = keys.astype(ranks.dtype)
    if descending:
        numpy.invert(ranks, out=ranks)
    return _signed(ranks, values.dtype.kind).view(values.dtype)


def _keys(ranks: Array, lengths: Index, behind: int, starts: Any) -> Index:
    """Numbers that begin with the row, and then have the rank, before so many bits for a place: to
    that the number of the element is to be added.
    """
    rows = (numpy.arange(len(lengths)) << (8 * ranks.dtype.itemsize + behind)) - starts
    keys = numpy.repeat(rows, lengths)
    keys += ranks.astype(numpy.int64) << behind
    return keys


# --- elements as numbers -------------------------------------------------------------------------


def _narrowed(values: Array) -> Array:
    """Wide integers that are near each other as narrow ones, in their order; else what they are."""
    if values.dtype.itemsize < 8 or values.dtype.kind not in "iu" or not values.size:
        return values
    least, most = values.min(), values.max()
    if int(most) - int(least) >= 2 * HALF:
        return values
    return (values - (least + HALF)).astype(numpy.int32)


def _told_apart(values: Array) -> bool:
    """Whether there may be equal floats that are not the same: NaN, or zeros of both signs."""
    bits = values.view(SIGNED[values.dtype.itemsize])
    return bool((bits == numpy.iinfo(bits.dtype).min).any() or (values != values).any())


def _ranks(values: Array) -> Array:
    """Signed integers in the order of the elements."""
    return _signed(values.view(SIGNED[values.dtype.itemsize]), values.dtype.kind)


def _signed(bits: Array, kind: str) -> Array:
    """Integers in the order of what their bits mean, and back."""
    if kind == "u":
        return bits ^ numpy.iinfo(bits.dtype).min
    if kind in "ib":
        return bits
    made = bits >> (8 * bits.dtype.itemsize - 1)
    made &= numpy.iinfo(bits.dtype).max
    made ^= bits
    return made


def _forwards(rows: Array) -> Array:
    return numpy.sort(rows, axis=1)


def _backwards(rows: Array) -> Array:
    return numpy.sort(rows, axis=1)[:, ::-1]
