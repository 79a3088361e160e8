"""What goes along each row, whole arrays at a time: values so far, and the order of the elements.
Each is a few operators whatever the rows are, for libraries that compile or start kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from axon.backends.segments.frames import Segments
from axon.backends.segments.rows import taken
from axon.ops.arrays import Array


def whole_arrays(xp: Any) -> bool:
    """Whether arrays are best treated whole: on PyTorch and on JAX."""
    return hasattr(xp, "spread")


def so_far(
    xp: Any, function: Callable[..., Array], values: Array, segments: Segments, dtype: Any
) -> Array:
    """Sums or products of the elements so far: those of two, of four, and so on. An element meets
    none of another row.
    """
    product = function == xp.cumprod
    made = function(values[:0], axis=0, dtype=dtype).dtype
    values = xp.astype(values, xp.element("f32") if made.itemsize == 2 and xp.kind(made) == "f"
                       else made)  # fmt: skip
    within = segments.placed(xp, "within").reshape((-1,) + (1,) * (values.ndim - 1))
    neutral = xp.asarray(1 if product else -0.0 if xp.kind(made) == "f" else 0, dtype=values.dtype)
    step = 1
    while step < min(segments.longest, segments.total):
        before = xp.concatenate([values[:step], values[:-step]], axis=0)
        before = xp.where(xp.asarray(within >= step), before, neutral)
        values = values * before if product else values + before
        step *= 2
    return xp.astype(values, made)


def places_in_order(xp: Any, values: Array, segments: Segments) -> Array:
    """The places of the elements of each row in order, a NaN behind all others, along the first
    dimension; equal ones stay in theirs.
    """
    behind = (1,) * (values.ndim - 1)
    ids = segments.placed(xp, "ids")
    rows = xp.broadcast_to(xp.asarray(ids).reshape(-1, *behind), tuple(values.shape))
    if hasattr(xp, "by_ids"):
        whole = xp.lexsort((values, rows), axis=0)
    else:
        first = xp.argsort(values, axis=0)
        again = xp.argsort(xp.astype(xp.take_along_axis(rows, first, 0), xp.element("i32")), axis=0)
        whole = xp.take_along_axis(first, again, 0)
    starts = taken(xp, segments.placed(xp, "starts"), ids)
    return whole - xp.asarray(starts).reshape(-1, *behind)
