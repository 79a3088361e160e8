"""The picture of an imported model: its operations with the types that were inferred.

Weights are lines of the box that takes them. Layers that repeat are one box with a count, inside
which is the first of them; so are the graphs inside nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from axon.diagnostics import Diagnostic, Severity
from axon.diagnostics.text import render
from axon.importers.imported import Imported
from axon.importers.operations import Constant, Graph, Operand, Operation
from axon.importers.reporting.problems import operation_at
from axon.importers.reporting.report import Report
from axon.pages.drawing import Box, Drawing, Edge, Kind, Output, Picture, Problem
from axon.pages.labels import clip, label, type_text
from axon.pages.marks import MOST_PROBLEMS, mark_edges
from axon.pages.repeated_layers import Layers, repeated_layers
from axon.pages.symbols import number_all
from axon.types.show import Show
from axon.types.type import Type

MOST_ATTRIBUTES = 4
MOST_NUMBERS = 6


def picture_of_model(imported: Imported, report: Report, title: str) -> Picture:
    return _Model(imported, report, title).picture


@dataclass(slots=True)
class _Page:
    """A drawing in the making: which box makes which tensor, and what comes from outside."""

    drawing: Drawing
    made: dict[str, tuple[int, int]] = field(default_factory=dict)
    outside: dict[str, str] = field(default_factory=dict)


class _Model:
    def __init__(self, imported: Imported, report: Report, title: str) -> None:
        self.imported = imported
        self.graph = imported.model.graph
        self.show = Show(imported.names())
        self.picture = Picture(title, clip(report.signature, 600) if report.ok else "")
        self.weights = {each.name: each for each in self.graph.constants}
        self.boxes: dict[int, Box] = {}
        for name in imported.inputs:
            self.show.type(imported.type(name))  # names their variables first
        self._top()
        self._mark(report.diagnostics)
        number_all(self.picture)

    def _page(self, name: str) -> _Page:
        drawing = Drawing(name)
        self.picture.drawings.append(drawing)
        return _Page(drawing)

    def _top(self) -> None:
        page = self._page(self.picture.title)
        for name in self.imported.inputs:
            self._input(page, name, name)
        self._operations(page, self.graph.operations, set(self.imported.outputs))
        for each in self.graph.outputs:
            self._result(page, each.name)

    # --- boxes ---

    def _input(self, page: _Page, name: str, title: str) -> None:
        page.made[name] = len(page.drawing.boxes), 0
        box = Box(Kind.INPUT, clip(title), outputs=[self._output(name)])
        page.drawing.boxes.append(box)

    def _result(self, page: _Page, name: str) -> None:
        target = len(page.drawing.boxes)
        page.drawing.boxes.append(Box(Kind.RESULT, clip(self._own(name))))
        self._connect(page, name, target, 0)

    def _operations(
        self, page: _Page, operations: Sequence[Operation], wanted: set[str], deep: bool = True
    ) -> None:
        """The boxes of a list of operations; layers that repeat as one, unless this is one."""
        kinds = [self._kind(each) for each in operations] if deep else []
        found = repeated_layers(operations, kinds) if deep else []
        used = _users(operations, wanted)
        at = 0
        for layers in found:
            for operation in operations[at : layers.start]:
                self._operation(page, operation)
            self._layers(page, operations, layers, used)
            at = layers.end
        for operation in operations[at:]:
            self._operation(page, operation)

    def _operation(self, page: _Page, operation: Operation) -> None:
        if operation.operator == "Constant" and not operation.inputs:
            self._constant(operation)
            return
        model = self.imported.model
        kind = Kind.FUNCTION if _function(operation) in model.functions else Kind.OPERATOR
        outputs = [name for name in operation.outputs if name]
        target = len(page.drawing.boxes)
        lines = [*self._weights(operation), *_attributes(operation)]
        box = Box(kind, clip(operation.operator), lines, [self._output(n) for n in outputs])
        page.drawing.boxes.append(box)
        self.boxes[id(operation)] = box
        for port, name in enumerate(operation.inputs):
            if name and name not in self.weights:
                self._connect(page, name, target, port)
        page.made.update({name: (target, i) for i, name in enumerate(outputs)})
        graphs = list(operation.graphs())
        if graphs:
            box.inside = len(self.picture.drawings)
            outer = self._subgraphs(operation, graphs)
            for port, name in enumerate(outer):
                self._connect(page, name, target, len(operation.inputs) + port)

    def _constant(self, operation: Operation) -> None:
        """A node that holds a tensor is written where the tensor is taken."""
        value = next(iter(operation.attributes.values()), None)
        name = operation.outputs[0] if operation.outputs else ""
        if isinstance(value, Constant):
            self.weights[name] = Constant(name, value.elem, value.dims, value.read, value.source)
        else:
            self.weights[name] = Constant(name, None, (), lambda _: None, None)

    def _layers(
        self, page: _Page, operations: Sequence[Operation], layers: Layers, used: dict[str, int]
    ) -> None:
        first = operations[layers.start : layers.start + layers.length]
        every = operations[layers.start : layers.end]
        last = operations[layers.end - layers.length : layers.end]
        target = len(page.drawing.boxes)
        box = Box(Kind.FUNCTION, layers.name, count=layers.count)
        page.drawing.boxes.append(box)
        made = {name for each in every for name in each.outputs if name}
        outer = dict.fromkeys(
            n
            for each in every
            for n in _taken(each)
            if n and n not in made and not self._is_weight(n)
        )
        for port, name in enumerate(outer):
            self._connect(page, name, target, port)
        index = len(self.picture.drawings)
        inner = self._page(layers.name)
        handed = [
            (mine, its)
            for one, other in zip(first, last, strict=True)
            for mine, its in zip(one.outputs, other.outputs, strict=False)
            if its and used.get(its, 0) >= layers.end
        ]
        self._operations(inner, first, {mine for mine, _ in handed}, deep=False)
        for mine, _ in handed:
            self._result(inner, mine)
        box.inside = index
        early = [n for each in every for n in each.outputs if n and used.get(n, 0) >= layers.end]
        for name in dict.fromkeys([*(its for _, its in handed), *early]):
            page.made[name] = target, len(box.outputs)
            box.outputs.append(self._output(name))
        for one, *others in zip(*_copies(every, layers.length), strict=True):
            for other in others:
                if id(one) in self.boxes:
                    self.boxes[id(other)] = self.boxes[id(one)]

    def _subgraphs(self, operation: Operation, graphs: list[Graph]) -> list[str]:
        """The drawing of the graphs in a node, and what they take from around it."""
        if len(graphs) == 1:
            return self._subgraph(self._page(operation.operator), graphs[0])
        page = self._page(operation.operator)
        outer: dict[str, None] = {}
        named = [n for n, v in operation.attributes.items() if isinstance(v, Graph)]
        for graph, name in zip(graphs, [*named, *[""] * len(graphs)], strict=False):
            target = len(page.drawing.boxes)
            box = Box(Kind.FUNCTION, clip(name or "graph"), inside=len(self.picture.drawings))
            page.drawing.boxes.append(box)
            taken = self._subgraph(self._page(name or "graph"), graph)
            for port, each in enumerate(taken):
                self._connect(page, each, target, port)
            outer.update(dict.fromkeys(taken))
        return [name for name in outer if name in page.made]

    def _subgraph(self, page: _Page, graph: Graph) -> list[str]:
        kept = self.weights
        self.weights = {**kept, **{each.name: each for each in graph.constants}}
        for each in graph.inputs:
            self._input(page, each.name, each.name)
        own = len(page.drawing.boxes)
        self._operations(page, graph.operations, {each.name for each in graph.outputs})
        for each in graph.outputs:
            self._result(page, each.name)
        self.weights = kept
        inputs = {each.name for each in graph.inputs}
        return [n for n, (at, _) in page.made.items() if n not in inputs and at >= own
                and page.drawing.boxes[at].kind == Kind.INPUT]  # fmt: skip

    # --- edges ---

    def _connect(self, page: _Page, name: str, target: int, port: int) -> None:
        """An edge to a box; what no box of the drawing makes comes in as an input."""
        if name not in page.made:
            if self._is_weight(name):
                page.drawing.boxes[target].lines.append(self._weight(name))
                return
            self._input(page, name, self._own(name))
        source, output = page.made[name]
        if source != target:
            page.drawing.edges.append(Edge(source, output, target, port))

    def _is_weight(self, name: str) -> bool:
        return name in self.weights

    def _own(self, name: str) -> str:
        return self.imported.importer.own.get(name, name)

    # --- texts ---

    def _type(self, name: str) -> Type | None:
        importer = self.imported.importer
        if name in importer.types:
            return self.imported.type(name)
        inner = importer.inner.get(name, set())
        return self.imported.type(next(iter(inner))) if len(inner) == 1 else None

    def _output(self, name: str) -> Output:
        type_ = self._type(name)
        return Output(label(type_, self.show), f"{self._own(name)} : {type_text(type_, self.show)}")

    def _kind(self, operation: Operation) -> tuple[object, ...]:
        outputs = tuple(label(self._type(n), self.show) if n else "" for n in operation.outputs)
        weights = tuple(
            self.weights[n].dims if n in self.weights else bool(n) for n in operation.inputs
        )
        return operation.operator, operation.domain, operation.key(), outputs, weights

    def _weights(self, operation: Operation) -> list[str]:
        return [self._weight(name) for name in operation.inputs if name in self.weights]

    def _weight(self, name: str) -> str:
        """`weight [768,768]`; a few numbers are written out."""
        held = self.weights[name]
        size = 1
        for dim in held.dims:
            size *= dim
        if len(held.dims) <= 1 and size <= MOST_NUMBERS and held.elem is not None:
            found = held.contents()
            if found is not None:
                texts = [str(x) for x in found.items]
                return clip(f"[{', '.join(texts)}]" if held.dims else texts[0])
        word = self._own(name).replace("/", ".").rpartition(".")[2] or "constant"
        return clip(f"{word} [{','.join(map(str, held.dims))}]")

    # --- errors ---

    def _mark(self, diagnostics: Iterable[Diagnostic]) -> None:
        for found in diagnostics:
            if found.severity != Severity.ERROR:
                continue
            if len(self.picture.problems) >= MOST_PROBLEMS:
                self.picture.notes.append("More errors are not marked.")
                break
            number = len(self.picture.problems)
            self.picture.problems.append(Problem(f"{found.code}: {found.message}", render(found)))
            for each in found.labels:
                operation = operation_at(each.span)
                box = None if operation is None else self.boxes.get(id(operation))
                if box is not None and (box.problem is None or each.primary):
                    box.problem = number
                    box.says = clip(each.text, 60)
        mark_edges(self.picture)


def _function(operation: Operation) -> tuple[str, str]:
    return operation.domain, operation.operator


def _users(operations: Sequence[Operation], wanted: set[str]) -> dict[str, int]:
    """The place of the last operation that takes each tensor; the outputs are taken in the end."""
    found: dict[str, int] = {}
    for at, operation in enumerate(operations):
        for name in _taken(operation):
            found[name] = at
    found.update(dict.fromkeys(wanted, len(operations)))
    return found


def _taken(operation: Operation) -> list[str]:
    """The tensors that an operation takes, those of its graphs included."""
    found = [name for name in operation.inputs if name]
    for graph in operation.graphs():
        own = set(graph.own_names())
        inner = [n for each in graph.operations for n in _taken(each)]
        inner += [each.name for each in graph.outputs]
        found += [name for name in inner if name not in own]
    return found


def _copies(every: Sequence[Operation], length: int) -> list[Sequence[Operation]]:
    return [every[at : at + length] for at in range(0, len(every), length)]


def _attributes(operation: Operation) -> list[str]:
    lines: list[str] = []
    for name, value in operation.attributes.items():
        if isinstance(value, Graph | Constant | Operand):
            continue
        if isinstance(value, tuple) and any(isinstance(each, Graph | Constant) for each in value):
            continue
        if isinstance(value, tuple) and value and all(isinstance(e, Operand) for e in value):
            continue
        if isinstance(value, tuple):
            text = f"[{', '.join(_named(operation, each) for each in value)}]"
        else:
            text = str(value)
        lines.append(clip(f"{name} = {text}" if name else text))
    if len(lines) > MOST_ATTRIBUTES:
        lines[MOST_ATTRIBUTES:] = ["…"]
    if operation.place is not None:
        lines.append(clip(operation.place.short))
    return lines


def _named(operation: Operation, value: object) -> str:
    """A part of an attribute; one that is an input, by its name."""
    return operation.inputs[value.index] if isinstance(value, Operand) else str(value)
