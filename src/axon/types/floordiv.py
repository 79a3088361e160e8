"""Floor division, and `mod`: one law a line.

The divisor is at least one, by a guard elsewhere.
"""

from __future__ import annotations

from math import gcd

from axon.types.atoms import FloorDiv, make_atom
from axon.types.poly import (
    Dim,
    Mono,
    Poly,
    add,
    combine,
    divide,
    from_terms,
    mul,
    scale,
    shared_factor,
    sub,
    terms_of,
    without_factor,
)


def floordiv(numerator: Dim, divisor: Dim) -> Dim:
    """numerator / divisor, rounded down, in normal form.

    The divisor is at least one, by a guard elsewhere.
    """
    if isinstance(divisor, int):
        if isinstance(numerator, int) and divisor:
            return numerator // divisor
        if divisor > 0:
            return _floordiv_constant(numerator, divisor)
        if divisor < 0:
            return _floordiv_constant(scale(-1, numerator), -divisor)
        return Poly({(make_atom(FloorDiv, (numerator, 0)),): 1})
    return _floordiv_symbolic(numerator, divisor)


def _floordiv_constant(numerator: Dim, divisor: int) -> Dim:
    whole: dict[Mono, int] = {}
    while True:
        # (d*p + r)/d -> p + r/d, every coefficient of r in 0..d-1
        rest: dict[Mono, int] = {}
        for mono, coefficient in terms_of(numerator).items():
            quotient, remainder = divmod(coefficient, divisor)
            if quotient:
                whole[mono] = whole.get(mono, 0) + quotient
            if remainder:
                rest[mono] = remainder
        constant = rest.pop((), 0)
        if not rest:
            return from_terms(whole)
        # (g*p + c)/(g*d) -> (p + c/g)/d
        common = gcd(divisor, *rest.values())
        if common > 1:
            rest = {m: c // common for m, c in rest.items()}
            constant //= common
            divisor //= common
            if divisor == 1:
                return add(from_terms(whole), from_terms({**rest, (): constant}))
        # (p/a + q)/d -> (p + a*q)/(a*d), where there is one such p/a
        inner = [
            m[0]
            for m, c in rest.items()
            if c == 1
            and len(m) == 1
            and isinstance(m[0], FloorDiv)
            and isinstance(m[0].args[1], int)
        ]
        if len(inner) != 1 or inner[0].args[1] == 0:
            break
        top, bottom = inner[0].args
        assert isinstance(bottom, int)
        del rest[(inner[0],)]
        rest[()] = constant
        numerator = combine(top, bottom, from_terms(rest))
        divisor *= bottom
    rest[()] = constant
    atom = _nested_quotient(rest, divisor) or make_atom(FloorDiv, (from_terms(rest), divisor))
    whole[atom,] = whole.get((atom,), 0) + 1
    return from_terms(whole)


def _nested_quotient(terms: dict[Mono, int], divisor: int) -> FloorDiv | None:
    """(a*(p/c) + b*p + e)/(a + b*c) -> p/c: the remainder of p by c is too small to matter."""
    for mono, a in terms.items():
        atom = mono[0] if len(mono) == 1 else None
        if not isinstance(atom, FloorDiv):
            continue
        top, bottom = atom.args
        if not isinstance(bottom, int) or bottom < 1:
            continue
        b, left = divmod(divisor - a, bottom)
        if left or b < 1:
            continue
        extra = combine(from_terms({m: n for m, n in terms.items() if m != mono}), -b, top)
        if isinstance(extra, int) and extra >= 0 and b * (bottom - 1) + extra < divisor:
            return atom
    return None


def _floordiv_symbolic(numerator: Dim, divisor: Dim) -> Dim:
    if numerator == 0:
        return 0
    top, bottom = terms_of(numerator), terms_of(divisor)
    whole: dict[Mono, int] = {}
    rest = top
    if len(bottom) == 1:
        # (d*p + r)/d -> p + r/d
        ((lead, unit),) = bottom.items()
        rest = {}
        for mono, coefficient in top.items():
            quotient = divide(mono, lead) if coefficient % unit == 0 else None
            if quotient is None:
                rest[mono] = coefficient
            else:
                whole[quotient] = whole.get(quotient, 0) + coefficient // unit
    else:
        # (k*d)/d -> k
        mono, coefficient = next(iter(bottom.items()))
        factor = top.get(mono, 0) // coefficient
        if factor and combine(numerator, -factor, divisor) == 0:
            return factor
    if not rest:
        return from_terms(whole)
    shared = shared_factor(list(rest) + list(bottom))
    if shared:
        # (h*p)/(h*q) -> p/q
        rest = {without_factor(m, shared): c for m, c in rest.items()}
        bottom = {without_factor(m, shared): c for m, c in bottom.items()}
    top_dim, bottom_dim = from_terms(dict(rest)), from_terms(dict(bottom))
    if len(rest) == 1:
        # (p/a)/b -> p/(a*b)
        ((mono, coefficient),) = rest.items()
        if coefficient == 1 and len(mono) == 1 and isinstance(mono[0], FloorDiv):
            inner_top, inner_bottom = mono[0].args
            return add(from_terms(whole), floordiv(inner_top, mul(inner_bottom, bottom_dim)))
    if shared and isinstance(bottom_dim, int):
        return add(from_terms(whole), floordiv(top_dim, bottom_dim))
    key: Mono = (make_atom(FloorDiv, (top_dim, bottom_dim)),)
    whole[key] = whole.get(key, 0) + 1
    return from_terms(whole)


def mod(left: Dim, right: Dim) -> Dim:
    """left mod right, as left - right * (left / right)."""
    return sub(left, mul(right, floordiv(left, right)))
