"""Arithmetic, comparison and logic, element by element; infix operators broadcast as NumPy does."""

from __future__ import annotations

from collections.abc import Callable

from axon.ops.arrays import Array, Arrays, is_integer
from axon.ops.operator import Rule, operator
from axon.ops.traits import POINTWISE, Traits

ARITHMETIC = "(t p, t q) -> t broadcast(p,q) where t : num"
COMPARISON = "(t p, t q) -> bool broadcast(p,q) where t : num"
EQUALITY = "(t p, t q) -> bool broadcast(p,q)"
LOGIC = "(bool p, bool q) -> bool broadcast(p,q)"

ARITHMETICAL = Traits(pointwise=True, arithmetic=True)


def _by(xp: Arrays, function: Callable[[Array, Array], Array], x: Array, y: Array) -> Array:
    """Divide integers by the function; by zero it gives zero."""
    one = xp.ones_like(y)
    return xp.where(y == 0, xp.zeros_like(y), function(x, xp.where(y == 0, one, y)))


# --- arithmetic ------------------------------------------------------------------------------


@operator(Traits(pointwise=True, arithmetic=True, array_reduction="sum"), name="+")
def add() -> Rule:
    """Add. The shapes broadcast: they are aligned at their ends, and a size of 1 stretches.

    >>> (x : f32 [b,n]) + (y : f32 [n])
    f32 [b,n]
    >>> (x : f32 [4,1]) + (y : f32 [3])
    f32 [4,3]
    """
    return ARITHMETIC


@add.means
def _(xp: Arrays, x: Array, y: Array) -> Array:
    return xp.add(x, y)


@operator(ARITHMETICAL, name="-")
def subtract() -> Rule:
    """Subtract the second from the first. The shapes broadcast.

    >>> (x : f32 [2,3]) - (y : f32 [3])
    f32 [2,3]
    """
    return ARITHMETIC


@subtract.means
def _(xp: Arrays, x: Array, y: Array) -> Array:
    return xp.subtract(x, y)


@operator(Traits(pointwise=True, arithmetic=True, array_reduction="prod", scales=(1, 2)), name="*")
def multiply() -> Rule:
    """Multiply, element by element. The shapes broadcast. `@` is the product of matrices.

    >>> (x : f32 [5,1,3]) * (y : f32 [4,1])
    f32 [5,4,3]
    """
    return ARITHMETIC


@multiply.means
def _(xp: Arrays, x: Array, y: Array) -> Array:
    return xp.multiply(x, y)


@operator(Traits(pointwise=True, arithmetic=True, scales=(2,)), name="/")
def divide() -> Rule:
    """Divide the first by the second; integers are divided and floored. The shapes broadcast.

    >>> (x : f32 [n,k]) / (y : f32 [n,1])
    f32 [n,k]
    """
    return ARITHMETIC


@divide.means
def _(xp: Arrays, x: Array, y: Array) -> Array:
    return _by(xp, xp.floor_divide, x, y) if is_integer(xp, x) else xp.divide(x, y)


@operator(ARITHMETICAL, name="//")
def floor_divide() -> Rule:
    """Divide the first by the second and round down, whatever the element type. The shapes
    broadcast.

    >>> (x : f32 [n,k]) // (y : f32 [n,1])
    f32 [n,k]
    >>> (x : i64 [3]) // (y : i64)
    i64 [3]
    """
    return ARITHMETIC


@floor_divide.means
def _(xp: Arrays, x: Array, y: Array) -> Array:
    return _by(xp, xp.floor_divide, x, y) if is_integer(xp, x) else xp.floor_divide(x, y)


@operator(POINTWISE)
def trunc_divide() -> Rule:
    """Divide integers and round towards zero, as C does; `/` rounds down. The shapes broadcast.

    >>> trunc_divide(x : i64 [2,3], y : i64)
    i64 [2,3]
    """
    return "(t p, t q) -> t broadcast(p,q) where t : int"


@trunc_divide.means
def _(xp: Arrays, x: Array, y: Array) -> Array:
    down, rest = _by(xp, xp.floor_divide, x, y), _by(xp, xp.remainder, x, y)
    return xp.where((rest != 0) & ((x < 0) != (y < 0)), down + 1, down)


@operator(POINTWISE)
def negate() -> Rule:
    """Change the sign; `-x` is short for it.

    >>> negate(x : f32 [n])
    f32 [n]
    """
    return "t s -> t s where t : num"


@negate.means
def _(xp: Arrays, x: Array) -> Array:
    return xp.negative(x)


@operator(ARITHMETICAL, sign="**")
def pow() -> Rule:
    """Raise the first to the power of the second; `x ** y` is short for it. The shapes broadcast.

    >>> pow(x : f32 [2,3], y : f32)
    f32 [2,3]
    >>> (x : f32 [b,n]) ** (y : f32 [n])
    f32 [b,n]
    """
    return ARITHMETIC


@pow.means
def _(xp: Arrays, x: Array, y: Array) -> Array:
    if not is_integer(xp, x):
        return xp.power(x, y)
    inverse = xp.where(xp.abs(x) == 1, xp.power(x, y & 1), xp.zeros_like(x))
    return xp.where(y < 0, inverse, xp.power(x, xp.maximum(y, xp.zeros_like(y))))


@operator(ARITHMETICAL, sign="%")
def mod() -> Rule:
    """The remainder of a floored division: it has the sign of the divisor. `x % y` is short for it.
    The shapes broadcast.

    >>> mod(x : i64 [2,3], y : i64)
    i64 [2,3]
    >>> (x : f32 [b,n]) % (y : f32 [n])
    f32 [b,n]
    """
    return ARITHMETIC


