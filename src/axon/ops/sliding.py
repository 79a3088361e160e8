"""Sliding windows over spatial dimensions, shared by convolutions and pools.

The number of spatial dimensions follows from the rank, where it is known, else from the attributes
that are lists; the default is two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from axon.ops.axes import shift
from axon.ops.operator import Ints, Problem

T = TypeVar("T")

MOST = 8
"""The most spatial dimensions."""

SAME = ("same", "same_lower")
"""The words for a padding that makes the size the input's over the stride, rounded up."""

NAMES = {1: (["w"], ["s"]), 2: (["h", "w"], ["r", "s"]), 3: (["d", "h", "w"], ["q", "r", "s"])}


@dataclass(frozen=True, slots=True)
class Side:
    """The parameters of one spatial dimension."""

    input: str
    window: str
    stride: int
    before: int
    after: int
    dilation: int
    same: bool


Sides = tuple[Side, ...]


def sides_of(
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
    if isinstance(pad, str) and pad not in ("same", "same_lower", "valid"):
        return Problem(f'pad is "{pad}"; as a word it can be "same", "same_lower" or "valid"')
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
        windows = [str(size) for size in spread(window, count)]
    flat = spread(padding or (0,), count)
    begins, ends = flat[:count], flat[-count:]
    strides, dilations = spread(stride, count), spread(dilation, count)
    return tuple(
        Side(inputs[i], windows[i], strides[i], begins[i], ends[i], dilations[i], same=pad in SAME)
        for i in range(count)
    )


def spread(values: tuple[T, ...], count: int) -> tuple[T, ...]:
    """One entry for each dimension; a single one is for all of them."""
    return values * count if len(values) == 1 else values


def _count(lists: dict[str, Ints], pad: Ints) -> int:
    """The number of spatial dimensions that the lists imply."""
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


def reaches(sides: Sides, ceil_mode: bool = False) -> tuple[str, ...]:
    """How far each window can slide. With pad="same" the padding makes it fit; with `ceil_mode` it
    may hang over the end.
    """
    return tuple(
        _reach(side, side.stride - 1 if ceil_mode else 0) for side in sides if not side.same
    )


def places(side: Side) -> str:
    """How many places a window has: `reach / stride + 1`; with pad="same", the input over the
    stride, rounded up."""
    if side.same:
        up = shift(side.input, side.stride - 1)
        return up if side.stride == 1 else f"({up})/{side.stride}"
    return _reach(side, 1) if side.stride == 1 else f"({_reach(side)})/{side.stride}+1"


def places_past(side: Side) -> str:
    """The same with `ceil_mode`: a last window may hang over the end if it begins inside the
    input."""
    if side.same or side.stride == 1:
        return places(side)
    most = f"({_reach(side, side.stride - 1)})/{side.stride}+1"
    window = side.dilation * (int(side.window) - 1) + 1
    if window - side.after >= side.stride:
        return most
    return f"min({most},({shift(side.input, side.before - 1)})/{side.stride}+1)"


def spread_out(side: Side, extra: int) -> str:
    """The size that a convolution would bring down to the input: `(h-1)*stride - pad +
    dilation*(r-1) + extra + 1`."""
    if side.same:
        return side.input if side.stride == 1 else f"{side.stride}*{side.input}"
    size = side.input if side.stride == 1 else f"{side.stride}*{side.input}"
    window = side.window if side.dilation == 1 else f"{side.dilation}*{side.window}"
    constant = 1 + extra - side.stride - side.before - side.after - side.dilation
    return shift(f"{size}+{window}", constant)


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

    def seen(self, count: int, at: int) -> slice:
        """What the element of that number in the window sees at so many places."""
        first = at * self.dilation
        return slice(first, first + max(count - 1, -1) * self.stride + 1, self.stride)


Slides = tuple[Slide, ...]


def slides_of(
    sizes: Ints, window: Ints, stride: Ints, pad: Ints | str, dilation: Ints, ceil_mode: bool
) -> Slides:
    """The attributes, one entry for each spatial dimension; pad="same" puts the odd one behind,
    "same_lower" in front."""
    count = len(sizes)
    steps, flat = spread(stride, count), spread((0,) if isinstance(pad, str) else pad, count)
    slides: list[Slide] = []
    for i, (size, step) in enumerate(zip(sizes, steps, strict=True)):
        seen, gap = spread(window, count)[i], spread(dilation, count)[i]
        before, after, hang = flat[:count][i], flat[-count:][i], 0
        extent = gap * (seen - 1) + 1
        if pad in SAME:
            total = ((size - 1) // step) * step + extent - size
            total = max(total, 0) if seen else total  # nothing is seen at as many places
            before = total // 2 if pad == "same" else total - total // 2
            after = total - before
        elif ceil_mode:
            reach = size + before + after - extent
            last = min(-(-reach // step), (size + before - 1) // step)
            hang = max(last * step - reach, 0)
        slides.append(Slide(size, seen, step, gap, before, after, hang))
    return tuple(slides)
