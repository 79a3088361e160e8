"""Reductions of the elements of each row, whole arrays at a time.

Sums of floats are taken pairwise, or in blocks of a few elements whose sums are added in blocks
again, so that a long row loses no more than NumPy's own sum of it.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy

from axon.backends.segments.frames import NotFlat, Segments
from axon.backends.segments.rows import taken
from axon.backends.segments.torch_reduce import by_places, of_torch
from axon.ops.arrays import Array

UFUNCS: dict[str, Any] = {
    "sum": numpy.add,
    "prod": numpy.multiply,
    "max": numpy.maximum,
    "min": numpy.minimum,
    "any": numpy.logical_or,
    "all": numpy.logical_and,
}

NEUTRAL: dict[str, int] = {"sum": 0, "prod": 1, "any": 0, "all": 1}

WIDE = 32
"""Elements of more numbers are moved as fast as they are added."""

BLOCK = 16
"""How many elements are combined one after another."""

Kind = str


def reduced(
    xp: Any, kind: Kind, values: Array, segments: Segments, dtype: Any = None, initial: Any = None
) -> Array:
    """The elements of each row combined, along the first dimension."""
    if kind in ("max", "min") and initial is None and segments.any_empty:
        raise NotFlat("the largest of no elements")
    if hasattr(xp, "device"):
        made = of_torch(xp, kind, values, segments, dtype)
    elif hasattr(xp, "by_ids"):
        if kind == "prod" and not segments.traced:
            raise NotFlat("JAX has no derivative of a product by segments")
        made = xp.by_ids(kind, values, segments.placed(xp, "ids"), segments.count, dtype)
    else:
        made = _of_numpy(kind, numpy.asarray(values), segments, dtype)
    if segments.any_empty:
        empty = segments.placed(xp, "lengths") == 0
        empty = empty.reshape((-1,) + (1,) * (made.ndim - 1))
        neutral = NEUTRAL.get(kind, initial)
        made = xp.where(empty, xp.asarray(neutral, dtype=made.dtype), made)
    if initial is not None:
        either = xp.maximum if kind == "max" else xp.minimum
        made = either(made, xp.asarray(initial, dtype=made.dtype))
    return made


def combined(
    xp: Any, kind: Kind, values: Array, places: Any, count: int, neutral: Any, in_order: bool
) -> Array:
    """The elements with the same place, where there are none the neutral one. Places in order do
    not go down.
    """
    if hasattr(xp, "device"):
        return by_places(xp, kind, values, places, count, neutral, in_order)
    if xp.kind(values.dtype) == "b":
        kind = {"max": "any", "min": "all"}.get(kind, kind)
    return xp.by_ids(kind, values, places, count, values.dtype, in_order)


# --- NumPy ---------------------------------------------------------------------------------------


def _of_numpy(kind: Kind, values: Array, segments: Segments, dtype: Any) -> Array:
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
        made = ufunc.reduceat(flat[:, 0], starts)[:, None]
    else:
        made = _aligned(ufunc, flat, starts, lengths)
    if full is not None:
        whole = numpy.zeros((segments.count, flat.shape[1]), made.dtype)
        whole[full] = made
        made = whole
    return made.reshape(segments.count, *values.shape[1:])


def _aligned(ufunc: Any, values: Array, starts: Any, lengths: Any) -> Array:
    """The blocks that begin at multiples of their size are combined all at once, whatever rows they
    are in: then those that lie in one row, and the elements around them.
    """
    stops = starts + lengths
    first, last = -(-starts // BLOCK), stops // BLOCK
    inner = numpy.flatnonzero(last > first)
    if values.shape[1] > WIDE or len(inner) * 4 < len(starts):
        return _blocks(ufunc, values, starts, lengths)
    count = len(values) // BLOCK
    part = values[: count * BLOCK].reshape(count, -1)
    while part.shape[1] > values.shape[1]:
        half = part.shape[1] // 2
        part = ufunc(part[:, :half], part[:, half:])
    some = numpy.zeros(len(starts), bool)
    some[inner] = True
    before = numpy.where(some, first * BLOCK, stops) - starts
    behind = numpy.where(some, stops - last * BLOCK, 0)
    edges = Segments.of_lengths(before + behind)
    index = edges.within + numpy.repeat(starts, edges.lengths)
    skipped = numpy.where(some, (last - first) * BLOCK, 0)
    index += numpy.where(edges.within < before[edges.ids], 0, skipped[edges.ids])
    around = numpy.flatnonzero(edges.lengths)
    made = numpy.empty((len(starts), values.shape[1]), part.dtype)
    made[inner] = _blocks(ufunc, part, first[inner], (last - first)[inner])
    outer = _blocks(
        ufunc, numpy.take(values, index, axis=0), edges.starts[around], edges.lengths[around]
    )
    both = some[around]
    made[around[~both]] = outer[~both]
    made[around[both]] = ufunc(made[around[both]], outer[both])
    return made


def _blocks(ufunc: Any, values: Array, starts: Any, lengths: Any) -> Array:
    """Block after block: the elements of each one after another, all blocks at once; then the
    blocks of each row in the same way.
    """
    while True:
        blocks = Segments.of_lengths((lengths + BLOCK - 1) // BLOCK)
        first = numpy.repeat(starts, blocks.lengths) + blocks.within * BLOCK
        sizes = numpy.repeat(starts + lengths, blocks.lengths) - first
        order = None
        if (sizes < BLOCK).any():  # the full blocks stand first
            order = numpy.argsort(-numpy.minimum(sizes, BLOCK), kind="stable")
            first, sizes = first[order], sizes[order]
        total = numpy.take(values, first, axis=0)
        for step in range(1, BLOCK):
            some = len(first) if order is None else int(numpy.count_nonzero(sizes > step))
            if not some:
                break
            part = total[:some]
            ufunc(part, numpy.take(values, first[:some] + step, axis=0), out=part)
        if order is not None:
            values = numpy.empty_like(total)
            values[order] = total
        else:
            values = total
        if blocks.total == len(lengths):
            return values
        starts, lengths = blocks.starts, blocks.lengths


# --- places -------------------------------------------------------------------------------------


def positions(xp: Any, kind: Kind, values: Array, segments: Segments) -> Array:
    """Where the first largest (or least) element of each row stands; a NaN is either."""
    if segments.any_empty:
        raise NotFlat("the place of the largest of no elements")
    best = taken(xp, reduced(xp, kind, values, segments), segments.placed(xp, "ids"))
    found = (values == best) | (values != values)
    places = segments.placed(xp, "within").reshape((-1,) + (1,) * (values.ndim - 1))
    made = reduced(xp, "min", xp.where(found, places, segments.total), segments)
    return xp.astype(made, xp.element("i64"))
