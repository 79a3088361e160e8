"""Pools: what becomes of each window that slides over [batch, channels, …spatial dimensions…].

The number of spatial dimensions is found as for convolutions.
"""

from __future__ import annotations

import itertools
import math

from axon.ops.arrays import Array, Arrays, Pairs, is_integer, wide
from axon.ops.axes import dims
from axon.ops.operator import Ints, Problem, Rule, Windowed, operator
from axon.ops.padding import TrueSizes
from axon.ops.sliding import MOST, Slides, places, places_past, reaches, sides_of, slides_of
from axon.ops.traits import Attributes, Fill, Padding, Traits


def _pool(
    window: Ints,
    stride: Ints | None,
    pad: Ints | str,
    dilation: Ints,
    ceil_mode: bool,
    spatial: int | None,
    where: str,
) -> Rule:
    sides = sides_of(spatial, window if stride is None else stride, pad, dilation, window)
    if isinstance(sides, Problem):
        return sides
    for side in sides:
        reach = side.dilation * (int(side.window) - 1)
        if side.before > reach or side.after > reach:
            return Problem("pad must be less than the window: each must see some input")
    x = dims(["n", "c", *(side.input for side in sides)])
    slide = places_past if ceil_mode else places
    y = dims(["n", "c", *(slide(side) for side in sides)])
    return Windowed(f"t {x} -> t {y} where t : {where}", reaches(sides, ceil_mode))


def _pool_padding(attributes: Attributes) -> Padding:
    return _windows_padding(attributes, "lowest")


def _mean_padding(attributes: Attributes) -> Padding:
    return _windows_padding(attributes, "zero")


def _windows_padding(attributes: Attributes, fill: Fill) -> Padding:
    """With pad="same", where the windows begin may follow from the size."""
    strides = attributes["stride"] or attributes["window"]
    assert isinstance(strides, tuple)
    if isinstance(attributes["pad"], str) and any(stride != 1 for stride in strides):
        return Padding(("n", "c"))
    return Padding(("n", "c"), {"h": fill, "w": fill, "d": fill, "x*": fill}, made=("~*",))


@operator(Traits(padding=_pool_padding))
def max_pool(
    *,
    window: Ints,
    stride: Ints | None = None,
    pad: Ints | str = (0,),
    dilation: Ints = (1,),
    ceil_mode: bool = False,
    spatial: int | None = None,
) -> Rule:
    """The largest element in each window that slides over the spatial dimensions of `[n,c,h,w]`.

    - `window`: its size; a number, or one for each spatial dimension.
    - `stride`: the step from one window to the next; the window's size if not given.
    - `pad`: what is put around the input (it never wins); as for `conv`.
    - `dilation`: the step between the elements that a window sees.
    - `ceil_mode`: let the last window hang over the end.

    >>> max_pool(x : f32 [n,c,h,w], window=2)
    f32 [n,c,h/2,w/2]
    >>> max_pool(x : f32 [8,64,112,112], window=[3,3], stride=[2,2], pad=[1,1])
    f32 [8,64,56,56]
    """
    return _pool(window, stride, pad, dilation, ceil_mode, spatial, "num")


@max_pool.means
def _(
    xp: Arrays,
    x: Array,
    window: Ints,
    stride: Ints | None,
    pad: Ints | str,
    dilation: Ints,
    ceil_mode: bool,
) -> Array:
    slides = slides_of(x.shape[2:], window, stride or window, pad, dilation, ceil_mode)
    return _windows(xp, "max", x, slides, tuple((s.before, s.after + s.hang) for s in slides))


def _windows(xp: Arrays, kind: str, x: Array, slides: Slides, pad: Pairs) -> Array:
    return xp.windows(
        kind,
        x,
        size=tuple(s.window for s in slides),
        stride=tuple(s.stride for s in slides),
        pad=pad,
        dilation=tuple(s.dilation for s in slides),
    )


