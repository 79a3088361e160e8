"""By order: the largest elements, and where they stood."""

from __future__ import annotations

from axon.importers.expressions import Expression
from axon.importers.node import Made
from axon.importers.operations import Malformed, Operand
from axon.importers.torch.node import TorchNode
from axon.importers.torch.rules.numbers.reductions import one_axis, row, unrow
from axon.importers.torch.rules.registry import rule


def _comparable(node: TorchNode) -> Expression:
    """Truth values as numbers."""
    x = row(node)
    return node.cast(x, "u8") if node.elem_of() == "bool" else x


def _as_before(node: TorchNode, made: Expression) -> Expression:
    made = unrow(node, made)
    return node.cast(made, "bool") if node.elem_of() == "bool" else made


@rule("sort", "msort")
def sort(node: TorchNode) -> None:
    axis = 0 if node.operator == "msort" else one_axis(node, default=-1)
    how = {"axis": axis, "descending": node.flag("descending")}
    x = _comparable(node)
    node.set_outputs(
        _as_before(node, node.call("sort", x, **how)), unrow(node, node.call("argsort", x, **how))
    )


@rule("argsort")
def argsort(node: TorchNode) -> Made:
    how = {"axis": one_axis(node, default=-1), "descending": node.flag("descending")}
    return unrow(node, node.call("argsort", _comparable(node), **how))


@rule("topk")
def top_k(node: TorchNode) -> None:
    value = node.argument("k")
    if value is None:
        raise Malformed("it has no argument `k`")
    size = node.size_argument("k")
    how = {"axis": one_axis(node, default=-1), "largest": node.flag("largest", True)}
    x = _comparable(node)
    if node.rank_of() == 0 or node.elem_of() == "bool":
        order = node.call("argsort", x, axis=how["axis"], descending=how["largest"])
        places = node.call("slice", order, stop=size, axis=how["axis"])
        found = node.call("gather_elements", x, places, axis=how["axis"])
        node.set_outputs(_as_before(node, found), unrow(node, places))
        return
    fallback = None
    if isinstance(value, Operand):
        fallback = node.call("top_k", x, k=node.as_found(value), **how)
    node.set_tuple_outputs(node.call("top_k", x, k=size, **how), fallback=fallback)
