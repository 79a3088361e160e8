"""Reductions: some axes of a tensor become one number."""

from __future__ import annotations

from axon.importers.expressions import Expression, TypeOf
from axon.importers.node import Made, Node
from axon.importers.onnx.elements import FLOATS
from axon.importers.onnx.rules.registry import ANY_SHAPE, SAME_RANK, rule

REDUCTIONS = {
    "ReduceProd": "prod", "ReduceSum": "sum", "ReduceMax": "max", "ReduceMin": "min",
    "ReduceMean": "mean", "ReduceLogSumExp": "logsumexp", "ReduceL2": "norm",
    "ReduceL1": "sum", "ReduceSumSquare": "sum", "ReduceLogSum": "sum",
}  # fmt: skip
BEFORE = {"ReduceL1": "abs", "ReduceSumSquare": "square"}
"""What is done with each element before that."""
EXACT = ("ReduceProd", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceSumSquare")
"""Those that make sense of integers; ONNX lets the others take them too."""


@rule(*REDUCTIONS)
def reduce(node: Node) -> Made:
    axes, rank = node.axes(1), node.rank(0)
    keep = bool(node.attribute("keepdims", 1))
    nothing = bool(node.attribute("noop_with_empty_axes", 0))
    if node.has(1) and axes is None:
        return _somewhere(node, keep, nothing)
    if not axes and nothing:
        return _of_one(node)
    if not axes and rank is None:
        return node.declared(SAME_RANK, 0) if keep else _reduced(node, node.input(0), None, False)
    axes = axes or list(range(rank or 0))
    return _reduced(node, node.input(0), axes, keep) if axes else _of_one(node)


def _somewhere(node: Node, keep: bool, nothing: bool) -> Expression:
    """A tensor that is reduced along axes that a run gives."""
    if not keep and not nothing and not node.length(1):
        return node.declared(ANY_SHAPE, 0)  # no axes mean all
    joined = node.call("join_axes", node.input(0), node.input(1), none=nothing)
    made = _reduced(node, joined, [-1], False)
    return made if keep else _squeezed(node, made)


def _squeezed(node: Node, made: Expression) -> Expression:
    """Without the axes that a run gives."""
    if isinstance(made, TypeOf):
        return node.type_of(node.call("squeeze_by", made.like, node.input(1)))
    return node.call("squeeze_by", made, node.input(1))


def _of_one(node: Node) -> Expression:
    """What is left to do where each element is reduced for itself."""
    x, kind = node.input(0), node.operator
    if kind == "ReduceLogSum":
        return node.call("log", x) if node.elem(0) in FLOATS else node.type_of(x)
    return node.call("abs" if kind == "ReduceL2" else BEFORE.get(kind, "identity"), x)


def _reduced(node: Node, x: Expression, axes: list[int] | None, keep: bool) -> Expression:
    """The reduction of an expression; where integers would need it of fractions, its type."""
    kind = node.operator
    operator = REDUCTIONS[kind]
    if kind not in EXACT and node.elem(0) not in FLOATS:
        return node.type_of(node.call("max", x, axis=axes, keep=keep))
    if node.elem(0) == "bool" and kind in ("ReduceMax", "ReduceMin"):
        operator = "any" if kind == "ReduceMax" else "all"
    if kind in BEFORE:
        x = node.call(BEFORE[kind], x)
    made = node.call(operator, x, axis=axes, keep=keep)
    return node.call("log", made) if kind == "ReduceLogSum" else made
