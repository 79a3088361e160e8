"""Interpolation between the elements of a tensor, along one axis after another."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from axon.ops.arrays import Array, Arrays, to_integers, wide
from axon.ops.memory import Refused
from axon.ops.operator import Ints
from axon.ops.padding import Number

MOST_TAPS = 1 << 16
"""The most elements of the input that one of the result is made of."""


@dataclass(frozen=True, slots=True)
class Way:
    """How a new element is computed from its neighbours."""

    mode: str
    coordinates: str
    rounding: str
    cubic: float
    antialias: bool
    exclude_outside: bool
    outside: float


def rounded_down(sizes: list[int], factors: list[float]) -> list[int]:
    """Each size times its factor, the product being an f32."""
    for factor in factors:
        if not 0 < factor < math.inf:
            raise Refused(f"a size cannot become {factor:g} times as large")
    products = [single(n * factor) for n, factor in zip(sizes, factors, strict=True)]
    if math.inf in products:
        raise Refused("a size would become larger than an f32 can be")
    return [int(product) for product in products]


def single(x: float) -> float:
    """A number rounded to f32."""
    try:
        found: float = struct.unpack("f", struct.pack("f", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)
    return found


def resized(
    xp: Arrays,
    x: Array,
    axes: Ints,
    sizes: list[int],
    scales: Sequence[Number],
    region: Array | None,
    way: Way,
    true: Sequence[tuple[Number, Number]] = (),
) -> Array:
    """Resize some axes. Where they are padded, `true` has the sizes that they truly have, and get;
    their scales may be known only when the program runs.
    """
    y = (
        x
        if way.mode == "nearest"
        else wide(xp, x)
        if xp.kind(x.dtype) not in "iub"
        else xp.astype(x, xp.element("f32"))
    )
    for i, axis in enumerate(axes):
        between = None if region is None else (region[i], region[i + len(axes)])
        known = true[i] if true else None
        y = _along(xp, y, axis % x.ndim, sizes[i], scales[i], between, way, known)
    return xp.astype(y, x.dtype)


def _along(
    xp: Arrays,
    x: Array,
    axis: int,
    size: int,
    scale: Number,
    region: tuple[Array, Array] | None,
    way: Way,
    true: tuple[Number, Number] | None,
) -> Array:
    """Resize one axis."""
    if 0 in (x.shape[axis], size):
        return xp.zeros((*x.shape[:axis], size, *x.shape[axis + 1 :]), dtype=x.dtype)
    length, made = true or (x.shape[axis], size)
    number, known = xp.arange(size, dtype=xp.element("f64")), true is not None
    where = _places(xp, number, made, length, scale, region, way.coordinates, known)
    if way.mode == "nearest":
        y = xp.take(x, xp.clip(_round(xp, where, way.rounding), 0, length - 1), axis=axis)
    else:
        y = _blend(xp, x, axis, where, scale, way, length)
    if region is None:
        return y
    inside = _upright(xp, (where >= 0) & (where <= length - 1), axis, x.ndim)
    return xp.where(inside, y, xp.asarray(way.outside, dtype=y.dtype))


def _places(
    xp: Arrays,
    number: Array,
    size: Number,
    length: Number,
    scale: Number,
    region: tuple[Array, Array] | None,
    coordinates: str,
    known: bool,
) -> Array:
    """The positions of the result's elements among those of the input. `known`: the sizes are, but
    only when the program runs.
    """
    wanted = scale * length
    alone = wanted == 1 if known else bool(wanted == 1)

    def either(one: Any, other: Callable[[Any], Any]) -> Any:
        """The one where a single element is expected."""
        if not known:
            return one if alone else other(wanted)
        return xp.where(alone, one, other(xp.where(alone, 2, wanted)))

    step = either(0.0, lambda wanted: (length - 1) / (wanted - 1))
    if region is not None:
        begin, end = (xp.astype(bound, number.dtype) for bound in region)
        first = either((number * 0 + 1) * (length - 1) / 2, lambda _: number * step)
        return first * (end - begin) + begin * (length - 1)
    match coordinates:
        case "align_corners":
            return number * step
        case "asymmetric":
            return number / scale
        case "pytorch_half_pixel":
            return either(number * 0 - 0.5, lambda _: (number + 0.5) / scale - 0.5)
        case "tf_half_pixel":
            return (number + 0.5) / scale
        case "half_pixel_symmetric":
            return (length - size / scale) / 2 + (number + 0.5) / scale - 0.5
        case _:
            return (number + 0.5) / scale - 0.5


def _round(xp: Arrays, where: Array, rounding: str) -> Array:
    match rounding:
        case "floor":
            rounded = xp.floor(where)
        case "ceil":
            rounded = xp.ceil(where)
        case "prefer_ceil":
            rounded = xp.floor(where + 0.5)
        case _:
            rounded = xp.ceil(where - 0.5)
    return to_integers(xp, rounded, xp.element("i64"))


def _blend(
    xp: Arrays, x: Array, axis: int, where: Array, scale: Number, way: Way, length: Number
) -> Array:
    """The elements around each position, weighted by their distance."""
    support = 1 if way.mode == "linear" else 2
    shrunk = min(scale, 1.0) if way.antialias else 1.0
    shrunk = max(shrunk, support / MOST_TAPS)
    first = math.floor(-support / shrunk) + 1
    left = xp.ceil(where) - 1
    taps = range(first, 2 - first)
    weights = [_weight(xp, abs(shrunk * (tap - (where - left))), way) for tap in taps]
    if way.exclude_outside:
        weights = [
            xp.where((left + tap >= 0) & (left + tap < length), weight, 0)
            for tap, weight in zip(taps, weights, strict=True)
        ]
    total = sum(weights)
    total = xp.where(total == 0, 1, total)
    y = xp.zeros((), dtype=x.dtype)
    for tap, weight in zip(taps, weights, strict=True):
        number = to_integers(xp, xp.clip(left + tap, 0, length - 1), xp.element("i64"))
        share = _upright(xp, xp.astype(weight / total, x.dtype), axis, x.ndim)
        y = y + xp.take(x, number, axis=axis) * share
    return y


def _upright(xp: Arrays, x: Array, axis: int, rank: int) -> Array:
    """A vector along an axis, so that it broadcasts."""
    return xp.reshape(x, (-1, *(1,) * (rank - axis - 1)))


def _weight(xp: Arrays, distance: Array, way: Way) -> Array:
    if way.mode == "linear":
        return xp.clip(1 - distance, 0, 1)
    return cubic_curve(xp, distance, way.cubic)


def cubic_curve(xp: Arrays, distance: Array, a: float = -0.75) -> Array:
    """Keys' cubic convolution: 1 at 0, 0 at 1, and 0 from 2 on."""
    square = distance * distance
    near = (a + 2) * distance * square - (a + 3) * square + 1
    far = a * distance * square - 5 * a * square + 8 * a * distance - 4 * a
    return xp.where(distance <= 1, near, xp.where(distance < 2, far, 0))
