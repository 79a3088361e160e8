"""Reductions: some axes of a tensor become one number."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

from axon.importers.contents import arithmetic as contents
from axon.importers.contents.queries import axes_of, length
from axon.importers.contents.values import Contents
from axon.importers.expressions import Expression, TypeOf
from axon.importers.node import Node
from axon.importers.onnx.rules.registry import rule
from axon.importers.onnx.rules.signatures import ANY_SHAPE, SAME_RANK

REDUCTIONS = {
    "ReduceProd": "prod", "ReduceSum": "sum", "ReduceMax": "max", "ReduceMin": "min",
    "ReduceMean": "mean", "ReduceLogSumExp": "logsumexp", "ReduceL2": "norm",
    "ReduceL1": "sum", "ReduceSumSquare": "sum", "ReduceLogSum": "sum",
}  # fmt: skip
EXACT = ("ReduceProd", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceSumSquare")
"""Those that make sense of integers; ONNX lets the others take them too."""
FLOATS = ("f16", "bf16", "f32", "f64")


@rule(*REDUCTIONS)
def reduce(node: Node) -> None:
    axes, rank = axes_of(node, 1), node.rank(0)
    keep = bool(node.attribute("keepdims", 1))
    nothing = bool(node.attribute("noop_with_empty_axes", 0))
    if node.has(1) and axes is None:
        node.set_outputs(_somewhere(node, keep, nothing))
        return
    if not axes and nothing:
        node.set_outputs(_of_one(node), contents=node.contents(0))
        return
    if not axes and rank is None:
        whole = node.declared(SAME_RANK, 0)
        node.set_outputs(whole if keep else _reduced(node, node.input(0), None, False))
        return
    axes = axes or list(range(rank or 0))
    if not axes:  # of a scalar
        node.set_outputs(_of_one(node))
        return
    expr = _reduced(node, node.input(0), axes, keep)
    node.set_outputs(expr, contents=_known(node, axes, keep))


FOLLOWED: dict[str, Callable[[Any, Any], Any]] = {
    "ReduceProd": contents.mul, "ReduceSum": contents.add,
    "ReduceMax": contents.greatest, "ReduceMin": contents.least,
}  # fmt: skip


def _known(node: Node, axes: list[int], keep: bool) -> Contents:
    """What becomes of numbers and sizes that are known."""
    found, function = node.contents(0), FOLLOWED.get(node.operator)
    if found is None or function is None:
        return None
    axes = sorted(axis % found.ndim for axis in axes)
    count = math.prod(found.shape[axis] for axis in axes)
    is_float = any(isinstance(item, float) for item in found.flat)
    if not count or (is_float and count > 1 and node.operator in ("ReduceProd", "ReduceSum")):
        return None  # floats would be rounded, in an order that nobody says
    rest = numpy.moveaxis(found, axes, range(len(axes)))
    rows = list(rest.reshape(count, -1))
    total = rows[0]
    for row in rows[1:]:
        total = contents.pointwise(function, total, row)
        if total is None:
            return None
    return total.reshape(
        tuple(1 if i in axes else size for i, size in enumerate(found.shape))
        if keep
        else rest.shape[len(axes) :]
    )


def _somewhere(node: Node, keep: bool, nothing: bool) -> Expression:
    """A tensor that is reduced along axes that a run gives."""
    if not keep and not nothing and not length(node, 1):
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
    x = node.input(0)
    match node.operator:
        case "ReduceL1" | "ReduceL2":
            return node.call("abs", x)
        case "ReduceSumSquare":
            return node.call("*", x, x)
        case "ReduceLogSum" if node.elem(0) in FLOATS:
            return node.call("log", x)
        case "ReduceLogSum":
            return node.type_of(x)
        case _:
            return node.call("identity", x)


def _reduced(node: Node, x: Expression, axes: list[int] | None, keep: bool) -> Expression:
    """The reduction of an expression; where integers would need it of fractions, its type."""
    kind = node.operator
    operator = REDUCTIONS[kind]
    if kind not in EXACT and node.elem(0) not in FLOATS:
        return node.type_of(node.call("max", x, axis=axes, keep=keep))
    if node.elem(0) == "bool" and kind in ("ReduceMax", "ReduceMin"):
        operator = "any" if kind == "ReduceMax" else "all"
    if kind == "ReduceSumSquare":
        x = node.call("square", x)
    if kind == "ReduceL1":
        x = node.call("abs", x)
    made = node.call(operator, x, axis=axes, keep=keep)
    return node.call("log", made) if kind == "ReduceLogSum" else made
