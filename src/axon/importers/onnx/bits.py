"""Bits of integers, and bits that are taken for numbers of another type."""

from __future__ import annotations

from axon.importers.onnx.elem import Elem
from axon.importers.onnx.node import Node
from axon.importers.onnx.rules import rule
from axon.importers.onnx.values import ELEMENTS, Unsupported

BITS = {"BitwiseAnd": "bit_and", "BitwiseOr": "bit_or", "BitwiseXor": "bit_xor"}
SHIFTS = {"LEFT": "shift_left", "RIGHT": "shift_right"}


@rule(*BITS)
def bitwise(node: Node) -> None:
    node.gives(node.call(BITS[node.operator], node.given(0), node.given(1)))


@rule("BitShift")
def shift(node: Node) -> None:
    operator = SHIFTS.get(node.attribute("direction", ""))
    if operator is None:
        raise Unsupported("BitShift without a direction")
    node.gives(node.call(operator, node.given(0), node.given(1)))


@rule("BitCast")
def bit_cast(node: Node) -> None:
    name = ELEMENTS.get(node.attribute("to", 0))
    if name is None:
        raise Unsupported("BitCast to an element type that Axon does not have")
    node.gives(node.call("bit_cast", node.given(0), to=Elem(name)))
