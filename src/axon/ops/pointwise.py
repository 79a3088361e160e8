"""Arithmetic, comparison and logic, element by element; infix operators broadcast as NumPy does
(D3)."""

from __future__ import annotations

from axon.ops.operator import Rule, operator

ARITHMETIC = "(t p, t q) -> t broadcast(p,q) where t : num"
COMPARISON = "(t p, t q) -> bool broadcast(p,q) where t : num"
EQUALITY = "(t p, t q) -> bool broadcast(p,q)"
LOGIC = "(bool p, bool q) -> bool broadcast(p,q)"


# --- arithmetic ------------------------------------------------------------------------------


@operator(name="+")
def add() -> Rule:
    """Add. The shapes broadcast: they are aligned at their ends, and a size of 1 stretches.

    >>> (x : f32 [b,n]) + (y : f32 [n])
    f32 [b,n]
    >>> (x : f32 [4,1]) + (y : f32 [3])
    f32 [4,3]
    """
    return ARITHMETIC


@operator(name="-")
def subtract() -> Rule:
    """Subtract the second from the first. The shapes broadcast.

    >>> (x : f32 [2,3]) - (y : f32 [3])
    f32 [2,3]
    """
    return ARITHMETIC


@operator(name="*")
def multiply() -> Rule:
    """Multiply, element by element. The shapes broadcast. `@` is the product of matrices.

    >>> (x : f32 [5,1,3]) * (y : f32 [4,1])
    f32 [5,4,3]
    """
    return ARITHMETIC


@operator(name="/")
def divide() -> Rule:
    """Divide the first by the second; integers are divided and floored. The shapes broadcast.

    >>> (x : f32 [n,k]) / (y : f32 [n,1])
    f32 [n,k]
    """
    return ARITHMETIC


@operator()
def negate() -> Rule:
    """Change the sign; `-x` is short for it.

    >>> negate(x : f32 [n])
    f32 [n]
    """
    return "t s -> t s where t : num"


@operator()
def pow() -> Rule:
    """Raise the first to the power of the second. The shapes broadcast.

    >>> pow(x : f32 [2,3], y : f32)
    f32 [2,3]
    """
    return ARITHMETIC


@operator()
def mod() -> Rule:
    """The remainder of a floored division: it has the sign of the divisor. The shapes broadcast.

    >>> mod(x : i64 [2,3], y : i64)
    i64 [2,3]
    """
    return ARITHMETIC


@operator()
def maximum() -> Rule:
    """The larger of two elements. The shapes broadcast; `max` is the strict twin, and the
    reduction.

    >>> maximum(x : f32 [2,3], y : f32)
    f32 [2,3]
    """
    return ARITHMETIC


@operator()
def minimum() -> Rule:
    """The smaller of two elements. The shapes broadcast; `min` is the strict twin, and the
    reduction.

    >>> minimum(x : f32 [2,1], y : f32 [3])
    f32 [2,3]
    """
    return ARITHMETIC


# --- comparison ------------------------------------------------------------------------------


@operator(name="==")
def equal() -> Rule:
    """Are two elements equal? The shapes broadcast.

    >>> (x : i64 [b,n]) == (y : i64 [n])
    bool [b,n]
    """
    return EQUALITY


@operator(name="!=")
def not_equal() -> Rule:
    """Are two elements different? The shapes broadcast.

    >>> (x : bool [3]) != (y : bool [3])
    bool [3]
    """
    return EQUALITY


@operator(name="<")
def less() -> Rule:
    """Is the first less than the second? The shapes broadcast.

    >>> (x : f32 [2,3]) < (y : f32)
    bool [2,3]
    """
    return COMPARISON


@operator(name="<=")
def less_or_equal() -> Rule:
    """Is the first less than the second, or equal to it? The shapes broadcast.

    >>> (x : i32 [n,1]) <= (y : i32 [4])
    bool [n,4]
    """
    return COMPARISON


@operator(name=">")
def greater() -> Rule:
    """Is the first greater than the second? The shapes broadcast.

    >>> (x : f32 [2,3]) > (y : f32 [3])
    bool [2,3]
    """
    return COMPARISON


@operator(name=">=")
def greater_or_equal() -> Rule:
    """Is the first greater than the second, or equal to it? The shapes broadcast.

    >>> (x : f32 [n]) >= (y : f32 [])
    bool [n]
    """
    return COMPARISON


# --- logic -----------------------------------------------------------------------------------


@operator()
def logical_and() -> Rule:
    """Are both true? The shapes broadcast.

    >>> logical_and(x : bool [b,n], y : bool [n])
    bool [b,n]
    """
    return LOGIC


@operator()
def logical_or() -> Rule:
    """Is one of the two true, or both? The shapes broadcast.

    >>> logical_or(x : bool [2,1], y : bool [3])
    bool [2,3]
    """
    return LOGIC


@operator()
def logical_xor() -> Rule:
    """Is exactly one of the two true? The shapes broadcast.

    >>> logical_xor(x : bool [3], y : bool)
    bool [3]
    """
    return LOGIC


@operator()
def logical_not() -> Rule:
    """True for false and false for true.

    >>> logical_not(x : bool [n])
    bool [n]
    """
    return "bool s -> bool s"
