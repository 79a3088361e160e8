"""Graphs inside nodes, inferred for what they are given.

A tensor of such a graph has a name of its own in the importer, so that it is not taken for one
outside or in another graph. Its steps are no steps of the graph around.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from axon.contents.values import Contents
from axon.importers.expressions import Expression, Verbatim
from axon.importers.importer import Importer, known_shape
from axon.importers.node import Node
from axon.importers.operations import Graph, Operation, renamed
from axon.importers.steps import Body, Parts, Repeated, Step, SubgraphFunction
from axon.importers.walk import infer_operation
from axon.syntax import ast
from axon.types.type import Tensor, Type


@dataclass(frozen=True, slots=True)
class Subgraph:
    """What came of a graph: its tensors by their names in the importer, and their types."""

    prefix: str
    params: list[str]
    outputs: list[str]
    types: list[Type]
    steps: list[Step | Repeated]


def subgraph(
    node: Node,
    which: str,
    given: Sequence[Type],
    known: dict[int, Contents] | None = None,
    label: str = "",
    outside: Mapping[str, str] | None = None,
) -> Subgraph:
    """Infer the graph that an attribute is, for inputs of these types; the contents of some of them
    are `known`. A label tells this use of the graph from others. For tensors `outside` it takes
    others in their place.
    """
    importer, graph = node.importer, node.attribute(which)
    assert isinstance(graph, Graph)
    importer.enter(graph.operations, node.operator)
    prefix = prefix_of(node, label or which)
    before = importer.bodies.get(prefix)
    for name in before.names.values() if before is not None else ():
        importer.forget(name)
    if before is not None and before.outside == (outside or {}):
        names, operations = before.names, before.operations
    else:
        names, operations = _body(importer, graph, prefix, outside or {})
    written = len(importer.steps)
    for constant in graph.constants:
        name = names[constant.name]
        importer.hold(name, constant)
        node.step((name,), None, tensor=constant)
    params = [names[each.name] for each in graph.inputs if each.name in names]
    for i, (name, type_) in enumerate(zip(params, given, strict=False)):
        importer.define(name, type_, (known or {}).get(i))
    for operation in operations:
        infer_operation(importer, operation, node.at, node.rules)
    importer.depth -= 1
    steps = importer.steps[written:]
    del importer.steps[written:]
    outer = outside or {}
    outputs = [names.get(n, outer.get(n, n)) for n in (each.name for each in graph.outputs)]
    for name in outputs:
        if name not in importer.types:
            importer.define(name, importer.unknown())
    return Subgraph(prefix, params, outputs, [importer.types[name] for name in outputs], steps)


def undo(importer: Importer) -> Callable[[], None]:
    """What takes back all that is done with graphs inside nodes from here on."""
    depth, bodies = importer.depth, set(importer.bodies)
    written: list[list[Any]] = [importer.steps, importer.calls]
    before = [len(each) for each in written]

    def back() -> None:
        importer.depth = depth
        for each, count in zip(written, before, strict=True):
            del each[count:]
        for prefix in importer.bodies.keys() - bodies:
            for name in importer.bodies.pop(prefix).names.values():
                importer.forget(name)

    return back


def prefix_of(node: Node, label: str) -> str:
    """What the names of the tensors of a graph inside a node begin with."""
    made = next(filter(None, node.outputs), f"{node.operation.name} {node.at}")
    return f"{made}⟨{label}⟩"


def _body(
    importer: Importer, graph: Graph, prefix: str, outside: Mapping[str, str]
) -> tuple[dict[str, str], list[Operation]]:
    """The names of a graph's tensors in the importer, and its nodes with those names."""
    names = {own: prefix + own for own in graph.own_names() if own not in outside}
    for own, name in names.items():
        importer.own[name] = own
        importer.inner.setdefault(own, set()).add(name)
        importer.hidden.add(name)
    others = {**outside, **names}
    operations = [renamed(each, others) for each in graph.operations]
    importer.bodies[prefix] = Body(names, operations, outside)
    for operation in operations:
        importer.uses[operation.operator] += 1
    return names, operations


def function(
    node: Node,
    found: Subgraph,
    params: tuple[Parts, ...],
    result: Parts,
    same: Sequence[tuple[str, str]] = (),
    steps: Sequence[Step | Repeated] | None = None,
    name: str = "",
) -> Expression:
    """The graph as a function, to be written out where it is used. One that has other steps than
    the graph's, or is meant otherwise, has a name to tell it from the graph.
    """
    key = f"graph {found.prefix}{name}"
    made = found.steps if steps is None else steps
    node.importer.graphs[key] = SubgraphFunction(params, result, tuple(made), tuple(same))
    return Verbatim(ast.Name(key, node.span))


def hidden(node: Node, name: str, own: str, type_: Type, contents: Contents | None = None) -> str:
    """A tensor that the model does not have, under a name that no tensor of it has."""
    importer = node.importer
    importer.hidden.add(name)
    importer.define(name, type_, contents)
    importer.own[name] = own
    return name


def computed(node: Node, name: str, own: str, expr: Expression) -> str:
    """A hidden tensor that an expression makes."""
    hidden(node, name, own, node.infer(expr))
    node.step((name,), expr)
    return name


# --- types -----------------------------------------------------------------------------------


def ranked(node: Node, type_: Type) -> Tensor | None:
    """What is known of a type by now, if its rank is."""
    found = node.importer.state.resolve(type_)
    return found if isinstance(found, Tensor) and known_shape(found) is not None else None


def either(node: Node, a: Type, b: Type) -> Type:
    """What two types have in common: all if they are the same, or the sizes in which they agree."""
    state = node.importer.state
    if state.resolve(a) == state.resolve(b):
        return a
    left, right = ranked(node, a), ranked(node, b)
    if left is None or right is None:
        elem = left.elem if left is not None else right.elem if right is not None else None
        return node.unknown(elem)
    if len(left.shape) != len(right.shape):
        return node.unknown(left.elem)
    sizes = tuple(
        x if x == y else node.fresh_dim() for x, y in zip(left.shape, right.shape, strict=True)
    )
    return Tensor(left.elem, sizes)
