"""What is wrong with a model, by the names of its nodes and tensors."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from axon.diagnostics import Diagnostic, Label, Severity
from axon.importers.imported import Imported
from axon.importers.operations import Operation
from axon.importers.walk import malformed
from axon.inference.report.conflict import describe
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
    state = imported.importer.state
    found = _described(state.store)
    wrong = [
        malformed(operation, why, imported.importer.line(at))
        for (at, _), (operation, why) in imported.importer.malformed.items()
    ][:MOST_PROBLEMS]
    if not found and not state.diagnostics:
        return wrong
    makers = {n: each for each in imported.model.graph.operations for n in each.outputs}
    once: dict[tuple[Any, ...], Diagnostic] = {}
    for diagnostic in (*state.diagnostics, *found):
        once.setdefault((diagnostic.code, diagnostic.message, _at(diagnostic.span)), diagnostic)
    return [*wrong, *(_in_its_words(imported, makers, show, each) for each in once.values())]


def _described(store: Store) -> list[Diagnostic]:
    """The conflicts in words, but for those that come of earlier ones."""
    found: list[Diagnostic] = []
    told: set[Constraint] = set()
    for conflict in store.conflicts[:MOST_PROBLEMS]:
        if not told or independent(store, [conflict], told):
            diagnostic, core = describe(store, conflict, ())
            found.append(diagnostic)
            told.update(core)
    return found


def not_known(imported: Imported) -> list[Diagnostic]:
    """Warnings about nodes of which nothing is known, one for each operator."""
    found = []
    importer = imported.importer
    for operator, (why, at) in sorted(importer.unsupported.items()):
        name = imported.model.graph.operations[at].label
        reason = "Axon has no rule for it" if why == operator else why
        count = sum(each.operator == operator for each in imported.model.graph.operations)
        many = f" ({count} nodes)" if count > 1 else ""
        text = f"{operator} `{name}`{many}: {reason}; what it makes is not known"
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


def _at(span: Span | None) -> int:
    """Which node a place is."""
    return -1 if span is None else span.source.lines_above


def _in_its_words(
    imported: Imported, makers: dict[str, Operation], show: Show, found: Diagnostic
) -> Diagnostic:
    at, operations = _at(found.span), imported.model.graph.operations
    if not 0 <= at < len(operations):
        return found
    node = operations[at]
    message = re.sub(r"^\S+: ", f"{node.operator} `{node.label}`: ", found.message)
    labels = tuple(_label(imported, show, label) for label in found.labels)
    notes = list(found.notes)
    sizes = re.search(r"\b(\d+) and (\d+)\b", found.message)
    weights = {constant.name for constant in imported.model.graph.constants}
    for size in dict.fromkeys(map(int, sizes.groups() if sizes else ())):
        given = next((n for n in node.inputs if _has(imported, n, size)), None)
        if given is not None:
            source = _source(imported, makers, weights, given, size)
            if given in imported.inputs:
                source += _asked(imported, operations[:at], weights, given, size)
            notes.append(f"{size} is a size of {source}")
    return replace(found, message=message, labels=labels, notes=tuple(notes))


def _label(imported: Imported, show: Show, label: Label) -> Label:
    """What a node is given where it fails, or what it makes elsewhere."""
    at, operations = _at(label.span), imported.model.graph.operations
    if not 0 <= at < len(operations):
        return label
    names = operations[at].inputs if label.primary else operations[at].outputs
    known = [name for name in names if name in imported.importer.types][:MOST_TENSORS]
    texts = [f"{name} : {show.type(imported.type(name))}" for name in known]
    return replace(label, text=", ".join(texts)) if texts else label


def _has(imported: Imported, name: str, size: int) -> bool:
    return size in (imported.importer.shape(name) or ())


def _asked(
    imported: Imported, before: list[Operation], weights: set[str], name: str, size: int
) -> str:
    """The weight that an input's size was found from, if the model does not declare it."""
    given = imported.given.get(name)
    if isinstance(given, Tensor) and size in given.shape:
        return ""
    for node in before:
        if name in node.inputs:
            found = next((n for n in node.inputs if n in weights and _has(imported, n, size)), None)
            if found is not None:
                called = f" (node `{node.name}`)" if node.name else ""
                return f", as weight `{found}`{called} asks"
    return ""


def _source(
    imported: Imported, makers: dict[str, Operation], weights: set[str], name: str, size: int
) -> str:
    """The tensor, and the weight or the input that its size comes from."""
    if name in weights:
        return f"weight `{name}`"
    here, node = name, makers.get(name)
    for _ in range(LONGEST_WAY):
        if node is None:
            break
        given = [n for n in node.inputs if _has(imported, n, size)]
        if not given:
            break
        here = next((n for n in given if n in weights), given[0])
        if here in weights:
            called = f" (node `{node.name}`)" if node.name else ""
            return f"`{name}`, from weight `{here}`{called}"
        node = makers.get(here)
    if here in imported.inputs:
        return f"`{name}`, from input `{here}`" if here != name else f"input `{name}`"
    if node is not None and node.name:
        return f"`{name}`, which node `{node.name}` makes"
    return f"`{name}`"
