"""Regions of images: brought to one size, and chosen among those that overlap."""

from __future__ import annotations

import math
from collections.abc import Sequence

from axon.ops.arrays import Array, Arrays, Value, wide
from axon.ops.families.indexing import numbers_of
from axon.ops.operator import Ints, Problem, Rule, operator
from axon.ops.padding import Number, TrueSizes
from axon.ops.traits import Padding, Traits

MOST_SAMPLES = 1024


def _regions(size: Ints) -> Rule:
    """Images, regions, and which image each is of; images of one size, for they are chosen."""
    result = f"t [r,c,{size[0]},{size[1]}]"
    return f"(t [n,c,after_h,after_w], t [r,4], i [r]) -> {result} where t : float, i : int"


REGIONS = Padding(("r", "c"), {"n": "anything", "after_h": "anything", "after_w": "anything"})


@operator(Traits(padding=REGIONS), roles={"r": "numbers of regions"})
def roi_align(
    *,
    size: Ints,
    sampling: int = 0,
    scale: float = 1.0,
    mode: str = "avg",
    half_pixel: bool = True,
) -> Rule:
    """Regions of `x : [n,c,h,w]`, each brought to one size: regions `[r,4]` as first column, first
    row, last column, last row, and for each the number of its image.

    - `size`: the height and the width of the result.
    - `sampling`: how many places to look at in each part, along each dimension; if 0, one for each
      element there, but no more than if the region were the whole image.
    - `scale`: what to multiply the regions with.
    - `mode`: "avg", or "max" of what the places are blended from.
    - `half_pixel`: whether the middle of the first element is at a half.

    >>> roi_align(x : f32 [n,c,h,w], regions : f32 [r,4], image : i64 [r], size=[7,7])
    f32 [r,c,7,7]
    """
    if mode not in ("avg", "max"):
        return Problem(f'mode is "{mode}"; it can be "avg" or "max"')
    if len(size) != 2 or any(n < 0 for n in size):
        return Problem("size is a height and a width: size=[7,7]")
    if not 0 <= sampling <= MOST_SAMPLES:
        return Problem(f"sampling must be from 0 to {MOST_SAMPLES}")
    return _regions(size)


@roi_align.means
def _(
    xp: Arrays,
    x: Array,
    regions: Array,
    image: Array,
    size: Ints,
    sampling: int,
    scale: float,
    mode: str,
    half_pixel: bool,
) -> Array:
    how = (size, sampling, scale, mode, half_pixel)
    return _aligned(xp, x, regions, image, x.shape[2:], *how)


@roi_align.padded
def _(
    xp: Arrays,
    true: TrueSizes,
    x: Array,
    regions: Array,
    image: Array,
    size: Ints,
    sampling: int,
    scale: float,
    mode: str,
    half_pixel: bool,
) -> Array:
    how = (size, sampling, scale, mode, half_pixel)
    regions, image = _truly(xp, true, regions, image)
    return _aligned(xp, x, regions, image, true.of(0)[2:], *how)


def _truly(xp: Arrays, true: TrueSizes, regions: Array, image: Array) -> tuple[Array, Array]:
    """Regions of which those that are padding are empty, and the numbers of their images, which
    count from the true end if they are negative.
    """
    there = true.mask(xp, 1, (0,))
    regions = regions if there is None else xp.where(there, regions, xp.zeros_like(regions))
    count, number = true.of(0)[0], xp.astype(image, xp.element("i64"))
    number = xp.where(number < 0, number + count, number)
    outside = (number < 0) | (number >= count)
    return regions, xp.where(outside, true.operands[0].shape[0], number)


def _aligned(
    xp: Arrays,
    x: Array,
    regions: Array,
    image: Array,
    lengths: Sequence[Number],
    size: Ints,
    sampling: int,
    scale: float,
    mode: str,
    half_pixel: bool,
) -> Array:
    """The regions of images that truly have these heights and widths."""
    y, boxes = wide(xp, x), wide(xp, regions) * scale - (0.5 if half_pixel else 0.0)
    shape = (x.shape[1], *size)
    if 0 in (*x.shape, *shape):
        return xp.zeros((regions.shape[0], *shape), dtype=x.dtype)

    def one(box: Array, number: Array) -> Array:
        height, width = zip(x.shape[2:], lengths, strict=True)
        down = _samples(xp, box[1], box[3], size[0], height, sampling, half_pixel)
        across = _samples(xp, box[0], box[2], size[1], width, sampling, half_pixel)
        return _bins(xp, xp.take(y, number, axis=0), down, across, mode)

    found = xp.map(
        one,
        boxes,
        xp.astype(image, xp.element("i64")),
        like=lambda: xp.zeros((0, *shape), dtype=y.dtype),
    )
    return xp.astype(found, x.dtype)


Samples = tuple[Array, Array, Array, Array, Array]
"""For each part and each place in it: the elements before and behind, the share of the latter,
whether the place counts, and whether it is inside."""


