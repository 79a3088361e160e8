"""Element by element: arithmetic, casts, and what is more than another name."""

from __future__ import annotations

from axon.importers.expressions import Expression
from axon.importers.node import Made, Node
from axon.importers.onnx.elements import element_type
from axon.importers.onnx.rules.loops.sequences import hand_on
from axon.importers.onnx.rules.registry import rule

FOLDED = {
    "Add": "+", "Sub": "-", "Mul": "*", "Div": "/", "Pow": "pow", "Mod": "mod", "Max": "maximum",
    "Min": "minimum", "Sum": "+", "Mean": "+",
}  # fmt: skip
SHIFTS = {"LEFT": "shift_left", "RIGHT": "shift_right"}


@rule("PRelu")
def prelu(node: Node) -> Made:
    x, slope = node.input(0), node.input(1)
    plain = node.importer.opset >= 7
    return node.call("prelu", x, slope) if plain else node.type_of(x)


@rule("Clip")
def clip(node: Node) -> Made:
    """The bounds are inputs since opset 11."""
    x = node.input(0)
    if node.count == 1:
        bounds = {"min": node.attribute("min"), "max": node.attribute("max")}
        given = {k: v for k, v in bounds.items() if v is not None}
        return node.call("clip", x, **given) if given else node.call("identity", x)
    if node.has(1):
        x = node.call("maximum", x, node.input(1))
    if node.has(2):
        x = node.call("minimum", x, node.input(2))
    return x


@rule("Identity")
def identity(node: Node) -> Made:
    if node.name(0) in node.importer.sequences:
        hand_on(node)
        return None
    return node.call("identity", node.input(0))


@rule(*FOLDED)
def arithmetic(node: Node) -> Made:
    operator = FOLDED[node.operator]
    if operator == "/" and str(node.elem(0)).startswith("i"):
        operator = "trunc_divide"
    if operator == "mod" and node.attribute("fmod", 0):
        operator = "fmod"
    if operator == "pow" and node.elem(0) != node.elem(1):
        return _power(node)
    expr = node.input(0)
    for i in range(1, node.count):
        expr = node.call(operator, expr, node.input(i))
    if node.operator == "Mean":
        count = node.call("cast_like", node.literal(float(node.count)), node.input(0))
        expr = node.call("/", expr, count)
    return expr


def _power(node: Node) -> Expression:
    """A power by an exponent of another type; the result has the type of the base."""
    whole = [str(node.elem(i)).startswith(("i", "u")) for i in (0, 1)]
    if whole == [True, False]:
        wide = [node.cast(node.input(i), "f64") for i in (0, 1)]
        return node.call("cast_like", node.call("pow", *wide), node.input(0))
    return node.call("pow", node.input(0), _cast_like(node, 1, 0))


@rule("BitShift")
def shift(node: Node) -> Made:
    operator = node.choice("direction", "", SHIFTS)
    return node.call(operator, node.input(0), node.input(1))


@rule("Cast", "BitCast")
def cast(node: Node) -> Made:
    operator = "cast" if node.operator == "Cast" else "bit_cast"
    return node.call(operator, node.input(0), to=element_type(node, "to", 0))


@rule("CastLike")
def cast_like(node: Node) -> Made:
    return _cast_like(node, 0, 1)


def _cast_like(node: Node, index: int, like: int) -> Expression:
    """An input with the element type of another one."""
    elem, x = node.elem(like), node.input(index)
    if isinstance(elem, str):
        return node.cast(x, elem)
    return node.call("cast_like", x, node.input(like))
