"""Attention whose scores and weights go through graphs of the model's own."""

from __future__ import annotations

from typing import Any

from axon.importers.onnx.attention import as_elem, groups_of, opaque
from axon.importers.onnx.draft import Draft
from axon.importers.onnx.functions import Function, call
from axon.importers.onnx.memo import has_graphs
from axon.importers.onnx.node import Node
from axon.importers.onnx.rules import rule
from axon.importers.onnx.values import ELEMENTS, Unsupported


@rule("FlexAttention")
def flex_attention(node: Node) -> None:
    q, k, v = (node.shape(i) for i in range(3))
    if q is None or k is None or v is None or not len(q) == len(k) == len(v) == 4:
        node.gives(opaque(node, q, v))
        return
    groups, elem = groups_of(q[1], k[1]), node.elem(0)
    if groups is None or not isinstance(elem, str):
        node.gives(opaque(node, q, v))
        return
    parts = [node.given(i) for i in range(3)]
    options = {"scale": node.attribute("scale"), "groups": groups}
    changes = [node.attribute("score_mod"), node.attribute("prob_mod")]
    if changes == [None, None]:
        node.gives(node.call("dot_product_attention", *parts, **options))
        return
    usual = "f64" if elem == "f64" else "f32"
    precise = ELEMENTS.get(node.attribute("softmax_precision", 0), usual)
    x = node.call("dot_product_attention", *parts, **options, give="raw")
    x = _changed(node, "scores", as_elem(node, x, elem, precise), changes[0])
    x = _changed(node, "weights", node.call("softmax", x), changes[1])
    values = as_elem(node, parts[2], node.elem(2), precise)
    if groups != 1:
        values = node.call("repeat", values, times=groups, axis=1)
    node.gives(as_elem(node, node.call("@", x, values), precise, node.elem(2)))


def _changed(node: Node, name: str, x: Draft, graph: Any) -> Draft:
    """What a graph from one tensor to one makes of a tensor: its nodes are written out here."""
    if graph is None:
        return x
    own = {out for inner in graph.node for out in inner.output}
    own |= {tensor.name for tensor in (*graph.initializer, *graph.input)}
    used = {given for inner in graph.node for given in inner.input if given}
    plain = len(graph.input) == 1 and len(graph.output) == 1 and used <= own
    if not plain or any(has_graphs(inner.attribute) for inner in graph.node):
        raise Unsupported(f"{node.proto.op_type} with a graph that is not from one tensor to one")
    before = f"{node.outputs[0]}/attention {name}"
    after = f"{before} changed"
    node.importer.define(before, node.infer(x))
    node.step((before,), x)
    proto = type(node.proto)(op_type=node.proto.op_type, input=[before], output=[after])
    called = Node(node.importer, proto, node.at, node.rules)
    call(called, Function(_function(graph)))
    return node.tensor(after)


def _function(graph: Any) -> Any:
    """A graph as a function; its weights are constants."""
    import onnx
    from onnx import helper

    constants = [
        helper.make_node("Constant", [], [tensor.name], value=tensor)
        for tensor in graph.initializer
    ]
    return onnx.FunctionProto(
        input=[info.name for info in graph.input],
        output=[info.name for info in graph.output],
        node=[*constants, *graph.node],
    )
