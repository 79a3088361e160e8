"""Constraints: relations with a history, where they came from and what they were derived from."""

from __future__ import annotations

from dataclasses import dataclass

from axon.source import Span
from axon.types.dim import Dim
from axon.types.type import Relation, Shape


@dataclass(slots=True, unsafe_hash=True)
class Origin:
    """The place in a program that requires a relation. The solver carries it and never looks
    inside.

    `kind` is one of argument, call, value, annotation, called (the argument that a call passes for
    a parameter), result, condition, pattern, size, divisor; `operator` and `position` state of
    what, `call` is the entire call, `note` the declaration as it is written, `part` the part of a
    function argument: its result, or one of its own arguments. An equation has the expected side on
    the left and the actual one on the right, unless it is `turned`.

    Never changed, like a `Span`, and for the same reason not declared frozen.
    """

    kind: str
    span: Span | None
    operator: str = ""
    position: int = 0
    note: str = ""
    call: Span | None = None
    part: str = ""
    turned: bool = False

    def of_part(self, part: str) -> Origin:
        """The same place, for one part of a function there."""
        return Origin(
            self.kind,
            self.span,
            self.operator,
            self.position,
            self.note,
            self.call,
            part,
            self.turned,
        )


NOWHERE = Origin("given", None)


class Constraint:
    """`depth` is the function depth it was posted at; `parents` are empty for one that inference
    posted.

    `counted` and `summed` are set once its consequences for ranks and sums have been posted,
    `signed` once its signs have been examined. `fronts` counts how many broadcasts it was reduced
    from. `lent` is what other constraints may use while it waits, `watched` what it waits for if
    that is not everything in it.
    """

    __slots__ = (
        "counted",
        "depth",
        "fronts",
        "lent",
        "origin",
        "parents",
        "relation",
        "rule",
        "signed",
        "summed",
        "time",
        "waiting",
        "watched",
    )

    def __init__(
        self,
        relation: Relation,
        origin: Origin,
        depth: int = 0,
        parents: tuple[Constraint, ...] = (),
        rule: str = "",
    ) -> None:
        self.relation = relation
        self.origin = origin
        self.depth = depth
        self.parents = parents
        self.rule = rule
        self.fronts = 0
        self.waiting = False
        self.time = 0
        self.counted = False
        self.summed = False
        self.signed = False
        self.lent: object = None
        self.watched: tuple[object, ...] = ()

    def __repr__(self) -> str:
        return f"<{self.relation}>"


@dataclass(frozen=True, slots=True)
class Conflict:
    """A constraint that cannot hold, the kind of conflict, and the two sides as they were found.

    Kinds: size, rank, negative, division, infinite, ragged, uniform.
    """

    constraint: Constraint
    kind: str
    left: Dim | Shape
    right: Dim | Shape
    time: int


@dataclass(frozen=True, slots=True)
class Guard:
    """A relation on run-time sizes that only the run can decide, right after they are made."""

    relation: Relation
    origin: Origin
    depth: int
