"""Suggestions for a conflict, where one change clearly resolves it."""

from __future__ import annotations

from axon.inference.report.clash import sides, solved
from axon.ops import OPERATORS
from axon.solver.constraints import Constraint
from axon.source import Span
from axon.types.type import Broadcast, Shape, ShapeEq
from axon.types.variables import DimVar, ShapeVar

MOST_CONSTRAINTS = 2000


def suggestions(core: list[Constraint], main: Constraint, around: list[Constraint]) -> list[str]:
    """Ways out of a conflict, only those that leave the entire definition without conflict."""
    operator = OPERATORS.get(main.origin.operator)
    if operator is None or len(around) > MOST_CONSTRAINTS:
        return []
    if operator.traits.often_transposed:
        return _transposed(core, main, around)
    other = operator.traits.broadcasting_form
    if other and _broadcasts(around, main):
        return [f"`{operator.name}` needs equal shapes; `{other}` broadcasts"]
    return []


def _transposed(core: list[Constraint], main: Constraint, around: list[Constraint]) -> list[str]:
    """Suggest a transposition where one of the arguments would fit with it."""
    for constraint in core:
        relation, origin = constraint.relation, constraint.origin
        if origin.kind != "argument" or origin.call != main.origin.call or origin.span is None:
            continue
        if not isinstance(relation, ShapeEq) or origin.part:
            continue
        wanted, there = sides(constraint, relation)
        word = solved(c for c in core if c is not constraint).word(there)
        if len(word) < 2 or any(isinstance(item, ShapeVar) for item in word[-2:]):
            continue
        swapped = ShapeEq(wanted, (*word[:-2], word[-1], word[-2]))
        changed = [Constraint(swapped, origin, c.depth) if c is constraint else c for c in around]
        if _clearly_fits(changed, around):
            return [f"`transpose({_short(origin.span)})` would fit"]
    return []


def _clearly_fits(changed: list[Constraint], around: list[Constraint]) -> bool:
    """Without conflict, and without making one of the user's names a constant that it was not."""
    before, after = solved(around), solved(changed)
    return not after.conflicts and not any(
        isinstance(var, DimVar)
        and var.user
        and isinstance(after.dim(var), int)
        and not isinstance(before.dim(var), int)
        for var in after.bindings
    )


def _short(span: Span) -> str:
    text = span.text
    return text if len(text) <= 30 and "\n" not in text else "…"


def _broadcasts(around: list[Constraint], main: Constraint) -> bool:
    arguments = [
        c for c in around if c.origin.kind == "argument" and c.origin.call == main.origin.call
    ]
    words: list[Shape] = [
        sides(c, c.relation)[1] for c in arguments if isinstance(c.relation, ShapeEq)
    ]
    relation = Broadcast((ShapeVar(),), tuple(words))
    others = [c for c in around if c not in arguments]
    trial = [*others, Constraint(relation, main.origin, main.depth)]
    return len(words) > 1 and _clearly_fits(trial, others)
