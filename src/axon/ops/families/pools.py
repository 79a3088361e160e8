"""Pools: what becomes of each window that slides over [batch, channels, …spatial dimensions…].

The number of spatial dimensions is found as for convolutions.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from axon.ops.arrays import Array, Arrays, Pairs, wide
from axon.ops.axes import dims
from axon.ops.operator import Ints, Problem, Rule, Windowed, operator
from axon.ops.padding import Number, TrueSizes, standing
from axon.ops.sliding import (
    SAME,
    Slides,
    places,
    places_past,
    reaches,
    sides_of,
    slides_of,
)
from axon.ops.sliding_padded import begins_by_size, begun, spatial, truly_before
from axon.ops.traits import Fill, Padding, Traits


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


def _padded(fill: Fill) -> Traits:
    return Traits(padding=Padding(("n", "c"), spatial(fill), made=("~*",)))


@operator(_padded("lowest"))
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


@max_pool.padded
def _(
    xp: Arrays,
    true: TrueSizes,
    x: Array,
    window: Ints,
    stride: Ints | None,
    pad: Ints | str,
    dilation: Ints,
    ceil_mode: bool,
) -> Array:
    """With pad="same" the windows begin where the true sizes tell."""
    slides = slides_of(x.shape[2:], window, stride or window, pad, dilation, ceil_mode)
    if not begins_by_size(stride or window, pad):
        return _windows(xp, "max", x, slides, tuple((s.before, s.after + s.hang) for s in slides))
    before = truly_before(xp, slides, true.of(0)[2:], pad)
    whole = begun(xp, x, slides, before, standing(xp, x.dtype, "lowest"))
    return _windows(xp, "max", whole, slides, ((0, 0),) * len(slides))


def _windows(xp: Arrays, kind: str, x: Array, slides: Slides, pad: Pairs) -> Array:
    return xp.windows(
        kind,
        x,
        size=tuple(s.window for s in slides),
        stride=tuple(s.stride for s in slides),
        pad=pad,
        dilation=tuple(s.dilation for s in slides),
    )


@operator(_padded("zero"))
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
    none, around = ((0, 0),) * len(slides), tuple((s.before, s.after + s.hang) for s in slides)
    sizes, y = true.of(0)[2:], wide(xp, x)
    before: list[Number] = [s.before for s in slides]
    if begins_by_size(stride or window, pad):
        before, around = truly_before(xp, slides, sizes, pad), none
        y = begun(xp, y, slides, before, 0)
    total = _windows(xp, "sum", y, slides, around)
    ones = xp.ones((1, 1), dtype=total.dtype)
    wholes = [n + first + last for n, (first, last) in zip(y.shape[2:], around, strict=True)]
    for slide, size, front, length in zip(slides, sizes, before, wholes, strict=True):
        place = xp.arange(length)
        low, high = (0, slide.after) if count_pad and pad not in SAME else (front, 0)
        here = (place >= low) & (place < front + size + high)
        if count_pad and pad in SAME:
            here = xp.ones_like(here)
        ones = ones[..., None] * xp.astype(here, total.dtype)
    counts = _windows(xp, "sum", ones, slides, none)
    return xp.astype(total / xp.where(counts == 0, 1, counts), x.dtype)


@operator(_padded("zero"))
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


@lp_pool.padded
def _(
    xp: Arrays,
    true: TrueSizes,
    x: Array,
    window: Ints,
    stride: Ints | None,
    pad: Ints | str,
    dilation: Ints,
    ceil_mode: bool,
    p: int,
) -> Array:
    """A window that is padding has the norm 1: at 0 a norm has no derivative."""
    slides = slides_of(x.shape[2:], window, stride or window, pad, dilation, ceil_mode)
    around = tuple((s.before, s.after + s.hang) for s in slides)
    y = wide(xp, x)
    if begins_by_size(stride or window, pad):
        before = truly_before(xp, slides, true.of(0)[2:], pad)
        y, around = begun(xp, y, slides, before, 0), ((0, 0),) * len(slides)
    total = _windows(xp, "sum", xp.abs(y) ** p, slides, around)
    inside = true.inside(xp, total.shape)
    total = total if inside is None else xp.where(inside, total, 1)
    return xp.astype(total ** (1 / p), x.dtype)


ARGMAX = Padding(fills={"n": "anything", "c": "anything", **spatial("zero")}, made=("~*",))


@operator(Traits(padding=ARGMAX))
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
    numbers = _numbered(xp, x.shape[2:], x.shape[2:], columns)
    around = [(s.before, s.after + s.hang) for s in slides]
    values = xp.pad(wide(xp, x), [(0, 0), (0, 0), *around])
    where = _best(xp, values, xp.pad(numbers, around, constant_values=-1), slides, _counts(slides))
    return _of_channels(xp, where, x.shape)


@argmax_pool.padded
def _(
    xp: Arrays,
    true: TrueSizes,
    x: Array,
    window: Ints,
    stride: Ints | None,
    pad: Ints | str,
    dilation: Ints,
    ceil_mode: bool,
    columns: bool,
) -> Array:
    """Elements are numbered by the true sizes, and what is padding has the number -1."""
    if 0 in x.shape:
        assert argmax_pool.meaning is not None
        return argmax_pool.meaning(xp, x, window, stride, pad, dilation, ceil_mode, columns)
    slides = slides_of(x.shape[2:], window, stride or window, pad, dilation, ceil_mode)
    sizes, values = true.of(0), wide(xp, x)
    numbers = _numbered(xp, x.shape[2:], sizes[2:], columns)
    counts, around = _counts(slides), [(s.before, s.after + s.hang) for s in slides]
    if begins_by_size(stride or window, pad):
        before = truly_before(xp, slides, sizes[2:], pad)
        values = begun(xp, values, slides, before, 0)
        numbers = begun(xp, numbers, slides, before, -1)
    else:
        values = xp.pad(values, [(0, 0), (0, 0), *around])
        numbers = xp.pad(numbers, around, constant_values=-1)
    return _of_channels(xp, _best(xp, values, numbers, slides, counts), sizes)


def _numbered(xp: Arrays, shape: Sequence[int], sizes: Sequence[Number], columns: bool) -> Array:
    """The numbers of the elements of a channel of these sizes, in an array of a shape."""
    i64, behind, step = xp.element("i64"), len(shape) - 1, 1
    number, inside = xp.zeros((1,) * len(shape), dtype=i64), xp.ones((), dtype=bool)
    axes = range(len(shape)) if columns else reversed(range(len(shape)))
    for axis in axes:
        place = xp.reshape(xp.arange(shape[axis], dtype=i64), (-1, *(1,) * (behind - axis)))
        number, inside = number + place * step, inside & (place < sizes[axis])
        step = step * sizes[axis]
    return xp.broadcast_to(xp.where(inside, number, -1), tuple(shape))


def _counts(slides: Slides) -> list[int]:
    """At how many places each window is."""
    return [
        max(0, (s.size + s.before + s.after + s.hang - s.reach - 1) // s.stride + 1) for s in slides
    ]


def _best(
    xp: Arrays, values: Array, numbers: Array, slides: Slides, counts: Sequence[int]
) -> Array:
    """The number of the first of the largest elements in each window."""
    best, where = None, None
    for first in itertools.product(*(range(s.window) for s in slides)):
        seen = tuple(s.seen(n, at) for s, n, at in zip(slides, counts, first, strict=True))
        value, number = values[(..., *seen)], xp.broadcast_to(numbers[seen], tuple(counts))
        if best is None or where is None:
            best, where = value, xp.broadcast_to(number, value.shape)
            continue
        better = (number >= 0) & ((where < 0) | (value > best))
        best, where = xp.where(better, value, best), xp.where(better, number, where)
    return where


def _of_channels(xp: Arrays, where: Array, sizes: Sequence[Number]) -> Array:
    """Numbers in a channel as numbers in the whole tensor."""
    images, channels = where.shape[:2]
    i64 = xp.element("i64")
    number = xp.arange(images, dtype=i64)[:, None] * sizes[1] + xp.arange(channels, dtype=i64)
    for size in sizes[2:]:
        number = number * size
    return xp.expand_dims(number, tuple(range(2, where.ndim))) + where
