"""What has the elements of another tensor, or one number, in the shape of a tensor."""

from __future__ import annotations

from axon.importers.node import Made
from axon.importers.operations import Operand
from axon.importers.torch.node import TorchNode
from axon.importers.torch.rules.registry import rule
from axon.importers.torch.rules.tensors.creating import number_of, wanted_shape


@rule("copy")
def copied(node: TorchNode) -> Made:
    """The elements of another tensor, in the shape and the type of this one."""
    elem = node.elem_of()
    return node.call("broadcast_to", node.operand("src", elem), node.call("shape", node.x()))


@rule("fill", "zero")
def fill(node: TorchNode) -> Made:
    if node.operator.startswith("zero"):
        return node.call("zeros_like", node.x())
    value, elem = node.argument("value"), node.elem_of()
    if not isinstance(value, Operand):
        return node.call("full", node.call("shape", node.x()), number_of(node, "value", elem))
    return node.call("broadcast_to", node.operand("value", elem), node.call("shape", node.x()))


@rule("resize_as")
def resize_as(node: TorchNode) -> Made:
    made = node.call("zeros", node.call("shape", node.x("the_template")))
    return node.type_of(node.call("cast_like", made, node.x()))


@rule("resize")
def resize(node: TorchNode) -> Made:
    """As many elements as are there stay; what is new may be anything."""
    elem, wanted = node.elem_of(), wanted_shape(node)
    made = node.call("zeros", wanted)
    return node.type_of(
        node.call("cast_like", made, node.x()) if elem is None else node.cast(made, elem)
    )


@rule("as_strided", "as_strided_copy", "as_strided_scatter")
def as_strided(node: TorchNode) -> Made:
    """Elements of the memory that a tensor lies in: which ones hangs on how it lies there."""
    if node.operator == "as_strided_scatter":
        return node.type_of(node.call("identity", node.x()))
    made = node.call("zeros", wanted_shape(node))
    return node.type_of(node.call("cast_like", made, node.x()))


@rule("overwritten", domain="mutation")
def overwritten(node: TorchNode) -> Made:
    """What a tensor is after it was written to in a way that Axon cannot follow."""
    return node.type_of(node.call("identity", node.x()))
