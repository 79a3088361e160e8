"""Elementary functions of one number, element by element."""

from __future__ import annotations

import math
from collections.abc import Callable

from axon.ops.arrays import Array, Arrays, is_integer, wide
from axon.ops.operator import Problem, Rule, operator
from axon.ops.traits import POINTWISE

REAL = "t s -> t s where t : float"
NUMBER = "t s -> t s where t : num"
QUESTION = "t s -> bool s where t : float"


def _bound(xp: Arrays, x: Array, bound: float, inward: Callable[[float], int]) -> Array:
    """A bound among the elements that x may have: of integers the next one inward."""
    if not is_integer(xp, x):
        return xp.asarray(bound, dtype=x.dtype)
    low, high = int(xp.iinfo(x.dtype).min), int(xp.iinfo(x.dtype).max)
    whole = low if bound <= low else high if bound >= high else inward(bound)
    return xp.asarray(whole, dtype=x.dtype)


# --- powers, exponentials, logarithms --------------------------------------------------------


@operator(POINTWISE)
def exp() -> Rule:
    """e to the power of x.

    >>> exp(x : f32 [n,3])
    f32 [n,3]
    """
    return REAL


@exp.means
def _(xp: Arrays, x: Array) -> Array:
    return xp.exp(x)


@operator(POINTWISE)
def expm1() -> Rule:
    """`exp(x) - 1`, exact for small x.

    >>> expm1(x : f32 [n])
    f32 [n]
    """
    return REAL


@expm1.means
def _(xp: Arrays, x: Array) -> Array:
    return xp.expm1(x)


@operator(POINTWISE)
def log() -> Rule:
    """The natural logarithm.

    >>> log(x : f64 [n])
    f64 [n]
    """
    return REAL


@log.means
def _(xp: Arrays, x: Array) -> Array:
    return xp.log(x)


@operator(POINTWISE)
def log1p() -> Rule:
    """`log(1 + x)`, exact for small x.

    >>> log1p(x : f32 [n])
    f32 [n]
    """
    return REAL


@log1p.means
def _(xp: Arrays, x: Array) -> Array:
    return xp.log1p(x)


@operator(POINTWISE)
def sqrt() -> Rule:
    """The square root.

    >>> sqrt(x : f32 [2,3])
    f32 [2,3]
    """
    return REAL


@sqrt.means
def _(xp: Arrays, x: Array) -> Array:
    return xp.sqrt(x)


@operator(POINTWISE)
def rsqrt() -> Rule:
    """One over the square root.

    >>> rsqrt(x : f32 [n])
    f32 [n]
    """
    return REAL


@rsqrt.means
def _(xp: Arrays, x: Array) -> Array:
    return xp.astype(xp.reciprocal(xp.sqrt(wide(xp, x))), x.dtype)


@operator(POINTWISE)
def square() -> Rule:
    """x times x.

    >>> square(x : i32 [n])
    i32 [n]
    """
    return NUMBER


@square.means
def _(xp: Arrays, x: Array) -> Array:
    return xp.square(x)


@operator(POINTWISE)
def reciprocal() -> Rule:
    """One over x.

    >>> reciprocal(x : f32 [n])
    f32 [n]
    """
    return REAL


@reciprocal.means
def _(xp: Arrays, x: Array) -> Array:
    return xp.reciprocal(x)


# --- trigonometry ----------------------------------------------------------------------------


@operator(POINTWISE)
def sin() -> Rule:
    """The sine of an angle in radians.

    >>> sin(x : f32 [n])
    f32 [n]
    """
    return REAL


@sin.means
def _(xp: Arrays, x: Array) -> Array:
    return xp.sin(x)


@operator(POINTWISE)
def cos() -> Rule:
    """The cosine of an angle in radians.

    >>> cos(x : f32 [n])
    f32 [n]
    """
    return REAL


@cos.means
def _(xp: Arrays, x: Array) -> Array:
    return xp.cos(x)


@operator(POINTWISE)
def tan() -> Rule:
    """The tangent of an angle in radians.

    >>> tan(x : f32 [n])
    f32 [n]
    """
    return REAL


@tan.means
def _(xp: Arrays, x: Array) -> Array:
    return xp.tan(x)


@operator(POINTWISE)
def asin() -> Rule:
    """The angle that has this sine.

    >>> asin(x : f32 [n])
    f32 [n]
    """
    return REAL


@asin.means
def _(xp: Arrays, x: Array) -> Array:
    return xp.arcsin(x)


@operator(POINTWISE)
def acos() -> Rule:
    """The angle that has this cosine.

    >>> acos(x : f32 [n])
    f32 [n]
    """
    return REAL


@acos.means
def _(xp: Arrays, x: Array) -> Array:
    return xp.arccos(x)


@operator(POINTWISE)
def atan() -> Rule:
    """The angle that has this tangent.

    >>> atan(x : f32 [n])
    f32 [n]
    """
    return REAL


