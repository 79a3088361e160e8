"""Attention whose scores and weights go through graphs of the model's own."""

from __future__ import annotations

from axon.importers.expressions import Expression
from axon.importers.heads import groups_of
from axon.importers.node import Made, Node
from axon.importers.onnx.elements import ELEMENTS
from axon.importers.onnx.rules.layers.attention import as_elem
from axon.importers.onnx.rules.registry import rule
from axon.importers.operations import Unsupported, used
from axon.importers.subgraphs.subgraph import subgraph


@rule("FlexAttention")
def flex_attention(node: Node) -> Made:
    parts = [node.ranked(index, 4) for index in range(3)]
    groups, elem = groups_of(node.dim(0, 1), node.dim(1, 1)), node.elem(0)
    options = {"scale": node.attribute("scale"), "groups": groups}
    plain = node.call("dot_product_attention", *parts, **options)
    if node.attribute("score_mod") is None and node.attribute("prob_mod") is None:
        return plain
    if not isinstance(elem, str):  # so the precision is not known
        return node.type_of(plain)
    usual = "f64" if elem == "f64" else "f32"
    precise = ELEMENTS.get(node.attribute("softmax_precision", 0), usual)
    x = node.call("dot_product_attention", *parts, **options, give="raw")
    x = _changed(node, "score_mod", as_elem(node, x, elem, precise))
    x = _changed(node, "prob_mod", node.call("softmax", x))
    values = as_elem(node, parts[2], node.elem(2), precise)
    if groups != 1:
        values = node.call("repeat", values, times=groups, axis=1)
    return as_elem(node, node.call("@", x, values), precise, node.elem(2))


def _changed(node: Node, which: str, x: Expression) -> Expression:
    """A tensor that goes through a graph from one tensor to one, if there is such a graph."""
    graph = node.attribute(which)
    if graph is None:
        return x
    taken = {name for each in graph.operations for name in used(each)}
    closed = taken <= {"", *graph.own_names()}
    if not closed or len(graph.inputs) != 1 or len(graph.outputs) != 1:
        raise Unsupported(f"{node.operator} with a graph that is not from one tensor to one")
    found = subgraph(node, which, [node.infer(x)])
    node.step((found.params[0],), x)
    node.importer.steps += found.steps
    return node.tensor(found.outputs[0])
