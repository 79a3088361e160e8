"""Elements put where numbers tell, or added to what is there."""

from __future__ import annotations

from math import inf

from axon.importers.expressions import Expression
from axon.importers.node import Made
from axon.importers.operations import Unsupported
from axon.importers.runtime_values import cut_to
from axon.importers.torch import elements
from axon.importers.torch.node import TorchNode
from axon.importers.torch.rules.registry import rule
from axon.importers.torch.rules.tensors.creating import number_of
from axon.importers.torch.rules.tensors.indexing import flat_numbers

MODES = {
    "add": "add", "sum": "add", "multiply": "mul", "prod": "mul", "amax": "max", "amin": "min",
}  # fmt: skip


@rule("scatter", "scatter_add")
def scatter(node: TorchNode) -> Made:
    adds = node.operator.startswith("scatter_add")
    reduction = "add" if adds else node.text("reduce")
    if reduction and reduction not in MODES:
        raise Unsupported(f"{node.operator} that reduces by {reduction}")
    return _scattered(node, MODES.get(reduction, "set"))


@rule("index_reduce")
def index_reduce(node: TorchNode) -> Made:
    return _reduced_into(node, "source", rows=True)


@rule("scatter_reduce")
def scatter_reduce(node: TorchNode) -> Made:
    return _reduced_into(node, "src", rows=False)


def _reduced_into(node: TorchNode, name: str, rows: bool) -> Expression:
    """Elements that are combined with those in their places, or only with one another."""
    reduction, own = node.text("reduce"), node.flag("include_self", True)
    mode, x, elem = MODES.get(reduction), node.x(), node.elem_of()
    if reduction == "mean":
        mode = "add"
    if mode is None or elem is None or (reduction == "mean" and not elements.is_float(elem)):
        return node.type_of(node.call("identity", x))
    axis = node.axis()
    if rows:
        numbers, source = flat_numbers(node), node.operand(name, elem)
        operator = "scatter"
    else:
        found = _source(node)
        if found is None:
            return node.type_of(node.call("identity", x))
        numbers, source = node.x("index"), found
        operator = "scatter_elements"
    ones = node.call("ones_like", source)
    count = node.call(operator, node.call("zeros_like", x), numbers, ones, axis=axis, mode="add")
    zero = node.literal(0.0 if elements.is_float(elem) else 0)
    if not own:  # what is there counts only where nothing comes
        start = _neutral(mode, elem)
        if start is None:
            return node.type_of(node.call("identity", x))
        x = node.call("where", node.call("==", count, zero), x, node.scalar(start, elem))
    made = node.call(operator, x, numbers, source, axis=axis, mode=mode)
    if reduction != "mean":
        return made
    one = node.literal(1.0)
    return node.call(
        "/", made, node.call("+", count, one) if own else node.call("maximum", count, one)
    )


def _neutral(mode: str, elem: str) -> float | None:
    """What changes nothing in a combination; None if the element type has no such number."""
    ends = {"max": -inf, "min": inf} if elements.is_float(elem) else {}
    return {"add": 0, "mul": 1, **ends}.get(mode)


def _scattered(node: TorchNode, mode: str) -> Expression:
    """Elements of a source in the rows that numbers tell; there may be more of them."""
    source = _source(node)
    if source is None:
        return node.type_of(node.call("identity", node.x()))
    return node.call(
        "scatter_elements", node.x(), node.x("index"), source, axis=node.axis(), mode=mode
    )


def _source(node: TorchNode) -> Expression | None:
    """One element for each of the numbers; None if ranks are not known, or there are no axes."""
    elem, numbers = node.elem_of(), node.tensor_index("index")
    word, source = node.sizes_of(numbers), node.index("src")
    if not word or not node.rank_of():
        return None
    if source is None:
        name = "value" if "value" in node.attributes else "src"
        value = number_of(node, name, elem)
        return node.call("broadcast_to", value, node.call("shape", node.input(numbers)))
    if node.rank(source) != len(word):
        return None
    whole = node.input(source)
    cut = cut_to(node, whole, source, numbers, range(len(word)))
    if cut is not whole:
        cut = node.shaped(cut, word)
    own = node.elem(source)
    return cut if elem is None or own == elem else node.cast(cut, elem)
