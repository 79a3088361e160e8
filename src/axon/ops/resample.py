"""Images of another size: elements between the elements, along one axis after another.

Every element of the result has a place among those of the input, a float; `coordinates` says how it
is found, and `mode` what stands there.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from fractions import Fraction

from axon.ops.arrays import Array, Arrays, wide
from axon.ops.axes import bad_axes, dims, place
from axon.ops.operator import Floats, Ints, Problem, Rule, operator
from axon.ops.sliding import sides_of, spread


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
    sides = sides_of(spatial, scale, (0,), (1,))
    if isinstance(sides, Problem):
        return Problem(sides.text.replace("stride", "scale"))
    x = dims(["n", "c", *(side.input for side in sides)])
    y = dims(["n", "c", *(f"{side.stride}*{side.input}" for side in sides)])
    return f"t {x} -> t {y} where t : float"


@upsample.means
def _(xp: Arrays, x: Array, scale: Ints, mode: str) -> Array:
    factors = spread(scale, x.ndim - 2)
    if mode == "nearest":
        for axis, factor in enumerate(factors, 2):
            x = xp.repeat(x, factor, axis=axis)
        return x
    axes = tuple(range(2, x.ndim))
    sizes = [x.shape[axis] * factor for axis, factor in zip(axes, factors, strict=True)]
    way = _Way(mode, "half_pixel", "prefer_floor", -0.75, False, False, 0.0)
    return _resize(xp, x, axes, sizes, [float(factor) for factor in factors], None, way)


# --- resize ----------------------------------------------------------------------------------

WORDS = {
    "mode": ("nearest", "linear", "cubic"),
    "coordinates": (
        "half_pixel",
        "half_pixel_symmetric",
        "pytorch_half_pixel",
        "tf_half_pixel",
        "align_corners",
        "asymmetric",
        "crop",
    ),
    "rounding": ("prefer_floor", "prefer_ceil", "floor", "ceil"),
    "aspect": ("stretch", "not_larger", "not_smaller"),
}

WHOLE = 1 << 10
"""The largest denominator of a scale whose product with a size is exact in every precision."""

LARGEST = 1e30
"""The largest scale."""

MOST_TAPS = 1 << 16
"""The most elements of the input that one of the result is made of."""


@dataclass(frozen=True, slots=True)
class _Way:
    """How an element is made of those around its place."""

    mode: str
    coordinates: str
    rounding: str
    cubic: float
    antialias: bool
    exclude_outside: bool
    outside: float


def _problem(axis: Ints, words: dict[str, str]) -> Problem | None:
    if problem := bad_axes(axis):
        return problem
    if not axis:
        return Problem("axis is an empty list: name the axes that get another size")
    for name, word in words.items():
        if word not in WORDS[name]:
            options = ", ".join(f'"{option}"' for option in WORDS[name])
            return Problem(f'{name} is "{word}"; it can be {options}')
    return None


def scaled(size: str, scale: float) -> str | None:
    """The size times a scale, rounded down, if no rounding of floats can tell otherwise."""
    if not 0 < scale < WHOLE:
        return None
    exact = Fraction(scale)
    if exact.denominator > WHOLE:
        return None
    times = size if exact.numerator == 1 else f"{exact.numerator}*{size}"
    return times if exact.denominator == 1 else f"{times}/{exact.denominator}"


@operator()
def resize(
    arity: int,
    *,
    scale: Floats | None = None,
    axis: Ints = (-2, -1),
    mode: str = "nearest",
    coordinates: str = "half_pixel",
    rounding: str = "prefer_floor",
    cubic: float = -0.75,
    antialias: bool = False,
    exclude_outside: bool = False,
    aspect: str = "stretch",
    outside: float = 0.0,
) -> Rule:
    """Give some axes another size: the sizes follow as a list, or `scale` says how many times as
    large they become, rounded down. A scale that floats do not have exactly makes a size that is
    known at run time.

    - `scale`: a factor, or one for each axis.
    - `axis`: which axes; the two innermost if not given. Negative axes count from the back.
    - `mode`: "nearest", "linear" or "cubic".
    - `coordinates`: where an element of the result stands among those of the input: "half_pixel"
      (elements are squares, and the whole is stretched), "align_corners" (the first stays the
      first, and the last the last), "asymmetric" (the first stays the first),
      "half_pixel_symmetric", "pytorch_half_pixel", "tf_half_pixel"; or "crop": inside a region,
      which comes as the last argument, all the beginnings and then all the ends, from 0 to 1.
    - `rounding`: for "nearest": "prefer_floor", "prefer_ceil", "floor" or "ceil".
    - `cubic`: the coefficient of the cubic curve.
    - `antialias`: when the size becomes smaller, let all elements count that lie between.
    - `exclude_outside`: leave out what lies outside of the input; else the edge stands for it.
    - `aspect`: with sizes: "stretch", or "not_larger" and "not_smaller" to have one scale for all
      axes, such that no size, or every size, is at least what was asked for.
    - `outside`: with "crop", the value of what is not in the input.

    >>> resize(x : f32 [n,c,h,w], [8,2*w], mode="linear")
    f32 [n,c,8,2*w]
    >>> resize(x : f32 [n,c,h,w], scale=[2,0.5])
    f32 [n,c,2*h,w/2]
    >>> resize(x : f32 [n,c,h,w], scale=0.3)
    f32 [n,c,?a,?b]
    """
    words = {"mode": mode, "coordinates": coordinates, "rounding": rounding, "aspect": aspect}
    if problem := _problem(axis, words):
        return problem
    expected = 1 + (scale is None) + (coordinates == "crop")
    if arity != expected:
        return Problem(
            "resize takes a tensor, then the sizes as a list, or scale=… instead, and with "
            f'coordinates="crop" a region; {arity} are given'
        )
    count = len(axis)
    names = [f"x{i}" for i in range(1, count + 1)]
    params = [f"t {place(axis, names)}"]
    if scale is None:
        sizes = [f"y{i}" for i in range(1, count + 1)]
        params.append(f"shape {dims(sizes)}")
        if aspect != "stretch":
            sizes = [f"?z{i}" for i in range(1, count + 1)]
    elif len(scale) not in (1, count):
        return Problem(f"scale has {len(scale)} entries, but there are {count} axes")
    elif not all(0 < factor < LARGEST for factor in scale):
        return Problem("scale must be greater than 0, and not without end")
    else:
        factors = scale * count if len(scale) == 1 else scale
        sizes = [
            scaled(name, factor) or f"?y{i}"
            for i, (name, factor) in enumerate(zip(names, factors, strict=True))
        ]
    where = ""
    if coordinates == "crop":
        params.append(f"u [{2 * count}]")
        where = " where u : float"
    return f"({', '.join(params)}) -> t {place(axis, sizes)}{where}"


@resize.means
def _(
    xp: Arrays,
    x: Array,
    *rest: Array,
    scale: Floats | None,
    axis: Ints,
    aspect: str,
    **how: str | float | bool,
) -> Array:
    way = _Way(**how)  # type: ignore[arg-type]
    region = rest[-1] if way.coordinates == "crop" else None
    before = [x.shape[i] for i in axis]
    if scale is not None:
        factors = [_single(factor) for factor in spread(scale, len(axis))]
        return _resize(xp, x, axis, _rounded_down(before, factors), factors, region, way)
    sizes = list(rest[0])
    factors = [m / n if n else 1.0 for m, n in zip(sizes, before, strict=True)]
    if aspect != "stretch":
        one = min(factors) if aspect == "not_larger" else max(factors)
        factors = [one] * len(axis)
        sizes = [int(one * n + 0.5) for n in before]
    return _resize(xp, x, axis, sizes, factors, region, way)


@operator()
def rescale(
    arity: int,
    *,
    axis: Ints = (-2, -1),
    mode: str = "nearest",
    coordinates: str = "half_pixel",
    rounding: str = "prefer_floor",
    cubic: float = -0.75,
    antialias: bool = False,
    exclude_outside: bool = False,
    outside: float = 0.0,
) -> Rule:
    """Make some axes so many times as large, rounded down, as a tensor tells: `resize` with scales
    that only the run knows.

    - `axis`, `mode`, `coordinates`, `rounding`, `cubic`, `antialias`, `exclude_outside`, `outside`:
      as for `resize`.

    >>> rescale(x : f32 [n,c,h,w], scales : f32 [2])
    f32 [n,c,?a,?b]
    """
    words = {"mode": mode, "coordinates": coordinates, "rounding": rounding}
    if problem := _problem(axis, words):
        return problem
    crop = coordinates == "crop"
    if arity != 2 + crop:
        return Problem(
            'rescale takes a tensor and the scales, and with coordinates="crop" a region; '
            f"{arity} are given"
        )
    count = len(axis)
    before = place(axis, [f"x{i}" for i in range(1, count + 1)])
    after = place(axis, [f"?y{i}" for i in range(1, count + 1)])
    region = f", u [{2 * count}]" if crop else ""
    return f"(t {before}, u [{count}]{region}) -> t {after} where u : float"


@rescale.means
def _(
    xp: Arrays,
    x: Array,
    scales: Array,
    *region: Array,
    axis: Ints,
    **how: str | float | bool,
) -> Array:
    factors = [float(scale) for scale in scales]
    sizes = _rounded_down([x.shape[i] for i in axis], factors)
    way = _Way(**how)  # type: ignore[arg-type]
    return _resize(xp, x, axis, sizes, factors, region[0] if region else None, way)


def _rounded_down(sizes: list[int], factors: list[float]) -> list[int]:
    """Each size times its factor, the product being an f32."""
    return [max(int(_single(n * factor)), 0) for n, factor in zip(sizes, factors, strict=True)]


def _single(x: float) -> float:
    """What f32 makes of a number."""
    found: float = struct.unpack("f", struct.pack("f", x))[0]
    return found


def _resize(
    xp: Arrays,
    x: Array,
    axes: Ints,
    sizes: list[int],
    scales: list[float],
    region: Array | None,
    way: _Way,
) -> Array:
    y = x if way.mode == "nearest" else wide(x) if x.dtype.kind not in "iub" else x.astype("f4")
    for i, axis in enumerate(axes):
        between = None if region is None else (region[i], region[i + len(axes)])
        y = _along(xp, y, axis % x.ndim, sizes[i], scales[i], between, way)
    return y.astype(x.dtype, copy=False)


def _along(
    xp: Arrays,
    x: Array,
    axis: int,
    size: int,
    scale: float,
    region: tuple[Array, Array] | None,
    way: _Way,
) -> Array:
    """Another size for one axis."""
    length = x.shape[axis]
    if 0 in (length, size):
        return xp.zeros((*x.shape[:axis], size, *x.shape[axis + 1 :]), dtype=x.dtype)
    where = _places(xp, size, length, scale, region, way.coordinates)
    if way.mode == "nearest":
        y = xp.take(x, xp.clip(_round(xp, where, way.rounding), 0, length - 1), axis=axis)
    else:
        y = _blend(xp, x, axis, where, scale, way)
    if region is None:
        return y
    inside = _upright(xp, (where >= 0) & (where <= length - 1), axis, x.ndim)
    return xp.where(inside, y, xp.asarray(way.outside, dtype=y.dtype))


def _places(
    xp: Arrays,
    size: int,
    length: int,
    scale: float,
    region: tuple[Array, Array] | None,
    coordinates: str,
) -> Array:
    """Where the elements of the result stand among those of the input."""
    number = xp.arange(size, dtype=xp.element("f64"))
    wanted = scale * length
    step = (length - 1) / (wanted - 1) if wanted != 1 else 0.0
    if region is not None:
        begin, end = (bound.astype(number.dtype) for bound in region)
        first = number * step if wanted != 1 else (number * 0 + 1) * (length - 1) / 2
        return first * (end - begin) + begin * (length - 1)
    match coordinates:
        case "align_corners":
            return number * step
        case "asymmetric":
            return number / scale
        case "pytorch_half_pixel" if wanted == 1:
            return number * 0 - 0.5
        case "tf_half_pixel":
            return (number + 0.5) / scale
        case "half_pixel_symmetric":
            return (length - size / scale) / 2 + (number + 0.5) / scale - 0.5
        case _:
            return (number + 0.5) / scale - 0.5


def _round(xp: Arrays, where: Array, rounding: str) -> Array:
    match rounding:
        case "floor":
            whole = xp.floor(where)
        case "ceil":
            whole = xp.ceil(where)
        case "prefer_ceil":
            whole = xp.floor(where + 0.5)
        case _:
            whole = xp.ceil(where - 0.5)
    return whole.astype(xp.element("i64"))


def _blend(xp: Arrays, x: Array, axis: int, where: Array, scale: float, way: _Way) -> Array:
    """The elements around each place, weighed by their distance."""
    length = x.shape[axis]
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
        number = xp.clip(left + tap, 0, length - 1).astype(xp.element("i64"))
        share = _upright(xp, (weight / total).astype(x.dtype), axis, x.ndim)
        y = y + xp.take(x, number, axis=axis) * share
    return y


def _upright(xp: Arrays, x: Array, axis: int, rank: int) -> Array:
    """A vector along an axis, so that it broadcasts."""
    return xp.reshape(x, (-1, *(1,) * (rank - axis - 1)))


def _weight(xp: Arrays, distance: Array, way: _Way) -> Array:
    if way.mode == "linear":
        return xp.clip(1 - distance, 0, 1)
    return cubic_curve(xp, distance, way.cubic)


def cubic_curve(xp: Arrays, distance: Array, a: float = -0.75) -> Array:
    """Keys' cubic convolution: 1 at 0, 0 at 1, and 0 from 2 on."""
    square = distance * distance
    near = (a + 2) * distance * square - (a + 3) * square + 1
    far = a * distance * square - 5 * a * square + 8 * a * distance - 4 * a
    return xp.where(distance <= 1, near, xp.where(distance < 2, far, 0))
