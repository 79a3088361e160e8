"""Arithmetic on sizes that are values. A quotient stays both a size and a number (D21), and so does
what is made of it.

As a size each quotient is rounded down where it stands; as a number nothing is.
"""

from __future__ import annotations

from math import gcd

from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.type import DimValue
from axon.types.variables import DimVar


def combine(op: str, left: DimValue, right: DimValue) -> DimValue | None:
    """`left op right`; None where it is no size, or too large to keep."""
    match op:
        case "+":
            dim = dims.add(left.dim, right.dim)
        case "-":
            dim = dims.sub(left.dim, right.dim)
        case "*" if _is_short(left) or _is_short(right):
            dim = dims.mul(left.dim, right.dim)
        case "/" if right.dim != 0 and right.number is None:
            dim = dims.floordiv(left.dim, right.dim)
        case _:
            return None
    if op != "/" and left.number is None and right.number is None:
        return DimValue(dim)
    top, bottom = _fraction(op, left.number or (left.dim, 1), right.number or (right.dim, 1))
    if any(map(dims.is_vast, (dim, top, bottom))):
        return None
    return _lowest(dim, top, bottom)


def _is_short(value: DimValue) -> bool:
    """Whether a product with it is as long as the other factor."""
    return value.number is None and isinstance(value.dim, int | DimVar)


def _fraction(op: str, left: tuple[Dim, Dim], right: tuple[Dim, Dim]) -> tuple[Dim, Dim]:
    (a, b), (c, d) = left, right
    match op:
        case "*":
            return dims.mul(a, c), dims.mul(b, d)
        case "/":
            return dims.mul(a, d), dims.mul(b, c)
        case _ if b == d:
            return (dims.add(a, c) if op == "+" else dims.sub(a, c)), b
        case _:
            one, other = dims.mul(a, d), dims.mul(c, b)
            return (dims.add(one, other) if op == "+" else dims.sub(one, other)), dims.mul(b, d)


def _lowest(dim: Dim, top: Dim, bottom: Dim) -> DimValue:
    """In lowest terms, as far as numbers go; a whole number is a size like others."""
    if isinstance(bottom, int):
        common = gcd(bottom, *dims.terms_of(top).values())
        if bottom < 0:
            common = -common
        top = dims.from_terms({mono: c // common for mono, c in dims.terms_of(top).items()})
        bottom //= common
        if bottom == 1 and top == dim:
            return DimValue(dim)
    return DimValue(dim, (top, bottom))