@operator(Traits(padding=_mean_padding))
def avg_pool(
    *,
    window: Ints,
    stride: Ints | None = None,
    pad: Ints | str = (0,),
    dilation: Ints = (1,),
    ceil_mode: bool = False,
    count_pad: bool = False,
    spatial: int | None = None,
) -> Rule:
    """The mean of each window that slides over the spatial dimensions of `[n,c,h,w]`.

    - `window`, `stride`, `pad`, `dilation`, `ceil_mode`: as for `max_pool`.
    - `count_pad`: count the padding as elements.

    >>> avg_pool(x : f32 [8,16,32,32], window=2)
    f32 [8,16,16,16]
    """
    return _pool(window, stride, pad, dilation, ceil_mode, spatial, "float")


@avg_pool.means
def _(
    xp: Arrays,
    x: Array,
    window: Ints,
    stride: Ints | None,
    pad: Ints | str,
    dilation: Ints,
    ceil_mode: bool,
    count_pad: bool,
) -> Array:
    slides = slides_of(x.shape[2:], window, stride or window, pad, dilation, ceil_mode)
    around = tuple((s.before, s.after + s.hang) for s in slides)
    total = _windows(xp, "sum", wide(xp, x), slides, around)
    sizes = x.shape[2:]
    if count_pad:  # but never what hangs over
        sizes = tuple(s.before + s.size + s.after for s in slides)
        around = tuple((0, s.hang) for s in slides)
    ones = xp.ones((1, 1, *sizes), dtype=total.dtype)
    return xp.astype(total / _windows(xp, "sum", ones, slides, around), x.dtype)


@avg_pool.padded
def _(
    xp: Arrays,
    true: TrueSizes,
    x: Array,
    window: Ints,
    stride: Ints | None,
    pad: Ints | str,
    dilation: Ints,
    ceil_mode: bool,
    count_pad: bool,
) -> Array:
    """How many elements a window has depends on where the true ones end."""
    if 0 in x.shape:  # no window has any
        assert avg_pool.meaning is not None
        given = (window, stride, pad, dilation, ceil_mode, count_pad)
        return avg_pool.meaning(xp, x, *given)
    slides = slides_of(x.shape[2:], window, stride or window, pad, dilation, ceil_mode)
    around = tuple((s.before, s.after + s.hang) for s in slides)
    total = _windows(xp, "sum", wide(xp, x), slides, around)
    ones = xp.ones((1, 1), dtype=total.dtype)
    for slide, size in zip(slides, true.of(0)[2:], strict=True):
        place = xp.arange(slide.before + slide.size + slide.after + slide.hang)
        low, high = (0, slide.after) if count_pad else (slide.before, 0)
        here = (place >= low) & (place < slide.before + size + high)
        ones = ones[..., None] * xp.astype(here, total.dtype)
    none = tuple((0, 0) for _ in slides)
    counts = _windows(xp, "sum", ones, slides, none)
    return xp.astype(total / xp.where(counts == 0, 1, counts), x.dtype)


@operator(Traits(padding=Padding(("n", "c"))))
def lp_pool(
    *,
    window: Ints,
    stride: Ints | None = None,
    pad: Ints | str = (0,),
    dilation: Ints = (1,),
    ceil_mode: bool = False,
    p: int = 2,
    spatial: int | None = None,
) -> Rule:
    """The p-norm of each window that slides over the spatial dimensions of `[n,c,h,w]`.

    - `window`, `stride`, `pad`, `dilation`, `ceil_mode`: as for `max_pool`.
    - `p`: which norm, at least 1.

    >>> lp_pool(x : f32 [8,16,32,32], window=2)
    f32 [8,16,16,16]
    """
    if p < 1:
        return Problem("p must be at least 1")
    return _pool(window, stride, pad, dilation, ceil_mode, spatial, "float")


@lp_pool.means
def _(
    xp: Arrays,
    x: Array,
    window: Ints,
    stride: Ints | None,
    pad: Ints | str,
    dilation: Ints,
    ceil_mode: bool,
    p: int,
) -> Array:
    slides = slides_of(x.shape[2:], window, stride or window, pad, dilation, ceil_mode)
    around = tuple((s.before, s.after + s.hang) for s in slides)
    total = _windows(xp, "sum", xp.abs(wide(xp, x)) ** p, slides, around)
    return xp.astype(total ** (1 / p), x.dtype)


