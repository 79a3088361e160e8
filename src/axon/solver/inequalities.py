"""Inequalities `dim >= 0`, and what follows from two of them."""

from __future__ import annotations

from math import gcd

from axon.solver.constraints import Constraint
from axon.solver.facts import Facts
from axon.solver.store import Store
from axon.solver.sums import sign_of_sizes
from axon.types import dim as dims
from axon.types.dim import Dim, Mono
from axon.types.type import AtLeast, DimBroadcast, DimEq
from axon.types.variables import DimVar

MOST_OTHERS = 24
MOST_TERMS = 8


def solve_at_least(store: Store, constraint: Constraint, relation: AtLeast) -> None:
    """non-negativity: `dim >= 0`."""
    dim = store.dim(relation.dim)
    if dims.is_nonnegative(dim):
        store.drop("non-negativity", constraint)
    elif dims.is_nonnegative(dims.sub(-1, dim)):
        store.conflict("non-negativity", constraint, "negative", dim, 0)
    elif dims.is_nonnegative(dims.scale(-1, tight := tightened(dim))):
        store.derive("non-negativity", constraint, DimEq(tight, 0))
    else:
        store.wait(constraint, dims.variables(dim), [m for m in dims.terms_of(dim) if m])
        # as it stands, without what other inequalities make of it
        fact = store.unrewritten(relation.dim)
        store.facts.assume(fact, constraint)
        for mono in _too_large(dim):
            store.imply("non-negativity", (constraint,), DimEq(dims.from_terms({mono: 1}), 0))
        _revisit_broadcasts(store, fact, constraint)
        _against_others(store, constraint, dim)


def _too_large(dim: Dim) -> list[Mono]:
    """`1 - 2*n - m >= 0` leaves nothing for `n`."""
    terms = dict(dims.terms_of(dim))
    constant = terms.pop((), 0)
    if sign_of_sizes(terms) >= 0:
        return []
    return [m for m, c in terms.items() if -c > constant]


def _revisit_broadcasts(store: Store, fact: Dim, by: Constraint) -> None:
    """A new inequality may decide a broadcast with a `min` or a `max`."""
    waiting = dict.fromkeys(
        other for var in dims.variables(fact) for other in store.undecided(var)[:MOST_OTHERS]
    )
    if not waiting:
        return
    alone = Facts()
    alone.assume(fact, by)
    for other in waiting if alone.any else ():
        assert isinstance(other.relation, DimBroadcast)
        parts = map(store.unrewritten, other.relation.parts)
        if any(alone.clip(part, store.unrewritten, store.clock) != part for part in parts):
            store.look_again(other)


def _against_others(store: Store, constraint: Constraint, dim: Dim) -> None:
    """What follows from a waiting inequality and another one, or an equation."""
    for mono, coefficient in dims.terms_of(dim).items():
        var = mono[0] if len(mono) == 1 else None
        if not isinstance(var, DimVar):
            continue
        for other in store.watching(var, MOST_OTHERS):
            if other is constraint:
                continue
            if isinstance(other.relation, AtLeast):
                plain = store.facts.lent(other)
                bound = store.dim(other.relation.dim) if plain is None else plain
                if dims.terms_of(bound).get(mono, 0) * coefficient < 0 and _exclude(
                    store, (constraint, dim), (other, bound), mono, False
                ):
                    return
            elif isinstance(other.relation, DimEq) and not _is_wide(other.relation):
                gap = store.unrewritten(dims.sub(other.relation.left, other.relation.right))
                if _exclude_equal(store, (constraint, dim), (other, gap), mono):
                    return


def against_inequalities(store: Store, constraint: Constraint, gap: Dim) -> None:
    """The same from the other side: the equation `gap = 0` starts to wait after an inequality."""
    if isinstance(constraint.relation, DimEq) and _is_wide(constraint.relation):
        return
    for mono in dims.terms_of(gap):
        var = mono[0] if len(mono) == 1 else None
        if not isinstance(var, DimVar):
            continue
        for other in store.watching(var, MOST_OTHERS):
            if isinstance(other.relation, AtLeast):
                bound = store.unrewritten(other.relation.dim)
                if _exclude_equal(store, (other, bound), (constraint, gap), mono):
                    return


def _is_wide(equation: DimEq) -> bool:
    """Whether an equation has so many terms that it hardly ever excludes anything."""
    return len(dims.terms_of(equation.left)) + len(dims.terms_of(equation.right)) > MOST_TERMS


def _exclude_equal(
    store: Store, bound: tuple[Constraint, Dim], equation: tuple[Constraint, Dim], mono: Mono
) -> bool:
    """An equation is two inequalities, each of which may contradict another one."""
    by, gap = equation
    product = dims.terms_of(bound[1]).get(mono, 0) * dims.terms_of(gap).get(mono, 0)
    if product > 0:
        gap = dims.scale(-1, gap)
    return product != 0 and _exclude(store, bound, (by, gap), mono, True)


def _exclude(
    store: Store,
    one: tuple[Constraint, Dim],
    two: tuple[Constraint, Dim],
    mono: Mono,
    equal: bool,
) -> bool:
    """`p >= 0` and `q >= 0`, in such multiples that an unknown cancels: if `p + q` is below zero
    they are a conflict, and if it is at most zero both are zero; so is `1 - 2*n` in lowest terms.
    True if either holds.

    `equal` states that the second is known to be zero.
    """
    (by, p), (other, q) = one, two
    p = tightened(p)
    q = q if equal else tightened(q)
    here, there = dims.terms_of(p)[mono], dims.terms_of(q)[mono]
    total = dims.combine(dims.scale(abs(there), p), abs(here), q)
    if _may_be_positive(total):
        return False
    if dims.is_nonnegative(dims.sub(-1, total)):
        store.imply("non-negativity", (by, other), DimEq(total, 0))
        store.unwait(by)  # it is set aside, as every conflict is
        return True
    zeros = (p,) if equal else (p, q)
    if not dims.is_nonnegative(dims.scale(-1, total)):
        zeros = (tightened(total),)
        if zeros[0] == total or not dims.is_nonnegative(dims.scale(-1, zeros[0])):
            return False
    for zero in zeros:
        store.imply("non-negativity", (by, other), DimEq(zero, 0))
    return True


def _may_be_positive(dim: Dim) -> bool:
    """Whether a sum has a size that is unbounded above; False means: not known."""
    terms = dims.terms_of(dim)
    grows = False
    for mono, coefficient in terms.items():
        if len(mono) > 1 or (mono and not isinstance(mono[0], DimVar)):
            return len(terms) > MOST_TERMS
        grows = grows or (coefficient > 0 and bool(mono))
    return grows


def tightened(dim: Dim) -> Dim:
    """`dim >= 0` in lowest terms: `2*n - 3 >= 0` is `n - 2 >= 0`."""
    terms = dims.terms_of(dim)
    common = 0
    for mono, coefficient in terms.items():
        if mono:
            common = gcd(common, coefficient)
            if common == 1:
                return dim
    return dims.from_terms({m: c // common for m, c in terms.items()}) if common else dim
