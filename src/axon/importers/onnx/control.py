"""Graphs inside nodes: If, Loop and Scan.

A tensor of a graph inside has a name of its own there, so that it is not taken for one outside.
"""

from __future__ import annotations

from typing import Any

from axon.importers.onnx.build import Node
from axon.importers.onnx.rules import rule
from axon.inference.unify import unify
from axon.solver.constraints import Origin
from axon.types.type import Tensor, Type
from axon.types.variables import ShapeVar

DEEPEST = 12


def inside(node: Node, graph: Any, given: list[Type]) -> list[Type]:
    """The types that a graph gives, for inputs of these types."""
    from axon.importers.onnx.model import tensor_contents, tensor_type

    importer = node.importer
    if importer.depth >= DEEPEST:
        return [importer.unknown() for _ in graph.output]
    outer = {name: importer.forget(name) for name in _own(graph)}
    written = len(importer.steps)
    importer.depth += 1
    for tensor in graph.initializer:
        importer.define(tensor.name, tensor_type(tensor), tensor_contents(tensor))
    for info, type_ in zip(graph.input, given, strict=False):
        importer.define(info.name, type_)
    for proto in graph.node:
        importer.node(proto, node.at, node.rules)
    results = [importer.types.get(info.name) or importer.unknown() for info in graph.output]
    importer.depth -= 1
    del importer.steps[written:]  # they are no steps of the graph around
    for name, (type_, contents) in outer.items():
        found, _ = importer.forget(name)
        if found is not None:
            importer.inner[name] = found
        if type_ is not None:
            importer.define(name, type_, contents)
    return results


def _own(graph: Any) -> list[str]:
    """The tensors of a graph; one outside may have the same name."""
    made = [name for node in graph.node for name in node.output if name]
    given = [tensor.name for tensor in (*graph.initializer, *graph.input)]
    return list(dict.fromkeys([*given, *made]))


def _resolved(node: Node, type_: Type) -> Tensor | None:
    found = node.importer.state.resolve(type_)
    if isinstance(found, Tensor) and not any(isinstance(i, ShapeVar) for i in found.shape):
        return found
    return None


def _either(node: Node, a: Type, b: Type) -> Type:
    """What two types have in common: the sizes in which they agree."""
    left, right = _resolved(node, a), _resolved(node, b)
    if left is None or right is None:
        elem = left.elem if left is not None else right.elem if right is not None else None
        return node.unknown(elem)
    if len(left.shape) != len(right.shape):
        return node.unknown(left.elem)
    sizes = tuple(
        x if x == y else node.fresh_dim() for x, y in zip(left.shape, right.shape, strict=True)
    )
    return Tensor(left.elem, sizes)


@rule("If")
def if_(node: Node) -> None:
    branches = [node.attribute("then_branch"), node.attribute("else_branch")]
    known = node.contents(0)
    if known is not None and known.size == 1 and known.flat[0] in (True, False):
        node.gives(*inside(node, branches[0 if known.flat[0] else 1], []))
        return
    results = [inside(node, branch, []) for branch in branches]
    node.gives(*(_either(node, a, b) for a, b in zip(*results, strict=False)))


@rule("Loop")
def loop(node: Node) -> None:
    """States whose shape the body keeps have it in the end; what it gives each time is stacked."""
    body = node.attribute("body")
    count = node.count - 2
    states = [node.importer.types.get(node.name(i)) for i in range(2, node.count)]
    first: list[Type] = [Tensor("i64", ()), Tensor("bool", ())]
    begin = [s if s is not None else node.unknown() for s in states]
    kept = _kept(node, body, begin, 1, first, [])
    results = inside(node, body, [*first, *kept])
    times: Any = node.fresh_dim()
    rows = results[1 + count :]
    node.gives(*kept, *(_stacked(node, row, times) for row in rows))


def _kept(
    node: Node, body: Any, states: list[Type], skip: int, before: list[Type], after: list[Type]
) -> list[Type]:
    """The states with what the body changes forgotten: found by trying, a few times.

    The body is given what is `before` and `after` them, and gives them back after `skip` others.
    """
    for _ in range(4):
        made = inside(node, body, [*before, *states, *after])[skip : skip + len(states)]
        joined = [_either(node, a, b) for a, b in zip(states, made, strict=False)]
        joined += states[len(joined) :]
        if _same(node, joined, states):
            return states
        states = joined
    return [node.unknown() for _ in states]


def _same(node: Node, a: list[Type], b: list[Type]) -> bool:
    pairs = [(_resolved(node, x), _resolved(node, y)) for x, y in zip(a, b, strict=True)]
    return all(x is not None and y is not None and x.shape == y.shape for x, y in pairs)


def _stacked(node: Node, row: Type, times: Any, axis: int = 0) -> Type:
    known = _resolved(node, row)
    if known is None:
        return node.unknown()
    at = axis % (len(known.shape) + 1)
    return Tensor(known.elem, (*known.shape[:at], times, *known.shape[at:]))


@rule("Scan")
def scan(node: Node) -> None:
    body, inputs = node.attribute("body"), node.attribute("num_scan_inputs", 0)
    count = node.count - inputs
    axes = node.attribute("scan_input_axes") or [0] * inputs
    out_axes = node.attribute("scan_output_axes")
    states = [node.importer.types.get(node.name(i)) or node.unknown() for i in range(count)]
    rows: list[Type] = []
    times: Any = node.fresh_dim()
    for i, axis in enumerate(axes):
        word = node.shape(count + i)
        if word is None:
            rows.append(node.unknown(node.elem(count + i)))
            continue
        at = axis % len(word)
        whole = Tensor("f32", (word[at],))
        unify(
            node.importer.state, Tensor("f32", (times,)), whole, Origin("value", node.span, "Scan")
        )
        rows.append(Tensor(node.elem(count + i), (*word[:at], *word[at + 1 :])))
    kept = _kept(node, body, states, 0, [], rows)
    results = inside(node, body, [*kept, *rows])
    outputs = results[count:]
    out_axes = out_axes or [0] * len(outputs)
    node.gives(
        *kept,
        *(_stacked(node, row, times, axis) for row, axis in zip(outputs, out_axes, strict=False)),
    )
