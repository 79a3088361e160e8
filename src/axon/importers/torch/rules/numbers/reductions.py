"""Reductions: some axes of a tensor become one number, or all that came before is summed up."""

from __future__ import annotations

from typing import Any

from axon.importers.expressions import Expression
from axon.importers.node import Made
from axon.importers.operations import Malformed, Unsupported
from axon.importers.torch import elements
from axon.importers.torch.node import TorchNode
from axon.importers.torch.rules.numbers.pointwise import as_float
from axon.importers.torch.rules.registry import SAME_RANK, rule
from axon.importers.torch.rules.tensors.shapes import in_rank

EXTREME = {"amax": "max", "amin": "min", "max": "max", "min": "min"}
OF_TRUTH = {"max": "any", "min": "all"}
"""What the largest and the smallest truth value are."""

# --- axes ----------------------------------------------------------------------------------------


def axes_of(node: TorchNode, name: str = "dim") -> list[int] | None:
    """The axes that are reduced; None for all of them, which an empty list means too."""
    return node.integers(name) or None


def reduced(
    node: TorchNode, operator: str, x: Expression, axes: list[int] | None, **how: Any
) -> Expression:
    """A reduction of an input's elements; `keepdim` tells whether the axes stay."""
    at = node.tensor_index("self" if "self" in node.attributes else "x")
    rank, keep = node.rank(at), node.flag("keepdim")
    if rank == 0:
        for axis in axes or []:
            in_rank(axis, 0)
        made = node.call("expand_dims", x, axis=[0])
        return node.call(operator, made, axis=[0], **how)
    if axes is None:
        if not keep:
            return node.call(operator, x, **how)
        if rank is None:
            return node.type_of(node.declared(SAME_RANK, at))
        axes = list(range(rank))
    elif rank is not None:
        axes = [in_rank(axis, rank) for axis in axes]
    return node.call(operator, x, axis=axes, keep=keep, **how)


def as_number(node: TorchNode) -> Expression:
    """A tensor to sum up: truth values and integers become integers of 64 bits, unless another
    element type is asked for.
    """
    elem, own = node.dtype(), node.elem_of()
    x = node.x()
    if elem is None and own is not None:
        elem = own if elements.is_float(own) else "i64"
    return x if elem is None or elem == own else node.cast(x, elem)


def one_axis(node: TorchNode, name: str = "dim", default: int | None = None) -> int:
    """The axis of an operator that has one."""
    axis, rank = node.axis(name, default), node.rank_of()
    return axis if rank is None else in_rank(axis, rank)


def row(node: TorchNode) -> Expression:
    """A tensor that has an axis: one without is a row of one element."""
    x = node.x()
    return node.call("expand_dims", x, axis=[0]) if node.rank_of() == 0 else x


def unrow(node: TorchNode, made: Expression) -> Expression:
    """What is made of that row without its axis."""
    return node.call("squeeze", made, axis=[0]) if node.rank_of() == 0 else made


# --- sums and means ------------------------------------------------------------------------------


@rule("sum", "prod")
def total(node: TorchNode) -> Made:
    return reduced(node, node.operator, as_number(node), axes_of(node))


@rule("nansum")
def sum_without_nan(node: TorchNode) -> Made:
    x = as_number(node)
    if elements.is_float(node.elem_of()):
        x = node.call("without_nan", x)
    return reduced(node, "sum", x, axes_of(node))


@rule("mean", "nanmean")
def mean(node: TorchNode) -> Made:
    elem, own = node.dtype(), node.elem_of()
    x = node.x() if elem is None or elem == own else node.cast(node.x(), elem)
    if node.operator == "mean":
        return reduced(node, "mean", x, axes_of(node))
    there = node.call("logical_not", node.call("isnan", x))
    kept = node.call("without_nan", x)
    count = reduced(node, "sum", node.cast(there, elem or own or elements.DEFAULT), axes_of(node))
    return node.call("/", reduced(node, "sum", kept, axes_of(node)), count)


