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


def along_rows(values: Array, segments: Segments, function: Callable[[Array], Array]) -> Array:
    """A function along the second dimension of an array, on rows of one length after another."""
    made: Any = None
    for length, members in by_length(segments.lengths):
        starts = segments.starts[members]
        if len(members) == 1:
            own = slice(int(starts[0]), int(starts[0]) + length)
            part = function(values[own][None])
        else:
            part = function(windows(values, length)[starts])
        if made is None:
            made = numpy.empty((len(values), *part.shape[2:]), part.dtype)
        if len(members) == 1:
            made[own] = part[0]
        else:
            windows(made, length, writeable=True)[starts] = part
    return function(values[None])[0] if made is None else made