@operator(Traits(padding=Padding(("n",))))
def argmax_pool(
    *,
    window: Ints,
    stride: Ints | None = None,
    pad: Ints | str = (0,),
    dilation: Ints = (1,),
    ceil_mode: bool = False,
    columns: bool = False,
    spatial: int | None = None,
) -> Rule:
    """Where the elements are that `max_pool` takes, the first in each window: their numbers in the
    flattened tensor.

    - `window`, `stride`, `pad`, `dilation`, `ceil_mode`: as for `max_pool`.
    - `columns`: count the elements of each channel with the first spatial dimension innermost.

    >>> argmax_pool(x : f32 [n,c,h,w], window=2)
    i64 [n,c,h/2,w/2]
    """
    rule = _pool(window, stride, pad, dilation, ceil_mode, spatial, "num")
    if not isinstance(rule, Windowed):
        return rule
    return Windowed(rule.text.replace("-> t ", "-> i64 "), rule.reaches)


@argmax_pool.means
def _(
    xp: Arrays,
    x: Array,
    window: Ints,
    stride: Ints | None,
    pad: Ints | str,
    dilation: Ints,
    ceil_mode: bool,
    columns: bool,
) -> Array:
    slides = slides_of(x.shape[2:], window, stride or window, pad, dilation, ceil_mode)
    sizes, i64 = x.shape[2:], xp.element("i64")
    per_channel = math.prod(sizes)
    numbers = xp.arange(per_channel, dtype=i64)
    numbers = numbers.reshape(sizes[::-1]).T if columns else numbers.reshape(sizes)
    around = [(s.before, s.after + s.hang) for s in slides]
    values = xp.pad(wide(xp, x), [(0, 0), (0, 0), *around])
    numbers = xp.pad(numbers, around, constant_values=-1)
    counts = [
        max(0, (s.size + s.before + s.after + s.hang - s.reach - 1) // s.stride + 1) for s in slides
    ]
    best, where = None, None
    for first in itertools.product(*(range(s.window) for s in slides)):
        seen = tuple(s.seen(n, at) for s, n, at in zip(slides, counts, first, strict=True))
        value, number = values[(..., *seen)], xp.broadcast_to(numbers[seen], tuple(counts))
        if best is None or where is None:
            best, where = value, xp.broadcast_to(number, value.shape)
            continue
        better = (number >= 0) & ((where < 0) | (value > best))
        best, where = xp.where(better, value, best), xp.where(better, number, where)
    channels = xp.arange(x.shape[0] * x.shape[1], dtype=i64).reshape(x.shape[:2])
    return xp.expand_dims(channels * per_channel, tuple(range(2, x.ndim))) + where


def _global_pool(keep: bool, spatial: int | None, where: str) -> Rule:
    if not keep:
        return f"t [n,c]@s -> t [n,c] where t : {where}"
    sides = sides_of(spatial, (1,), (0,), (1,))
    if isinstance(sides, Problem):
        return sides
    x = dims(["n", "c", *(side.input for side in sides)])
    return f"t {x} -> t {dims(['n', 'c', *('1' for _ in sides)])} where t : {where}"


@operator(Traits(padding=Padding(("n", "c"), reduced="lowest")))
def global_max_pool(*, keep: bool = False, spatial: int | None = None) -> Rule:
    """The largest element of each channel.

    - `keep`: leave the spatial dimensions there with size 1.

    >>> global_max_pool(x : f32 [n,c,h,w])
    f32 [n,c]
    """
    return _global_pool(keep, spatial, "num")


@global_max_pool.means
def _(xp: Arrays, x: Array, keep: bool) -> Array:
    least = xp.asarray(xp.iinfo(x.dtype).min if is_integer(xp, x) else -math.inf, dtype=x.dtype)
    return xp.max(x, axis=tuple(range(2, x.ndim)), keepdims=keep, initial=least)


@operator(Traits(padding=Padding(("n", "c"), reduced="zero")))
def global_avg_pool(*, keep: bool = False, spatial: int | None = None) -> Rule:
    """The mean of each channel.

    - `keep`: leave the spatial dimensions there with size 1.

    >>> global_avg_pool(x : f32 [n,c,h,w])
    f32 [n,c]
    >>> global_avg_pool(x : f32 [n,c,h,w], keep=true)
    f32 [n,c,1,1]
    """
    return _global_pool(keep, spatial, "float")


@global_avg_pool.means
def _(xp: Arrays, x: Array, keep: bool) -> Array:
    total = xp.sum(wide(xp, x), axis=tuple(range(2, x.ndim)), keepdims=keep)
    return xp.astype(total / math.prod(x.shape[2:]), x.dtype)


@global_avg_pool.padded
def _(xp: Arrays, true: TrueSizes, x: Array, keep: bool) -> Array:
    y, axes = wide(xp, x), tuple(range(2, x.ndim))
    count = true.count(xp, 0, axes, y.dtype)
    return xp.astype(xp.sum(y, axis=axes, keepdims=keep) / count, x.dtype)


# --- windows that follow from the sizes ------------------------------------------------------


def _adaptive(dimensions: int, where: str) -> Rule:
    if not 1 <= dimensions <= MOST:
        return Problem(f"there must be from 1 to {MOST} spatial dimensions, not {dimensions}")
    x, y = ([f"{name}{i}" for i in range(1, dimensions + 1)] for name in "xy")
    least = ", ".join(f"{size} >= 1" for size in x)
    return f"(t s@{dims(x)}, shape {dims(y)}) -> t s@{dims(y)} where {least}, t : {where}"


@operator()
def adaptive_max_pool(*, dimensions: int = 2) -> Rule:
    """The largest element in each of so many windows along the last dimensions as the sizes that
    follow say: the windows cover all, are as equal as can be, and overlap where they must.

    - `dimensions`: how many spatial dimensions there are.

    >>> adaptive_max_pool(x : f32 [n,c,7,9], [2,3])
    f32 [n,c,2,3]
    """
    return _adaptive(dimensions, "num")


@adaptive_max_pool.means
def _(xp: Arrays, x: Array, sizes: Ints, dimensions: int) -> Array:
    for axis, size in enumerate(sizes, x.ndim - dimensions):
        seen, _ = _shares(xp, x, axis, size)
        x = xp.max(seen, axis=axis + 1)
    return x


@operator()
def adaptive_avg_pool(*, dimensions: int = 2) -> Rule:
    """The mean of each of so many windows along the last dimensions as the sizes that follow say;
    the windows are those of `adaptive_max_pool`.

    - `dimensions`: how many spatial dimensions there are.

    >>> adaptive_avg_pool(x : f32 [n,c,7,9], [2,3])
    f32 [n,c,2,3]
    >>> adaptive_avg_pool(x : f32 [n,c,9], [4], dimensions=1)
    f32 [n,c,4]
    """
    return _adaptive(dimensions, "float")


@adaptive_avg_pool.means
def _(xp: Arrays, x: Array, sizes: Ints, dimensions: int) -> Array:
    y = wide(xp, x)
    for axis, size in enumerate(sizes, x.ndim - dimensions):
        seen, counts = _shares(xp, y, axis, size)
        inside = xp.arange(seen.shape[axis + 1])[None, :] < counts[:, None]
        upright = (1,) * (y.ndim - axis - 1)
        inside = xp.reshape(inside, (*inside.shape, *upright))
        total = xp.sum(xp.where(inside, seen, 0), axis=axis + 1)
        y = total / xp.reshape(xp.astype(counts, y.dtype), (-1, *upright))
    return xp.astype(y, x.dtype)


def _shares(xp: Arrays, x: Array, axis: int, count: int) -> tuple[Array, Array]:
    """The windows along an axis, as an axis behind it, and how many elements each has: what is
    beyond the end of one is its last element again.
    """
    size = x.shape[axis]
    numbers = xp.arange(count, dtype=xp.element("i64"))
    starts = numbers * size // max(count, 1)
    counts = ((numbers + 1) * size + count - 1) // max(count, 1) - starts
    most = min(-(-size // max(count, 1)) + (size % max(count, 1) != 0), size)
    numbered = xp.arange(most, dtype=xp.element("i64"))[None, :]
    seen = starts[:, None] + xp.minimum(numbered, counts[:, None] - 1)
    return xp.take(x, seen, axis=axis), counts
