"""A derivation as the paper shows one: the constraints, then step after step the rule and the set
that it leaves.

It is a replay of the same rules on the same constraints, watched.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from axon.solver.constraints import Conflict, Constraint
from axon.solver.rules import new_store
from axon.solver.store import Store
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.show import Names, Show
from axon.types.type import (
    AtLeast,
    DimEq,
    HasRank,
    Relation,
    Shape,
    ShapeEq,
    Uniform,
    relation_variables,
)
from axon.types.variables import DimVar, ShapeVar


@dataclass(frozen=True, slots=True)
class Step:
    """A rule, the constraint it was applied to, and what holds after it, as text."""

    rule: str
    about: str
    after: tuple[str, ...]
    root: Constraint


@dataclass(frozen=True, slots=True)
class Derivation:
    constraints: tuple[tuple[str, Constraint], ...]
    steps: tuple[Step, ...]
    conflict: Conflict | None


def derive(constraints: Iterable[Constraint], paper: bool = False, sets: bool = True) -> Derivation:
    """Solve the constraints again, annotations first and unseen, and write down each step."""
    posted = list(constraints)
    given = [c for c in posted if c.origin.kind == "annotation"]
    rest = [c for c in posted if c.origin.kind != "annotation"]
    names = Names(hints=True)
    for constraint in posted:
        names.reserve(relation_variables(constraint.relation))
    writer = _Writer(Show(names, paper), sets)
    store = new_store(levels=False, trace=writer.step)
    writer.store = store
    store.post_all(given)
    writer.given = {v: store.word((v,)) for v in store.bindings if isinstance(v, ShapeVar)}
    shown = tuple((writer.relation(c.relation, store), c) for c in rest if not _hidden(c))
    writer.steps = []
    store.post_all(rest)
    return Derivation(
        shown, tuple(writer.steps or ()), store.conflicts[0] if store.conflicts else None
    )


class _Writer:
    def __init__(self, show: Show, sets: bool) -> None:
        self.show = show
        self.sets = sets
        self.store: Store | None = None
        self.given: dict[ShapeVar, Shape] = {}
        self.steps: list[Step] | None = None

    def step(self, rule: str, constraint: Constraint) -> None:
        if self.steps is None or self.store is None or _hidden(constraint):
            return
        about = self.relation(constraint.relation, self.store, raw=True)
        lines = self._after(self.store) if self.sets else []
        if self.sets and rule in ("reordering", "simplification"):
            lines.append(self._turned(constraint, rule == "reordering"))
        step = Step(rule, about, tuple(dict.fromkeys(lines)), _root(constraint))
        self.steps.append(step)

    def _turned(self, constraint: Constraint, swap: bool) -> str:
        """The equation that is being worked on, which is in none of the store's lists just then."""
        assert self.store is not None
        text = self.relation(constraint.relation, self.store)
        left, _, right = text.partition(" = ")
        return f"{right} = {left}" if swap else text

    def _after(self, store: Store) -> list[str]:
        lines: dict[str, None] = {}
        for var, binding in store.bindings.items():
            if var in self.given or (isinstance(var, DimVar) and var.rank_of is not None):
                continue
            if isinstance(var, ShapeVar):
                assert isinstance(binding.value, tuple)
                word = store.word(binding.value)
                lines[f"{self.show.shape((var,))} = {self.show.shape(word)}"] = None
            else:
                lines[f"{self.show.dim(var)} = {self.show.dim(store.dim(var), spaced=True)}"] = None
        for constraint in store.unsolved():
            if not _hidden(constraint):
                lines[self.relation(constraint.relation, store)] = None
        return [line for line in lines if not _tautology(line)]

    def relation(self, relation: Relation, store: Store, raw: bool = False) -> str:
        """An equation with its sides as they stand, what is known put in unless it is to be
        shown raw.
        """
        match relation:
            case ShapeEq(left, right):
                if raw:
                    left, right = self._given(left), self._given(right)
                    return f"{self.show.shape(left)} = {self.show.shape(right)}"
                return f"{self.show.shape(store.word(left))} = {self.show.shape(store.word(right))}"
            case DimEq(left, right):
                a, b = (left, right) if raw else (store.dim(left), store.dim(right))
                return f"{self.show.dim(a, spaced=True)} = {self.show.dim(b, spaced=True)}"
            case _:
                return self.show.relation(relation)

    def _given(self, word: Shape) -> Shape:
        """The word with what annotations say put in."""
        out: list[Dim | ShapeVar] = []
        for item in word:
            if isinstance(item, ShapeVar) and item in self.given:
                out.extend(self.given[item])
            else:
                out.append(item)
        return tuple(out)


def _tautology(line: str) -> bool:
    left, equals, right = line.partition(" = ")
    return bool(equals) and left == right


def _hidden(constraint: Constraint) -> bool:
    """Whether a constraint is bookkeeping: ranks, and sizes being sizes."""
    relation = constraint.relation
    if isinstance(relation, HasRank | Uniform):
        return True
    if isinstance(relation, AtLeast):
        return relation.silent
    return isinstance(relation, DimEq) and any(
        isinstance(v, DimVar) and v.rank_of is not None
        for side in (relation.left, relation.right)
        for v in dims.variables(side)
    )


def _root(constraint: Constraint) -> Constraint:
    while constraint.parents:
        constraint = constraint.parents[0]
    return constraint
