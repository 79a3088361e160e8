"""What an expression becomes in a drawing."""

from __future__ import annotations

from dataclasses import dataclass, field

from axon.pages.drawing import Box, Drawing, Edge, Kind, Output
from axon.pages.labels import label, type_text
from axon.pages.recorded import Recorded
from axon.source import Span
from axon.syntax import ast
from axon.types.show import Show
from axon.types.type import Renaming, Type


@dataclass(frozen=True, slots=True)
class Wire:
    """What a box of a page makes, or a part of that: `("0",)`, `("attn", "weight")`."""

    page: Page
    box: int
    path: tuple[str, ...]
    type: Type | None


@dataclass(frozen=True, slots=True)
class Inline:
    """What is written in the box that takes it: a number, a size, a shape."""

    text: str


@dataclass(frozen=True, slots=True)
class Parts:
    """A tuple, or a record if its items have names."""

    items: tuple[Value, ...]
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Closure:
    """A function, and the scope that it was written in."""

    fn: ast.Fn
    scope: Scope
    name: str


@dataclass(frozen=True, slots=True)
class Named:
    """An operator, or one that the program declares."""

    name: str
    declared: bool = False


Value = Wire | Inline | Parts | Closure | Named


@dataclass(slots=True, eq=False)
class Scope:
    """Names of a function's body, in a file, seen from one of its items. `renaming` puts the types
    of a call in place of the function's own.
    """

    home: Recorded
    at: int
    renaming: Renaming
    outer: Scope | None = None
    names: dict[str, Value] = field(default_factory=dict)

    def find(self, name: str) -> Value | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.outer
        return None

    def within(self, renaming: Renaming | None = None) -> Scope:
        return Scope(self.home, self.at, renaming or self.renaming, self)

    def type(self, expr: ast.Expr) -> Type | None:
        found = self.home.type_of(expr)
        return None if found is None else self.renaming.type(found)


@dataclass(slots=True, eq=False)
class Page:
    """A drawing in the making. What it takes from around itself comes in as inputs: `captured` are
    those, as they are outside.
    """

    drawing: Drawing
    show: Show
    known: dict[tuple[int, tuple[str, ...]], int] = field(default_factory=dict)
    brought: dict[tuple[Page, int, tuple[str, ...]], Wire] = field(default_factory=dict)
    captured: list[Wire] = field(default_factory=list)
    constants: dict[object, Value] = field(default_factory=dict)

    def box(self, kind: Kind, title: str, lines: list[str], place: Span | None) -> int:
        self.drawing.boxes.append(Box(kind, title, lines, place=place))
        return len(self.drawing.boxes) - 1

    def output(self, wire: Wire) -> int:
        """The number of an output, made when it is first used."""
        key = wire.box, wire.path
        at = self.known.get(key)
        if at is None:
            box = self.drawing.boxes[wire.box]
            at = self.known[key] = len(box.outputs)
            name = ".".join(wire.path) if box.kind == Kind.INPUT else ""
            text = label(wire.type, self.show)
            box.outputs.append(Output(text, type_text(wire.type, self.show), name))
        return at

    def name(self, value: Value, name: str) -> None:
        """Note what the program calls a value."""
        if isinstance(value, Wire) and value.page is self and name != "_":
            box = self.drawing.boxes[value.box]
            at = self.output(value)
            if not box.outputs[at].name and box.kind != Kind.INPUT:
                box.outputs[at] = Output(box.outputs[at].label, box.outputs[at].type, name)

    def local(self, wire: Wire) -> Wire:
        """The wire here: one from another page comes in as an input."""
        if wire.page is self:
            return wire
        key = wire.page, wire.box, wire.path
        found = self.brought.get(key)
        if found is None:
            source = wire.page.drawing.boxes[wire.box]
            at = wire.page.output(wire)
            name = source.outputs[at].name
            title = name if name and not wire.path else ".".join((source.title, *wire.path))
            made = self.box(Kind.INPUT, title, [], source.place)
            found = self.brought[key] = Wire(self, made, (), wire.type)
            self.captured.append(wire)
        return found

    def connect(self, value: Value, target: int, port: int) -> None:
        match value:
            case Wire():
                here = self.local(value)
                edge = Edge(here.box, self.output(here), target, port)
                if edge not in self.drawing.edges[-8:]:
                    self.drawing.edges.append(edge)
            case Parts(items):
                for item in items:
                    self.connect(item, target, port)
            case Inline() | Closure() | Named():
                pass
