"""Equations between dimensions, over the integers >= 0."""

from __future__ import annotations

from math import gcd

from axon.solver.constraints import Constraint
from axon.solver.inequalities import against_inequalities
from axon.solver.runtime import (
    comes_later,
    firmness,
    follow,
    may_bind,
    ragged_clash,
    varies_itself,
)
from axon.solver.store import Store
from axon.solver.sums import sum_of_sizes
from axon.types import dim as dims
from axon.types.dim import Dim, FloorDiv, Max, Min, Mono
from axon.types.type import DimEq, Relation
from axon.types.variables import DimVar

MOST_TERMS = 64


def solve_dim_eq(store: Store, constraint: Constraint, relation: DimEq) -> None:
    left, right = store.dim(relation.left), store.dim(relation.right)
    if left == right:
        store.drop("basic", constraint)
        return
    if (left, right) != (relation.left, relation.right):
        store.note("simplification", constraint)
    if isinstance(left, int) and isinstance(right, int):
        store.conflict("basic", constraint, "size", left, right)
        return
    if _two_variables(store, constraint, left, right):
        return
    if not _signs_as_posted(store, constraint, relation):
        solve_zero(store, constraint, left, right)


def _two_variables(store: Store, constraint: Constraint, left: Dim, right: Dim) -> bool:
    """basic: the common case of a variable and another variable or a constant."""
    turned = isinstance(right, DimVar) and not isinstance(left, DimVar)
    var, value = (right, left) if turned else (left, right)
    if not isinstance(var, DimVar) or var.runtime:
        return False
    if isinstance(value, DimVar) and not value.runtime:
        if _preference(value) < _preference(var):
            var, value = value, var
            turned = True
    elif not isinstance(value, int) or value < 0:
        return False
    if turned:
        store.note("reordering", constraint)
    store.bind("basic", var, value, constraint)
    return True


def _preference(var: DimVar) -> tuple[int, int, bool, int]:
    """Of two equal variables the lesser is bound: the deepest, ours before a user's, the newest."""
    return -var.level, -var.scope, _is_users(var), -var.id


def _is_users(var: DimVar) -> bool:
    """Whether the user has named it, or the shape whose rank it is."""
    return var.user or (var.rank_of is not None and var.rank_of.user)


def _signs_as_posted(store: Store, constraint: Constraint, relation: DimEq) -> bool:
    """The sign test on the equation as it was posted: the values of its variables may hide that
    these are sizes.
    """
    if constraint.signed:
        return False
    constraint.signed = True
    terms = dict(dims.terms_of(dims.sub(relation.left, relation.right)))
    constant = terms.pop((), 0)
    if not terms or (constant == 0 and len(terms) < 2):
        return False
    return sum_of_sizes(store, constraint, terms, constant, relation.left, relation.right)


