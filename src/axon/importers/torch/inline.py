"""Graphs that a program only wraps, in `torch.no_grad()` say: their operations replace the node."""

from __future__ import annotations

from collections.abc import Iterator

from axon.importers.operations import Graph, Operand, Operation, renamed

WRAPPERS = frozenset(
    {
        "wrap",
        "wrap_with_set_grad_enabled",
        "wrap_with_autocast",
        "wrap_activation_checkpoint",
        "tag_activation_checkpoint",
        "hints_wrapper",
        "strict_mode",
    }
)
"""Operators that compute what their graph computes."""


def inlined(operation: Operation) -> Iterator[Operation]:
    """The operation, or what the graph that it wraps consists of."""
    graphs = list(operation.graphs())
    if operation.operator not in WRAPPERS or len(graphs) != 1:
        yield operation
        return
    (graph,) = graphs
    given = _operands(operation)
    if len(given) < len(graph.inputs) or len(graph.outputs) < len(operation.outputs):
        yield operation
        return
    names = {own.name: name for own, name in zip(graph.inputs, given, strict=False)}
    made = {name for each in graph.operations for name in each.outputs}
    copies: list[tuple[str, str]] = []
    for inner, outer in zip(graph.outputs, operation.outputs, strict=False):
        if inner.name in made and inner.name not in names:
            names[inner.name] = outer
        else:
            copies.append((inner.name, outer))
    for name in made:
        names.setdefault(name, f"{operation.label}/{name}")
    for each in graph.operations:
        yield renamed(each, names)
    for inner_name, outer in copies:
        source = names.get(inner_name, inner_name)
        alias = {"self": Operand(0)}
        yield Operation("alias", [source], [outer], alias, "aten", outer, place=operation.place)


def _operands(operation: Operation) -> list[str]:
    """The tensors that the graph is applied to, in their order."""
    found: list[str] = []
    for value in operation.attributes.values():
        if isinstance(value, Operand):
            found.append(operation.inputs[value.index])
        elif isinstance(value, Graph):
            found = []  # the operands come after the graph
        elif isinstance(value, tuple):
            found += [operation.inputs[each.index] for each in value if isinstance(each, Operand)]
    return found
