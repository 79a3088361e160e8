"""Norms, and what makes a distribution of numbers."""

from __future__ import annotations

from axon.importers.onnx.build import Node
from axon.importers.onnx.rules import rule
from axon.types.type import Tensor


@rule("BatchNormalization")
def batch_norm(node: Node) -> None:
    parts = [node.given(i) for i in range(5)]
    node.gives(node.call("batch_norm", *parts, epsilon=node.attribute("epsilon", 1e-5)))


@rule("InstanceNormalization")
def instance_norm(node: Node) -> None:
    parts = [node.given(i) for i in range(3)]
    node.gives(node.call("instance_norm", *parts, epsilon=node.attribute("epsilon", 1e-5)))


@rule("LayerNormalization", "RMSNormalization", "SimplifiedLayerNormalization")
def layer_norm(node: Node) -> None:
    axis, rank = node.attribute("axis", -1), node.rank(0)
    last = axis == -1 or (rank is not None and axis == rank - 1)
    if last and node.proto.op_type == "LayerNormalization" and node.rank(1) == 1:
        parts = [node.given(i) for i in range(node.count) if node.has(i)]
        node.gives(node.call("layer_norm", *parts, epsilon=node.attribute("epsilon", 1e-5)))
    else:
        node.gives(node.importer.types[node.name(0)])
    if rank is not None:
        word = node.shape(0)
        assert word is not None
        at = axis + rank if axis < 0 else axis
        rest = Tensor("f32", (*word[:at], *([1] * (rank - at))))
        node.gives(None, *[rest for _ in node.outputs[1:]])


@rule("GroupNormalization")
def group_norm(node: Node) -> None:
    node.gives(node.importer.types[node.name(0)])


@rule("Softmax", "LogSoftmax")
def softmax(node: Node) -> None:
    default = -1 if node.importer.opset >= 13 else 1
    axis, rank = node.attribute("axis", default), node.rank(0)
    if node.importer.opset < 13 or (axis >= 0 and rank is None):
        node.gives(node.importer.types[node.name(0)])
        return
    kind = "softmax" if node.proto.op_type == "Softmax" else "log_softmax"
    node.gives(node.call(kind, node.given(0), axis=axis))
