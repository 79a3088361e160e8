"""Convolutions and pools: [batch, channels, …spatial dimensions…].

The number of spatial dimensions is the rank's, where it is known, else it is read off the
attributes that are lists, and is two if nothing says otherwise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

from axon.ops.arrays import Array, Arrays, Pairs, is_integer, wide
from axon.ops.axes import dims, shift
from axon.ops.operator import Extent, Ints, Problem, Rule, operator

MOST = 8
"""The most spatial dimensions."""

NAMES = {1: (["w"], ["s"]), 2: (["h", "w"], ["r", "s"]), 3: (["d", "h", "w"], ["q", "r", "s"])}


@dataclass(frozen=True, slots=True)
class Side:
    """What happens along one spatial dimension."""

    input: str
    window: str
    stride: int
    before: int
    after: int
    dilation: int
    same: bool


Sides = tuple[Side, ...]


def _sides(
    spatial: int | None,
    stride: Ints,
    pad: Ints | str,
    dilation: Ints,
    window: Ints | None = None,
    output_pad: Ints = (0,),
) -> Sides | Problem:
    """The attributes, one entry for each spatial dimension."""
    lists = {"stride": stride, "dilation": dilation, "output_pad": output_pad}
    if window is not None:
        lists = {"window": window} | lists
    for name, values in lists.items():
        least = 0 if name == "output_pad" else 1
        if any(value < least for value in values):
            return Problem(f"{name} must be at least {least}")
    padding = () if isinstance(pad, str) else pad
    if isinstance(pad, str) and pad not in ("same", "valid"):
        return Problem(f'pad is "{pad}"; as a word it can be "same" or "valid"')
    if any(size < 0 for size in padding):
        return Problem("pad must be at least 0")
    count = spatial if spatial is not None else _count(lists, padding)
    if not 1 <= count <= MOST:
        return Problem(f"there must be from 1 to {MOST} spatial dimensions, not {count}")
    for name, values in lists.items():
        if len(values) not in (1, count):
            return Problem(
                f"{name} has {len(values)} entries, but there are {count} spatial dimensions"
            )
    if not isinstance(pad, str) and len(pad) not in (1, count, 2 * count):
        return Problem(
            f"pad has {len(pad)} entries, but there are {count} spatial dimensions; "
            f"give one number, {count}, or {2 * count}: all the beginnings, then all the ends"
        )
    inputs, windows = NAMES.get(
        count, ([f"x{i}" for i in range(count)], [f"r{i}" for i in range(count)])
    )
    if window is not None:
        windows = [str(size) for size in _spread(window, count)]
    flat = _spread(padding or (0,), count)
    begins, ends = flat[:count], flat[-count:]
    strides, dilations = _spread(stride, count), _spread(dilation, count)
    return tuple(
        Side(
            inputs[i], windows[i], strides[i], begins[i], ends[i], dilations[i], same=pad == "same"
        )
        for i in range(count)
    )


def _spread(values: Ints, count: int) -> Ints:
    return values * count if len(values) == 1 else values


def _count(lists: dict[str, Ints], pad: Ints) -> int:
    """How many spatial dimensions the lists speak of."""
    for values in lists.values():
        if len(values) > 1:
            return len(values)
    if len(pad) > 3 and len(pad) % 2 == 0:
        return len(pad) // 2
    return len(pad) if len(pad) > 1 else 2


# --- sizes -----------------------------------------------------------------------------------


def _reach(side: Side, extra: int = 0) -> str:
    """The input with its padding less the window, `h + p - (dilation*(r-1) + 1)`: how far the
    window can slide."""
    constant = side.before + side.after + extra
    if side.window.isdigit():
        return shift(side.input, constant - side.dilation * (int(side.window) - 1) - 1)
    window = side.window if side.dilation == 1 else f"{side.dilation}*{side.window}"
    return shift(f"{side.input}-{window}", constant + side.dilation - 1)


def _slide(side: Side) -> str:
    """How many places a window has: `reach / stride + 1`; with pad="same", the input over the
    stride, rounded up."""
    if side.same:
        up = shift(side.input, side.stride - 1)
        return up if side.stride == 1 else f"({up})/{side.stride}"
    return _reach(side, 1) if side.stride == 1 else f"({_reach(side)})/{side.stride}+1"


def _slide_past(side: Side) -> str:
    """The same with `ceil_mode`: a last window may hang over the end if it begins inside the
    input."""
    if side.same or side.stride == 1:
        return _slide(side)
    places = f"({_reach(side, side.stride - 1)})/{side.stride}+1"
    window = side.dilation * (int(side.window) - 1) + 1
    if window - side.after >= side.stride:
        return places
    return f"min({places},({shift(side.input, side.before - 1)})/{side.stride}+1)"


def _spread_out(side: Side, extra: int) -> str:
    """The size that a convolution would bring down to the input: `(h-1)*stride - pad +
    dilation*(r-1) + extra + 1`."""
    if side.same:
        return side.input if side.stride == 1 else f"{side.stride}*{side.input}"
    size = side.input if side.stride == 1 else f"{side.stride}*{side.input}"
    window = side.window if side.dilation == 1 else f"{side.dilation}*{side.window}"
    constant = 1 + extra - side.stride - side.before - side.after - side.dilation
    return shift(f"{size}+{window}", constant)


def _times(groups: Extent, name: str) -> str:
    return name if groups == 1 else f"{groups}*{name}"


def _filters(name: str, arity: int, groups: Extent) -> Problem | None:
    if arity not in (2, 3):
        return Problem(f"{name} takes an input, filters and perhaps a bias; {arity} are given")
    if isinstance(groups, int) and groups < 1:
        return Problem("groups must be at least 1")
    return None


# --- sizes that are numbers ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Slide:
    """How a window goes along one spatial dimension; the last may hang over the end by so much."""

    size: int
    window: int
    stride: int
    dilation: int
    before: int
    after: int
    hang: int

    @property
    def reach(self) -> int:
        """From the first element that the window sees to the last."""
        return self.dilation * (self.window - 1)


Slides = tuple[Slide, ...]


def _slides(
    sizes: Ints, window: Ints, stride: Ints, pad: Ints | str, dilation: Ints, ceil_mode: bool
) -> Slides:
    """The attributes, one entry for each spatial dimension; pad="same" puts the odd one behind."""
    count = len(sizes)
    steps, flat = _spread(stride, count), _spread((0,) if isinstance(pad, str) else pad, count)
    slides: list[Slide] = []
    for i, (size, step) in enumerate(zip(sizes, steps, strict=True)):
        seen, gap = _spread(window, count)[i], _spread(dilation, count)[i]
        before, after, hang = flat[:count][i], flat[-count:][i], 0
        extent = gap * (seen - 1) + 1
        if pad == "same":
            total = max(((size - 1) // step) * step + extent - size, 0)
            before, after = total // 2, total - total // 2
        elif ceil_mode:
            room = size + before + after - extent
            last = min(-(-room // step), (size + before - 1) // step)
            hang = max(last * step - room, 0)
        slides.append(Slide(size, seen, step, gap, before, after, hang))
    return tuple(slides)


# --- convolutions ----------------------------------------------------------------------------


@operator(roles={"c": "channels", "k": "output channels"})
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
      rounded up.
    - `dilation`: the step between the elements that a filter sees.
    - `groups`: cut the channels into so many groups, each with filters of its own.

    >>> conv(x : f32 [n,c,h,w], f : f32 [k,c,r,s])
    f32 [n,k,h-r+1,w-s+1]
    >>> conv(x : f32 [8,3,224,224], f : f32 [64,3,7,7], stride=2, pad=3)
    f32 [8,64,112,112]
    >>> conv(x : f32 [8,32,100], f : f32 [32,1,3], groups=32)
    f32 [8,32,98]
    """
    if problem := _filters("conv", arity, groups):
        return problem
    sides = _sides(spatial, stride, pad, dilation)
    if isinstance(sides, Problem):
        return sides
    c, k = _times(groups, "c"), _times(groups, "k")
    x = dims(["n", c, *(side.input for side in sides)])
    f = dims([k, "c", *(side.window for side in sides)])
    y = dims(["n", k, *(_slide(side) for side in sides)])
    bias = f", t [{k}]" if arity == 3 else ""
    return f"(t {x}, t {f}{bias}) -> t {y} where t : num"


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
    slides = _slides(x.shape[2:], f.shape[2:], stride, pad, dilation, False)
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


