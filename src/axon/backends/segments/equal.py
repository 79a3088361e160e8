"""Rows of one length side by side, on NumPy: an array that a function works along."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy
from numpy.lib.stride_tricks import as_strided

from axon.backends.segments.frames import Index, Segments
from axon.ops.arrays import Array


def windows(values: Array, width: int, writeable: bool = False) -> Array:
    """All so many elements that stand one after another, along the first dimension: a view."""
    shape = (len(values) - width + 1, width, *values.shape[1:])
    return as_strided(values, shape, (values.strides[0], *values.strides), writeable=writeable)


def by_length(lengths: Index) -> Iterator[tuple[int, Index]]:
    """The rows of each length, but of none."""
    order = numpy.argsort(lengths, kind="stable")
    found = lengths[order]
    ends = [0, *(numpy.flatnonzero(numpy.diff(found)) + 1).tolist(), len(found)]
    for first, last in pairwise(ends):
        if first < last and found[first]:
            yield int(found[first]), order[first:last]


def some_rows(values: Array, starts: Index, length: int) -> Array:
    """Rows of one length, by where they start; a view of one row."""
    if len(starts) == 1:
        return values[None, int(starts[0]) : int(starts[0]) + length]
    return windows(values, length)[starts]


def put_rows(whole: Array, starts: Index, rows: Array) -> None:
    """Rows of one length where they start, in place."""
    length = rows.shape[1]
    if len(starts) == 1:
        whole[int(starts[0]) : int(starts[0]) + length] = rows[0]
    else:
        windows(whole, length, writeable=True)[starts] = rows


def along_rows(values: Array, segments: Segments, function: Callable[[Array], Array]) -> Array:
    """A function along the second dimension of an array, on rows of one length after another."""
    made: Any = None
    for length, members in by_length(segments.lengths):
        starts = segments.starts[members]
        part = function(some_rows(values, starts, length))
        if made is None:
            made = numpy.empty((len(values), *part.shape[2:]), part.dtype)
        put_rows(made, starts, part)
    return function(values[None])[0] if made is None else made
