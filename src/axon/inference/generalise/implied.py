"""Conditions on sizes that follow from others.

`n >= k` says that `n` is `k + m` for some size `m`; `n = 2*k` says what `n` is. A condition follows
from these if, with `n` replaced, it holds for all sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.show import multiple_of_mod
from axon.types.type import AtLeast, DimEq, Relation, Renaming
from axon.types.variables import DimVar

MOST_TRIED = 12
"""Of the conditions that one may follow from."""
MOST_TERMS = 30
"""Of a condition, and of what it is with sizes replaced."""


def without_implied_sizes(
    relations: list[Relation], is_condition: Callable[[Relation], bool]
) -> list[Relation]:
    """Leave out the conditions that follow from the others, the weakest first."""
    kept = list(relations)
    for relation in sorted(filter(is_condition, relations), key=_strength):
        others = [r for r in kept if r is not relation and is_condition(r)]
        if follows(relation, others):
            kept = [r for r in kept if r is not relation]
    return kept


def _strength(relation: Relation) -> tuple[bool, int]:
    """Inequalities before equations, long ones before short ones."""
    match relation:
        case AtLeast(dim, _):
            return False, -_length(dim)
        case DimEq(left, right):
            return True, -_length(dims.sub(left, right))
        case _:
            return True, 0


def _length(dim: Dim) -> int:
    return sum(1 + len(mono) for mono in dims.terms_of(dim)) + dims.weight(dim)


def follows(relation: Relation, others: Sequence[Relation]) -> bool:
    """Whether a condition holds wherever the others do. False means: not known to."""
    match relation:
        case AtLeast(dim, _):
            return _follows(dim, others, dims.is_nonnegative)
        case DimEq(left, right):
            return _follows(dims.sub(left, right), others, lambda gap: gap == 0)
        case _:
            return False


def _follows(dim: Dim, others: Sequence[Relation], holds: Callable[[Dim], bool]) -> bool:
    """With each of the others alone, then with one after the other."""
    if len(dims.terms_of(dim)) > MOST_TERMS:
        return False
    mentioned = set(dims.variables(dim))
    left = [list(_solved(o)) for o in others if isinstance(o, AtLeast | DimEq)][:MOST_TRIED]
    for solutions in left:
        if any(var in mentioned and holds(_with(dim, var, value)) for var, value in solutions):
            return True
    gap, changed = dim, True
    while changed and len(dims.terms_of(gap)) <= MOST_TERMS and not holds(gap):
        changed = False
        for solutions in left:
            found = [each for each in solutions if each[0] in dims.variables(gap)]
            if found:
                gap, changed = _with(gap, *found[0]), True
                left.remove(solutions)
                break
    return holds(gap)


def _with(dim: Dim, var: DimVar, value: Dim) -> Dim:
    return Renaming({var: value}, {}, {}, {}).dim(dim)


def _solved(relation: AtLeast | DimEq) -> Iterator[tuple[DimVar, Dim]]:
    """The variables that occur once, alone, in a condition, each with the value that it has: for an
    inequality, in terms of a size by which the two sides differ; for `n mod k = 0`, of another size
    too.
    """
    other = DimVar("")
    if isinstance(relation, AtLeast):
        gap = dims.sub(relation.dim, other)
    else:
        gap = dims.sub(relation.left, relation.right)
        remainder = multiple_of_mod(gap)
        if remainder is not None:
            factor, top, bottom = remainder
            if factor == 1 and isinstance(top, DimVar) and isinstance(bottom, int):
                yield top, dims.scale(bottom, other)
            return
    terms = dims.terms_of(gap)
    for mono, coefficient in terms.items():
        var = mono[0] if len(mono) == 1 else None
        if not isinstance(var, DimVar) or coefficient not in (1, -1) or var.rank_of is not None:
            continue
        if var is not other and not dims.occurs_elsewhere(var, mono, terms):
            yield var, dims.scale(-coefficient, dims.combine(gap, -coefficient, var))
