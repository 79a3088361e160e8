"""Division of polynomials without remainder."""

from __future__ import annotations

from itertools import chain

from axon.types.atoms import FloorDiv
from axon.types.poly import Dim, Mono, combine, divide, from_terms, mul, terms_of

MOST_STEPS = 64
MOST_TERMS = 64
"""A longer sum is not factored."""


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


def factors(dim: Dim) -> list[Dim]:
    """A sum as a product of a term and of sums, one for each quotient in it: `f*(h/2)*(w/2) -
    f*(h/2)` is `f`, `h/2`, `w/2 - 1`. A single factor, if it is no such product.
    """
    terms = terms_of(dim)
    if len(terms) < 2 or len(terms) > MOST_TERMS:
        return [dim]
    for atom in dict.fromkeys(
        atom for mono in terms for atom in mono if isinstance(atom, FloorDiv)
    ):
        beside = {divide(mono, (atom,)): count for mono, count in terms.items() if atom in mono}
        rest = from_terms({mono: count for mono, count in beside.items() if mono is not None})
        sum_ = exact_quotient(dim, rest) if not isinstance(rest, int) else None
        if sum_ is not None and atom not in chain(*terms_of(rest)):
            return [*factors(rest), sum_]
    return [dim]


def _of_one_term(top: Dim, bottom: Dim) -> Dim | None:
    """The same for a single term, the common case."""
    ((above, count),), ((below, times),) = terms_of(top).items(), terms_of(bottom).items()
    factor, (coefficient, remainder) = divide(above, below), divmod(count, times)
    return None if factor is None or remainder else from_terms({factor: coefficient})


def _order(mono: Mono) -> tuple[int, tuple[int, ...]]:
    """Higher degrees first, then by atoms: a fixed order, so that leading terms cancel."""
    return len(mono), tuple(sorted((atom.id for atom in mono), reverse=True))
