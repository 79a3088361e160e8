"""Arithmetic on sizes that are values. A quotient is both a size and a number, and so is a result
computed from it.

As a size each quotient is rounded down where it occurs; as a number it is exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from axon.types import dim as dims
from axon.types.dim import Dim, FloorDiv
from axon.types.type import DimValue

LONGEST_PRODUCT = 32

POWERS = range(17)
"""The exponents for which a power of a size is a product of sizes."""


def combine(op: str, left: DimValue, right: DimValue) -> DimValue | None:
    """`left op right`; None where the result is not a size, or too large to keep."""
    match op:
        case "+":
            dim = dims.add(left.dim, right.dim)
        case "-":
            dim = dims.sub(left.dim, right.dim)
        case "*" if _terms(left.dim) * _terms(right.dim) <= LONGEST_PRODUCT:
            dim = dims.mul(left.dim, right.dim)
        case "/" if right.dim != 0:
            dim = dims.floordiv(left.dim, right.dim)
        case "//" if right.dim != 0:
            return _floored(left, right)
        case "%" if right.dim != 0:
            return _remainder(left, right)
        case "**" if isinstance(right.dim, int) and right.dim in POWERS and right.number is None:
            return _power(left, right.dim)
        case _:
            return None
    if op != "/" and left.number is None and right.number is None:
        return None if dims.is_vast(dim) else DimValue(dim)
    above, below = left.number or (left.dim, 1), right.number or (right.dim, 1)
    if max(map(_terms, above)) * max(map(_terms, below)) > LONGEST_PRODUCT:
        return None
    top, bottom = _fraction(op, above, below)
    if any(map(dims.is_vast, (dim, top, bottom))) or bottom == 0:
        return None
    return _lowest(dim, top, bottom)


def _floored(left: DimValue, right: DimValue) -> DimValue | None:
    """The quotient rounded down: an integer, also as a number."""
    exact = combine("/", left, right)
    if exact is None or exact.number is None:
        return exact
    whole = dims.floordiv(*exact.number)
    return DimValue(exact.dim) if whole == exact.dim else DimValue(exact.dim, (whole, 1))


def _remainder(left: DimValue, right: DimValue) -> DimValue | None:
    """`left - right * (left // right)`."""
    times = _floored(left, right)
    whole = None if times is None else combine("*", right, times)
    return None if whole is None else combine("-", left, whole)


def _power(base: DimValue, exponent: int) -> DimValue | None:
    found: DimValue | None = DimValue(1)
    for _ in range(exponent):
        found = None if found is None else combine("*", found, base)
    return found


def divisors(value: DimValue) -> Iterator[Dim]:
    """The divisors in the size that may be zero."""
    return _divisors(value.dim) if value.number is not None else iter(())


def _divisors(dim: Dim) -> Iterator[Dim]:
    for mono in dims.terms_of(dim):
        for atom in mono:
            if isinstance(atom, FloorDiv):
                top, bottom = atom.args
                if not isinstance(bottom, int):
                    yield bottom
                yield from _divisors(top)
                yield from _divisors(bottom)


def _terms(dim: Dim) -> int:
    return len(dims.terms_of(dim))


def _fraction(op: str, left: tuple[Dim, Dim], right: tuple[Dim, Dim]) -> tuple[Dim, Dim]:
    (a, b), (c, d) = left, right
    match op:
        case "*":
            return dims.mul(a, c), dims.mul(b, d)
        case "/":
            return dims.mul(a, d), dims.mul(b, c)
        case _:
            sign = 1 if op == "+" else -1
            if b == d:
                return dims.combine(a, sign, c), b
            return dims.combine(dims.mul(a, d), sign, dims.mul(c, b)), dims.mul(b, d)


def _lowest(dim: Dim, top: Dim, bottom: Dim) -> DimValue:
    """The quotient in lowest terms, as far as constants go; an integer is a plain size."""
    if isinstance(bottom, int):
        common = gcd(bottom, *dims.terms_of(top).values())
        if bottom < 0:
            common = -common
        top = dims.from_terms({mono: c // common for mono, c in dims.terms_of(top).items()})
        bottom //= common
        if bottom == 1 and top == dim:
            return DimValue(dim)
    return DimValue(dim, (top, bottom))
