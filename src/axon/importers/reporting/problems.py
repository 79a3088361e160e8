"""What is wrong with a model, by the names of its nodes and tensors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from axon.diagnostics import Diagnostic, Label, Severity
from axon.importers.imported import Imported
from axon.importers.operations import Operation
from axon.importers.walk import malformed
from axon.inference.report.conflict import Explanation, describe
from axon.solver.constraints import Constraint
from axon.solver.reasons import independent
from axon.solver.store import Store
from axon.source import Span
from axon.types.show import Show
from axon.types.type import Tensor

MOST_PROBLEMS = 20
MOST_TENSORS = 6
LONGEST_WAY = 10_000


def problems(imported: Imported, show: Show) -> list[Diagnostic]:
    """The errors, once each, in the words of the model. Where two sizes differ, a note says where
    each of them comes from.
    """
    importer = imported.importer
    found = [
        malformed(operation, why, importer.line(at))
        for (at, _), (operation, why) in importer.malformed.items()
    ][:MOST_PROBLEMS]
    wrong = [
        *(Explanation(each, [], ()) for each in importer.state.diagnostics),
        *_explained(importer.state.store),
    ]
    if wrong:
        found += map(_Words(imported, show).told, wrong)
    once: dict[tuple[str, str, Span | None], Diagnostic] = {}
    for each in found:
        once.setdefault((each.code, each.message, each.span), each)
    return list(once.values())


def _explained(store: Store) -> list[Explanation]:
    """Explanations of conflicts, without those that follow from earlier ones."""
    found: list[Explanation] = []
    told: set[Constraint] = set()
    for conflict in store.conflicts[:MOST_PROBLEMS]:
        if not told or independent(store, [conflict], told):
            found.append(describe(store, conflict, ()))
            told.update(found[-1].core)
    return found


def not_known(imported: Imported) -> list[Diagnostic]:
    """Warnings about nodes of which nothing is known, one for each operator."""
    found = []
    importer = imported.importer
    for operator, (why, at) in sorted(importer.unsupported.items()):
        around = imported.model.graph.operations[at]
        same = around.operator == operator  # rather than one inside it
        title = around.title if same else f"{operator} `{around.label}`"
        reason = "Axon has no rule for it" if why == operator else why
        count = sum(each.operator == operator for each in imported.model.graph.operations)
        many = f" ({count} nodes)" if count > 1 else ""
        text = f"{title}{many}: {reason}; what it makes is not known"
        label = Label(importer.line(at), "the rest is inferred", primary=True)
        found.append(Diagnostic("AX503", Severity.WARNING, text, (label,)))
    return found


def only_empty(imported: Imported) -> list[Diagnostic]:
    """Warnings about inputs that fit only when they have no elements."""
    found = []
    for name, (size, var) in imported.emptied().items():
        span = imported.importer.state.store.bindings[var].by.origin.span
        which = f"`{size}` of input `{name}`" if size else f"a size of input `{name}`"
        text = f"{which} can only be 0: no tensor with elements fits"
        labels = () if span is None else (Label(span, "what asks for that", primary=True),)
        found.append(Diagnostic("AX502", Severity.WARNING, text, labels))
    return found


def operation_at(span: Span | None) -> Operation | None:
    """The operation that a place is."""
    subject = None if span is None else span.source.subject
    return subject if isinstance(subject, Operation) else None


class _Words:
    """How to say what is wrong with a model by the names of its nodes and tensors."""

    def __init__(self, imported: Imported, show: Show) -> None:
        graph = imported.model.graph
        self.imported = imported
        self.show = show
        self.makers = {name: each for each in graph.operations for name in each.outputs}
        self.weights = {constant.name for constant in graph.constants}

    def told(self, wrong: Explanation) -> Diagnostic:
        found = wrong.diagnostic
        node = operation_at(found.span)
        if node is None or found.code == "AX505":
            return found
        labels = tuple(map(self._label, found.labels))
        notes = (*found.notes, *self._notes(node, wrong))
        named = found.about(node.title)
        return replace(named, labels=labels, notes=notes)

    def _label(self, label: Label) -> Label:
        """What a node is given where it fails, or what it makes elsewhere."""
        node = operation_at(label.span)
        if node is None:
            return label
        names = node.inputs if label.primary else node.outputs
        known = [name for name in names if name in self.imported.importer.types][:MOST_TENSORS]
        texts = [f"{self._own(n)} : {self.show.type(self.imported.type(n))}" for n in known]
        return replace(label, text=", ".join(texts)) if texts else label

    def _notes(self, node: Operation, wrong: Explanation) -> Iterator[str]:
        """Where the sizes that differ come from: through nodes that the conflict rests on."""
        through = [operation_at(each.origin.span) for each in wrong.core]
        behind = list(dict.fromkeys(each for each in through if each is not None))
        for size in dict.fromkeys(size for size in wrong.sizes if isinstance(size, int)):
            given = next((name for name in node.inputs if self._has(name, size)), None)
            if given is not None:
                source = self._source(behind, given, size)
                if given in self.imported.inputs:
                    source += self._asked(behind, given, size)
                yield f"{size} is a size of {source}"

    def _has(self, name: str, size: int) -> bool:
        return size in (self.imported.importer.shape(name) or ())

    def _asked(self, behind: list[Operation], name: str, size: int) -> str:
        """The weight that an input's size was found from, if the model does not declare it."""
        given = self.imported.given.get(name)
        if isinstance(given, Tensor) and size in given.shape:
            return ""
        for node in behind:
            if name in node.inputs:
                found = next((n for n in node.inputs if self._is_weight(n, size)), None)
                if found is not None:
                    return f", as weight `{self._own(found)}`{_called(node)} asks"
        return ""

    def _is_weight(self, name: str, size: int) -> bool:
        return name in self.weights and self._has(name, size)

    def _source(self, behind: list[Operation], name: str, size: int) -> str:
        """The tensor, and the weight or the input that its size comes from."""
        if name in self.weights:
            return f"weight `{self._own(name)}`"
        here, node = name, self.makers.get(name)
        for _ in range(LONGEST_WAY):
            given = [] if node is None else [n for n in node.inputs if self._has(n, size)]
            if node is None or not given:
                break
            here = min(given, key=lambda n: (n not in self.weights, self._is_beside(behind, n)))
            if here in self.weights:
                return f"`{name}`, from weight `{self._own(here)}`{_called(node)}"
            node = self.makers.get(here)
        if here in self.imported.inputs:
            return f"`{name}`, from input `{here}`" if here != name else f"input `{name}`"
        if node is not None and node.name:
            return f"`{name}`, which {_node(node)} makes"
        return f"`{name}`"

    def _own(self, name: str) -> str:
        """What a user calls a tensor."""
        return self.imported.importer.own.get(name, name)

    def _is_beside(self, behind: list[Operation], name: str) -> bool:
        """Whether what makes a tensor has no part in a conflict."""
        return self.makers.get(name) not in behind


def _called(node: Operation) -> str:
    return f" ({_node(node)})" if node.name else ""


def _node(node: Operation) -> str:
    place = node.place
    return f"node `{node.name}`" if place is None else f"`{node.operator}` at {place.short}"
