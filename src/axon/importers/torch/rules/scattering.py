"""Elements put where numbers tell, or added to what is there."""

from __future__ import annotations

from axon.importers.expressions import Expression
from axon.importers.node import Made
from axon.importers.operations import Unsupported
from axon.importers.runtime_values import cut_to
from axon.importers.torch.node import TorchNode
from axon.importers.torch.rules.creating import number_of
from axon.importers.torch.rules.indexing import flat_numbers
from axon.importers.torch.rules.registry import rule

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
    mode = MODES.get(node.text("reduce"))
    if mode is None or not node.flag("include_self", True):
        return node.type_of(node.call("identity", node.x()))
    if not rows:
        return _scattered(node, mode)
    source = node.operand(name, node.elem_of())
    return node.call("scatter", node.x(), flat_numbers(node), source, axis=node.axis(), mode=mode)


def _scattered(node: TorchNode, mode: str) -> Expression:
    """Elements of a source in the rows that numbers tell; there may be more of them."""
    x, elem, numbers = node.x(), node.elem_of(), node.tensor_index("index")
    axis, word = node.axis(), node.sizes_of(numbers)
    if word is None or node.rank_of() is None or not word or node.rank_of() == 0:
        return node.type_of(node.call("identity", x))
    source = node.index("src")
    if source is None:
        name = "value" if "value" in node.attributes else "src"
        value = number_of(node, name, elem)
        values = node.call("broadcast_to", value, node.call("shape", node.input(numbers)))
    else:
        if node.rank(source) != len(word):
            return node.type_of(node.call("identity", x))
        cut = cut_to(node, node.input(source), source, numbers, range(len(word)))
        if cut is not node.input(source):
            cut = node.shaped(cut, list(word))
        own = node.elem(source)
        values = cut if elem is None or own == elem else node.cast(cut, elem)
    return node.call("scatter_elements", x, node.input(numbers), values, axis=axis, mode=mode)
