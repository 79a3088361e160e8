"""Elements for which something is true, and elements that differ from one another."""

from __future__ import annotations

from axon.importers.expressions import Expression
from axon.importers.node import Made
from axon.importers.operations import Unsupported
from axon.importers.torch.node import TorchNode
from axon.importers.torch.rules.registry import rule
from axon.importers.torch.rules.tensors.shapes import in_rank


@rule("nonzero", "argwhere")
def nonzero(node: TorchNode) -> Made:
    return node.call("argwhere", node.x())


@rule("nonzero_numpy")
def nonzero_by_axis(node: TorchNode) -> None:
    places = node.call("argwhere", node.x())
    count = len(node.outputs)
    node.set_outputs(*[node.call("index", places, i=i, axis=1) for i in range(count)])


@rule("nonzero_static")
def nonzero_static(node: TorchNode) -> Made:
    """So many places; what is missing is filled up."""
    rank = node.rank_of()
    if rank is None:
        raise Unsupported("nonzero_static of a tensor whose rank is not known")
    size = node.size_argument("size")
    return node.type_of(node.call("zeros", node.shape_literal([size, rank]), to="i64"))


@rule("masked_select")
def masked_select(node: TorchNode) -> Made:
    x, mask = _broadcast_pair(node)
    return node.call("select", x, mask)


def _broadcast_pair(node: TorchNode) -> tuple[Expression, Expression]:
    """A tensor and a mask in their joint shape."""
    x, mask = node.x(), node.operand("mask", "bool")
    word = node.shape(node.tensor_index("self"))
    if word is not None and word == node.shape(node.tensor_index("mask")):
        return x, mask
    whole = node.call("where", mask, x, x)
    return whole, node.call("broadcast_to", mask, node.call("shape", whole))


@rule("masked_scatter")
def masked_scatter(node: TorchNode) -> Made:
    """One after another, elements of a source in the place of those for which a mask is true."""
    x, mask = _broadcast_pair(node)
    source = node.operand("source", node.elem_of())
    return node.call("filled_in", x, mask, node.call("flatten", source))


# --- different elements --------------------------------------------------------------------------


@rule("_unique2", "_unique", "unique_dim", "unique_consecutive", "unique_dim_consecutive")
def unique(node: TorchNode) -> None:
    """The different elements, or rows, or those that differ from the one before."""
    along = node.argument("dim") is not None
    flat = node.x() if along else node.call("flatten", node.x())
    rank = node.rank_of()
    axis = node.axis("dim") if along else 0
    found = node.call("distinct", flat, axis=axis if rank is None else in_rank(axis, rank))
    follows = "consecutive" in node.operator
    if follows and not along:
        found = node.call("runs", flat)
    names = [f"{node.outputs[0]}⟨{part}⟩" for part in ("values", "first", "which", "often")]
    _take_parts(node, found, names)
    values, _, which, often = (node.tensor(name) for name in names)
    if follows and along:
        values, which, often = (node.type_of(each) for each in (values, which, often))
    none = node.call("zeros", node.shape_literal([0]), to="i64")
    inverse: Expression = which
    if not along:
        inverse = node.call("reshape", node.tensor(names[2]), node.call("shape", node.x()))
    wanted = node.flag("return_inverse"), node.flag("return_counts")
    node.set_outputs(
        values,
        inverse if wanted[0] or along else none,
        often if wanted[1] or along else none,
    )


def _take_parts(node: TorchNode, found: Expression, names: list[str]) -> None:
    node.alone = True
    for name in names:
        node.importer.hidden.add(name)
        node.importer.own[name] = node.outputs[0]
    node.set_tuple_outputs(found, names)
