"""How far a prediction is from the truth."""

from __future__ import annotations

from axon.importers.contents.values import Unsupported
from axon.importers.expressions import Expression
from axon.importers.node import Node
from axon.importers.onnx.rules.attention import as_elem
from axon.importers.onnx.rules.registry import rule

REDUCTIONS = ("mean", "sum", "none")


@rule("NegativeLogLikelihoodLoss")
def negative_log_likelihood(node: Node) -> None:
    node.set_outputs(_likelihood(node, node.input(0)))


@rule("SoftmaxCrossEntropyLoss")
def cross_entropy(node: Node) -> None:
    """The logarithms of the probabilities are an output of their own, if they are asked for."""
    logs = node.call("log_softmax", node.input(0), axis=1)
    if len(node.outputs) > 1 and node.outputs[1]:
        node.set_outputs(None, logs)
        logs = node.tensor(node.outputs[1])
    node.set_outputs(_likelihood(node, logs))


def _likelihood(node: Node, logs: Expression) -> Expression:
    reduction = node.attribute("reduction", "mean")
    if reduction not in REDUCTIONS:
        raise Unsupported(f"{node.operator} with the reduction {reduction}")
    weights = []
    if node.has(2):
        weights = [as_elem(node, node.input(2), node.elem(2), node.elem(0))]
    return node.call(
        "negative_log_likelihood",
        logs,
        node.input(1),
        *weights,
        reduction=reduction,
        ignore=node.attribute("ignore_index"),
    )
