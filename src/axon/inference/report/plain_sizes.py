"""The rules of plain readings that choose sizes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from math import gcd

from axon.solver.constraints import NOWHERE
from axon.solver.store import Store
from axon.types import dim as dims
from axon.types.dim import Dim, FloorDiv, Poly
from axon.types.show import inside_extremum, multiple_of_mod
from axon.types.type import AtLeast, DimBroadcast, DimEq, Relation, Renaming
from axon.types.variables import DimVar, Var


def one_size(store: Store) -> bool:
    """In `d = broadcast(b, c)`, `b`, `c` and `d` are one size; beside `b`, `min(b,c)` is `b`."""
    changed = False
    for relation in waiting(store):
        if isinstance(relation, DimBroadcast):
            parts = [store.dim(part) for part in relation.parts]
            bounds = [gap for part in parts for gap in _gaps(part, parts)]
            for gap in bounds:
                store.post(AtLeast(gap, False), NOWHERE, 1)
            if bounds:
                return True
            if any(_same_quotient(store, parts[0], part) for part in parts[1:]):
                return True
            for part in relation.parts:
                changed |= _equal_sizes(store, relation.result, part)
    return changed


def _equal_sizes(store: Store, left: Dim, right: Dim) -> bool:
    """Whether they were not, and no equation that waits says so already."""
    gap = dims.sub(store.dim(left), store.dim(right))
    said = {dims.sub(r.left, r.right) for r in waiting(store) if isinstance(r, DimEq)}
    if gap == 0 or gap in said or dims.scale(-1, gap) in said:
        return False
    store.post(DimEq(left, right), NOWHERE, 1)
    return True


def _same_quotient(store: Store, left: Dim, right: Dim) -> bool:
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
    return _equal_sizes(store, dims.combine(gap, divisor, rest), 0)


def _gaps(part: Dim, parts: list[Dim]) -> Iterator[Dim]:
    """Of `min(b,c)` beside `b`: how much larger `c` is."""
    inside = inside_extremum(part) if isinstance(part, Poly) else None
    if inside is not None and inside[0] == "min":
        other = next((each for each in inside[1] if each in parts), None)
        if other is not None:
            yield from (dims.sub(each, other) for each in inside[1] if each != other)


def multiples(store: Store) -> bool:
    """In `d mod 2 = 0`, `d` reads `2*k`."""
    for relation in waiting(store):
        if isinstance(relation, DimEq):
            gap = dims.sub(relation.left, relation.right)
            found = multiple_of_mod(store.unrewritten(gap))
            if found is not None:
                _, top, bottom = found
                several = dims.mul(bottom, DimVar("", 1))
                store.post(DimEq(top, several), NOWHERE, 1)
                return True
    return False


def waiting(store: Store) -> list[Relation]:
    return [constraint.relation for constraint in store.waiting]


def solved(
    equations: list[DimEq], store: Store | None = None, kept: Collection[Var] = ()
) -> Renaming | None:
    """Sizes for which the equations hold, each given by others, but none for those that are kept.
    None if none are found.
    """
    putting = Renaming({}, {}, {}, {})
    for equation in equations:
        gap = dims.sub(equation.left, equation.right)
        known = _known_size(putting.dim(store.unrewritten(gap) if store else gap), kept)
        if known is None:
            return None
        putting = after(known, putting)
    return putting


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