@rule("count_nonzero")
def count_nonzero(node: TorchNode) -> Made:
    x = node.x()
    there = node.call("!=", x, node.literal(False) if node.elem_of() == "bool" else node.literal(0))
    return reduced(node, "sum", node.cast(there, "i64"), axes_of(node))


@rule("logsumexp", "special_logsumexp")
def logsumexp(node: TorchNode) -> Made:
    return reduced(node, "logsumexp", as_float(node, "self"), axes_of(node))


def variance_of(node: TorchNode) -> Expression:
    """Without the correction that is asked for it is that of a sample."""
    correction = node.argument("correction")
    if correction is None:
        correction = 1 if node.flag("unbiased", True) else 0
    axes = axes_of(node)
    if isinstance(correction, float) and correction.is_integer():
        correction = int(correction)
    if not isinstance(correction, int):
        return node.type_of(reduced(node, "variance", node.x(), axes))
    return reduced(node, "variance", node.x(), axes, correction=int(correction))


@rule("var", "std")
def variance(node: TorchNode) -> Made:
    made = variance_of(node)
    return _root(node, made) if node.operator == "std" else made


def _root(node: TorchNode, made: Expression) -> Expression:
    return node.call("sqrt", made)


@rule("var_mean", "std_mean")
def variance_and_mean(node: TorchNode) -> None:
    made = variance_of(node)
    spread = _root(node, made) if node.operator == "std_mean" else made
    node.set_outputs(spread, reduced(node, "mean", node.x(), axes_of(node)))


@rule("norm", "linalg_vector_norm", "frobenius_norm", "nuclear_norm")
def norm(node: TorchNode) -> Made:
    name = "ord" if node.operator.startswith("linalg") else "p"
    elem, own = node.dtype(), node.elem_of()
    x = node.x() if elem is None or elem == own else node.cast(node.x(), elem)
    how = float(node.real(name, 2.0))
    if node.operator == "nuclear_norm":
        return node.type_of(reduced(node, "norm", x, axes_of(node)))
    return reduced(node, "norm", x, axes_of(node), p=how)


@rule("dist")
def distance(node: TorchNode) -> Made:
    elem = node.joint("self", "other")
    away = node.call("-", node.operand("self", elem), node.operand("other", elem))
    return node.call("norm", away, p=float(node.real("p", 2.0)))


# --- the largest and the smallest ----------------------------------------------------------------


def largest(node: TorchNode, operator: str, axes: list[int] | None) -> Expression:
    """The largest or the smallest element along axes."""
    x = node.x()
    return reduced(node, OF_TRUTH[operator] if node.elem_of() == "bool" else operator, x, axes)


@rule("amax", "amin")
def extreme(node: TorchNode) -> Made:
    return largest(node, EXTREME[node.operator], axes_of(node))


@rule("max", "min")
def extreme_and_place(node: TorchNode) -> None:
    """Of two tensors, of one along all axes, or along one with the places."""
    operator = EXTREME[node.operator]
    if "other" in node.attributes:
        elem = node.joint("self", "other")
        pair = [node.operand(name, elem) for name in ("self", "other")]
        broad = {"max": "maximum", "min": "minimum"}[operator]
        truth = {"max": "logical_or", "min": "logical_and"}[operator]
        node.set_outputs(node.call(truth if elem == "bool" else broad, *pair))
        return
    if "dim" not in node.attributes:
        node.set_outputs(largest(node, operator, None))
        return
    axis = node.axis()
    node.set_outputs(largest(node, operator, [axis]), place_of(node, f"arg{operator}", axis))


def place_of(node: TorchNode, operator: str, axis: int) -> Expression:
    x = node.cast(node.x(), "u8") if node.elem_of() == "bool" else node.x()
    if node.rank_of() == 0:
        return node.call("argmax", node.call("expand_dims", x, axis=[0]), axis=0)
    return node.call(operator, x, axis=axis, keep=node.flag("keepdim"))


@rule("argmax", "argmin")
def place(node: TorchNode) -> Made:
    axis, x = node.integer("dim"), node.x()
    if axis is not None:
        return place_of(node, node.operator, axis)
    made = node.call(node.operator, x)
    if not node.flag("keepdim"):
        return made
    rank = node.rank_of()
    if rank is None:
        return node.declared("t p -> i64 ?r where rank(?r) = rank(p)", node.tensor_index("self"))
    return node.call("reshape", made, node.shape_literal([1] * rank))


