"""Properties of a dimension for all sizes >= 0: that it is not negative, that it is not 1."""

from __future__ import annotations

from math import gcd

from axon.types.atoms import FloorDiv, Max, Min, Size, Vast, weight
from axon.types.poly import (
    Atom,
    Dim,
    Mono,
    Poly,
    combine,
    divide,
    from_terms,
    mul,
    scale,
    sub,
    terms_of,
)
from axon.types.quotient import exact_quotient
from axon.types.variables import DimVar

MOST_KNOWN = 10_000
# For a dimension with more atoms than this nothing is proved.
HEAVIEST = 64
SAMPLES = (0, 100)
"""Sizes that are tried before anything is proved."""

_known: dict[tuple[Poly, int], bool] = {}
"""What was found of late: the same questions come again and again."""


def is_nonnegative(dim: Dim, depth: int = 3) -> bool:
    """Whether the dimension is >= 0 for all sizes >= 0. False means: not known to be."""
    if isinstance(dim, int):
        return dim >= 0
    if isinstance(dim, DimVar):
        return True
    known = _known.get((dim, depth))
    if known is None:
        known = _is_nonnegative(dim, depth)
        if len(_known) >= MOST_KNOWN:
            _known.clear()
        _known[dim, depth] = known
    return known


def _is_nonnegative(dim: Poly, depth: int) -> bool:
    compound = [a for m in dim.terms for a in m if not isinstance(a, DimVar)]
    if min(dim.terms.values()) > 0 and all(map(_atom_nonnegative, compound)):
        return True
    if not compound or depth == 0 or weight(dim) > HEAVIEST:
        return False
    if any(_is_negative_at(dim, size) for size in SAMPLES):
        return False
    alone = [m for m in dim.terms if len(m) == 1 and isinstance(m[0], FloorDiv | Min | Max)]
    if any(_bounded(dim, m, dim.terms[m], depth - 1) for m in alone[:4]):
        return True
    quotients = dict.fromkeys(filter(_is_quotient, compound))
    return any(_divided(dim, atom, depth - 1) for atom in list(quotients)[:2])


def _is_negative_at(dim: Poly, size: int) -> bool:
    """Whether a dimension is negative where all sizes have this value."""
    value = _at(dim, size)
    return value is not None and value < 0


def _at(dim: Dim, size: int) -> int | None:
    if isinstance(dim, int):
        return dim
    if isinstance(dim, DimVar):
        return size if dim.rank_of is None else None
    total = 0
    for mono, coefficient in dim.terms.items():
        for atom in mono:
            if isinstance(atom, DimVar):
                value = size if atom.rank_of is None else None
            else:
                value = _atom_at(atom, size)
            if value is None:
                return None
            coefficient *= value
        total += coefficient
    return total


def _atom_at(atom: Atom, size: int) -> int | None:
    match atom:
        case FloorDiv(args=(top, bottom)):
            above, below = _at(top, size), _at(bottom, size)
            if above is None or below is None or below < 1:
                return None  # it divides only where it can
            return above // below
        case Min(args=parts) | Max(args=parts):
            found = [_at(part, size) for part in parts]
            if None in found:
                return None
            return (min if isinstance(atom, Min) else max)(found)  # type: ignore[type-var]
        case _:
            return None


def _bounded(dim: Dim, mono: Mono, coefficient: int, depth: int) -> bool:
    """Replace one atom by a bound that makes the dimension smaller, and test again."""
    atom = mono[0]
    rest = from_terms({m: c for m, c in terms_of(dim).items() if m != mono})
    match atom:
        case FloorDiv(args=(top, bottom)) if isinstance(bottom, int) and bottom > 0:
            # p/d <= p/d exactly, and >= (p - d + 1)/d; multiply by d
            bound = top if coefficient < 0 else sub(top, bottom - 1)
            least = combine(scale(bottom, rest), coefficient, bound)
            # an integer is >= 0 if d times it is above -d
            return is_nonnegative(combine(least, 1, bottom - 1), depth)
        case Min(args=parts) if coefficient < 0:
            return any(is_nonnegative(combine(rest, coefficient, p), depth) for p in parts)
        case Max(args=parts) if coefficient > 0:
            return any(is_nonnegative(combine(rest, coefficient, p), depth) for p in parts)
        case Min(args=parts) | Max(args=parts):
            return all(is_nonnegative(combine(rest, coefficient, p), depth) for p in parts)
        case _:
            return False


def _is_quotient(atom: Atom) -> bool:
    return isinstance(atom, FloorDiv) and not isinstance(atom.args[1], int)


def _divided(dim: Poly, atom: Atom, depth: int) -> bool:
    """The same where `k*d*(p/d)` is in it, for a size d: that is between k*(p - d + 1) and k*p."""
    assert isinstance(atom, FloorDiv)
    top, bottom = atom.args
    with_it = {m: c for m, c in dim.terms.items() if atom in m}
    factor = from_terms({divide(m, (atom,)) or (): c for m, c in with_it.items()})
    times = exact_quotient(factor, bottom)
    if times is None or any(m.count(atom) > 1 for m in with_it):
        return False
    rest = from_terms({m: c for m, c in dim.terms.items() if m not in with_it})
    if is_nonnegative(scale(-1, times), depth):
        return is_nonnegative(combine(rest, 1, mul(times, top)), depth)
    least = sub(top, sub(bottom, 1))
    return is_nonnegative(times, depth) and is_nonnegative(
        combine(rest, 1, mul(times, least)), depth
    )


def _atom_nonnegative(atom: FloorDiv | Min | Max | Size | Vast) -> bool:
    if atom.nonnegative is None:
        atom.nonnegative = _is_nonnegative_atom(atom)
    return atom.nonnegative


def _is_nonnegative_atom(atom: Atom) -> bool:
    match atom:
        case FloorDiv(args=(top, bottom)):
            return is_nonnegative(top, 1) and (not isinstance(bottom, int) or bottom > 0)
        case Min(args=parts):
            return all(is_nonnegative(p, 1) for p in parts)
        case Max(args=parts):
            return any(is_nonnegative(p, 1) for p in parts)
        case _:
            return True


def is_not_one(dim: Dim) -> bool:
    """Whether the dimension is certainly not 1: it is at least 2, or 0, or never 1 modulo
    something.
    """
    if isinstance(dim, int):
        return dim != 1
    if isinstance(dim, DimVar):
        return False
    constant = dim.terms.get((), 0)
    common = gcd(*(c for m, c in dim.terms.items() if m))
    return (constant - 1) % common != 0 or is_nonnegative(sub(dim, 2))
