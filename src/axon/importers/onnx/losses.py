"""How far a prediction is from the truth."""

from __future__ import annotations

from axon.importers.onnx.attention import as_elem
from axon.importers.onnx.draft import Draft
from axon.importers.onnx.node import Node
from axon.importers.onnx.rules import rule
from axon.importers.onnx.values import Unsupported

REDUCTIONS = ("mean", "sum", "none")


@rule("NegativeLogLikelihoodLoss")
def negative_log_likelihood(node: Node) -> None:
    node.gives(_likelihood(node, node.given(0)))


@rule("SoftmaxCrossEntropyLoss")
def cross_entropy(node: Node) -> None:
    """The logarithms of the probabilities are an output of their own, if they are asked for."""
    logs = node.call("log_softmax", node.given(0), axis=1)
    if len(node.outputs) > 1 and node.outputs[1]:
        node.gives(None, logs)
        logs = node.tensor(node.outputs[1])
    node.gives(_likelihood(node, logs))


def _likelihood(node: Node, logs: Draft) -> Draft:
    reduction = node.attribute("reduction", "mean")
    if reduction not in REDUCTIONS:
        raise Unsupported(f"{node.operator} with the reduction {reduction}")
    weights = []
    if node.has(2):
        weights = [as_elem(node, node.given(2), node.elem(2), node.elem(0))]
    return node.call(
        "negative_log_likelihood",
        logs,
        node.given(1),
        *weights,
        reduction=reduction,
        ignore=node.attribute("ignore_index"),
    )
