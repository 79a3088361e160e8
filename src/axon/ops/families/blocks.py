"""Blocks of images, and their edges: cutting, folding, padding around the middle."""

from __future__ import annotations

import itertools
import math

from axon.ops.arrays import Array, Arrays, wide
from axon.ops.axes import LIMIT, bad_axes, dims, place, shift
from axon.ops.families.rearrange import PAD_MODES
from axon.ops.operator import Ints, Problem, Rule, Windowed, operator
from axon.ops.padding import Number, TrueSizes, taken
from axon.ops.sliding import MOST, Slide, places, reaches, sides_of, slides_of, spread
from axon.ops.sliding_padded import spatial
from axon.ops.traits import Padding, Traits

MOST_BLOCK = 1 << 20


BLOCKS = Padding(
    ("n",),
    {"h": "anything", "w": "anything"},
    made=("~h", "~w"),
    reason="the parts of a block are packed in the channels, one behind the other",
)


@operator(Traits(padding=BLOCKS))
def depth_to_space(*, block: int, blocks_first: bool = True) -> Rule:
    """Channels become blocks of an image: `[n,c,h,w]` with fewer channels, and larger.

    - `block`: the height and the width of a block.
    - `blocks_first`: whether the place in the block changes more slowly than the channel, in what
      is cut up.

    >>> depth_to_space(x : f32 [n,8,h,w], block=2)
    f32 [n,2,2*h,2*w]
    """
    if not 1 <= block <= MOST_BLOCK:
        return Problem("block must be at least 1")
    area = block * block
    return f"t [n,c,h,w] -> t [n,c/{area},{block}*h,{block}*w] where c mod {area} = 0"


@depth_to_space.means
def _(xp: Arrays, x: Array, block: int, blocks_first: bool) -> Array:
    n, c, h, w = x.shape
    channels = c // (block * block)
    if blocks_first:
        cut = xp.reshape(x, (n, block, block, channels, h, w))
        moved = xp.transpose(cut, (0, 3, 4, 1, 5, 2))
    else:
        cut = xp.reshape(x, (n, channels, block, block, h, w))
        moved = xp.transpose(cut, (0, 1, 4, 2, 5, 3))
    return xp.reshape(moved, (n, channels, h * block, w * block))


@operator(Traits(padding=BLOCKS))
def space_to_depth(*, block: int, blocks_first: bool = True) -> Rule:
    """Blocks of an image become channels: `[n,c,h,w]` with more channels, and smaller.

    - `block`: the height and the width of a block.
    - `blocks_first`: whether the place in the block changes more slowly than the channel, in the
      result.

    >>> space_to_depth(x : f32 [n,c,6,8], block=2)
    f32 [n,4*c,3,4]
    """
    if not 1 <= block <= MOST_BLOCK:
        return Problem("block must be at least 1")
    result = f"[n,{block * block}*c,h/{block},w/{block}]"
    return f"t [n,c,h,w] -> t {result} where h mod {block} = 0, w mod {block} = 0"


