"""The rules of plain readings that choose sizes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from math import gcd

from axon.solver.constraints import NOWHERE
from axon.solver.store import Store
from axon.types import dim as dims
from axon.types.dim import Dim, FloorDiv, Poly
from axon.types.show import as_one_extremum, multiple_of_mod
from axon.types.type import AtLeast, DimBroadcast, DimEq, Relation, Renaming
from axon.types.variables import DimVar, Var

MOST_ALIKE = 12
MOST_TERMS = 40
"""Of the sizes in an equation, and its terms, that are compared pair by pair."""


@dataclass(frozen=True, slots=True)
class Said:
    """What was chosen: sizes that are zero, and sizes that are at least zero."""

    equations: set[Dim] = field(default_factory=set)
    bounds: set[Dim] = field(default_factory=set)


def one_size(store: Store, said: Said) -> bool:
    """In `d = broadcast(b, c)`, `b`, `c` and `d` are one size; beside `b`, `min(b,c)` is `b`."""
    changed = False
    for relation in waiting(store):
        if isinstance(relation, DimBroadcast):
            parts = [store.dim(part) for part in relation.parts]
            bounds = [gap for part in parts for gap in _gaps(part, parts)]
            if any(_at_least(store, gap, said) for gap in bounds):
                return True
            if any(_same_quotient(store, parts[0], part, said) for part in parts[1:]):
                return True
            for part in relation.parts:
                if store.dim(part) != 1:
                    changed |= _equal_sizes(store, relation.result, part, said)
    return changed


def _at_least(store: Store, gap: Dim, said: Said) -> bool:
    """A bound; where it does not help, since it is no linear one, an equation."""
    if gap in said.bounds:
        return _equal_sizes(store, gap, 0, said)
    said.bounds.add(gap)
    store.post(AtLeast(gap, False), NOWHERE, 1)
    return True


def _equal_sizes(store: Store, left: Dim, right: Dim, said: Said) -> bool:
    """Whether they were not, and this was not said before."""
    gap = dims.sub(store.dim(left), store.dim(right))
    if gap == 0 or gap in said.equations:
        return False
    said.equations.update((gap, dims.scale(-1, gap)))
    store.post(DimEq(left, right), NOWHERE, 1)
    return True


def _same_quotient(store: Store, left: Dim, right: Dim, said: Said) -> bool:
    """`(h-r)/2 + 2` and `(h-q)/2 + 1` are one size where their dividends are: `r = q + 2`."""
    rest = dims.sub(left, right)
    found = [m for m in dims.terms_of(rest) if len(m) == 1 and isinstance(m[0], FloorDiv)]
    signs = [dims.terms_of(rest)[mono] for mono in found]
    if sorted(signs) != [-1, 1]:
        return False
    (top, divisor), (other, its) = (mono[0].args for mono in found if isinstance(mono[0], FloorDiv))
    if not isinstance(divisor, int) or divisor != its:
        return False
    for mono, sign in zip(found, signs, strict=True):
        rest = dims.combine(rest, -sign, dims.from_terms({mono: 1}))
    gap = dims.scale(signs[0], dims.sub(top, other))
    return _equal_sizes(store, dims.combine(gap, divisor, rest), 0, said)


def _gaps(part: Dim, parts: list[Dim]) -> Iterator[Dim]:
    """Of `min(b,c)` beside `b`: how much larger `c` is."""
    sizes = smallest(part)
    other = next((each for each in sizes if each in parts), None)
    if other is not None:
        yield from (dims.sub(each, other) for each in sizes if each != other)


def equal_products(store: Store, said: Said) -> bool:
    """In `(h/2)*(w/2) = (j/2)*(k/2)`, two images of one size: `h` is `j`, and `w` is `k`."""
    for relation in waiting(store):
        if isinstance(relation, DimEq):
            gap = store.unrewritten(dims.sub(relation.left, relation.right))
            if any(isinstance(atom, FloorDiv) for mono in dims.terms_of(gap) for atom in mono):
                for left, right in _renamed_to_zero(gap):
                    if _equal_sizes(store, left, right, said):
                        return True
    return False


def _renamed_to_zero(gap: Dim) -> list[tuple[DimVar, DimVar]]:
    """Pairs of sizes that are all the difference of two sides: each, put for the other, leaves
    fewer terms, and all of them none.
    """
    found: list[tuple[DimVar, DimVar]] = []
    while gap != 0:
        variables = dict.fromkeys(dims.variables(gap))
        free = [v for v in variables if isinstance(v, DimVar) and not v.runtime]
        if len(free) > MOST_ALIKE or len(dims.terms_of(gap)) > MOST_TERMS:
            return []
        pairs = [(a, b) for i, a in enumerate(free) for b in free[i + 1 :] if not b.user]
        left = [Renaming({b: a}, {}, {}, {}).dim(gap) for a, b in pairs]
        counts = [len(dims.terms_of(each)) for each in left]
        least = min(counts, default=MOST_TERMS)
        if least >= len(dims.terms_of(gap)):
            return []
        best = counts.index(least)
        found.append(pairs[best])
        gap = left[best]
    return found


def multiples(store: Store, said: Said) -> bool:
    """In `d mod 2 = 0`, and in `d*e = 6*(d/2)*(e/3)`, `d` reads `2*k`."""
    for relation in waiting(store):
        if isinstance(relation, DimEq):
            gap = store.unrewritten(dims.sub(relation.left, relation.right))
            mod = multiple_of_mod(gap)
            found = mod[1:] if mod is not None else _exact_quotient(gap)
            if found is not None and gap not in said.equations:
                said.equations.add(gap)
                top, bottom = found
                store.post(DimEq(top, dims.mul(bottom, DimVar("", 1))), NOWHERE, 1)
                return True
    return False


def _exact_quotient(gap: Dim) -> tuple[Dim, Dim] | None:
    """In `d*e = 6*(d/2)*(e/3)` every quotient is exact, as it holds if they are: the dividend and
    the divisor of one.
    """
    quotients: dict[DimVar, Dim] = {}
    for mono in dims.terms_of(gap):
        for atom in mono:
            if isinstance(atom, FloorDiv) and isinstance(top := atom.args[0], DimVar):
                quotients.setdefault(top, atom.args[1])
    exact = {top: dims.mul(bottom, DimVar("", 1)) for top, bottom in quotients.items()}
    if exact and Renaming(exact, {}, {}, {}).dim(gap) == 0:
        return next(iter(quotients.items()))
    return None


def smallest(dim: Dim) -> tuple[Dim, ...]:
    """`n` and `k` of `min(n,k)`; a size that is no minimum is its own."""
    inside = as_one_extremum(dim) if isinstance(dim, Poly) else None
    return tuple(inside[1]) if inside is not None and inside[0] == "min" else (dim,)


def waiting(store: Store) -> list[Relation]:
    return [constraint.relation for constraint in store.waiting]


def settled(
    relations: Iterable[Relation],
    resolve: Callable[[Dim], Dim] = lambda dim: dim,
    kept: Collection[Var] = (),
) -> tuple[Renaming, list[AtLeast]] | None:
    """Sizes for which the conditions hold, each given by others, but none for those that are kept,
    and the bounds that are left. None if none are found.
    """
    putting = Renaming({}, {}, {}, {})
    bounds: list[AtLeast] = []
    for relation in sorted(relations, key=lambda each: not isinstance(each, DimEq)):
        match relation:
            case DimEq(left, right):
                sides = left, right
            case DimBroadcast(left, parts):
                right, *others = (putting.dim(resolve(part)) for part in parts)
                if any(other != right for other in others):
                    return None
                sides = left, right
            case AtLeast():
                bounds.append(relation)
                continue
            case _:
                return None
        known = _known_size(putting.dim(resolve(dims.sub(*sides))), kept)
        if known is None:
            return None
        putting = after(known, putting)
    sizes = [putting.dim(resolve(bound.dim)) for bound in bounds]
    return putting, [AtLeast(size, False) for size in sizes if not dims.is_nonnegative(size)]


def after(sizes: dict[DimVar, Dim], others: Renaming) -> Renaming:
    """These sizes put into others, and beside them."""
    one = Renaming(sizes, {}, {}, {})
    return Renaming({**{v: one.dim(size) for v, size in others.dims.items()}, **sizes}, {}, {}, {})


def as_sums(given: Iterable[Dim]) -> dict[DimVar, Dim]:
    """Of a parameter with `a` and one with `a - b` features the second reads `c`, the first
    `b + c`. What a user has named stays as it is.
    """
    putting = Renaming({}, {}, {}, {})
    for dim in given:
        size = putting.dim(dim)
        terms = dims.terms_of(size)
        if () in terms or all(factor > 0 for factor in terms.values()):
            continue
        common = gcd(*terms.values())
        for mono, factor in terms.items():
            var = mono[0] if len(mono) == 1 else None
            if (
                factor == common
                and isinstance(var, DimVar)
                and not (var.user or var.runtime or dims.occurs_elsewhere(var, mono, terms))
            ):
                rest = dims.from_terms({m: c // common for m, c in terms.items() if m != mono})
                putting = after({var: dims.sub(DimVar("", 1), rest)}, putting)
                break
    return dict(putting.dims)


def _known_size(gap: Dim, kept: Collection[Var]) -> dict[DimVar, Dim] | None:
    """`d = h*k` tells what `d` is, and `h*k = h*j` reads `k = j`; equal sides tell nothing."""
    terms = dims.terms_of(gap)
    common = gcd(*terms.values()) or 1
    shared = dims.shared_factor(list(terms)) if terms else ()
    parts = terms.items()
    gap = dims.from_terms({dims.without_factor(m, shared): c // common for m, c in parts})
    terms = dims.terms_of(gap)
    if not terms:
        return {}
    for mono, factor in terms.items():
        var = mono[0] if len(mono) == 1 else None
        if not isinstance(var, DimVar) or factor not in (1, -1) or var.runtime or var in kept:
            continue
        size = dims.scale(-factor, dims.combine(gap, -factor, var))
        if not dims.occurs_elsewhere(var, mono, terms) and dims.is_nonnegative(size):
            return {var: size}
    return None
