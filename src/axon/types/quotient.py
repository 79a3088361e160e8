"""Division of polynomials without remainder."""

from __future__ import annotations

from axon.types.poly import Dim, Mono, combine, divide, from_terms, mul, terms_of

MOST_STEPS = 64


def exact_quotient(top: Dim, bottom: Dim) -> Dim | None:
    """The quotient of two polynomials; None if there is none, or it takes too long."""
    divisor = terms_of(bottom)
    if not divisor:
        return None
    if len(divisor) == 1 and len(terms_of(top)) == 1:
        return _of_one_term(top, bottom)
    lead = max(divisor, key=_order)
    quotient: Dim = 0
    for _ in range(MOST_STEPS):
        rest = terms_of(top)
        if not rest:
            return quotient
        first = max(rest, key=_order)
        factor = divide(first, lead)
        coefficient, remainder = divmod(rest[first], divisor[lead])
        if factor is None or remainder:
            return None
        term = from_terms({factor: coefficient})
        quotient = combine(quotient, 1, term)
        top = combine(top, -1, mul(term, bottom))
    return None


def _of_one_term(top: Dim, bottom: Dim) -> Dim | None:
    """The same for a single term, the common case."""
    ((above, count),), ((below, times),) = terms_of(top).items(), terms_of(bottom).items()
    factor, (coefficient, remainder) = divide(above, below), divmod(count, times)
    return None if factor is None or remainder else from_terms({factor: coefficient})


def _order(mono: Mono) -> tuple[int, tuple[int, ...]]:
    """Higher degrees first, then by atoms: a fixed order, so that leading terms cancel."""
    return len(mono), tuple(sorted((atom.id for atom in mono), reverse=True))