def _samples(
    xp: Arrays,
    begin: Array,
    end: Array,
    parts: int,
    lengths: tuple[int, Number],
    sampling: int,
    half_pixel: bool,
) -> Samples:
    """Where to look along one dimension, which is so long in the array, and truly."""
    whole_length, length = lengths
    whole = end - begin if half_pixel else xp.maximum(end - begin, 1)
    part = whole / parts
    most = sampling or -(-(whole_length + 1) // parts) + 1
    limit = -(-(length + 1) // parts) + 1
    count = xp.asarray(sampling) if sampling else xp.clip(xp.ceil(part), 0, limit)
    number = xp.arange(most, dtype=xp.element("f64"))
    step = part / xp.maximum(count, 1)
    first = begin + xp.arange(parts, dtype=number.dtype)[:, None] * part
    where = first + (number + 0.5) * step
    inside = (where >= -1) & (where <= length)
    at = xp.clip(where, 0, length - 1)
    low = xp.floor(at)
    counts = xp.broadcast_to(number < count, where.shape)
    i64 = xp.element("i64")
    high = xp.minimum(low + 1, length - 1)
    return (
        xp.astype(low, i64),
        xp.astype(high, i64),
        xp.astype(at - low, begin.dtype),
        counts,
        inside,
    )


def _bins(xp: Arrays, x: Array, down: Samples, across: Samples, mode: str) -> Array:
    """One region of `[c,h,w]`, part by part."""
    (top, bottom, below, rows, seen), (left, right, beside, columns, visible) = down, across
    counts = rows[:, None, :, None] & columns[None, :, None, :]
    inside = seen[:, None, :, None] & visible[None, :, None, :]
    corners = []
    for row, share in ((top, 1 - below), (bottom, below)):
        for column, other in ((left, 1 - beside), (right, beside)):
            value = x[:, row[:, None, :, None], column[None, :, None, :]]
            weight = share[:, None, :, None] * other[None, :, None, :]
            corners.append(value * xp.where(inside, weight, 0))
    if mode == "avg":
        total = xp.sum(xp.where(counts, sum(corners), 0), axis=(-2, -1))
        return total / xp.astype(xp.maximum(xp.sum(counts, axis=(-2, -1)), 1), x.dtype)
    largest = xp.maximum(xp.maximum(corners[0], corners[1]), xp.maximum(corners[2], corners[3]))
    found = xp.max(xp.where(counts, largest, -math.inf), axis=(-2, -1))
    return xp.where(xp.isneginf(found), xp.zeros_like(found), found)


@operator(Traits(padding=REGIONS), roles={"r": "numbers of regions"})
def roi_pool(*, size: Ints, scale: float = 1.0) -> Rule:
    """The largest element in each part of regions of `x : [n,c,h,w]`, cut into `size` parts:
    regions `[r,4]` as first column, first row, last column, last row, rounded to whole elements,
    and for each the number of its image. A part that sees nothing is 0.

    - `size`: the height and the width of the result.
    - `scale`: what to multiply the regions with.

    >>> roi_pool(x : f32 [n,c,h,w], regions : f32 [r,4], image : i64 [r], size=[2,2])
    f32 [r,c,2,2]
    """
    if len(size) != 2 or any(n < 0 for n in size):
        return Problem("size is a height and a width: size=[7,7]")
    return _regions(size)


@roi_pool.means
def _(xp: Arrays, x: Array, regions: Array, image: Array, size: Ints, scale: float) -> Array:
    return _pooled(xp, x, regions, image, x.shape[2:], size, scale)


@roi_pool.padded
def _(
    xp: Arrays,
    true: TrueSizes,
    x: Array,
    regions: Array,
    image: Array,
    size: Ints,
    scale: float,
) -> Array:
    regions, image = _truly(xp, true, regions, image)
    return _pooled(xp, x, regions, image, true.of(0)[2:], size, scale)


def _pooled(
    xp: Arrays,
    x: Array,
    regions: Array,
    image: Array,
    lengths: Sequence[Number],
    size: Ints,
    scale: float,
) -> Array:
    """The regions of images that truly have these heights and widths."""
    y, boxes = wide(xp, x), xp.floor(wide(xp, regions) * scale + 0.5)
    shape = (x.shape[1], *size)
    if 0 in (*x.shape, *shape):
        return xp.zeros((regions.shape[0], *shape), dtype=x.dtype)

    def one(box: Array, number: Array) -> Array:
        height, width = zip(x.shape[2:], lengths, strict=True)
        rows = _covered(xp, box[1], box[3], size[0], height)
        columns = _covered(xp, box[0], box[2], size[1], width)
        each = xp.take(y, number, axis=0)[:, None]
        down = xp.max(xp.where(rows[:, :, None], each, -math.inf), axis=-2)
        across = xp.where(columns, down[:, :, None], -math.inf)
        seen = xp.any(rows, axis=1)[:, None] & xp.any(columns, axis=1)
        return xp.where(seen, xp.max(across, axis=-1), 0)

    found = xp.map(
        one,
        boxes,
        xp.astype(image, xp.element("i64")),
        like=lambda: xp.zeros((0, *shape), dtype=y.dtype),
    )
    return xp.astype(found, x.dtype)


def _covered(
    xp: Arrays, begin: Array, end: Array, parts: int, lengths: tuple[int, Number]
) -> Array:
    """Which elements each part of a region covers along one dimension, which is so long in the
    array, and truly: `[parts, length]`.
    """
    part = xp.maximum(end - begin + 1, 1) / parts
    number = xp.arange(parts, dtype=part.dtype)
    low, high = begin + xp.floor(number * part), begin + xp.ceil((number + 1) * part)
    at = xp.arange(lengths[0])
    return (at >= low[:, None]) & (at < high[:, None]) & (at < lengths[1])


# --- regions that overlap --------------------------------------------------------------------


@operator(roles={"after_b": "numbers of boxes", "n": "batch sizes"})
def non_max_suppression(arity: int, *, center: bool = False) -> Rule:
    """The boxes with the best scores, class by class, without those that overlap a better one: for
    each of them the numbers of its image, its class and itself. Boxes are `[n,b,4]`, scores
    `[n,c,b]`; then come how many boxes there may be for a class, perhaps how much they may overlap
    (their common area, as a part of what both cover; 0 if not given), and perhaps the score that a
    box must exceed.

    - `center`: whether a box is its middle and its sizes, or two opposite corners.

    >>> non_max_suppression(boxes : f32 [n,b,4], scores : f32 [n,c,b], most : i64)
    i64 [?a,3]
    """
    if arity not in (3, 4, 5):
        return Problem(
            "non_max_suppression takes boxes, scores, how many there may be, and perhaps how much "
            f"they may overlap and the least score; {arity} are given"
        )
    rest = ["i []", "t []", "t []"][: arity - 2]
    params = ", ".join(["t [n,after_b,4]", "t [n,c,after_b]", *rest])
    return f"({params}) -> i64 [?k,3] where t : float, i : int"


@non_max_suppression.means
def _(xp: Arrays, boxes: Array, scores: Array, most: Array, *limits: Array, center: bool) -> Array:
    i64 = xp.element("i64")
    chosen = [xp.zeros((0, 3), dtype=i64)]
    if scores.shape[2] == 0:
        return chosen[0]
    overlap = wide(xp, limits[0]) if limits else 0
    for image in range(boxes.shape[0]):
        corners = _corners(xp, wide(xp, boxes[image]), center)
        for kind in range(scores.shape[1]):
            each = wide(xp, scores[image, kind])
            open_ = each > wide(xp, limits[1]) if len(limits) > 1 else each == each
            found = _best(xp, corners, each, open_, most, overlap)
            same = [xp.full_like(found, number) for number in (image, kind)]
            chosen.append(xp.stack([*same, found], axis=1))
    return xp.concatenate(chosen, axis=0)


def _corners(xp: Arrays, boxes: Array, center: bool) -> tuple[Array, Array]:
    """The least and the greatest coordinates of boxes."""
    first, second = boxes[:, :2], boxes[:, 2:]
    if center:
        return first - second / 2, first + second / 2
    return xp.minimum(first, second), xp.maximum(first, second)


def _best(
    xp: Arrays,
    corners: tuple[Array, Array],
    scores: Array,
    open_: Array,
    most: Array,
    overlap: Array,
) -> Array:
    """The best box that is left, again and again; what overlaps it goes."""
    i64 = xp.element("i64")
    low, high = corners
    area = xp.prod(high - low, axis=1)

    def more(state: Value) -> Array:
        count, open_ = state[:2]
        return (count < most) & xp.any(open_)

    def best(state: Value) -> tuple[Value, Array]:
        count, open_, scores, low, high, area = state
        box = xp.argmax(xp.where(open_, scores, -math.inf), axis=0)
        # where it is not open, every score that is left is the least there is
        first = xp.argmax(xp.astype(open_, xp.element("u8")), axis=0)
        box = xp.where(xp.take(open_, box, axis=0), box, first)
        mine = [xp.take(each, box, axis=0) for each in (low, high, area)]
        sides = xp.minimum(high, mine[1]) - xp.maximum(low, mine[0])
        common = xp.prod(xp.maximum(sides, 0), axis=1)
        union = area + mine[2] - common
        covers = (common > 0) & (area > 0) & (mine[2] > 0) & (common > overlap * union)
        there = xp.arange(scores.shape[0], dtype=i64)
        left = open_ & ~covers & (there != box)
        return (count + 1, left, scores, low, high, area), numbers_of(xp, box)

    start = (xp.zeros((), dtype=i64), open_, scores, low, high, area)
    found: Array = xp.collect(start, more, best)[1]
    return found
