"""A derivation as the paper shows one: the constraints, then for each step the rule and the
resulting set.

It is a replay of the same rules on the same constraints, with each step recorded.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from axon.solver.constraints import Conflict, Constraint
from axon.solver.reasons import reasons
from axon.solver.rules import new_store
from axon.solver.store import IndexVar, Store
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
from axon.types.variables import DimVar, ShapeVar, Var

# Each rule in a sentence.
LAWS = {
    "basic": "A variable alone on one side stands for the other from now on; two numbers must be "
    "the same.",
    "reordering": "An equation may be turned round, so that the variable is on the left.",
    "unpacking": "Shapes are equal when they are equally long and equal dimension by dimension.",
    "empty shapes": "A shape that nothing is left for is empty.",
    "append unpacking": "Equal ends of two shapes can be taken off; what remains is equal.",
    "append dimensionality": "A shape cannot hold more dimensions than the shape it is equal to.",
    "simplification": "What is known is put in, and sizes are brought to their normal form.",
    "arithmetic simplification": "A linear equation is divided by its common factor and solved "
    "for a size that it determines.",
    "partial expression simplification": "A product or quotient that is known to equal something "
    "is replaced by it elsewhere.",
    "rank": "Equal shapes have equally many dimensions, and no part of a broadcast has more than "
    "the result; a shape of known rank is that many.",
    "multiset": "When the same unknown shapes stand on both sides, the dimensions around them "
    "agree up to their order.",
    "elimination": "Two equations with a term in common can be combined into one without it.",
    "broadcasting": "Shapes are aligned from the right; two sizes go together when they are equal "
    "or one of them is 1.",
    "non-negativity": "No size is below zero; sizes that add up to zero are all zero, and none is "
    "more than what they add up to.",
    "raggedness": "A size that varies inside a tensor is not equal to one that does not.",
}


@dataclass(frozen=True, slots=True)
class Fact:
    """A line of a set. It keeps its key while it is about the same variable (when `known`) or comes
    from the same constraint, so that a rewritten line is distinguished from a new one.
    """

    key: int
    known: bool
    text: str


@dataclass(frozen=True, slots=True)
class Step:
    """A rule, the constraint it was applied to, and the set after it, as text.

    `roots` are the posted constraints that it was derived from, the nearest first; `facts` are the
    lines of `after` once more; `subject` is the key that the constraint had in the set before.
    """

    rule: str
    about: str
    after: tuple[str, ...]
    root: Constraint
    roots: tuple[Constraint, ...]
    facts: tuple[Fact, ...]
    subject: int | None


@dataclass(frozen=True, slots=True)
class Solved:
    """Where a variable got its value: after `step` steps, by the last of them if `shown`, else by
    one that is not shown; after none if an annotation states it.

    `value` is what it was bound to, `final` that value under the later bindings.
    """

    name: str
    value: str
    final: str
    step: int
    shown: bool
    rule: str
    by: Constraint


@dataclass(frozen=True, slots=True)
class Derivation:
    """The constraints are those of the replay, so that they can be found among the roots of steps;
    `start` is their set. Annotations are in `given`, not among them.

    With a conflict the last step is the one that finds it, `clash` the constraint that cannot hold,
    and `core` the fewest posted constraints that cannot all hold. Only the first `sets` steps have
    a set. `names` are those of all variables that are written anywhere, solved or not.
    """

    constraints: tuple[tuple[str, Constraint], ...]
    steps: tuple[Step, ...]
    conflict: Conflict | None
    given: tuple[tuple[str, Constraint], ...]
    start: tuple[Fact, ...]
    clash: str
    core: tuple[Constraint, ...]
    solved: tuple[Solved, ...]
    names: dict[Var, str]
    sets: int


def derive(
    constraints: Iterable[Constraint],
    paper: bool = False,
    sets: bool = True,
    most_lines: int | None = None,
) -> Derivation:
    """Solve the constraints again, annotations first and not shown, and record each step up to a
    conflict; `most_lines` bounds the lines of all sets in total.
    """
    posted = list(constraints)
    given = [c for c in posted if c.origin.kind == "annotation"]
    rest = [c for c in posted if c.origin.kind != "annotation"]
    names = Names(hints=True)
    for constraint in posted:
        names.reserve(relation_variables(constraint.relation))
    writer = _Writer(Show(names, paper), most_lines if sets else 0)
    store = new_store(levels=False, trace=writer.step)
    writer.store = store
    writer.silent = True
    store.post_all(given)
    writer.silent = False
    writer.given = {v: store.word((v,)) for v in store.bindings if isinstance(v, ShapeVar)}
    texts = [None if _hidden(c) else writer.relation(c.relation, store) for c in rest]
    store.post_all(rest)
    own = list(enumerate(store.posted))[len(given) :]
    shown = [(text, key, c) for text, (key, c) in zip(texts, own, strict=True) if text is not None]
    conflict = store.conflicts[0] if store.conflicts else None
    # from here on names are given to what no step shows
    return Derivation(
        constraints=tuple((text, c) for text, _, c in shown),
        steps=tuple(writer.steps),
        conflict=conflict,
        given=tuple(
            (writer.show.relation(c.relation), c)
            for c in store.posted[: len(given)]
            if not _hidden(c)
        ),
        start=tuple(Fact(key, False, text) for text, key, _ in shown),
        clash=writer.clash(conflict) if conflict is not None else "",
        core=tuple(reasons(store, conflict)) if conflict is not None else (),
        solved=tuple(writer.solved()),
        names=names.given,
        sets=writer.sets,
    )


MOST_ROOTS = 16
MOST_SEEN = 400


class _Writer:
    def __init__(self, show: Show, most_lines: int | None) -> None:
        self.show = show
        self.store: Store | None = None
        self.given: dict[ShapeVar, Shape] = {}
        self.steps: list[Step] = []
        self.silent = False
        self.sets = 0
        self._lines = most_lines
        self._keys: dict[Constraint | IndexVar, int] = {}
        self._found: dict[IndexVar, tuple[int, bool, str]] = {}
        self._over = False

    def step(self, rule: str, constraint: Constraint) -> None:
        store = self.store
        if store is None or self._over:
            return
        self._over = bool(store.conflicts)
        shown = (not self.silent and not _hidden(constraint)) or self._over
        if not self._keys:
            self._keys.update({posted: key for key, posted in enumerate(store.posted)})
        number = len(self.steps) + shown
        for var in islice(reversed(store.bindings), len(store.bindings) - len(self._found)):
            self._found[var] = number, shown, rule
        if not shown:
            return
        about = self.relation(constraint.relation, store, raw=True)
        subject = self._keys.get(constraint)
        facts = self._set(rule, constraint) if self._lines is None or self._lines > 0 else []
        after = tuple(dict.fromkeys(fact.text for fact in facts))
        roots = _roots(constraint)
        self.steps.append(Step(rule, about, after, roots[0], roots, tuple(facts), subject))

    def _set(self, rule: str, constraint: Constraint) -> list[Fact]:
        assert self.store is not None
        facts = self._after(self.store)
        if rule in ("reordering", "simplification"):
            turned = self._turned(constraint, rule == "reordering")
            facts.append(Fact(self._key(constraint), False, turned))
        self.sets += 1
        if self._lines is not None:
            self._lines -= len(facts)
        return facts

    def _key(self, what: Constraint | IndexVar) -> int:
        return self._keys.setdefault(what, len(self._keys))

    def _turned(self, constraint: Constraint, swap: bool) -> str:
        """The equation that is being processed, which is in none of the store's lists."""
        assert self.store is not None
        text = self.relation(constraint.relation, self.store)
        left, _, right = text.partition(" = ")
        return f"{right} = {left}" if swap else text

    def _after(self, store: Store) -> list[Fact]:
        facts: list[Fact] = []
        for var in store.bindings:
            if var in self.given or (isinstance(var, DimVar) and var.rank_of is not None):
                continue
            name, value = self._name(var), self._value(store.word((var,)), var)
            facts.append(Fact(self._key(var), True, f"{name} = {value}"))
        for constraint in store.unsolved():
            if not _hidden(constraint):
                text = self.relation(constraint.relation, store)
                facts.append(Fact(self._key(constraint), False, text))
        return [fact for fact in facts if not _tautology(fact.text)]

    def _name(self, var: IndexVar) -> str:
        return self.show.shape((var,)) if isinstance(var, ShapeVar) else self.show.dim(var)

    def _value(self, value: Shape, of: IndexVar) -> str:
        if isinstance(of, ShapeVar):
            return self.show.shape(value)
        (dim,) = value
        assert not isinstance(dim, ShapeVar)
        return self.show.dim(dim, spaced=True)

    def clash(self, conflict: Conflict) -> str:
        """The constraint that cannot hold, under the bindings."""
        left, right = (
            self.show.shape(side) if isinstance(side, tuple) else self.show.dim(side, spaced=True)
            for side in (conflict.left, conflict.right)
        )
        if isinstance(conflict.constraint.relation, AtLeast):
            return f"{left} >= 0"
        return f"{left} = {right}"

    def solved(self) -> list[Solved]:
        """Every variable that got a value and was written somewhere."""
        assert self.store is not None
        found: list[Solved] = []
        for var, (step, shown, rule) in self._found.items():
            if var not in self.show.names.given:
                continue
            binding = self.store.bindings[var]
            given = binding.given if isinstance(binding.given, tuple) else (binding.given,)
            value = self._value(given, var)
            final = self._value(self.store.word((var,)), var)
            name = self.show.names(var)
            found.append(Solved(name, value, final, step, shown, rule, binding.by))
        return found

    def relation(self, relation: Relation, store: Store, raw: bool = False) -> str:
        """An equation with its sides as they are, under the bindings unless it is shown raw."""
        match relation:
            case ShapeEq(left, right):
                if raw:
                    left, right = self._with_annotations(left), self._with_annotations(right)
                    return f"{self.show.shape(left)} = {self.show.shape(right)}"
                return f"{self.show.shape(store.word(left))} = {self.show.shape(store.word(right))}"
            case DimEq(left, right):
                a, b = (left, right) if raw else (store.dim(left), store.dim(right))
                return f"{self.show.dim(a, spaced=True)} = {self.show.dim(b, spaced=True)}"
            case _:
                return self.show.relation(relation)

    def _with_annotations(self, word: Shape) -> Shape:
        """The word with the values from annotations substituted."""
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
    """Whether a constraint is bookkeeping: ranks, and that sizes are not negative."""
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


def _roots(constraint: Constraint) -> tuple[Constraint, ...]:
    """The constraints that a constraint was derived from, up to a bound; depth first."""
    found: dict[Constraint, None] = {}
    seen: set[Constraint] = set()
    stack = [constraint]
    while stack and not (found and (len(found) == MOST_ROOTS or len(seen) > MOST_SEEN)):
        current = stack.pop()
        if current in seen:
            continue
        seen.add(current)
        if not current.parents:
            found[current] = None
        stack.extend(reversed(current.parents))
    return tuple(found)
