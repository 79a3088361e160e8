"""Run-time sizes in equations: which variable an equation is solved for, and what follows.

A run-time size is made by a call, or passed to it, and is known only there. A flexible variable may
stand for run-time sizes of no deeper scope than its own. Otherwise the equation is solved for the
run-time size, and is a check.
"""

from __future__ import annotations

from axon.solver.constraints import Constraint
from axon.solver.store import Store
from axon.types import dim as dims
from axon.types.dim import Dim, Mono
from axon.types.variables import DimVar, ShapeVar, is_ragged


def firmness(var: DimVar) -> int:
    """Flexible variables are bound first, then run-time sizes that follow from others."""
    return 0 if not var.runtime else 1 if var.derived else 2


def comes_later(var: DimVar, value: Dim) -> bool:
    """Whether the run knows part of the value later than the variable, or only by an entire shape:
    the variable, known earlier, would have to wait for that.
    """
    return any(
        v.runtime and (isinstance(v, ShapeVar) or (v.id > var.id and not v.derived))
        for v in dims.variables(value)
    )


def may_bind(var: DimVar, value: Dim) -> bool:
    """Whether a variable may stand for a value; see "Run-time sizes" in the architecture."""
    others = [v for v in dims.variables(value) if v.runtime]
    varies = any(map(is_ragged, others))
    if not var.runtime:
        if var.user and varies:
            return False
        return all(v.scope <= var.scope for v in others) and not _loses(var, value)
    if bool(var.over) != varies:
        return False
    return all(v.scope <= var.scope or is_ragged(v) for v in others) and not _loses(var, value)


def _loses(var: DimVar, value: Dim) -> bool:
    """Whether the value has variables of deeper levels that it does not determine: `n = a*b`, `n =
    m/2`.

    Binding `n` would restrict them; a linear value determines them. A run-time size is not bound to
    such a value: the equation may still be solved in another way.
    """
    return any(
        v.level > var.level or (not v.runtime and (var.runtime or v.scope > var.scope))
        for mono in dims.terms_of(value)
        if len(mono) > 1 or (mono and not isinstance(mono[0], DimVar))
        for v in dims.variables(dims.from_terms({mono: 1}))
    )


def follow(store: Store, constraint: Constraint, terms: dict[Mono, int]) -> bool:
    """What a run-time size is composed of is known only to the run, and varies as it does: from `?k
    = 2*a` follows that `a` is a run-time size, unless it existed before. True if anything follows.
    """
    found = _variables(terms)
    made = [v for v in found if v.runtime]
    if not made:
        return False
    since = max(v.scope for v in made)
    over = max((v.over for v in made if isinstance(v, DimVar)), default=0)
    followers = [
        v
        for v in found
        if isinstance(v, DimVar) and not v.runtime and v.rank_of is None and v.scope >= since
    ]
    if over:  # a size named by the user does not vary
        followers = [v for v in followers if not v.user]
    for v in followers:
        size = DimVar(v.name, v.level, v.user, since, runtime=True, over=over, derived=True)
        store.bind("raggedness", v, size, constraint)
    return bool(followers)


def varies_itself(
    store: Store, constraint: Constraint, terms: dict[Mono, int], constant: int
) -> bool:
    """A size that existed before is equated with one that varies and was made since: it varies as
    well, and the two are compared row by row.
    """
    if constant or sorted(terms.values()) != [-1, 1] or any(len(mono) != 1 for mono in terms):
        return False
    (one,), (other,) = terms
    for var, size in ((one, other), (other, one)):
        if not isinstance(var, DimVar) or var.runtime or var.user:
            continue
        if isinstance(size, DimVar) and size.over:
            own = DimVar(var.name, var.level, scope=var.scope, runtime=True, over=size.over)
            store.bind("raggedness", var, own, constraint)
            return True
    return False


def _variables(terms: dict[Mono, int]) -> list[DimVar | ShapeVar]:
    return list(dict.fromkeys(dims.variables(dims.from_terms(dict.fromkeys(terms, 1)))))


def ragged_clash(terms: dict[Mono, int]) -> bool:
    """Sizes that vary are equated with a size that does not, and nothing is left to learn.

    A dimension named by the user does not vary.
    """
    found = [(c, list(dims.variables(dims.from_terms({m: 1})))) for m, c in terms.items()]
    if not all(v.runtime or v.user for _, variables in found for v in variables):
        return False
    signs = {c > 0 for c, variables in found if any(map(is_ragged, variables))}
    return len(signs) == 1