@atan.means
def _(xp: Arrays, x: Array) -> Array:
    return xp.arctan(x)


@operator(POINTWISE)
def sinh() -> Rule:
    """The hyperbolic sine.

    >>> sinh(x : f32 [n])
    f32 [n]
    """
    return REAL


@sinh.means
def _(xp: Arrays, x: Array) -> Array:
    return xp.sinh(x)


@operator(POINTWISE)
def cosh() -> Rule:
    """The hyperbolic cosine.

    >>> cosh(x : f32 [n])
    f32 [n]
    """
    return REAL


@cosh.means
def _(xp: Arrays, x: Array) -> Array:
    return xp.cosh(x)


@operator(POINTWISE)
def asinh() -> Rule:
    """The number that has this hyperbolic sine.

    >>> asinh(x : f32 [n])
    f32 [n]
    """
    return REAL


@asinh.means
def _(xp: Arrays, x: Array) -> Array:
    return xp.arcsinh(x)


@operator(POINTWISE)
def acosh() -> Rule:
    """The number, not negative, that has this hyperbolic cosine.

    >>> acosh(x : f32 [n])
    f32 [n]
    """
    return REAL


@acosh.means
def _(xp: Arrays, x: Array) -> Array:
    return xp.arccosh(x)


@operator(POINTWISE)
def atanh() -> Rule:
    """The number that has this hyperbolic tangent.

    >>> atanh(x : f32 [n])
    f32 [n]
    """
    return REAL


@atanh.means
def _(xp: Arrays, x: Array) -> Array:
    return xp.arctanh(x)


@operator(POINTWISE)
def erf() -> Rule:
    """The error function.

    >>> erf(x : f32 [n])
    f32 [n]
    """
    return REAL


@erf.means
def _(xp: Arrays, x: Array) -> Array:
    return xp.erf(x)


# --- sign and rounding -----------------------------------------------------------------------


@operator(POINTWISE)
def abs() -> Rule:
    """The absolute value.

    >>> abs(x : i64 [n])
    i64 [n]
    """
    return NUMBER


@abs.means
def _(xp: Arrays, x: Array) -> Array:
    return xp.abs(x)


@operator(POINTWISE)
def sign() -> Rule:
    """-1, 0 or 1, as x is negative, zero or positive.

    >>> sign(x : f32 [n])
    f32 [n]
    """
    return NUMBER


@sign.means
def _(xp: Arrays, x: Array) -> Array:
    return xp.sign(x)


@operator(POINTWISE)
def floor() -> Rule:
    """The next integer that is not greater.

    >>> floor(x : f32 [n])
    f32 [n]
    """
    return REAL


@floor.means
def _(xp: Arrays, x: Array) -> Array:
    return xp.floor(x)


@operator(POINTWISE)
def ceil() -> Rule:
    """The next integer that is not less.

    >>> ceil(x : f32 [n])
    f32 [n]
    """
    return REAL


@ceil.means
def _(xp: Arrays, x: Array) -> Array:
    return xp.ceil(x)


@operator(POINTWISE)
def round() -> Rule:
    """The nearest integer; halves go to the even one.

    >>> round(x : f32 [n])
    f32 [n]
    """
    return REAL


@round.means
def _(xp: Arrays, x: Array) -> Array:
    return xp.rint(x)


@operator(POINTWISE)
def clip(*, min: float | None = None, max: float | None = None) -> Rule:
    """Bring what is outside two bounds to the nearer one.

    - `min`, `max`: the bounds; at least one of them.

    >>> clip(x : f32 [n], min=0, max=6)
    f32 [n]
    """
    if min is None and max is None:
        return Problem("give min=…, max=… or both")
    if min is not None and max is not None and min > max:
        return Problem(f"the lower bound {min:g} is above the upper bound {max:g}")
    return NUMBER


@clip.means
def _(xp: Arrays, x: Array, min: float | None, max: float | None) -> Array:
    above = x if min is None else xp.maximum(x, _bound(xp, x, min, math.ceil))
    return above if max is None else xp.minimum(above, _bound(xp, x, max, math.floor))


@operator(POINTWISE)
def isnan() -> Rule:
    """Is it not a number?

    >>> isnan(x : f32 [n])
    bool [n]
    """
    return QUESTION


@isnan.means
def _(xp: Arrays, x: Array) -> Array:
    return xp.isnan(x)


@operator(POINTWISE)
def isinf(*, negative: bool = True, positive: bool = True) -> Rule:
    """Is it infinite?

    - `negative`, `positive`: whether -inf counts, and whether inf does.

    >>> isinf(x : f32 [n])
    bool [n]
    >>> isinf(x : f32 [n], negative=false)
    bool [n]
    """
    return QUESTION


@isinf.means
def _(xp: Arrays, x: Array, negative: bool, positive: bool) -> Array:
    infinite = xp.isinf(x)
    if not positive:
        infinite = infinite & (x < 0)
    return infinite if negative else infinite & (x > 0)
