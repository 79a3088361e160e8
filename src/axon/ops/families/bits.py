"""Integers as rows of bits, element by element."""

from __future__ import annotations

from axon.ops.arrays import Array, Arrays
from axon.ops.operator import Element, Problem, Rule, operator
from axon.ops.traits import POINTWISE
from axon.types.elements import BIT
from axon.types.elements import BITS as WIDTHS

BITS = "(t p, t q) -> t broadcast(p,q) where t : int"


@operator(POINTWISE)
def bit_and() -> Rule:
    """The bits that are set in both. The shapes broadcast.

    >>> bit_and(x : i32 [b,n], y : i32 [n])
    i32 [b,n]
    """
    return BITS


@bit_and.means
def _(xp: Arrays, x: Array, y: Array) -> Array:
    return xp.bitwise_and(x, y)


@operator(POINTWISE)
def bit_or() -> Rule:
    """The bits that are set in one of the two, or in both. The shapes broadcast.

    >>> bit_or(x : u8 [n], y : u8 [n])
    u8 [n]
    """
    return BITS


@bit_or.means
def _(xp: Arrays, x: Array, y: Array) -> Array:
    return xp.bitwise_or(x, y)


@operator(POINTWISE)
def bit_xor() -> Rule:
    """The bits that are set in exactly one of the two. The shapes broadcast.

    >>> bit_xor(x : i64 [n], y : i64)
    i64 [n]
    """
    return BITS


@bit_xor.means
def _(xp: Arrays, x: Array, y: Array) -> Array:
    return xp.bitwise_xor(x, y)


@operator(POINTWISE)
def bit_not() -> Rule:
    """Every bit the other way.

    >>> bit_not(x : u8 [n])
    u8 [n]
    """
    return "t s -> t s where t : int"


@bit_not.means
def _(xp: Arrays, x: Array) -> Array:
    return xp.bitwise_not(x)


@operator(POINTWISE)
def shift_left() -> Rule:
    """The bits moved up by the number of places in the second; zeros come in. By less than none or
    by all of its bits a number is moved out, and 0 is left. The shapes broadcast.

    >>> shift_left(x : i32 [b,n], y : i32 [n])
    i32 [b,n]
    """
    return BITS


@shift_left.means
def _(xp: Arrays, x: Array, y: Array) -> Array:
    moved, inside = _moved(xp, y)
    return xp.where(inside, xp.left_shift(x, moved), xp.zeros_like(x))


@operator(POINTWISE)
def shift_right() -> Rule:
    """The bits moved down by the number of places in the second; the sign stays, so that it comes
    in
    from above. By less than none or by all of its bits a number is moved out, and -1 is left of a
    negative one, else 0. The shapes broadcast.

    >>> shift_right(x : u8 [n], y : u8)
    u8 [n]
    """
    return BITS


@shift_right.means
def _(xp: Arrays, x: Array, y: Array) -> Array:
    moved, inside = _moved(xp, y)
    sign = -xp.astype(x < 0, x.dtype)
    return xp.where(inside, xp.right_shift(x, moved), sign)


def _moved(xp: Arrays, places: Array) -> tuple[Array, Array]:
    """By how many places, and where that leaves something of a number."""
    inside = (places >= 0) & (places < 8 * places.dtype.itemsize)
    return xp.where(inside, places, xp.zeros_like(places)), inside


@operator(POINTWISE)
def bit_cast(*, to: Element) -> Rule:
    """The same bits, taken for another element type of as many bits.

    - `to`: the element type.

    >>> bit_cast(x : i32 [n,3], to=f32)
    f32 [n,3]
    """
    for count, mask in WIDTHS.items():
        if mask & BIT.get(to, 0):
            return f"t s -> {to} s where t : bits{count}"
    return Problem(f"{to} is no element type")


@bit_cast.means
def _(xp: Arrays, x: Array, to: Element) -> Array:
    return xp.asarray(x).view(xp.element(to))
