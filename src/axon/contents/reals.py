"""Sizes that are computed in floating point, followed as fractions where rounding does no harm.

A float with `b` bits has every integer up to 2**b, and so every fraction `p / 2**k` with |p| up to
that. Arithmetic that stays among those is exact. Any other quotient `n / d` is off by no more than
one part in 2**b, and what is no integer is at least `1/d` away from the next one. So rounding it
down or up gives what it gives of the fraction, as long as |n| < 2**b; with several such errors, a
share of that. If the fraction is an integer, every value on the way must be exact: that is so as
long as what was rounded is only divided, scaled by what has no factor in common with the divisor,
and added to what is exact.

That `n` is so small is taken for granted here, and is a guard once a size is made of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.variables import DimVar

BITS = {"f32": 24, "f64": 53}
"""The bits of floats that are followed; those that have fewer are rounded too soon."""
FEW = 16
"""The largest odd factor by which a size is scaled: above, it is rounded too soon."""
LARGE = 1 << 16
"""What is asked of sizes must hold for those up to this one."""
MOST_SIZES = 4
"""Sizes in one condition: it is tried with each of them small and large."""
MOST_BITS = 40
"""Bits of a divisor."""
MOST_STEPS = 8
"""Conditions of one value."""

MOST_LIMITS = 64
"""Conditions of a whole model."""

Limit = tuple[Dim, int]
"""A number that must not be further from zero than another."""


@dataclass(frozen=True, slots=True)
class Real:
    """`top / bottom`, but for rounding.

    What is in `within` must hold for everything to be exact until the first value that is rounded.
    `rounded` are the values at which something was rounded, over the same `bottom`.
    """

    top: Dim
    bottom: int
    bits: int
    within: tuple[Limit, ...] = ()
    rounded: tuple[Dim, ...] = ()


def as_float(size: Dim | Real, elem: str) -> Real | None:
    """A size, or a float, cast to a type of floats."""
    bits = BITS.get(elem)
    if bits is None:
        return None
    if not isinstance(size, Real):
        return _exact(Real(size, 1, bits))
    if size.bits == bits:
        return size
    return None if size.rounded else _exact(replace(size, bits=bits))


def add(a: Any, b: Any) -> Real | None:
    pair = _as_fractions(a, b)
    if pair is None:
        return None
    one, other = pair
    if one.rounded and other.rounded:
        return None  # together they may be an integer though neither is
    return _settled(_joined(one, other, dims.add(one.top, other.top)))


def sub(a: Any, b: Any) -> Real | None:
    return add(a, negate(b))


def negate(a: Any) -> Any:
    return replace(a, top=dims.scale(-1, a.top)) if isinstance(a, Real) else -a


def mul(a: Any, b: Any) -> Real | None:
    """A multiple by a constant with few bits."""
    if not isinstance(a, Real):
        a, b = b, a
    factor = _fraction(b)
    if factor is None or not isinstance(a, Real):
        return None
    odd = _odd(factor.numerator)
    if odd > FEW or math.gcd(odd, _odd(a.bottom)) > 1:
        return None
    made = _scaled(a, factor.numerator, factor.denominator)
    return made if a.rounded and odd == 1 else _settled(made)


def ratio(a: Any, b: Any) -> Real | None:
    """A quotient by a constant."""
    divisor = _fraction(b)
    if not isinstance(a, Real) or not divisor or divisor.denominator > FEW:
        return None
    sign = -1 if divisor < 0 else 1
    made = _scaled(a, sign * divisor.denominator, abs(divisor.numerator))
    if _odd(divisor.numerator) > 1:
        return _fit(replace(made, rounded=(*made.rounded, made.top)))
    return made if a.rounded else _settled(made)


def least(a: Any, b: Any) -> Real | None:
    return _extreme(dims.minimum, a, b)


def greatest(a: Any, b: Any) -> Real | None:
    return _extreme(dims.maximum, a, b)


def floor(a: Real) -> Real | None:
    return _fit(Real(dims.floordiv(a.top, a.bottom), 1, a.bits, _limits(a)))


def ceil(a: Real) -> Real | None:
    top = dims.add(a.top, a.bottom - 1)
    return _fit(Real(dims.floordiv(top, a.bottom), 1, a.bits, _limits(a)))


def conditions(a: Real) -> list[Dim] | None:
    """What must not be negative for the value, rounded to an integer, to be that of the fraction.
    What follows from the rest is left out. None if that is too much to ask.
    """
    limits = _limits(a)
    found = [each for dim, top in limits for each in (dims.sub(top, dim), dims.add(top, dim))]
    return without_implied(found) if all(map(_is_usual, found)) else None


def _is_usual(condition: Dim) -> bool:
    """Whether it holds for all sizes that are not large. A product of sizes is often more than what
    floats have, and may be right all the same: of that nothing can be asked.
    """
    if any(len(mono) > 1 for mono in dims.terms_of(condition)):
        return False
    variables = [v for v in dict.fromkeys(dims.variables(condition)) if isinstance(v, DimVar)]
    if len(variables) > MOST_SIZES:
        return False
    for corner in product((1, LARGE), repeat=len(variables)):
        found = dims.evaluate(condition, dict(zip(variables, corner, strict=True)))
        if found is None or found < 0:
            return False
    return True


def without_implied(conditions: Iterable[Dim]) -> list[Dim]:
    """Dimensions that must not be negative, without those that are not if the others are not."""
    kept: list[Dim] = []
    for each in conditions:
        if not follows(each, kept):
            kept = [known for known in kept if not follows(known, [each])]
            kept.append(each)
    return kept


def follows(condition: Dim, known: Iterable[Dim]) -> bool:
    """Whether a dimension is not negative if others are not: some part of it is more than one."""
    return dims.is_nonnegative(condition) or any(
        dims.is_nonnegative(dims.combine(dims.scale(part, condition), -1, each))
        for each in known
        for part in (1, 2)
    )


# --- parts -----------------------------------------------------------------------------------


def _fraction(x: Any) -> Fraction | None:
    """A number that is known, as it is."""
    if isinstance(x, bool) or not isinstance(x, int | float) or not math.isfinite(x):
        return None
    return Fraction(x)


def _odd(number: int) -> int:
    """The number without its factors of two."""
    number = abs(number)
    return number // (number & -number) if number else 1


def _as_fractions(a: Any, b: Any) -> tuple[Real, Real] | None:
    """Both as fractions of one type of floats."""
    bits = next((x.bits for x in (a, b) if isinstance(x, Real)), 0)
    found = []
    for x in (a, b):
        number = None if isinstance(x, Real) else _fraction(x)
        if number is not None and number.denominator.bit_length() <= MOST_BITS:
            x = Real(number.numerator, number.denominator, bits)
        if not isinstance(x, Real) or x.bits != bits:
            return None
        found.append(x)
    bottom = math.lcm(*(x.bottom for x in found))
    one, other = (_scaled(x, bottom // x.bottom, bottom // x.bottom) for x in found)
    return one, other


def _scaled(a: Real, top: int, bottom: int) -> Real:
    rounded = tuple(dims.scale(abs(top), each) for each in a.rounded)
    return replace(a, top=dims.scale(top, a.top), bottom=a.bottom * bottom, rounded=rounded)


def _joined(one: Real, other: Real, top: Dim) -> Real:
    within = tuple(dict.fromkeys((*one.within, *other.within)))
    return Real(top, one.bottom, one.bits, within, (*one.rounded, *other.rounded))


def _settled(a: Real) -> Real | None:
    """A value that is rounded, or exact within a limit."""
    return _fit(replace(a, rounded=(*a.rounded, a.top))) if a.rounded else _exact(a)


def _exact(a: Real) -> Real | None:
    """A value that the floats have: factors of two do not count."""
    common = math.gcd(*dims.terms_of(a.top).values())
    even = common & -common if common else 1
    bare = dims.floordiv(a.top, even)
    return _fit(replace(a, within=tuple(dict.fromkeys((*a.within, (bare, 1 << a.bits))))))


def _fit(a: Real) -> Real | None:
    """None for what has grown beyond what floats are for."""
    few = len(a.within) + len(a.rounded) <= MOST_STEPS and a.bottom.bit_length() <= MOST_BITS
    parts = (a.top, *a.rounded, *(dim for dim, _ in a.within))
    large = any(
        dims.is_vast(part) or any(c.bit_length() > 62 for c in dims.terms_of(part).values())
        for part in parts
    )
    return a if few and not large else None


def _limits(a: Real) -> tuple[Limit, ...]:
    """What must hold so that the errors together are less than one step of the fraction."""
    count = len(a.rounded)
    share = (1 << a.bits) // count - 1 if count else 0
    return tuple(dict.fromkeys((*a.within, *((dim, share) for dim in a.rounded))))


def _extreme(function: Callable[[Dim, Dim], Dim], a: Any, b: Any) -> Real | None:
    pair = _as_fractions(a, b)
    if pair is None or pair[0].rounded or pair[1].rounded:
        return None
    one, other = pair
    return _fit(_joined(one, other, function(one.top, other.top)))
