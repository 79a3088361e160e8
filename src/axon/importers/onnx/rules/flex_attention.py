"""Attention whose scores and weights go through graphs of the model's own."""

from __future__ import annotations

from axon.importers.contents.values import Unsupported
from axon.importers.expressions import Expression
from axon.importers.functions import call
from axon.importers.node import Made, Node
from axon.importers.onnx.elements import ELEMENTS
from axon.importers.onnx.rules.attention import as_elem, groups_of, size_of
from axon.importers.onnx.rules.registry import rule
from axon.importers.operations import Function, Graph, Operation


@rule("FlexAttention")
def flex_attention(node: Node) -> Made:
    parts = [node.ranked(index, 4) for index in range(3)]
    groups, elem = groups_of(size_of(node, 0, 1), size_of(node, 1, 1)), node.elem(0)
    options = {"scale": node.attribute("scale"), "groups": groups}
    changes = [node.attribute("score_mod"), node.attribute("prob_mod")]
    plain = node.call("dot_product_attention", *parts, **options)
    if changes == [None, None]:
        return plain
    if not isinstance(elem, str):  # so the precision is not known
        return node.type_of(plain)
    usual = "f64" if elem == "f64" else "f32"
    precise = ELEMENTS.get(node.attribute("softmax_precision", 0), usual)
    x = node.call("dot_product_attention", *parts, **options, give="raw")
    x = _changed(node, "scores", as_elem(node, x, elem, precise), changes[0])
    x = _changed(node, "weights", node.call("softmax", x), changes[1])
    values = as_elem(node, parts[2], node.elem(2), precise)
    if groups != 1:
        values = node.call("repeat", values, times=groups, axis=1)
    return as_elem(node, node.call("@", x, values), precise, node.elem(2))


def _changed(node: Node, name: str, x: Expression, graph: Graph | None) -> Expression:
    """What a graph from one tensor to one makes of a tensor: its nodes are written out here."""
    if graph is None:
        return x
    if not isinstance(graph, Graph):
        raise Unsupported(f"{node.operator} with something else than a graph")
    own = set(graph.own_names())
    taken = {given for inner in graph.operations for given in inner.inputs if given}
    plain = len(graph.inputs) == 1 and len(graph.outputs) == 1 and taken <= own
    if not plain or any(inner.has_graphs for inner in graph.operations):
        raise Unsupported(f"{node.operator} with a graph that is not from one tensor to one")
    before = f"{node.outputs[0]}/attention {name}"
    after = f"{before} changed"
    node.importer.define(before, node.infer(x))
    node.step((before,), x)
    operation = Operation(node.operator, [before], [after])
    call(Node(node.importer, operation, node.at, node.rules), _function(graph))
    return node.tensor(after)


def _function(graph: Graph) -> Function:
    """A graph as a function; its weights are constants."""
    constants = [Operation("Constant", [], [c.name], {"value": c}) for c in graph.constants]
    return Function(
        "",
        "",
        [each.name for each in graph.inputs],
        [each.name for each in graph.outputs],
        [*constants, *graph.operations],
    )
