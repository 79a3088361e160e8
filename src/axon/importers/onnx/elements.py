"""Element types, as ONNX numbers them."""

from __future__ import annotations

from axon.importers.node import Node
from axon.importers.operations import Unsupported

ELEMENTS = {
    1: "f32", 2: "u8", 3: "i8", 4: "u16", 5: "i16", 6: "i32", 7: "i64", 9: "bool",
    10: "f16", 11: "f64", 12: "u32", 13: "u64", 16: "bf16",
}  # fmt: skip
"""Element types by their numbers in ONNX."""
FLOATS = ("f16", "bf16", "f32", "f64")


def element_type(node: Node, attribute: str, default: int) -> str:
    """The element type that an attribute numbers."""
    found = ELEMENTS.get(node.attribute(attribute, default))
    if found is None:
        raise Unsupported(f"{node.operator}: an element type that Axon does not have")
    return found
