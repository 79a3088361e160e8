"""Reductions of the elements of each row on PyTorch: one kernel for all rows."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy

from axon.backends.segments.frames import Index, Segments
from axon.ops.arrays import Array

SCATTER = {"prod": "prod", "max": "amax", "min": "amin"}

BLOCK = 256
"""How many elements a thread combines one after another. Longer rows are combined in blocks."""

LONG = 4 * BLOCK


def of_torch(xp: Any, kind: str, values: Array, segments: Segments, dtype: Any) -> Array:
    """Rows without elements have any value."""
    if kind in ("any", "all"):
        truth = (values != 0) if kind == "any" else (values == 0)
        found = of_torch(xp, "sum", xp.astype(truth, xp.element("i32")), segments, None) != 0
        return found if kind == "any" else ~found
    if dtype is None and kind in ("sum", "prod") and not values.is_floating_point():
        dtype = xp.element("i64")
    values = values if dtype is None else xp.astype(values, dtype)
    if segments.total and values.is_floating_point():
        return _of_floats(xp, kind, values, segments)
    start = values.new_zeros((segments.count, *values.shape[1:]))
    ids = segments.placed(xp, "ids")
    if kind == "sum":
        return start.index_add(0, ids, values)
    ids = ids.reshape((-1,) + (1,) * (values.ndim - 1)).expand(values.shape)
    return start.scatter_reduce(0, ids, values, SCATTER[kind], include_self=False)


def _of_floats(xp: Any, kind: str, values: Array, segments: Segments) -> Array:
    """Half precision is added up in f32."""
    flat = values.reshape(len(values), prod(values.shape[1:]))
    if values.dtype.itemsize == 2 and kind in ("sum", "prod"):
        flat = flat.float()
    lengths, offsets = segments.lengths, segments.placed(xp, "offsets")
    while lengths.max(initial=0) > LONG:
        first, lengths = _blocks(lengths)
        flat = _reduced(xp, kind, flat, xp.asarray(first))
        offsets = xp.asarray(Segments.of_lengths(lengths).offsets)
    made = _reduced(xp, kind, flat, offsets)
    return made.to(values.dtype).reshape(segments.count, *values.shape[1:])


def _blocks(lengths: Index) -> tuple[Index, Index]:
    """Where the blocks of rows begin and end, and how many there are of each row."""
    rows, blocks = Segments.of_lengths(lengths), Segments.of_lengths(-(-lengths // BLOCK))
    first = numpy.repeat(rows.starts, blocks.lengths) + blocks.within * BLOCK
    return numpy.append(first, rows.total), blocks.lengths


def _reduced(xp: Any, kind: str, values: Array, offsets: Array) -> Array:
    return xp.library.segment_reduce(values, kind, offsets=offsets, axis=0, unsafe=True)


def by_places(
    xp: Any, kind: str, values: Array, places: Array, count: int, neutral: Any, in_order: bool
) -> Array:
    """The elements with the same place combined; where there are none stands the neutral one.
    Places in order do not go down.
    """
    if values.dtype == xp.library.bool:
        whole = kind in ("all", "min")
        few = (~values if whole else values).to(xp.library.int32)
        found = by_places(xp, "sum", few, places, count, 0, in_order) != 0
        return ~found if whole else found
    rest = tuple(values.shape[1:])
    if in_order and values.is_floating_point() and len(values):
        ends = xp.library.searchsorted(places, xp.arange(count + 1))
        flat = values.reshape(len(values), prod(rest))
        made = xp.library.segment_reduce(
            flat, kind, offsets=ends, axis=0, initial=neutral, unsafe=True
        )
        return made.reshape(count, *rest)
    start = values.new_full((count, *rest), neutral)
    if kind == "sum":
        return start.index_add(0, places, values)
    places = places.reshape(-1, *(1,) * len(rest)).expand(values.shape)
    return start.scatter_reduce(0, places, values, SCATTER[kind])
