"""Contents in another order, or under another shape. A move takes as long as its result is large;
None is the result of one that is impossible, or has too many elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

from axon.contents.values import MOST_CONTENTS, Contents

Sizes = tuple[int, ...]


def strides_of(shape: Sizes) -> list[int]:
    """How far apart neighbours along each axis are."""
    found, step = [0] * len(shape), 1
    for axis in range(len(shape) - 1, -1, -1):
        found[axis] = step
        step *= shape[axis]
    return found


def strided(x: Contents, shape: Sizes, strides: Sequence[int], first: int = 0) -> Contents | None:
    """The elements at these distances from the first, which may be 0 or negative."""
    if prod(shape) > MOST_CONTENTS:
        return None
    places = [first]
    for size, stride in zip(shape, strides, strict=True) if 0 not in shape else ():
        places = [place + i * stride for place in places for i in range(size)]
    items = x.items
    found = () if 0 in shape else tuple([items[place] for place in places])
    return Contents(x.elem, shape, found)


def on_axes(axes: Sequence[int], rank: int) -> list[int] | None:
    """Axes counted from the front, if there are such and each is there once."""
    found = [axis + rank if axis < 0 else axis for axis in axes]
    if len(set(found)) < len(found) or not all(0 <= axis < rank for axis in found):
        return None
    return found


def reshaped(x: Contents, shape: Sizes) -> Contents | None:
    if min(shape, default=0) < 0 or prod(shape) != len(x.items):
        return None
    return replace(x, shape=shape)


def transposed(x: Contents, perm: Sequence[int]) -> Contents | None:
    rank, strides = len(x.shape), strides_of(x.shape)
    axes = on_axes(perm, rank)
    if axes is None or len(axes) != rank:
        return None
    return strided(x, tuple([x.shape[a] for a in axes]), [strides[a] for a in axes])


def expanded(x: Contents, axes: Sequence[int]) -> Contents | None:
    """With dimensions of size 1 at these axes of the result."""
    rank = len(x.shape) + len(axes)
    found = on_axes(axes, rank)
    if found is None:
        return None
    sizes = iter(x.shape)
    return replace(x, shape=tuple([1 if i in found else next(sizes) for i in range(rank)]))


def squeezed(x: Contents, axes: Sequence[int]) -> Contents | None:
    found = on_axes(axes, len(x.shape))
    if found is None or any(x.shape[axis] != 1 for axis in found):
        return None
    return replace(x, shape=tuple([n for i, n in enumerate(x.shape) if i not in found]))


def broadcast_shape(shapes: Sequence[Sizes]) -> Sizes | None:
    """The shape that all these stretch to, if there is one."""
    if len(set(shapes)) == 1:
        return shapes[0]
    rank = max([len(shape) for shape in shapes])
    found = [1] * rank
    for shape in shapes:
        for axis, size in enumerate(shape, rank - len(shape)):
            if found[axis] == 1:
                found[axis] = size
            elif size not in (1, found[axis]):
                return None
    return tuple(found)


def broadcast(x: Contents, shape: Sizes) -> Contents | None:
    """Stretched to a shape that it broadcasts to."""
    if x.shape == shape:
        return x
    count = prod(shape)
    if min(shape, default=0) < 0 or count > MOST_CONTENTS:
        return None
    if x.shape == ():
        return Contents(x.elem, shape, x.items * count)
    if broadcast_shape([x.shape, shape]) != shape:
        return None
    strides = [0 if n == 1 else s for n, s in zip(x.shape, strides_of(x.shape), strict=True)]
    return strided(x, shape, [0] * (len(shape) - len(x.shape)) + strides)


def expanded_to(x: Contents, shape: Sizes) -> Contents | None:
    """Stretched so that it broadcasts with a shape."""
    whole = broadcast_shape([x.shape, shape])
    return None if whole is None else broadcast(x, whole)


def tiled(x: Contents, reps: Sequence[int]) -> Contents | None:
    """Repeated as a whole along its last axes."""
    rank = len(x.shape)
    if len(reps) > rank or min(reps, default=0) < 0:
        return None
    times = [1] * (rank - len(reps)) + list(reps)
    pairs = zip(times, x.shape, strict=True)
    steps = [n for stride in strides_of(x.shape) for n in (0, stride)]
    found = strided(x, tuple([n for pair in pairs for n in pair]), steps)
    sizes = [a * b for a, b in zip(times, x.shape, strict=True)]
    return None if found is None else reshaped(found, tuple(sizes))


def sliced(x: Contents, axis: int, part: slice) -> Contents | None:
    axes = on_axes([axis], len(x.shape))
    if axes is None:
        return None
    (at,), strides, sizes = axes, strides_of(x.shape), list(x.shape)
    start, stop, step = part.indices(sizes[at])
    first = start * strides[at]
    sizes[at] = len(range(start, stop, step))
    strides[at] *= step
    return strided(x, tuple(sizes), strides, first)


def taken(x: Contents, numbers: Contents, axis: int) -> Contents | None:
    """The rows with these numbers along an axis, in whose place the shape of the numbers stands."""
    axes = on_axes([axis], len(x.shape))
    if axes is None:
        return None
    at = axes[0]
    count, rows = x.shape[at], numbers.items
    if not all(isinstance(row, int) and -count <= row < count for row in rows):
        return None
    shape = (*x.shape[:at], *numbers.shape, *x.shape[at + 1 :])
    if prod(shape) > MOST_CONTENTS:
        return None
    inner, items, found = prod(x.shape[at + 1 :]), x.items, list[Any]()
    for outer in range(prod(x.shape[:at])) if 0 not in shape else ():
        for row in rows:
            begin = (outer * count + row % count) * inner
            found += items[begin : begin + inner]
    return Contents(x.elem, shape, tuple(found))


def joined(found: Sequence[Contents | None], axis: int) -> Contents | None:
    """Parts one after another along an axis; the other sizes are the same."""
    parts = [part for part in found if part is not None]
    axes = on_axes([axis], len(parts[0].shape)) if len(parts) == len(found) else None
    if axes is None:
        return None
    first, at = parts[0], axes[0]
    before, behind = first.shape[:at], first.shape[at + 1 :]
    for part in parts:
        if len(part.shape) != len(first.shape):
            return None
        if part.shape[:at] != before or part.shape[at + 1 :] != behind:
            return None
    shape = (*before, sum([part.shape[at] for part in parts]), *behind)
    if prod(shape) > MOST_CONTENTS:
        return None
    inner, items = prod(behind), list[Any]()
    for outer in range(prod(before)) if 0 not in shape else ():
        for part in parts:
            block = part.shape[at] * inner
            items += part.items[outer * block : (outer + 1) * block]
    elem = next((part.elem for part in parts if part.elem), "")
    return Contents(elem, shape, tuple(items))


def rows_along(x: Contents, axes: Sequence[int]) -> list[Contents] | None:
    """The parts of a tensor along some axes, which go: a reduction makes one of all."""
    found = on_axes(axes, len(x.shape))
    if found is None:
        return None
    rest = [i for i in range(len(x.shape)) if i not in found]
    turned = transposed(x, [*found, *rest])
    if turned is None:
        return None
    shape = tuple([x.shape[i] for i in rest])
    count, size = prod([x.shape[i] for i in found]), prod(shape)
    items = turned.items
    if not items:
        return None
    return [Contents(x.elem, shape, items[i * size : (i + 1) * size]) for i in range(count)]
