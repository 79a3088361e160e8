"""Elementary functions of one number, element by element."""

from __future__ import annotations

from axon.ops.operator import Problem, Rule, operator

REAL = "t s -> t s where t : float"
NUMBER = "t s -> t s where t : num"
QUESTION = "t s -> bool s where t : float"


# --- powers, exponentials, logarithms --------------------------------------------------------


@operator()
def exp() -> Rule:
    """e to the power of x.

    >>> exp(x : f32 [n,3])
    f32 [n,3]
    """
    return REAL


@operator()
def expm1() -> Rule:
    """`exp(x) - 1`, exact for small x.

    >>> expm1(x : f32 [n])
    f32 [n]
    """
    return REAL


@operator()
def log() -> Rule:
    """The natural logarithm.

    >>> log(x : f64 [n])
    f64 [n]
    """
    return REAL


@operator()
def log1p() -> Rule:
    """`log(1 + x)`, exact for small x.

    >>> log1p(x : f32 [n])
    f32 [n]
    """
    return REAL


@operator()
def sqrt() -> Rule:
    """The square root.

    >>> sqrt(x : f32 [2,3])
    f32 [2,3]
    """
    return REAL


@operator()
def rsqrt() -> Rule:
    """One over the square root.

    >>> rsqrt(x : f32 [n])
    f32 [n]
    """
    return REAL


@operator()
def square() -> Rule:
    """x times x.

    >>> square(x : i32 [n])
    i32 [n]
    """
    return NUMBER


@operator()
def reciprocal() -> Rule:
    """One over x.

    >>> reciprocal(x : f32 [n])
    f32 [n]
    """
    return REAL


# --- trigonometry ----------------------------------------------------------------------------


@operator()
def sin() -> Rule:
    """The sine of an angle in radians.

    >>> sin(x : f32 [n])
    f32 [n]
    """
    return REAL


@operator()
def cos() -> Rule:
    """The cosine of an angle in radians.

    >>> cos(x : f32 [n])
    f32 [n]
    """
    return REAL


@operator()
def tan() -> Rule:
    """The tangent of an angle in radians.

    >>> tan(x : f32 [n])
    f32 [n]
    """
    return REAL


@operator()
def asin() -> Rule:
    """The angle that has this sine.

    >>> asin(x : f32 [n])
    f32 [n]
    """
    return REAL


@operator()
def acos() -> Rule:
    """The angle that has this cosine.

    >>> acos(x : f32 [n])
    f32 [n]
    """
    return REAL


@operator()
def atan() -> Rule:
    """The angle that has this tangent.

    >>> atan(x : f32 [n])
    f32 [n]
    """
    return REAL


@operator()
def sinh() -> Rule:
    """The hyperbolic sine.

    >>> sinh(x : f32 [n])
    f32 [n]
    """
    return REAL


@operator()
def cosh() -> Rule:
    """The hyperbolic cosine.

    >>> cosh(x : f32 [n])
    f32 [n]
    """
    return REAL


@operator()
def erf() -> Rule:
    """The error function.

    >>> erf(x : f32 [n])
    f32 [n]
    """
    return REAL


# --- sign and rounding -----------------------------------------------------------------------


@operator()
def abs() -> Rule:
    """The absolute value.

    >>> abs(x : i64 [n])
    i64 [n]
    """
    return NUMBER


@operator()
def sign() -> Rule:
    """-1, 0 or 1, as x is negative, zero or positive.

    >>> sign(x : f32 [n])
    f32 [n]
    """
    return NUMBER


@operator()
def floor() -> Rule:
    """The next integer that is not greater.

    >>> floor(x : f32 [n])
    f32 [n]
    """
    return REAL


@operator()
def ceil() -> Rule:
    """The next integer that is not less.

    >>> ceil(x : f32 [n])
    f32 [n]
    """
    return REAL


@operator()
def round() -> Rule:
    """The nearest integer; halves go to the even one.

    >>> round(x : f32 [n])
    f32 [n]
    """
    return REAL


@operator()
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


@operator()
def isnan() -> Rule:
    """Is it not a number?

    >>> isnan(x : f32 [n])
    bool [n]
    """
    return QUESTION


@operator()
def isinf() -> Rule:
    """Is it infinite?

    >>> isinf(x : f32 [n])
    bool [n]
    """
    return QUESTION
