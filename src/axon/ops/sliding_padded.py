"""Sliding windows over padded tensors, where they begin as they do over the true ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from axon.ops.arrays import Array, Arrays
from axon.ops.operator import Ints
from axon.ops.padding import Number
from axon.ops.sliding import SAME, Slides
from axon.ops.traits import Fill


def spatial(fill: Fill) -> dict[str, Fill]:
    """What stands in the padding along the dimensions that windows slide over."""
    return dict.fromkeys(("h", "w", "d", "x*"), fill)


def begins_by_size(strides: Ints, pad: Ints | str) -> bool:
    """Whether where the windows begin follows from the sizes."""
    return pad in SAME and any(stride != 1 for stride in strides)


def truly_before(xp: Arrays, slides: Slides, sizes: Sequence[Number], pad: Any) -> list[Number]:
    """How much is put before each dimension with pad="same", by the true sizes."""
    found: list[Number] = []
    for slide, size in zip(slides, sizes, strict=True):
        if isinstance(size, int):
            found.append(slide.before)
            continue
        total = ((size - 1) // slide.stride) * slide.stride + slide.reach + 1 - size
        total = xp.maximum(total, 0)
        found.append(total // 2 if pad == "same" else total - total // 2)
    return found


def begun(xp: Arrays, x: Array, slides: Slides, before: Sequence[Number], neutral: Any) -> Array:
    """The input with so much of what counts for nothing before and behind it, so that all windows
    slide over it from its first element on.
    """
    first = x.ndim - len(slides)
    for axis, (slide, front) in enumerate(zip(slides, before, strict=True), first):
        last, reach = (slide.size - 1) // slide.stride, max(slide.reach, 0)
        needed = last * slide.stride + reach + 1 if slide.size else reach
        around = [(0, 0)] * x.ndim
        around[axis] = (reach, max(needed - slide.size, 0))
        wide = xp.pad(x, around, constant_values=neutral)
        places = xp.arange(needed, dtype=xp.element("i64")) + (reach - front)
        x = xp.take(wide, places, axis=axis)
    return x
