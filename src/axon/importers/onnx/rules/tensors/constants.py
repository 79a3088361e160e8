"""Tensors from nothing but sizes and numbers: constants, fillings, ranges."""

from __future__ import annotations

import struct
from typing import Any

from axon.contents import arithmetic as contents
from axon.contents.pointwise import size_of
from axon.contents.reals import Real
from axon.importers.expressions import Expression
from axon.importers.node import Made, Node
from axon.importers.onnx.elements import ELEMENTS
from axon.importers.onnx.rules.registry import rule
from axon.importers.operations import Constant, Malformed, Unsupported
from axon.importers.plain_array import PlainArray
from axon.importers.runtime_values import scalar_of
from axon.types import dim as dims

PLAIN = {
    "value_int": ("i64", "q"), "value_ints": ("i64", "q"),
    "value_float": ("f32", "f"), "value_floats": ("f32", "f"),
}  # fmt: skip
"""Attributes that list elements, with the type and the form of each."""


@rule("Constant")
def constant(node: Node) -> None:
    constant = node.attribute("value")
    if not isinstance(constant, Constant):
        constant = _listed(node)
    node.importer.hold(node.outputs[0], constant)
    node.step((node.outputs[0],), None, tensor=constant)


def _listed(node: Node) -> Constant:
    """A number, or some, that attributes list."""
    for name, (elem, form) in PLAIN.items():
        value = node.attribute(name)
        if value is not None:
            several = isinstance(value, list)
            values = tuple(value) if several else (value,)
            data = struct.pack(f"<{len(values)}{form}", *values)
            dims = (len(values),) if several else ()
            array = PlainArray(dims, struct.unpack(f"<{len(values)}{form}", data), data)
            return Constant(node.outputs[0], elem, dims, lambda array: array, array)
    raise Unsupported("Constant of a kind that Axon does not have")


@rule("ConstantOfShape")
def constant_of_shape(node: Node) -> None:
    elem, value = _filling(node.attribute("value"))
    number = node.scalar(value, elem)
    node.set_outputs(node.call("full", node.held_shape(0), number))
    known = node.known_elements(0) is not None
    if known and node.outputs[0] not in node.importer.contents:
        node.importer.filled[node.outputs[0]] = value
        node.alone = True


def _filling(constant: Constant | None) -> tuple[str, Any]:
    """The element type and the number that a shape is filled with; zero by default."""
    if constant is None:
        return "f32", 0.0
    if not isinstance(constant, Constant):
        raise Unsupported("ConstantOfShape with a value that is no tensor")
    elem, found = constant.elem, constant.array()
    if elem is None or found is None or constant.dims not in ((), (1,)):
        raise Unsupported("ConstantOfShape with a value that is not one number")
    return elem, found.ravel().tolist()[0]


@rule("Range")
def range_(node: Node) -> Made:
    parts = [node.known_elements(i) for i in range(3)]
    elem = node.elem(0)
    fallback = node.call("arange", *(scalar_of(node, i) for i in range(3)))
    if any(part is None for part in parts):
        return fallback
    if any(part is not None and len(part) != 1 for part in parts):
        raise Malformed("its start, its limit and its step are one number each")
    (start,), (stop,), (step,) = parts  # type: ignore[misc]
    if any(isinstance(part, float | Real) for part in (start, stop, step)):
        size = _float_count(node, start, stop, step)
        return fallback if size is None else node.shaped(fallback, [size])
    if not isinstance(step, int) or step == 0:
        return fallback
    gap = contents.sub(stop, start) if step > 0 else contents.sub(start, stop)
    count = dims.floordiv(dims.add(gap, abs(step) - 1), abs(step))
    if not node.importer.is_size(count):
        count = dims.maximum(count, 0)
    counted = node.shaped(fallback, [count])
    if isinstance(elem, str):
        counted = _counted(node, count, start, step, elem)
    return counted, fallback


def _float_count(node: Node, start: Any, stop: Any, step: Any) -> Any:
    """How many floats there are from a start to a stop, if that is a size."""
    gap = contents.sub(stop, start)
    found = None if gap is None else contents.ratio(gap, step)
    count = None if found is None else contents.ceil(found)
    if not isinstance(count, Real):
        return None
    size = size_of(node, count)
    if size is None or node.importer.is_size(size):
        return size
    return dims.maximum(size, 0)


def _counted(node: Node, count: Any, start: Any, step: int, elem: str) -> Expression:
    """So many integers from a start, by steps."""
    expr = node.call("range", node.size(count), to=elem)
    if step != 1:
        expr = node.call("*", expr, node.scalar(step, elem))
    if not isinstance(start, int):
        return node.call("+", expr, node.input(0))
    return expr if start == 0 else node.call("+", expr, node.scalar(start, elem))


@rule("RandomNormal", "RandomUniform")
def random(node: Node) -> Made:
    """What is drawn is not for a program to say; its shape is."""
    sizes = node.attribute("shape")
    if any(size < 0 for size in sizes):
        raise Unsupported(f"{node.operator} with a negative size")
    elem = ELEMENTS.get(node.attribute("dtype", 1)) or "f32"
    return node.declared(f"() -> {elem} {sizes}")


@rule("Multinomial")
def multinomial(node: Node) -> Made:
    elem = ELEMENTS.get(node.attribute("dtype", 6)) or "i32"
    count = node.attribute("sample_size", 1)
    if count < 0:
        raise Unsupported(f"Multinomial that draws {count} times")
    return node.declared(f"t [n,after_c] -> {elem} [n,{count}]", 0)