@mod.means
def _(xp: Arrays, x: Array, y: Array) -> Array:
    return _by(xp, xp.remainder, x, y) if is_integer(xp, x) else xp.remainder(x, y)


@operator(ARITHMETICAL)
def fmod() -> Rule:
    """The remainder of a division that is cut off behind the point: it has the sign of the
    dividend. The shapes broadcast.

    >>> fmod(x : f32 [2,3], y : f32)
    f32 [2,3]
    """
    return ARITHMETIC


@fmod.means
def _(xp: Arrays, x: Array, y: Array) -> Array:
    return _by(xp, xp.fmod, x, y) if is_integer(xp, x) else xp.fmod(x, y)


@operator(Traits(pointwise=True, arithmetic=True, array_reduction="max"))
def maximum() -> Rule:
    """The larger of two elements. The shapes broadcast; `max` is the strict twin, and the
    reduction.

    >>> maximum(x : f32 [2,3], y : f32)
    f32 [2,3]
    """
    return ARITHMETIC


@maximum.means
def _(xp: Arrays, x: Array, y: Array) -> Array:
    return xp.maximum(x, y)


@operator(Traits(pointwise=True, arithmetic=True, array_reduction="min"))
def minimum() -> Rule:
    """The smaller of two elements. The shapes broadcast; `min` is the strict twin, and the
    reduction.

    >>> minimum(x : f32 [2,1], y : f32 [3])
    f32 [2,3]
    """
    return ARITHMETIC


@minimum.means
def _(xp: Arrays, x: Array, y: Array) -> Array:
    return xp.minimum(x, y)


# --- comparison ------------------------------------------------------------------------------


@operator(POINTWISE, name="==")
def equal() -> Rule:
    """Are two elements equal? The shapes broadcast.

    >>> (x : i64 [b,n]) == (y : i64 [n])
    bool [b,n]
    """
    return EQUALITY


@equal.means
def _(xp: Arrays, x: Array, y: Array) -> Array:
    return xp.equal(x, y)


@operator(POINTWISE, name="!=")
def not_equal() -> Rule:
    """Are two elements different? The shapes broadcast.

    >>> (x : bool [3]) != (y : bool [3])
    bool [3]
    """
    return EQUALITY


@not_equal.means
def _(xp: Arrays, x: Array, y: Array) -> Array:
    return xp.not_equal(x, y)


@operator(POINTWISE, name="<")
def less() -> Rule:
    """Is the first less than the second? The shapes broadcast.

    >>> (x : f32 [2,3]) < (y : f32)
    bool [2,3]
    """
    return COMPARISON


@less.means
def _(xp: Arrays, x: Array, y: Array) -> Array:
    return xp.less(x, y)


@operator(POINTWISE, name="<=")
def less_or_equal() -> Rule:
    """Is the first less than the second, or equal to it? The shapes broadcast.

    >>> (x : i32 [n,1]) <= (y : i32 [4])
    bool [n,4]
    """
    return COMPARISON


@less_or_equal.means
def _(xp: Arrays, x: Array, y: Array) -> Array:
    return xp.less_equal(x, y)


@operator(POINTWISE, name=">")
def greater() -> Rule:
    """Is the first greater than the second? The shapes broadcast.

    >>> (x : f32 [2,3]) > (y : f32 [3])
    bool [2,3]
    """
    return COMPARISON


@greater.means
def _(xp: Arrays, x: Array, y: Array) -> Array:
    return xp.greater(x, y)


@operator(POINTWISE, name=">=")
def greater_or_equal() -> Rule:
    """Is the first greater than the second, or equal to it? The shapes broadcast.

    >>> (x : f32 [n]) >= (y : f32 [])
    bool [n]
    """
    return COMPARISON


@greater_or_equal.means
def _(xp: Arrays, x: Array, y: Array) -> Array:
    return xp.greater_equal(x, y)


# --- logic -----------------------------------------------------------------------------------


@operator(Traits(pointwise=True, array_reduction="all"), sign="and")
def logical_and() -> Rule:
    """Are both true? `x and y` is short for it. The shapes broadcast.

    >>> logical_and(x : bool [b,n], y : bool [n])
    bool [b,n]
    >>> (x : bool [4,1]) and (y : bool [3])
    bool [4,3]
    """
    return LOGIC


@logical_and.means
def _(xp: Arrays, x: Array, y: Array) -> Array:
    return xp.logical_and(x, y)


@operator(Traits(pointwise=True, array_reduction="any"), sign="or")
def logical_or() -> Rule:
    """Is one of the two true, or both? `x or y` is short for it. The shapes broadcast.

    >>> logical_or(x : bool [2,1], y : bool [3])
    bool [2,3]
    >>> (x : bool [n,3]) or (y : bool)
    bool [n,3]
    """
    return LOGIC


@logical_or.means
def _(xp: Arrays, x: Array, y: Array) -> Array:
    return xp.logical_or(x, y)


@operator(POINTWISE)
def logical_xor() -> Rule:
    """Is exactly one of the two true? The shapes broadcast.

    >>> logical_xor(x : bool [3], y : bool)
    bool [3]
    """
    return LOGIC


@logical_xor.means
def _(xp: Arrays, x: Array, y: Array) -> Array:
    return xp.logical_xor(x, y)


@operator(POINTWISE, sign="not")
def logical_not() -> Rule:
    """True for false and false for true; `not x` is short for it.

    >>> logical_not(x : bool [n])
    bool [n]
    >>> not (x : bool [n])
    bool [n]
    """
    return "bool s -> bool s"


@logical_not.means
def _(xp: Arrays, x: Array) -> Array:
    return xp.logical_not(x)
