"""Images of another size: elements between the elements, along one axis after another.

Every element of the result has a place among those of the input, a float; `coordinates` states how
it is computed, and `mode` how the element there is.
"""

from __future__ import annotations

from fractions import Fraction

from axon.ops.arrays import Array, Arrays
from axon.ops.axes import bad_axes, dims, place
from axon.ops.interpolate import Way, resized, rounded_down, single
from axon.ops.operator import Floats, Ints, Problem, Rule, operator
from axon.ops.padding import Number, TrueSizes
from axon.ops.sliding import sides_of, spread
from axon.ops.traits import Attributes, Fill, Padding, Traits

SPATIAL: dict[str, Fill] = dict.fromkeys(("h", "w", "d", "x*"), "anything")


@operator(Traits(padding=Padding(("n", "c"), SPATIAL, made=("~*",))))
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
    way = Way(mode, "half_pixel", "prefer_floor", -0.75, False, False, 0.0)
    return resized(xp, x, axes, sizes, [float(factor) for factor in factors], None, way)


@upsample.padded
def _(xp: Arrays, true: TrueSizes, x: Array, scale: Ints, mode: str) -> Array:
    assert upsample.meaning is not None
    if mode == "nearest":
        return upsample.meaning(xp, x, scale=scale, mode=mode)
    way = Way(mode, "half_pixel", "prefer_floor", -0.75, False, False, 0.0)
    axes, factors = tuple(range(2, x.ndim)), spread(scale, x.ndim - 2)
    sizes = [x.shape[axis] * factor for axis, factor in zip(axes, factors, strict=True)]
    known = [(n, n * factor) for n, factor in zip(true.of(0)[2:], factors, strict=True)]
    return resized(xp, x, axes, sizes, [float(f) for f in factors], None, way, known)


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


def _resize_padding(attributes: Attributes) -> Padding | str:
    """By how many elements one is blended must be known when the program is compiled. A region has
    a derivative, in which each element counts, if for nothing.
    """
    if attributes["antialias"] and attributes["scale"] is None:
        return "how many elements count depends on the sizes"
    fill: Fill = "zero" if attributes["coordinates"] == "crop" else "anything"
    return Padding(("s", "d*", "e*", "after*"), {"x*": fill}, made=("y*", "~*"))


@operator(Traits(padding=_resize_padding))
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
    """Give some axes another size: the sizes follow as a list, or `scale` is the factor by which
    they grow, rounded down. A scale that floats do not have exactly makes a size that is
    known at run time.

    - `scale`: a factor, or one for each axis.
    - `axis`: which axes; the two innermost if not given. Negative axes count from the back.
    - `mode`: "nearest", "linear" or "cubic".
    - `coordinates`: the place of an element of the result among those of the input: "half_pixel"
      (elements are squares, and the whole is stretched), "align_corners" (the first stays the
      first, and the last the last), "asymmetric" (the first stays the first),
      "half_pixel_symmetric", "pytorch_half_pixel", "tf_half_pixel"; or "crop": inside a region,
      which comes as the last argument, all the beginnings and then all the ends, from 0 to 1.
    - `rounding`: for "nearest": "prefer_floor", "prefer_ceil", "floor" or "ceil".
    - `cubic`: the coefficient of the cubic curve.
    - `antialias`: when the size becomes smaller, let all elements count that lie between.
    - `exclude_outside`: leave out what lies outside of the input; else it has the value of the
      edge.
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
    open_ = [f"after_{i}" for i in range(1, count + 1)]
    params: list[str] = []
    if scale is None:
        sizes = [f"y{i}" for i in range(1, count + 1)]
        params.append(f"shape {dims(sizes)}")
        if aspect != "stretch":
            names, sizes = open_, [f"?z{i}" for i in range(1, count + 1)]
    elif len(scale) not in (1, count):
        return Problem(f"scale has {len(scale)} entries, but there are {count} axes")
    elif not all(0 < factor < LARGEST for factor in scale):
        return Problem("scale must be greater than 0, and not without end")
    else:
        sizes = []
        for i, factor in enumerate(spread(scale, count)):
            size = scaled(names[i], factor)
            names[i] = names[i] if size else open_[i]
            sizes.append(size or f"?y{i}")
    where = ""
    if coordinates == "crop":
        params.append(f"u [{2 * count}]")
        where = " where u : float"
    x = f"t {place(axis, names)}"
    return f"({', '.join([x, *params])}) -> t {place(axis, sizes)}{where}"


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
    way = Way(**how)  # type: ignore[arg-type]
    region = rest[-1] if way.coordinates == "crop" else None
    before = [x.shape[i] for i in axis]
    if scale is not None:
        factors = [single(factor) for factor in spread(scale, len(axis))]
        return resized(xp, x, axis, rounded_down(before, factors), factors, region, way)
    sizes = list(rest[0])
    factors = [m / n if n else 1.0 for m, n in zip(sizes, before, strict=True)]
    if aspect != "stretch":
        one = min(factors) if aspect == "not_larger" else max(factors)
        factors = [one] * len(axis)
        sizes = [int(one * n + 0.5) for n in before]
    return resized(xp, x, axis, sizes, factors, region, way)


@resize.padded
def _(
    xp: Arrays,
    true: TrueSizes,
    x: Array,
    *rest: Array,
    scale: Floats | None,
    axis: Ints,
    aspect: str,
    **how: str | float | bool,
) -> Array:
    way = Way(**how)  # type: ignore[arg-type]
    region = rest[-1] if way.coordinates == "crop" else None
    before = [true.of(0)[i] for i in axis]
    factors: list[Number]
    if scale is not None:
        single_ones = [single(factor) for factor in spread(scale, len(axis))]
        sizes, factors = rounded_down([x.shape[i] for i in axis], single_ones), [*single_ones]
        made = [true.result(i % x.ndim, size) for i, size in zip(axis, sizes, strict=True)]
    else:
        sizes = list(rest[0])
        made = [true.result(i % x.ndim, size) for i, size in zip(axis, sizes, strict=True)]
        factors = [_ratio(xp, m, n) for m, n in zip(made, before, strict=True)]
    return resized(xp, x, axis, sizes, factors, region, way, list(zip(before, made, strict=True)))


def _ratio(xp: Arrays, size: Number, of: Number) -> Number:
    if isinstance(size, int) and isinstance(of, int):
        return size / of if of else 1.0
    f64 = xp.element("f64")
    return xp.astype(xp.asarray(size), f64) / xp.astype(xp.asarray(of), f64)


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
    """Make some axes larger by the factors in a tensor, rounded down: `resize` with scales
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
    before = place(axis, [f"after_{i}" for i in range(1, count + 1)])
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
    factors = [float(scale) for scale in xp.stop_gradient(scales)]
    sizes = rounded_down([x.shape[i] for i in axis], factors)
    way = Way(**how)  # type: ignore[arg-type]
    return resized(xp, x, axis, sizes, factors, region[0] if region else None, way)
