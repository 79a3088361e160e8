"""Reductions of the elements of each row, whole arrays at a time."""

from __future__ import annotations

from typing import Any

import numpy

from axon.backends.segments.frames import NotFlat, Segments
from axon.backends.segments.numpy_reduce import of_numpy
from axon.backends.segments.rows import taken
from axon.backends.segments.torch_reduce import by_places, of_torch
from axon.ops.arrays import Array

NEUTRAL: dict[str, int] = {"sum": 0, "prod": 1, "any": 0, "all": 1}

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
        made = of_numpy(kind, numpy.asarray(values), segments, dtype)
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
