"""Counting: how often numbers come, where they would stand, and what lies below a part of them."""

from __future__ import annotations

from axon.importers.expressions import Expression
from axon.importers.node import Made
from axon.importers.operations import Operand, Unsupported
from axon.importers.torch import elements
from axon.importers.torch.node import TorchNode
from axon.importers.torch.rules.numbers.reductions import one_axis, row
from axon.importers.torch.rules.registry import rule


@rule("bincount")
def bincount(node: TorchNode) -> Made:
    """How often each number comes: how many numbers there are only a run knows."""
    numbers, weights = node.cast(node.x(), "i64"), node.index("weights")
    least = node.as_found(node.argument("minlength") or 0)
    if weights is None:
        return node.call("counted", numbers, least)
    elem = "f32" if node.elem(weights) == "f32" else "f64"
    return node.call("counted_with", numbers, node.cast_to(weights, elem), least)


@rule("histc")
def histogram(node: TorchNode) -> Made:
    bins = node.integer("bins", 100)
    return node.type_of(
        node.call("zeros", node.shape_literal([bins]), to=node.elem_of() or elements.DEFAULT)
    )


@rule("searchsorted", "bucketize")
def searchsorted(node: TorchNode) -> Made:
    """Where numbers would have to stand among others that are in order."""
    elem = "i32" if node.flag("out_int32") else "i64"
    name = "input" if "input" in node.attributes else "self"
    if node.index(name) is None:
        return node.type_of(node.call("zeros", node.shape_literal([]), to=elem))
    x, right = node.x(name), node.flag("right") or node.argument("side") == "right"
    ordered = node.index("boundaries" if node.operator == "bucketize" else "sorted_sequence")
    if ordered is None or node.rank(ordered) != 1:
        return node.type_of(node.cast(node.call("zeros_like", x), elem))
    joint = node.joint(name, "boundaries" if node.operator == "bucketize" else "sorted_sequence")
    row = node.converted(Operand(ordered), joint)
    wide = node.call("expand_dims", node.operand(name, joint), axis=[-1])
    below = node.call("<=" if right else "<", row, wide)
    return node.call("sum", node.cast(below, elem), axis=[-1])


@rule("isin")
def is_in(node: TorchNode) -> Made:
    """Which elements are among some others."""
    name = "elements" if "elements" in node.attributes else "element"
    others = "test_elements" if "test_elements" in node.attributes else "test_element"
    if node.index(name) is None:
        return node.type_of(node.literal(True))
    elem = node.joint(name, others)
    x = node.call("expand_dims", node.operand(name, elem), axis=[-1])
    row = node.operand(others, elem)
    if node.index(others) is not None:
        row = node.call("flatten", row)
    found = node.call("any", node.call("==", x, row), axis=[-1])
    return node.call("logical_not", found) if node.flag("invert") else found


@rule("quantile", "nanquantile")
def quantile(node: TorchNode) -> Made:
    """Between the two elements around a place in the order; several places are along a new axis
    at the front.
    """
    q, elem = node.index("q"), node.elem_of()
    rank, count = node.rank_of(), 0 if q is None else node.rank(q)
    if rank is None or count not in (0, 1):
        raise Unsupported("quantile of tensors whose rank is not known")
    flat = node.argument("dim") is None
    x = node.call("flatten", node.x()) if flat else row(node)
    axis = 0 if flat else one_axis(node)
    size = node.call("size", x, axis=axis)
    last = node.cast(
        node.call("-", node.call("*", node.literal(1), size), node.literal(1)), elem or "f32"
    )
    place = node.call("*", node.operand("q", elem), last)
    low, high = node.call("floor", place), node.call("ceil", place)
    ordered = node.call("sort", x, axis=axis)
    ends = [node.call("gather", ordered, node.cast(each, "i64"), axis=axis) for each in (low, high)]
    part: Expression = node.call("-", place, low)
    left = (1 if flat else max(rank, 1)) - 1
    if count:  # the places stand where the axis was
        behind = left - axis
        if behind:
            part = node.call("expand_dims", part, axis=list(range(1, 1 + behind)))
    made = node.call("lerp", *ends, part)
    if count and axis:
        order = [axis, *(i for i in range(left + 1) if i != axis)]
        made = node.call("transpose", made, perm=order)
    if node.flag("keepdim") and rank:
        axes = range(count, count + rank) if flat else [count + axis]
        made = node.call("expand_dims", made, axis=list(axes))
    exact = node.operator == "quantile" and node.text("interpolation", "linear") == "linear"
    return made if exact else node.type_of(made)
