"""Bits of integers, and bits that are taken for numbers of another type."""

from __future__ import annotations

from axon.importers.contents.values import Unsupported
from axon.importers.elem import Elem
from axon.importers.node import Node
from axon.importers.onnx.elements import ELEMENTS
from axon.importers.onnx.rules.registry import rule

BITS = {"BitwiseAnd": "bit_and", "BitwiseOr": "bit_or", "BitwiseXor": "bit_xor"}
SHIFTS = {"LEFT": "shift_left", "RIGHT": "shift_right"}


@rule(*BITS)
def bitwise(node: Node) -> None:
    node.set_outputs(node.call(BITS[node.operator], node.input(0), node.input(1)))


@rule("BitShift")
def shift(node: Node) -> None:
    operator = SHIFTS.get(node.attribute("direction", ""))
    if operator is None:
        raise Unsupported("BitShift without a direction")
    node.set_outputs(node.call(operator, node.input(0), node.input(1)))


@rule("BitCast")
def bit_cast(node: Node) -> None:
    name = ELEMENTS.get(node.attribute("to", 0))
    if name is None:
        raise Unsupported("BitCast to an element type that Axon does not have")
    node.set_outputs(node.call("bit_cast", node.input(0), to=Elem(name)))
