"""Inputs that nothing has made where an operation takes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from axon.diagnostics import Diagnostic, Label, Severity
from axon.importers.imported import Imported
from axon.importers.operations import Graph, Model, Operation

MOST_PROBLEMS = 20


class Unmade(NamedTuple):
    """An input that is not there yet: made `later`, or by nothing at all. `at` is the place of the
    operation, or of the one that it is in a subgraph of, in the model's own graph.
    """

    at: int
    operation: Operation
    name: str
    later: bool


def unmade(imported: Imported) -> list[Diagnostic]:
    """Errors for inputs that nothing has made by then, and for outputs that nothing makes."""
    operations = imported.model.graph.operations
    distinct = {id(each.attributes): each for each in operations}.values()
    if not imported.importer.unmade and not any(each.has_graphs for each in distinct):
        return []
    found: dict[tuple[int, str], Diagnostic] = {}
    for each in unmade_inputs(imported.model):
        if len(found) < MOST_PROBLEMS:
            found.setdefault((each.at, each.name), _described(imported, each))
    return list(found.values())


def _described(imported: Imported, each: Unmade) -> Diagnostic:
    why = "is made only by a later node" if each.later else "is undefined: nothing has that name"
    text = f"{each.operation.title}: its input `{each.name}` {why}"
    help_ = ("operations must be in the order in which they run",) if each.later else ()
    label = Label(imported.importer.line(each.at), "taken here", primary=True)
    return Diagnostic("AX504", Severity.ERROR, text, (label,), (), help_)


def unmade_inputs(model: Model) -> Iterator[Unmade]:
    graph = model.graph
    every: set[str] | None = None
    made = {"", *(each.name for side in (graph.constants, graph.inputs) for each in side)}
    for at, operation in enumerate(graph.operations):
        if not made.issuperset(operation.inputs) or operation.has_graphs:
            for inner, name in _taken(operation, frozenset(), made):
                every = every or {name for each in graph.operations for name in each.outputs}
                yield Unmade(at, inner, name, name in every)
        made.update(operation.outputs)


def _taken(
    operation: Operation, own: frozenset[str], made: set[str]
) -> Iterator[tuple[Operation, str]]:
    """What an operation and its subgraphs take that is not there. `own` are the tensors of the
    subgraphs around it by then.
    """
    for name in operation.inputs:
        if name not in made and name not in own:
            yield operation, name
    for graph in operation.graphs():
        yield from _in_subgraph(operation, graph, own, made)


def _in_subgraph(
    around: Operation, graph: Graph, own: frozenset[str], made: set[str]
) -> Iterator[tuple[Operation, str]]:
    here = {*own, *(each.name for side in (graph.constants, graph.inputs) for each in side)}
    for operation in graph.operations:
        yield from _taken(operation, frozenset(here), made)
        here.update(operation.outputs)
    for output in graph.outputs:
        if output.name and output.name not in here and output.name not in made:
            yield around, output.name