@space_to_depth.means
def _(xp: Arrays, x: Array, block: int, blocks_first: bool) -> Array:
    n, c, h, w = x.shape
    cut = xp.reshape(x, (n, c, h // block, block, w // block, block))
    order = (0, 3, 5, 1, 2, 4) if blocks_first else (0, 1, 3, 5, 2, 4)
    return xp.reshape(xp.transpose(cut, order), (n, c * block * block, h // block, w // block))


@operator(Traits(padding=Padding(("n",))))
def col2im(
    *, dimensions: int = 2, stride: Ints = (1,), pad: Ints = (0,), dilation: Ints = (1,)
) -> Rule:
    """Add up the columns that a window saw, back into an image: `[n,c*r*s,l]`, then the sizes of
    the image and those of the window.

    - `dimensions`: how many spatial dimensions there are.
    - `stride`, `pad`, `dilation`: how the window went over the image; as for `conv`.

    >>> col2im(x : f32 [n,8,12], [4,5], [2,2])
    f32 [n,2,4,5]
    """
    if not 1 <= dimensions <= MOST:
        return Problem(f"there must be from 1 to {MOST} spatial dimensions, not {dimensions}")
    if any(step < 1 for step in (*stride, *dilation)) or any(size < 0 for size in pad):
        return Problem("stride and dilation must be at least 1, and pad at least 0")
    if not {len(stride), len(dilation)} <= {1, dimensions}:
        return Problem("stride and dilation have one entry for each spatial dimension")
    if len(pad) not in (1, dimensions, 2 * dimensions):
        return Problem("pad has one entry for each spatial dimension, or two")
    sizes = [f"y{i}" for i in range(1, dimensions + 1)]
    window = [f"r{i}" for i in range(1, dimensions + 1)]
    image = dims(["n", f"k/({'*'.join(window)})", *sizes])
    steps, gaps = spread(stride, dimensions), spread(dilation, dimensions)
    margins = spread(pad, dimensions)
    seen = [
        shift(f"{y}-{gap}*{r}", before + after + gap - 1)
        for y, r, gap, before, after in zip(
            sizes, window, gaps, margins[:dimensions], margins[-dimensions:], strict=True
        )
    ]
    count = "*".join(f"(({reach})/{step}+1)" for reach, step in zip(seen, steps, strict=True))
    return Windowed(
        f"(t [n,k,after], shape {dims(sizes)}, shape {dims(window)}) -> t {image} "
        f"where k mod ({'*'.join(window)}) = 0, after = {count}, t : num",
        tuple(seen),
    )


@col2im.means
def _(
    xp: Arrays,
    x: Array,
    sizes: Ints,
    window: Ints,
    dimensions: int,
    stride: Ints,
    pad: Ints,
    dilation: Ints,
) -> Array:
    steps, gaps = spread(stride, dimensions), spread(dilation, dimensions)
    margins = spread(pad, dimensions)
    before, after = margins[:dimensions], margins[-dimensions:]
    whole = [size + a + b for size, a, b in zip(sizes, before, after, strict=True)]
    counts = [
        (size - gap * (seen - 1) - 1) // step + 1
        for size, seen, step, gap in zip(whole, window, steps, gaps, strict=True)
    ]
    n, rows, _ = x.shape
    columns = xp.reshape(wide(xp, x), (n, rows // max(math.prod(window), 1), *window, *counts))
    image = xp.zeros((*columns.shape[:2], *whole), dtype=columns.dtype)
    for at in itertools.product(*(range(seen) for seen in window)):
        seen = tuple(
            slice(first * gap, first * gap + (count - 1) * step + 1, step)
            for first, gap, count, step in zip(at, gaps, counts, steps, strict=True)
        )
        every = slice(None)
        image = xp.put(image, (every, every, *seen), columns[(every, every, *at)], "add")
    inner = tuple(slice(a, a + size) for a, size in zip(before, sizes, strict=True))
    return xp.astype(image[(..., *inner)], x.dtype)


@operator(Traits(padding=Padding(("s", "d*", "e*"), {"x*": "zero"}, made=("y*",))))
def center_crop_pad(*, axis: Ints) -> Rule:
    """Bring some axes to the sizes that follow: cut off, or put zeros, equally at both ends.

    - `axis`: one axis or a list. Negative axes count from the back.

    >>> center_crop_pad(x : f32 [h,w,3], [10,5], axis=[0,1])
    f32 [10,5,3]
    """
    if problem := bad_axes(axis):
        return problem
    if not 1 <= len(axis) <= LIMIT:
        return Problem("axis is an empty list: name the axes that get another size")
    before, after = ([f"{name}{i}" for i in range(len(axis))] for name in "xy")
    return f"(t {place(axis, before)}, shape {dims(after)}) -> t {place(axis, after)}"


@center_crop_pad.means
def _(xp: Arrays, x: Array, sizes: Ints, axis: Ints) -> Array:
    around, cut = [(0, 0)] * x.ndim, [slice(None)] * x.ndim
    for i, size in zip(axis, sizes, strict=True):
        more = size - x.shape[i]
        if more >= 0:
            around[i] = (more // 2, more - more // 2)
        else:
            cut[i] = slice(-more // 2, -more // 2 + size)
    return xp.pad(x[tuple(cut)], around)


@center_crop_pad.padded
def _(xp: Arrays, true: TrueSizes, x: Array, sizes: Ints, axis: Ints) -> Array:
    """The same by the places that elements come from; those outside are zeros."""
    known = true.of(0)
    for i, size in zip([each % x.ndim for each in axis], sizes, strict=True):
        more = true.result(i, size) - known[i]
        places = xp.arange(size, dtype=xp.element("i64")) - xp.where(more >= 0, more, more + 1) // 2
        inside = (places >= 0) & (places < known[i])
        inside = xp.reshape(inside, (-1, *(1,) * (x.ndim - 1 - i)))
        x = xp.where(inside, taken(xp, x, i, places), xp.zeros((), dtype=x.dtype))
    return x


@operator()
def pad_by(arity: int, *, axis: Ints, mode: str = "constant") -> Rule:
    """Put elements around a tensor, or cut some off, as a tensor tells at run time: all the
    beginnings, then all the ends. What to put there may follow as a scalar; it is 0 otherwise.

    - `axis`: along which axes; one or a list. Negative axes count from the back.
    - `mode`: as for `pad`.

    >>> pad_by(x : f32 [n,3], pads : i64 [2], axis=0)
    f32 [?a,3]
    """
    if problem := bad_axes(axis):
        return problem
    if not axis:
        return Problem("axis is an empty list: name the axes that get another size")
    if mode not in PAD_MODES:
        return Problem(f'mode is "{mode}"; it can be "constant", "edge", "reflect" or "wrap"')
    if arity not in (2, 3):
        return Problem(f"pad_by takes a tensor, pads, and perhaps a value; {arity} are given")
    before, after = ([f"{name}{i}" for i in range(len(axis))] for name in ("after_", "?y"))
    scalar = ", t []" if arity == 3 else ""
    pads = f"i [{2 * len(axis)}]"
    return f"(t {place(axis, before)}, {pads}{scalar}) -> t {place(axis, after)} where i : int"


@pad_by.means
def _(xp: Arrays, x: Array, pads: Array, *scalar: Array, axis: Ints, mode: str) -> Array:
    sizes = [xp.integer(size) for size in pads]
    around, cut = [(0, 0)] * x.ndim, [slice(None)] * x.ndim
    for i, before, after in zip(axis, sizes[: len(axis)], sizes[len(axis) :], strict=True):
        last = max(x.shape[i] + min(after, 0), 0)
        cut[i] = slice(min(-min(before, 0), last), last)
        around[i] = (max(before, 0), max(after, 0))
    inner = xp.sliced(x, tuple(cut))
    if mode != "constant":
        return xp.pad(inner, around, mode=mode)
    return xp.pad(inner, around, constant_values=scalar[0] if scalar else 0)


@operator(Traits(padding=Padding(("n",), {"c": "anything", **spatial("zero")}, made=("~*",))))
def im2col(
    *,
    window: Ints,
    stride: Ints = (1,),
    pad: Ints = (0,),
    dilation: Ints = (1,),
    spatial: int | None = None,
) -> Rule:
    """What a window sees as it goes over `[n,c,h,w]`, a column for each place: `[n,c*r*s,l]`.

    - `window`: its size; a number, or one for each spatial dimension.
    - `stride`, `pad`, `dilation`: how it goes over the image; as for `conv`.

    >>> im2col(x : f32 [n,2,4,5], window=2)
    f32 [n,8,12]
    >>> im2col(x : f32 [n,c,6,9], window=[2,3], stride=[2,3])
    f32 [n,6*c,9]
    """
    sides = sides_of(spatial, stride, pad, dilation, window)
    if isinstance(sides, Problem):
        return sides
    x = dims(["n", "c", *(side.input for side in sides)])
    seen = math.prod(int(side.window) for side in sides)
    columns = "*".join(f"({places(side)})" for side in sides)
    return Windowed(f"t {x} -> t [n,{seen}*c,{columns}]", reaches(sides))


@im2col.means
def _(xp: Arrays, x: Array, window: Ints, stride: Ints, pad: Ints, dilation: Ints) -> Array:
    slides = slides_of(x.shape[2:], window, stride, pad, dilation, False)
    image = xp.pad(x, [(0, 0), (0, 0), *((s.before, s.after) for s in slides)])
    counts = [max(0, _count(s, s.size)) for s in slides]
    seen = []
    for first in itertools.product(*(range(s.window) for s in slides)):
        parts = zip(slides, counts, first, strict=True)
        seen.append(image[(..., *(s.seen(count, at) for s, count, at in parts))])
    rows = x.shape[1] * len(seen)
    return xp.reshape(xp.stack(seen, axis=2), (x.shape[0], rows, math.prod(counts)))


def _count(slide: Slide, size: Number) -> Number:
    """At how many places a window is along a dimension of this size."""
    return (size + slide.before + slide.after - slide.reach - 1) // slide.stride + 1


@im2col.padded
def _(
    xp: Arrays, true: TrueSizes, x: Array, window: Ints, stride: Ints, pad: Ints, dilation: Ints
) -> Array:
    """The columns of the true places, in their order."""
    assert im2col.meaning is not None
    y = im2col.meaning(xp, x, window=window, stride=stride, pad=pad, dilation=dilation)
    slides = slides_of(x.shape[2:], window, stride, pad, dilation, False)
    number = xp.arange(y.shape[2], dtype=xp.element("i64"))
    index, step = xp.zeros_like(number), 1
    for slide, size in zip(reversed(slides), reversed(true.of(0)[2:]), strict=True):
        count = _count(slide, size)
        some = max(count, 1) if isinstance(count, int) else xp.maximum(count, 1)
        index = index + number % some * step
        number, step = xp.floor_divide(number, some), step * max(0, _count(slide, slide.size))
    return taken(xp, y, 2, index)
