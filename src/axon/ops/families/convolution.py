"""Convolutions: [batch, channels, …spatial dimensions…].

The number of spatial dimensions is the rank's, where it is known, else it is read off the
attributes that are lists, and is two otherwise.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from axon.ops.arrays import Array, Arrays, is_integer, wide
from axon.ops.axes import dims
from axon.ops.operator import Extent, Ints, Problem, Rule, Windowed, operator
from axon.ops.padding import TrueSizes
from axon.ops.sliding import SAME, Slides, places, reaches, sides_of, slides_of, spread, spread_out
from axon.ops.sliding_padded import begins_by_size, begun, spatial, truly_before
from axon.ops.traits import Padding, Traits


def _times(groups: Extent, name: str) -> str:
    return name if groups == 1 else f"{groups}*{name}"


def _filters(name: str, arity: int, groups: Extent) -> Problem | None:
    if arity not in (2, 3):
        return Problem(f"{name} takes an input, filters and perhaps a bias; {arity} are given")
    if isinstance(groups, int) and groups < 1:
        return Problem("groups must be at least 1")
    return None


PADDED = Padding(("n", "k"), {"c": "zero", **spatial("zero")}, made=("~*",))


@operator(Traits(padding=PADDED), roles={"c": "channels", "k": "output channels"})
def conv(
    arity: int,
    *,
    stride: Ints = (1,),
    pad: Ints | str = (0,),
    dilation: Ints = (1,),
    groups: Extent = 1,
    spatial: int | None = None,
) -> Rule:
    """Slide filters over an input: `x : [n,c,h,w]`, filters `[k,c,r,s]`, perhaps a bias `[k]`.

    - `stride`: the step from one place to the next; a number, or one for each spatial dimension.
    - `pad`: zeros around the input; a number, one for each spatial dimension, or a list of all the
      beginnings and then all the ends. "same" pads so that the size is the input's over the stride,
      rounded up; "same_lower" does that with the odd one in front.
    - `dilation`: the step between the elements that a filter sees.
    - `groups`: the number of groups that the channels are cut into, each with filters of its own.

    >>> conv(x : f32 [n,c,h,w], f : f32 [k,c,r,s])
    f32 [n,k,h-r+1,w-s+1]
    >>> conv(x : f32 [8,3,224,224], f : f32 [64,3,7,7], stride=2, pad=3)
    f32 [8,64,112,112]
    >>> conv(x : f32 [8,32,100], f : f32 [32,1,3], groups=32)
    f32 [8,32,98]
    """
    if problem := _filters("conv", arity, groups):
        return problem
    sides = sides_of(spatial, stride, pad, dilation)
    if isinstance(sides, Problem):
        return sides
    c, k = _times(groups, "c"), _times(groups, "k")
    x = dims(["n", c, *(side.input for side in sides)])
    f = dims([k, "c", *(side.window for side in sides)])
    y = dims(["n", k, *(places(side) for side in sides)])
    bias = f", t [{k}]" if arity == 3 else ""
    return Windowed(f"(t {x}, t {f}{bias}) -> t {y} where t : num", reaches(sides))


@conv.means
def _(
    xp: Arrays,
    x: Array,
    f: Array,
    *bias: Array,
    stride: Ints,
    pad: Ints | str,
    dilation: Ints,
    groups: int,
) -> Array:
    slides = slides_of(x.shape[2:], f.shape[2:], stride, pad, dilation, False)
    y = xp.conv(
        x,
        f,
        stride=tuple(s.stride for s in slides),
        pad=tuple((s.before, s.after) for s in slides),
        dilation=tuple(s.dilation for s in slides),
        groups=groups,
        spread=(1,) * len(slides),
    )
    return _plus(xp, y, *bias)


def _plus(xp: Arrays, y: Array, *bias: Array) -> Array:
    """With a bias for each channel, if one is given."""
    for each in bias:
        y = y + xp.expand_dims(each, tuple(range(1, y.ndim - 1)))
    return y


@conv.padded
def _(
    xp: Arrays,
    true: TrueSizes,
    x: Array,
    f: Array,
    *bias: Array,
    stride: Ints,
    pad: Ints | str,
    dilation: Ints,
    groups: int,
) -> Array:
    """With pad="same" the windows begin where the true sizes tell."""
    assert conv.meaning is not None
    if begins_by_size(stride, pad):
        slides = slides_of(x.shape[2:], f.shape[2:], stride, pad, dilation, False)
        before = truly_before(xp, slides, true.of(0)[2:], pad)
        x, pad = begun(xp, x, slides, before, 0), (0,)
    return conv.meaning(xp, x, f, *bias, stride=stride, pad=pad, dilation=dilation, groups=groups)


@operator(Traits(padding=PADDED), roles={"c": "channels", "k": "output channels"})
def conv_transpose(
    arity: int,
    *,
    stride: Ints = (1,),
    pad: Ints | str = (0,),
    dilation: Ints = (1,),
    groups: Extent = 1,
    output_pad: Ints = (0,),
    spatial: int | None = None,
) -> Rule:
    """The transpose of a convolution, which makes an image larger: `x : [n,c,h,w]`, filters
    `[c,k,r,s]`, perhaps a bias `[k]`.

    - `stride`, `pad`, `dilation`, `groups`: those of the convolution that this is the transpose of.
    - `output_pad`: what to add at the end, to choose among the sizes that such a convolution
      rounds down to the same one.

    >>> conv_transpose(x : f32 [n,c,h,w], f : f32 [c,k,2,2], stride=2)
    f32 [n,k,2*h,2*w]
    >>> conv_transpose(x : f32 [1,16,7,7], f : f32 [16,8,3,3], stride=2, pad=1, output_pad=1)
    f32 [1,8,14,14]
    """
    if problem := _filters("conv_transpose", arity, groups):
        return problem
    sides = sides_of(spatial, stride, pad, dilation, output_pad=output_pad)
    if isinstance(sides, Problem):
        return sides
    extras = spread(output_pad, len(sides))
    for side, extra in zip(sides, extras, strict=True):
        if extra and extra >= max(side.stride, side.dilation):
            return Problem("output_pad must be less than the stride or the dilation")
    c, k = _times(groups, "c"), _times(groups, "k")
    x = dims(["n", c, *(side.input for side in sides)])
    f = dims([c, "k", *(side.window for side in sides)])
    y = dims(["n", k, *(spread_out(s, e) for s, e in zip(sides, extras, strict=True))])
    bias = f", t [{k}]" if arity == 3 else ""
    return f"(t {x}, t {f}{bias}) -> t {y} where t : num"


@conv_transpose.means
def _(
    xp: Arrays,
    x: Array,
    f: Array,
    *bias: Array,
    stride: Ints,
    pad: Ints | str,
    dilation: Ints,
    groups: int,
    output_pad: Ints,
) -> Array:
    return _transposed(xp, x, f, bias, None, stride, pad, dilation, groups, output_pad)


@conv_transpose.padded
def _(
    xp: Arrays,
    true: TrueSizes,
    x: Array,
    f: Array,
    *bias: Array,
    stride: Ints,
    pad: Ints | str,
    dilation: Ints,
    groups: int,
    output_pad: Ints,
) -> Array:
    there = true.mask(xp, 0, range(2, x.ndim))
    return _transposed(xp, x, f, bias, there, stride, pad, dilation, groups, output_pad)


def _transposed(
    xp: Arrays, x: Array, f: Array, bias: Sequence[Array], there: Array | None, *given: Any
) -> Array:
    """`there` says which elements are those of the input, if it is padded with zeros."""
    if is_integer(xp, f):
        return _plus(xp, _slid(xp, x, f, *given), *bias)
    # A filter that is slid meets zeros that are not of the input, which must not count.
    y = xp.cond(
        xp.all(xp.isfinite(f)),
        lambda: _slid(xp, x, f, *given),
        lambda: _added(xp, x, f, there, *given),
    )
    return _plus(xp, y, *bias)


def _slid(
    xp: Arrays,
    x: Array,
    f: Array,
    stride: Ints,
    pad: Ints | str,
    dilation: Ints,
    groups: int,
    output_pad: Ints,
) -> Array:
    """The turned filters, slid over the input with zeros between its elements and around."""
    count = x.ndim - 2
    channels, outputs, *window = f.shape
    turned = xp.flip(f, axis=tuple(range(2, f.ndim)))
    turned = xp.reshape(turned, (groups, channels // groups, outputs, *window))
    turned = xp.swapaxes(turned, 1, 2)
    turned = xp.reshape(turned, (groups * outputs, channels // groups, *window))
    slides, sizes = covered(x, f, stride, pad, dilation, output_pad)
    # Each element spreads a filter; of all that they cover, `before` is cut off in front.
    margins: list[tuple[int, int]] = []
    cut = [slice(None), slice(None)]
    for n, s, size in zip(x.shape[2:], slides, sizes, strict=True):
        last = (n - 1) * s.stride
        start = max(s.before - s.reach, 0)
        margins.append((max(s.reach - s.before, 0), max(s.before + size - last - 1, 0)))
        cut.append(slice(start, start + size))
    y = xp.conv(
        x,
        turned,
        stride=(1,) * count,
        pad=tuple(margins),
        dilation=tuple(s.dilation for s in slides),
        groups=groups,
        spread=tuple(s.stride for s in slides),
    )
    return y[tuple(cut)]


def _added(
    xp: Arrays,
    x: Array,
    f: Array,
    there: Array | None,
    stride: Ints,
    pad: Ints | str,
    dilation: Ints,
    groups: int,
    output_pad: Ints,
) -> Array:
    """What each element makes of the filters, added up where it falls."""
    slides, sizes = covered(x, f, stride, pad, dilation, output_pad)
    batch, channels, *places = x.shape
    outputs, window = f.shape[1], f.shape[2:]
    wholes = [
        max((n - 1) * s.stride + s.reach + 1, s.before + size)
        for n, s, size in zip(places, slides, sizes, strict=True)
    ]
    image = xp.zeros((batch, groups * outputs, *wholes), dtype=wide(xp, x).dtype)
    if 0 not in (*x.shape, *f.shape):
        filters = xp.swapaxes(wide(xp, f).reshape(groups, channels // groups, -1), 1, 2)
        made = xp.matmul(filters, wide(xp, x).reshape(batch, groups, channels // groups, -1))
        made = made.reshape(batch, groups * outputs, *window, *places)
        if there is not None:
            made = xp.where(there, made, 0)
        every = slice(None)
        for at in itertools.product(*map(range, window)):
            seen = tuple(
                slice(i * s.dilation, i * s.dilation + (n - 1) * s.stride + 1, s.stride)
                for i, n, s in zip(at, places, slides, strict=True)
            )
            image = xp.put(image, (every, every, *seen), made[(every, every, *at)], "add")
    cut = tuple(slice(s.before, s.before + n) for s, n in zip(slides, sizes, strict=True))
    return xp.astype(image[(..., *cut)], x.dtype)


def covered(
    x: Array, f: Array, stride: Ints, pad: Ints | str, dilation: Ints, output_pad: Ints
) -> tuple[Slides, list[int]]:
    """How the convolution went that this is the transpose of, and the sizes that it began with."""
    count, sizes = x.ndim - 2, x.shape[2:]
    if pad in SAME:  # the larger sizes are known, and so is the padding there
        sizes = tuple(n * step for n, step in zip(sizes, spread(stride, count), strict=True))
    slides = slides_of(sizes, f.shape[2:], stride, pad, dilation, False)
    if pad in SAME:
        return slides, list(sizes)
    return slides, [
        max((n - 1) * s.stride + s.reach + 1 + extra - s.before - s.after, 0)
        for n, s, extra in zip(x.shape[2:], slides, spread(output_pad, count), strict=True)
    ]
