"""What a picture shows: boxes with what they make, and edges; no positions yet.

A drawing is flat. A function, a function argument of an operator, and a layer that repeats is one
box, `inside` which is another drawing of the same picture; boxes that are the same inside share it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from axon.source import Span


class Kind(StrEnum):
    INPUT = "input"
    WEIGHT = "weight"
    CONSTANT = "constant"
    OPERATOR = "operator"
    FUNCTION = "function"
    RESULT = "result"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Output:
    """What a box makes: what its edges are labelled with, the entire type, and its name in the
    program if it has one.
    """

    label: str
    type: str = ""
    name: str = ""


@dataclass(slots=True, eq=False)
class Box:
    """`lines` are attributes and weights, `inside` is the number of a drawing, `count` how often a
    repeated layer is applied. `problem` is the number of a problem that it is one side of, and
    `says` what it has to do with it.
    """

    kind: Kind
    title: str
    lines: list[str] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    inside: int | None = None
    count: int = 1
    problem: int | None = None
    says: str = ""
    place: Span | None = None


@dataclass(frozen=True, slots=True)
class Edge:
    """From an output of a box to a box; both by their places in the drawing. The `port` orders the
    edges into a box.
    """

    source: int
    output: int
    target: int
    port: int = 0
    problem: int | None = None


@dataclass(slots=True, eq=False)
class Drawing:
    name: str
    boxes: list[Box] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Problem:
    """An error, and how it is shown: one line, and the whole text."""

    message: str
    text: str = ""


@dataclass(slots=True)
class Picture:
    """`drawings[0]` is what is seen first. `symbols` are the sizes and shapes that labels name, in
    the order of their colours.
    """

    title: str
    signature: str = ""
    drawings: list[Drawing] = field(default_factory=list)
    symbols: dict[str, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def top(self) -> Drawing:
        return self.drawings[0]

    @property
    def count(self) -> int:
        """The number of boxes, those inside others included, each drawing once."""
        return sum(len(drawing.boxes) for drawing in self.drawings)