@rule("aminmax", "_aminmax")
def both_extremes(node: TorchNode) -> None:
    axes = None if node.argument("dim") is None else [node.axis()]
    node.set_outputs(largest(node, "min", axes), largest(node, "max", axes))


@rule("_is_any_true", "_is_all_true")
def truth_of_all(node: TorchNode) -> Made:
    return node.call("any" if "any" in node.operator else "all", node.x())


@rule("any", "all")
def truth(node: TorchNode) -> Made:
    x, elem = node.x(), node.elem_of()
    if elem != "bool":
        x = node.cast(x, "bool")
    made = reduced(node, node.operator, x, axes_of(node))
    return node.cast(made, "u8") if elem == "u8" else made


@rule("median", "kthvalue")
def one_in_order(node: TorchNode) -> None:
    """An element by its place in the order along an axis, and where it stands; of a median, the
    lower of two.
    """
    flat = node.operator == "median" and node.argument("dim") is None
    x = node.call("flatten", node.x()) if flat else row(node)
    axis = 0 if flat else one_axis(node, default=-1)
    if node.operator == "median":
        last = node.call("-", node.call("size", x, axis=axis), node.literal(1))
        number = node.call("//", last, node.literal(2))
    else:
        number = node.call("-", node.as_found(node.argument("k")), node.literal(1))
    if node.flag("keepdim") and node.rank_of() != 0:
        number = node.list_of([number])
    found = [
        node.call("gather", node.call(operator, x, axis=axis), number, axis=axis)
        for operator in (("sort",) if flat else ("sort", "argsort"))
    ]
    node.set_outputs(*found)


@rule("nanmedian", "mode")
def one_of(node: TorchNode) -> None:
    """An element along an axis, and where it stands."""
    if node.operator == "nanmedian" and node.argument("dim") is None:
        node.set_outputs(node.type_of(node.call("max", node.x())))
        return
    axis = node.axis("dim", -1)
    found = [largest(node, "max", [axis]), place_of(node, "argmax", axis)]
    node.set_outputs(*[node.type_of(each) for each in found])


# --- all that came before ------------------------------------------------------------------------


@rule("cumsum", "cumprod")
def cumulate(node: TorchNode) -> Made:
    x = as_number(node)
    axis = one_axis(node)
    if node.rank_of() == 0:
        return node.call("identity", x)
    return node.call(node.operator.rstrip("_"), x, axis=axis)


@rule("cummax", "cummin")
def cumulated_extreme(node: TorchNode) -> None:
    x = node.x()
    node.set_outputs(node.type_of(node.call("identity", x)), node.type_of(node.cast(x, "i64")))


@rule("logcumsumexp")
def cumulated_exponentials(node: TorchNode) -> Made:
    x, axis = node.x(), one_axis(node)
    if node.rank_of() == 0:
        return node.call("identity", x)
    return node.call("log_sums_so_far", x, axis=axis)


MOST_DIFFERENCES = 64


@rule("diff")
def difference(node: TorchNode) -> Made:
    """What comes after less what comes before, so many times."""
    count, rank = node.integer("n", 1), node.rank_of()
    axis = node.axis("dim", -1)
    parts = [node.x(n) for n in ("prepend", "self", "append") if node.argument(n) is not None]
    x = node.call("concat", *parts, axis=axis) if len(parts) > 1 else parts[0]
    if count is None or count < 0 or rank == 0:
        raise Malformed("it takes differences along no axis, or less than none of them")
    if count > MOST_DIFFERENCES:
        raise Unsupported(f"diff, {count} times")
    for _ in range(count):
        later, before = (
            node.call("slice", x, start=1, axis=axis),
            node.call("slice", x, stop=-1, axis=axis),
        )
        operator = "logical_xor" if node.elem_of() == "bool" else "-"
        x = node.call(operator, later, before)
    return x if count else node.call("identity", x)