@operator(roles={"c": "channels", "k": "output channels"})
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
    - `output_pad`: what to add at the end, to choose among the sizes that such a convolution rounds
      down alike.

    >>> conv_transpose(x : f32 [n,c,h,w], f : f32 [c,k,2,2], stride=2)
    f32 [n,k,2*h,2*w]
    >>> conv_transpose(x : f32 [1,16,7,7], f : f32 [16,8,3,3], stride=2, pad=1, output_pad=1)
    f32 [1,8,14,14]
    """
    if problem := _filters("conv_transpose", arity, groups):
        return problem
    sides = _sides(spatial, stride, pad, dilation, output_pad=output_pad)
    if isinstance(sides, Problem):
        return sides
    extras = _spread(output_pad, len(sides))
    for side, extra in zip(sides, extras, strict=True):
        if extra and extra >= max(side.stride, side.dilation):
            return Problem("output_pad must be less than the stride or the dilation")
    c, k = _times(groups, "c"), _times(groups, "k")
    x = dims(["n", c, *(side.input for side in sides)])
    f = dims([c, "k", *(side.window for side in sides)])
    y = dims(["n", k, *(_spread_out(s, e) for s, e in zip(sides, extras, strict=True))])
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
    count = x.ndim - 2
    channels, outputs, *window = f.shape
    turned = xp.flip(f, axis=tuple(range(2, f.ndim)))
    turned = xp.reshape(turned, (groups, channels // groups, outputs, *window))
    turned = xp.swapaxes(turned, 1, 2)
    turned = xp.reshape(turned, (groups * outputs, channels // groups, *window))
    sizes = x.shape[2:]
    if pad == "same":  # the larger sizes are known, and so is the padding there
        sizes = tuple(n * step for n, step in zip(sizes, _spread(stride, count), strict=True))
    slides = _slides(sizes, f.shape[2:], stride, pad, dilation, False)
    # Each element spreads a filter; of all that they cover, `before` is cut off in front.
    margins: list[tuple[int, int]] = []
    cut = [slice(None), slice(None)]
    for n, s, extra in zip(x.shape[2:], slides, _spread(output_pad, count), strict=True):
        last = (n - 1) * s.stride
        covered = last + s.reach + 1 + extra - s.before - s.after
        size = s.size if pad == "same" else max(covered, 0)
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
    return _plus(xp, y[tuple(cut)], *bias)


# --- pools -----------------------------------------------------------------------------------


def _pool(
    window: Ints,
    stride: Ints | None,
    pad: Ints | str,
    dilation: Ints,
    ceil_mode: bool,
    spatial: int | None,
    where: str,
) -> Rule:
    sides = _sides(spatial, window if stride is None else stride, pad, dilation, window)
    if isinstance(sides, Problem):
        return sides
    for side in sides:
        reach = side.dilation * (int(side.window) - 1)
        if side.before > reach or side.after > reach:
            return Problem("pad must be less than the window: each must see some input")
    x = dims(["n", "c", *(side.input for side in sides)])
    slide = _slide_past if ceil_mode else _slide
    y = dims(["n", "c", *(slide(side) for side in sides)])
    return f"t {x} -> t {y} where t : {where}"


@operator()
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
    slides = _slides(x.shape[2:], window, stride or window, pad, dilation, ceil_mode)
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


@operator()
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
    slides = _slides(x.shape[2:], window, stride or window, pad, dilation, ceil_mode)
    around = tuple((s.before, s.after + s.hang) for s in slides)
    total = _windows(xp, "sum", wide(x), slides, around)
    sizes = x.shape[2:]
    if count_pad:  # but never what hangs over
        sizes = tuple(s.before + s.size + s.after for s in slides)
        around = tuple((0, s.hang) for s in slides)
    ones = xp.ones((1, 1, *sizes), dtype=total.dtype)
    return (total / _windows(xp, "sum", ones, slides, around)).astype(x.dtype, copy=False)


def _global_pool(keep: bool, spatial: int | None, where: str) -> Rule:
    if not keep:
        return f"t [n,c]@s -> t [n,c] where t : {where}"
    sides = _sides(spatial, (1,), (0,), (1,))
    if isinstance(sides, Problem):
        return sides
    x = dims(["n", "c", *(side.input for side in sides)])
    return f"t {x} -> t {dims(['n', 'c', *('1' for _ in sides)])} where t : {where}"


@operator()
def global_max_pool(*, keep: bool = False, spatial: int | None = None) -> Rule:
    """The largest element of each channel.

    - `keep`: leave the spatial dimensions there with size 1.

    >>> global_max_pool(x : f32 [n,c,h,w])
    f32 [n,c]
    """
    return _global_pool(keep, spatial, "num")


@global_max_pool.means
def _(xp: Arrays, x: Array, keep: bool) -> Array:
    least = xp.asarray(xp.iinfo(x.dtype).min if is_integer(x) else -math.inf, dtype=x.dtype)
    return xp.max(x, axis=tuple(range(2, x.ndim)), keepdims=keep, initial=least)


@operator()
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
    total = xp.sum(wide(x), axis=tuple(range(2, x.ndim)), keepdims=keep)
    return (total / math.prod(x.shape[2:])).astype(x.dtype, copy=False)


@operator()
def upsample(*, scale: Ints, mode: str = "nearest", spatial: int | None = None) -> Rule:
    """Make the spatial dimensions of `[n,c,h,w]` larger by whole factors.

    - `scale`: the factor; a number, or one for each spatial dimension.
    - `mode`: "nearest" or "linear".

    >>> upsample(x : f32 [n,c,h,w], scale=2)
    f32 [n,c,2*h,2*w]
    """
    if mode not in ("nearest", "linear"):
        return Problem(f'mode is "{mode}"; it can be "nearest" or "linear"')
    sides = _sides(spatial, scale, (0,), (1,))
    if isinstance(sides, Problem):
        return Problem(sides.text.replace("stride", "scale"))
    x = dims(["n", "c", *(side.input for side in sides)])
    y = dims(["n", "c", *(f"{side.stride}*{side.input}" for side in sides)])
    return f"t {x} -> t {y} where t : float"


@upsample.means
def _(xp: Arrays, x: Array, scale: Ints, mode: str) -> Array:
    longer = xp.repeat if mode == "nearest" else partial(_between, xp)
    y = wide(x)
    for axis, factor in enumerate(_spread(scale, x.ndim - 2), 2):
        if factor > 1:
            y = longer(y, factor, axis=axis)
    return y.astype(x.dtype, copy=False)


def _between(xp: Arrays, x: Array, factor: int, axis: int) -> Array:
    """Elements between those along an axis. Each stands in the middle of what becomes of it; before
    the first and behind the last nothing changes.
    """
    size = x.shape[axis]
    place = 2 * xp.arange(size * factor) + 1 - factor  # counted in steps of 1 / (2 * factor)
    left, rest = place // (2 * factor), place % (2 * factor)
    share = xp.expand_dims(
        (rest / (2 * factor)).astype(x.dtype, copy=False), tuple(range(1, x.ndim - axis))
    )
    before = xp.take(x, xp.clip(left, 0, size - 1), axis=axis)
    after = xp.take(x, xp.clip(left + 1, 0, size - 1), axis=axis)
    return before * (1 - share) + after * share
