"""Where one constraint of a conflict disagrees with the others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from axon.solver.constraints import Constraint
from axon.solver.rules import new_store
from axon.solver.store import Store
from axon.source import Span
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.type import Shape, ShapeEq
from axon.types.variables import DimVar, ShapeVar


@dataclass(frozen=True, slots=True)
class Clash:
    """The shape a constraint has here and the one the others require; the first size that differs
    and its counterpart, the position in the shape, and the name that the operator's signature has
    for it.

    `before` is the shape known from the constraints before this one, `after` the shape known with
    it: so a label can distinguish what an argument has from what a place takes it for.
    """

    constraint: Constraint
    here: Shape
    wanted: Shape
    size: Dim | None = None
    other: Dim | None = None
    at: int = 0
    variable: str = ""
    before: Shape = ()
    after: Shape = ()

    @property
    def place(self) -> str:
        """The ordinal of the size in the shape: `second`, `last`."""
        from_end, i = self.at < 0, -1 - self.at if self.at < 0 else self.at
        words = ("", "second", "third", "fourth", "fifth", "sixth")
        if i >= len(words):
            return f"{i + 1}th{'-last' if from_end else ''}"
        if from_end:
            return f"{words[i]}-last" if i else "last"
        return words[i] or "first"


def in_order_of_evaluation(constraints: list[Constraint]) -> list[Constraint]:
    """The constraints in the order in which a run would meet them: the arguments of a call, the
    arguments of a function among them, the constraints of its body, then those of its result.
    (Inference walks the body first.)
    """
    last: dict[Span | None, int] = {}
    for i, constraint in enumerate(constraints):
        last[constraint.origin.call] = i
    functions = {(c.origin.span, c.origin.call) for c in constraints if c.origin.part}

    def key(at: int) -> list[tuple[int, int]]:
        origin = constraints[at].origin
        place = origin.call or origin.span
        around = [
            (span.end - span.start, last[call])
            for span, call in functions
            if span is not None and place is not None and place.is_within(span)
        ]
        outer = [(i, 2) for _, i in sorted(around, reverse=True)]
        own = last[origin.call] if origin.call is not None else at
        stage = 0 if not origin.part else 3 if origin.part.endswith("result") else 1
        return [*outer, (own, stage), (at, 0)]

    return [constraints[i] for i in sorted(range(len(constraints)), key=key)]


def find_clash(basis: list[Constraint], core: list[Constraint], constraint: Constraint) -> Clash:
    """Solve the others, then read both sides of this one. The others are all constraints (`basis`),
    which determine more, unless these conflict without this one too, or disagree with it at another
    size than the conflict does. Both are in the order of evaluation.
    """
    found, clear = _clash_among(basis, constraint)
    if basis is core or (found.size is None and clear):
        return found
    alone, _ = _clash_among(core, constraint)
    if found.size is not None:
        same_end = (alone.at < 0) == (found.at < 0)
        elsewhere = alone.size is not None and same_end and alone.at != found.at
        return alone if elsewhere else found
    known = _is_open(found.here) and not _is_open(alone.here)
    return alone if alone.size is not None or known else found


def _is_open(word: Shape) -> bool:
    return any(isinstance(item, ShapeVar) for item in word)


def _clash_among(constraints: list[Constraint], constraint: Constraint) -> tuple[Clash, bool]:
    """The clash of a constraint with others, and whether the others are without conflict."""
    others = solved([c for c in constraints if c is not constraint])
    clear = not others.conflicts
    relation = constraint.relation
    if not isinstance(relation, ShapeEq):
        return Clash(constraint, (), ()), clear
    asked, there = sides(constraint, relation)
    wanted, here = others.word(asked), others.word(there)
    before = after = here
    if constraint.origin.kind == "argument":
        first, end = _extent(constraints, constraint)
        before = solved(constraints[:first]).word(there)
        after = solved(constraints[:end]).word(there)
    written = {"called": wanted, "result": there}.get(constraint.origin.kind, asked)
    flexible = any(isinstance(item, ShapeVar) for item in written)
    for from_end in (True, False) if flexible else (False, True):
        found = _mismatch(written, wanted, here, from_end)
        if found is not None:
            size, other, at, variable = found
            clash = Clash(constraint, here, wanted, size, other, at, variable, before, after)
            return clash, clear
    return Clash(constraint, here, wanted, before=before, after=after), clear


def sides(constraint: Constraint, relation: ShapeEq) -> tuple[Shape, Shape]:
    """The expected side, and the actual one."""
    origin = constraint.origin
    if origin.turned or origin.kind == "result":
        return relation.right, relation.left
    return relation.left, relation.right


def _extent(constraints: list[Constraint], constraint: Constraint) -> tuple[int, int]:
    """The index of a constraint, and where the plain arguments of its call end."""
    at, call = constraints.index(constraint), constraint.origin.call
    same = [i for i, c in enumerate(constraints) if c.origin.call == call and not c.origin.part]
    return at, max([at, *same]) + 1 if call is not None else at + 1


def solved(constraints: Iterable[Constraint]) -> Store:
    """A store of its own with the solution of the constraints."""
    store = new_store(levels=False)
    store.post_all(constraints)
    return store


def item_at(word: Shape, at: int) -> Dim | None:
    """The dimension at a position, if no part of unknown rank is before it on that side."""
    outside = word[at:] if at < 0 else word[: at + 1]
    if not -len(word) <= at < len(word) or any(isinstance(i, ShapeVar) for i in outside):
        return None
    item = word[at]
    return None if isinstance(item, ShapeVar) else item


def _mismatch(
    written: Shape, wanted: Shape, here: Shape, from_end: bool
) -> tuple[Dim, Dim, int, str] | None:
    """The first pair of sizes that can never be equal, as far as the shapes are fixed from an end,
    its position, and the name that the shape as written has there.
    """
    for i in range(min(len(wanted), len(here))):
        at = -1 - i if from_end else i
        a, b = wanted[at], here[at]
        if isinstance(a, ShapeVar) or isinstance(b, ShapeVar):
            return None
        difference = dims.sub(a, b)
        if isinstance(difference, int) and difference != 0:
            name = item_at(written, at)
            return b, a, at, name.name if isinstance(name, DimVar) else ""
    return None
