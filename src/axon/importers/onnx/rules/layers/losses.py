"""How far a prediction is from the truth."""

from __future__ import annotations

from axon.importers.expressions import Expression
from axon.importers.node import Made, Node
from axon.importers.onnx.rules.layers.attention import as_elem
from axon.importers.onnx.rules.registry import rule

REDUCTIONS = {"mean": "mean", "sum": "sum", "none": "none"}


@rule("NegativeLogLikelihoodLoss")
def negative_log_likelihood(node: Node) -> Made:
    return _likelihood(node, node.input(0))


@rule("SoftmaxCrossEntropyLoss")
def cross_entropy(node: Node) -> Made:
    """The logarithms of the probabilities are an output of their own, if they are asked for."""
    logs = node.call("log_softmax", node.input(0), axis=1)
    if node.wants(1):
        node.set_outputs(None, logs)
        logs = node.tensor(node.outputs[1])
    return _likelihood(node, logs)


def _likelihood(node: Node, logs: Expression) -> Expression:
    weights = []
    if node.has(2):
        logs, each = _as_many(node, logs, as_elem(node, node.input(2), node.elem(2), node.elem(0)))
        weights = [each]
    return node.call(
        "negative_log_likelihood",
        logs,
        node.input(1),
        *weights,
        reduction=node.choice("reduction", "mean", REDUCTIONS),
        ignore=node.attribute("ignore_index"),
    )


def _as_many(node: Node, logs: Expression, weights: Expression) -> tuple[Expression, Expression]:
    """Of classes and weights as many as there are of both: runtimes look up no others, so that
    there may be more of the one than of the other.
    """
    classes, known = node.dim(0, 1), node.dim(2, 0) if node.rank(2) == 1 else None
    if not isinstance(classes, int) or not isinstance(known, int) or classes == known:
        return logs, weights
    if classes < known:
        return logs, node.call("slice", weights, stop=classes, axis=0)
    return node.call("slice", logs, stop=known, axis=1), weights