def solve_zero(store: Store, constraint: Constraint, left: Dim, right: Dim) -> None:
    """left - right = 0, where the sides differ."""
    terms = dict(dims.terms_of(dims.sub(left, right)))
    constant = terms.pop((), 0)
    if not terms:
        store.conflict("arithmetic simplification", constraint, "size", left, right)
        return
    common = gcd(*terms.values())
    if constant % common:
        store.conflict("arithmetic simplification", constraint, "division", left, right)
        return
    if common > 1:
        terms = {m: c // common for m, c in terms.items()}
        constant //= common
    if sum_of_sizes(store, constraint, terms, constant, left, right):
        return
    pivot = _pivot(constraint, terms, constant)
    if pivot is not None and store.growth.allows(*pivot):
        var, value = pivot
        if isinstance(value, int) and value < 0:
            store.conflict("non-negativity", constraint, "negative", left, right)
            return
        if var.runtime and follow(store, constraint, terms):
            store.derive("raggedness", constraint, DimEq(left, right))
            return
        plain = {var} & {left, right} if isinstance(value, int | DimVar) else {var} & {left}
        if var is right and var is not left:
            store.note("reordering", constraint)
        store.bind("basic" if plain else "arithmetic simplification", var, value, constraint)
        return
    if ragged_clash(terms):
        store.conflict("raggedness", constraint, "ragged", left, right)
        return
    if follow(store, constraint, terms) or varies_itself(store, constraint, terms, constant):
        store.derive("raggedness", constraint, DimEq(left, right))
        return
    gap = dims.from_terms({**terms, (): constant})
    if any(dims.is_nonnegative(dims.sub(dims.scale(sign, gap), 1)) for sign in (1, -1)):
        store.conflict("non-negativity", constraint, "size", left, right)
        return
    if _extremum_is(store, constraint, terms, constant):
        return
    _squeeze(store, constraint, gap)
    _wait(store, constraint, terms, constant)


def _extremum_is(
    store: Store, constraint: Constraint, terms: dict[Mono, int], constant: int
) -> bool:
    """`min(n, 5) = 3` makes `n` 3: only one part can be the minimum. True if that solved it."""
    ((mono, coefficient), *more) = terms.items()
    atom = mono[0]
    if more or len(mono) != 1 or coefficient not in (1, -1) or not isinstance(atom, Min | Max):
        return False
    value = -coefficient * constant
    sign = 1 if isinstance(atom, Min) else -1
    able = [
        part
        for part in atom.args
        if not dims.is_nonnegative(dims.sub(dims.scale(sign, dims.sub(part, value)), 1))
    ]
    if len(able) != 1 or able[0] == value:
        return False
    store.derive("arithmetic simplification", constraint, DimEq(able[0], value))
    return True


def _squeeze(store: Store, constraint: Constraint, gap: Dim) -> None:
    """`x - x/2 = 0` makes `x` zero: a lower bound of the left side that is not negative is zero."""
    if constraint.counted:
        return
    for sign in (1, -1):
        side = dims.scale(sign, gap)
        for mono, coefficient in dims.terms_of(side).items():
            if coefficient >= 0 or len(mono) != 1 or not isinstance(mono[0], FloorDiv):
                continue
            top, bottom = mono[0].args
            if not isinstance(bottom, int) or bottom < 1:
                continue
            rest = dims.combine(side, -coefficient, dims.of_atom(mono[0]))
            bound = dims.combine(dims.scale(bottom, rest), coefficient, top)
            if dims.is_nonnegative(bound) and not isinstance(bound, int):
                constraint.counted = True
                store.imply("non-negativity", (constraint,), DimEq(bound, 0))
                return


def _pivot(
    constraint: Constraint, terms: dict[Mono, int], constant: int
) -> tuple[DimVar, Dim] | None:
    """A variable with coefficient 1 or -1 that occurs nowhere else, and what it equals.

    The choice does not depend on the order of the constraints: the deepest level first, ours before
    a user's, one whose value needs no check that it is a size, then the newest; run-time sizes
    last, since equating one is a check.
    """
    plain = _plain_variables(terms)
    if plain is not None:
        return _plain_pivot(plain, terms, constant)
    best: tuple[tuple[int, int, int, bool, bool, int], DimVar, Dim] | None = None
    for mono, coefficient in terms.items():
        if len(mono) != 1 or coefficient not in (1, -1):
            continue
        var = mono[0]
        if not isinstance(var, DimVar) or dims.occurs_elsewhere(var, mono, terms):
            continue
        rest = {m: -coefficient * c for m, c in terms.items() if m != mono}
        if constant:
            rest[()] = -coefficient * constant
        value = dims.from_terms(rest)
        if not may_bind(var, value) or (var.runtime and comes_later(var, value)):
            continue
        negative = not dims.is_nonnegative(value)
        key = (firmness(var), -var.level, -var.scope, _is_users(var), negative, -var.id)
        if best is None or key < best[0]:
            best = key, var, value
    return None if best is None else (best[1], best[2])


def _plain_variables(terms: dict[Mono, int]) -> list[tuple[DimVar, int]] | None:
    """The terms of an equation between flexible variables alone, the common case."""
    found: list[tuple[DimVar, int]] = []
    for mono, coefficient in terms.items():
        var = mono[0]
        if len(mono) != 1 or not isinstance(var, DimVar) or var.runtime:
            return None
        found.append((var, coefficient))
    return found


def _plain_pivot(
    plain: list[tuple[DimVar, int]], terms: dict[Mono, int], constant: int
) -> tuple[DimVar, Dim] | None:
    """The same choice, in time linear in the equation: signs are counted rather than looked up."""
    rising = sum(c > 0 for _, c in plain)
    falling = len(plain) - rising
    best: tuple[tuple[int, int, bool, bool, int], DimVar, int] | None = None
    for var, coefficient in plain:
        if coefficient not in (1, -1):
            continue
        alike = rising if coefficient > 0 else falling
        negative = alike > 1 or coefficient * constant > 0
        key = (-var.level, -var.scope, _is_users(var), negative, -var.id)
        if best is None or key < best[0]:
            best = key, var, coefficient
    if best is None:
        return None
    _, var, coefficient = best
    rest = {m: -coefficient * c for m, c in terms.items() if m != (var,)}
    if constant:
        rest[()] = -coefficient * constant
    return var, dims.from_terms(rest)


def _wait(store: Store, constraint: Constraint, terms: dict[Mono, int], constant: int) -> None:
    monos = [m for m in terms if not _is_linear(m)]
    lends = (
        len(monos) == 1
        and terms[monos[0]] in (1, -1)
        and (len(terms) == 1 or all(isinstance(a, DimVar) for a in monos[0]))
    )
    rest: Dim = 0
    if lends:
        # a constraint that lends its monomial is posted in that form, which is not rewritten
        sign = -terms[monos[0]]
        others = {m: sign * c for m, c in terms.items() if m != monos[0]}
        rest = dims.from_terms({**others, (): sign * constant})
        stuck = DimEq(dims.from_terms({monos[0]: 1}), rest)
        if constraint.relation != stuck:
            store.derive("simplification", constraint, stuck)
            return
    if not lends and 2 * len(terms) <= _width(constraint.relation):
        # much of a long sum is known by now, and need not be processed again
        short = DimEq(dims.from_terms(terms), -constant)
        store.derive("simplification", constraint, short)
        return
    variables = {v for m in terms for v in dims.variables(dims.from_terms({m: 1}))}
    store.wait(constraint, variables, monos)
    if lends:
        store.rewrite(monos[0], rest, constraint)
    else:
        store.lend_sum(terms, constant, constraint)
        against_inequalities(store, constraint, dims.from_terms({**terms, (): constant}))
        store.defer(constraint)


def _width(relation: Relation) -> int:
    """The number of terms of an equation, if that is large."""
    if not isinstance(relation, DimEq):
        return 0
    width = len(dims.terms_of(relation.left)) + len(dims.terms_of(relation.right))
    return width if width > MOST_TERMS else 0


def _is_linear(mono: Mono) -> bool:
    return len(mono) == 1 and isinstance(mono[0], DimVar)
