"""Reductions: some axes of a tensor become one number."""

from __future__ import annotations

from axon.importers.contents.queries import axes_of, length
from axon.importers.expressions import Expression
from axon.importers.node import Node
from axon.importers.onnx.elements import FLOATS
from axon.importers.onnx.rules.registry import rule
from axon.types.type import Type

REDUCTIONS = {
    "ReduceProd": "prod", "ReduceSum": "sum", "ReduceMax": "max", "ReduceMin": "min",
    "ReduceMean": "mean", "ReduceLogSumExp": "logsumexp", "ReduceL2": "norm",
    "ReduceL1": "sum", "ReduceSumSquare": "sum", "ReduceLogSum": "sum",
}  # fmt: skip
EXACT = ("ReduceProd", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceSumSquare")
"""Those that make sense of integers; ONNX lets the others take them too."""


@rule(*REDUCTIONS)
def reduce(node: Node) -> None:
    axes, rank = axes_of(node, 1), node.rank(0)
    keep = bool(node.attribute("keepdims", 1))
    nothing = bool(node.attribute("noop_with_empty_axes", 0))
    if node.has(1) and axes is None:
        node.set_outputs(_somewhere(node, keep), fallback=_later(node, keep, nothing))
        return
    if not axes and nothing:
        node.set_outputs(_of_one(node))
        return
    if not axes and rank is None:
        later = None if keep else _reduced(node, node.input(0), None, False)
        node.set_outputs(node.unknown(node.elem(0), None if keep else 0), fallback=later)
        return
    axes = axes or list(range(rank or 0))
    if not axes:  # of a scalar
        node.set_outputs(_of_one(node))
        return
    expr = _reduced(node, node.input(0), axes, keep)
    if expr is None:
        shape = node.call("max", node.input(0), axis=axes, keep=keep)
        node.set_outputs(node.infer(shape))
        return
    node.set_outputs(expr)


def _somewhere(node: Node, keep: bool) -> Type:
    """A tensor that is reduced along axes which are not known."""
    rank, count = node.rank(0), length(node, 1)
    if not keep:
        rank = rank - count if rank is not None and count else None
    return node.unknown(node.elem(0), rank)


def _later(node: Node, keep: bool, nothing: bool) -> Expression | None:
    """The same, with the axes that a run gives."""
    if not keep and not nothing and length(node, 1) is None:
        return None  # none of them would mean all
    joined = node.call("join_axes", node.input(0), node.input(1), none=nothing)
    made = _reduced(node, joined, [-1], False)
    return made if keep or made is None else node.call("squeeze_by", made, node.input(1))


def _of_one(node: Node) -> Expression | Type:
    """What is left to do where each element is reduced for itself."""
    x = node.input(0)
    match node.operator:
        case "ReduceL1" | "ReduceL2":
            return node.call("abs", x)
        case "ReduceSumSquare":
            return node.call("*", x, x)
        case "ReduceLogSum" if node.elem(0) in FLOATS:
            return node.call("log", x)
        case "ReduceLogSum":
            return node.infer(node.call("identity", x))
        case _:
            return node.call("identity", x)


def _reduced(node: Node, x: Expression, axes: list[int] | None, keep: bool) -> Expression | None:
    """The reduction of an expression; None where integers would need it of fractions."""
    kind = node.operator
    operator = REDUCTIONS[kind]
    if kind not in EXACT and node.elem(0) not in FLOATS:
        return None
    if node.elem(0) == "bool" and kind in ("ReduceMax", "ReduceMin"):
        operator = "any" if kind == "ReduceMax" else "all"
    if kind == "ReduceSumSquare":
        x = node.call("square", x)
    if kind == "ReduceL1":
        x = node.call("abs", x)
    made = node.call(operator, x, axis=axes, keep=keep)
    return node.call("log", made) if kind == "ReduceLogSum" else made
