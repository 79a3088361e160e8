"""Polynomials: a dimension is an integer polynomial in normal form, so equal ones are equal values.

    Dim  = int | DimVar | Poly                 a constant, a variable, anything else
    Poly = sum of coefficient * monomial       a monomial is a product of atoms, () the empty one
    Atom = DimVar | FloorDiv | Min | Max | Size | Vast

Sums, products and factors are here, the atoms in `atoms.py`, and their laws in `floordiv.py`,
`extremum.py` and `sign.py`. Only these functions make a `Poly` or an atom, and they keep the normal
form.
"""

from __future__ import annotations

from collections.abc import Iterable

from axon.types.atoms import FloorDiv, Max, Min, Size, Vast, make_atom
from axon.types.variables import DimVar, ShapeVar

# Larger products are not kept: see Vast.
MOST_TERMS = 4096
HIGHEST_DEGREE = 64
MOST_BITS = 8192


class Poly:
    """A polynomial that is neither a constant nor a lone variable. Immutable.

    `free` are the variables in it, computed on demand, as the hash is.
    """

    __slots__ = ("_hash", "free", "terms")

    def __init__(self, terms: dict[Mono, int]) -> None:
        self.terms = terms
        self.free: tuple[DimVar | ShapeVar, ...] | None = None
        self._hash = 0

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Poly) and self.terms == other.terms)

    def __hash__(self) -> int:
        if not self._hash:
            self._hash = hash(frozenset(self.terms.items()))
        return self._hash

    def __repr__(self) -> str:
        return " + ".join(
            "*".join([str(c), *map(repr, m)]) if m else str(c) for m, c in self.terms.items()
        )


Atom = DimVar | FloorDiv | Min | Max | Size | Vast
Mono = tuple[Atom, ...]
Dim = int | DimVar | Poly


def _atom_order(atom: Atom) -> int:
    return atom.id


def terms_of(dim: Dim) -> dict[Mono, int]:
    """The polynomial as a table; not to be changed."""
    if isinstance(dim, Poly):
        return dim.terms
    if isinstance(dim, int):
        return {(): dim} if dim else {}
    return {(dim,): 1}


def from_terms(terms: dict[Mono, int]) -> Dim:
    """The dimension with these terms; takes ownership of the table."""
    if 0 in terms.values():
        terms = {m: c for m, c in terms.items() if c}
    if len(terms) < 2:
        for mono, coefficient in terms.items():
            if not mono:
                return coefficient
            if coefficient == 1 and len(mono) == 1 and isinstance(mono[0], DimVar):
                return mono[0]
            break
        else:
            return 0
    return Poly(terms)


def of_atom(atom: Atom) -> Dim:
    return atom if isinstance(atom, DimVar) else Poly({(atom,): 1})


def add(left: Dim, right: Dim) -> Dim:
    return combine(left, 1, right)


def sub(left: Dim, right: Dim) -> Dim:
    return combine(left, -1, right)


def combine(left: Dim, factor: int, right: Dim) -> Dim:
    """left + factor * right."""
    if isinstance(left, int) and isinstance(right, int):
        return left + factor * right
    terms = dict(terms_of(left))
    for mono, coefficient in terms_of(right).items():
        terms[mono] = terms.get(mono, 0) + factor * coefficient
    return from_terms(terms)


def total(parts: Iterable[Dim]) -> Dim:
    """The sum of many, in time proportional to their terms."""
    terms: dict[Mono, int] = {}
    for part in parts:
        for mono, coefficient in terms_of(part).items():
            terms[mono] = terms.get(mono, 0) + coefficient
    return from_terms(terms)


def vast() -> Poly:
    return Poly({(Vast(()),): 1})


def is_vast(dim: Dim) -> bool:
    return isinstance(dim, Poly) and any(isinstance(a, Vast) for m in dim.terms for a in m)


def scale(factor: int, dim: Dim) -> Dim:
    if factor == 1:
        return dim
    if isinstance(dim, int):
        large = factor.bit_length() + dim.bit_length() > MOST_BITS
        return vast() if large and factor and dim else factor * dim
    if factor.bit_length() > MOST_BITS:
        return vast()
    return from_terms({m: factor * c for m, c in terms_of(dim).items()})


def mul(left: Dim, right: Dim) -> Dim:
    if isinstance(left, int):
        return scale(left, right)
    if isinstance(right, int):
        return scale(right, left)
    if (
        is_vast(left)
        or is_vast(right)
        or len(terms_of(left)) * len(terms_of(right)) > MOST_TERMS
        or max(map(len, terms_of(left))) + max(map(len, terms_of(right))) > HIGHEST_DEGREE
        or max(_bits(left), _bits(right)) > MOST_BITS
    ):
        return vast()
    terms: dict[Mono, int] = {}
    for m1, c1 in terms_of(left).items():
        for m2, c2 in terms_of(right).items():
            mono = _times(m1, m2)
            terms[mono] = terms.get(mono, 0) + c1 * c2
    return from_terms(terms)


def _bits(dim: Dim) -> int:
    return max(c.bit_length() for c in terms_of(dim).values())


def _times(left: Mono, right: Mono) -> Mono:
    if not left:
        return right
    if not right:
        return left
    return tuple(sorted(left + right, key=_atom_order))


def product(dims: Iterable[Dim]) -> Dim:
    """The product of the dimensions; the common case of constants and variables is fast."""
    number, variables, others = 1, list[DimVar](), list[Poly]()
    for dim in dims:
        if isinstance(dim, int):
            number *= dim
            if number.bit_length() > MOST_BITS:
                others.append(vast())
                number = 1
        elif isinstance(dim, DimVar):
            variables.append(dim)
        else:
            others.append(dim)
    if not variables or not number:
        total: Dim = number
    elif len(variables) > HIGHEST_DEGREE:
        total = vast()
    else:
        total = from_terms({tuple(sorted(variables, key=_atom_order)): number})
    for dim in others:
        total = mul(total, dim)
    return total


def of_size(shape: ShapeVar) -> Dim:
    """The number of elements of a shape variable."""
    return Poly({(make_atom(Size, (shape,)),): 1})


def lone_atom(dim: Dim) -> Atom | None:
    if isinstance(dim, Poly) and len(dim.terms) == 1:
        ((mono, coefficient),) = dim.terms.items()
        if coefficient == 1 and len(mono) == 1:
            return mono[0]
    return None


# --- factors


def divide(mono: Mono, factor: Mono) -> Mono | None:
    """mono / factor, if it divides."""
    rest = list(mono)
    for atom in factor:
        if atom not in rest:
            return None
        rest.remove(atom)
    return tuple(rest)


def without_factor(mono: Mono, factor: Mono) -> Mono:
    quotient = divide(mono, factor)
    assert quotient is not None
    return quotient


def shared_factor(monos: list[Mono]) -> Mono:
    """The atoms that divide every monomial."""
    shared = list(monos[0])
    for mono in monos[1:]:
        rest = list(mono)
        kept = []
        for atom in shared:
            if atom in rest:
                rest.remove(atom)
                kept.append(atom)
        shared = kept
        if not shared:
            break
    return tuple(shared)
