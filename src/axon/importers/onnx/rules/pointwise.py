"""Element by element: arithmetic, comparisons, functions of one number."""

from __future__ import annotations

from axon.importers.contents.values import Unsupported
from axon.importers.elem import Elem
from axon.importers.expressions import Expression
from axon.importers.node import Node
from axon.importers.onnx.elements import ELEMENTS
from axon.importers.onnx.rules.registry import rule
from axon.importers.onnx.rules.sequences import hand_on

UNARY = {
    "Relu": "relu", "Tanh": "tanh", "Sigmoid": "sigmoid", "Exp": "exp", "Log": "log",
    "Sqrt": "sqrt", "Erf": "erf", "Sin": "sin", "Cos": "cos", "Tan": "tan", "Asin": "asin",
    "Acos": "acos", "Atan": "atan", "Sinh": "sinh", "Cosh": "cosh", "Asinh": "asinh",
    "Acosh": "acosh", "Atanh": "atanh", "Floor": "floor", "Ceil": "ceil", "Round": "round",
    "Abs": "abs", "Sign": "sign", "Reciprocal": "reciprocal", "Softplus": "softplus",
    "Softsign": "softsign", "Mish": "mish", "HardSwish": "hard_swish", "Elu": "elu",
    "Selu": "selu", "Celu": "celu", "LeakyRelu": "leaky_relu", "HardSigmoid": "hard_sigmoid",
    "ThresholdedRelu": "thresholded_relu", "Shrink": "shrink", "Swish": "silu", "Gelu": "gelu",
    "Not": "logical_not", "BitwiseNot": "bit_not", "IsNaN": "isnan",
}  # fmt: skip

BINARY = {
    "Add": "+", "Sub": "-", "Mul": "*", "Div": "/", "Pow": "pow", "Mod": "mod", "Max": "maximum",
    "Min": "minimum",
}  # fmt: skip
COMPARE = {
    "Equal": "==", "Less": "<", "Greater": ">", "LessOrEqual": "<=", "GreaterOrEqual": ">=",
    "And": "logical_and", "Or": "logical_or", "Xor": "logical_xor",
}  # fmt: skip

ATTRIBUTES: dict[str, dict[str, tuple[str, object]]] = {
    "LeakyRelu": {"slope": ("alpha", 0.01)},
    "Elu": {"alpha": ("alpha", 1.0)},
    "Selu": {"alpha": ("alpha", 1.6732632423543772), "scale": ("gamma", 1.0507009873554805)},
    "Celu": {"alpha": ("alpha", 1.0)},
    "ThresholdedRelu": {"threshold": ("alpha", 1.0)},
    "Shrink": {"threshold": ("lambd", 0.5), "bias": ("bias", 0.0)},
    "Swish": {"alpha": ("alpha", 1.0)},
    "HardSigmoid": {"alpha": ("alpha", 0.2), "beta": ("beta", 0.5)},
    "Gelu": {"approximate": ("approximate", "none")},
}
"""Attributes of these: what Axon calls them, what ONNX does, and its default."""


@rule(*UNARY)
def unary(node: Node) -> None:
    kind = node.operator
    given = {
        ours: node.attribute(theirs, default)
        for ours, (theirs, default) in ATTRIBUTES.get(kind, {}).items()
    }
    node.set_outputs(node.call(UNARY[kind], node.input(0), **given))


@rule("IsInf")
def is_infinite(node: Node) -> None:
    negative, positive = (node.attribute(f"detect_{s}", 1) for s in ("negative", "positive"))
    node.set_outputs(
        node.call("isinf", node.input(0), negative=bool(negative), positive=bool(positive))
    )


@rule("PRelu")
def prelu(node: Node) -> None:
    x, slope = node.input(0), node.input(1)
    plain = node.importer.opset >= 7
    node.set_outputs(node.call("prelu", x, slope) if plain else node.type_of(x))


@rule("Clip")
def clip(node: Node) -> None:
    """The bounds are inputs since opset 11."""
    x = node.input(0)
    if node.count == 1:
        bounds = {"min": node.attribute("min"), "max": node.attribute("max")}
        given = {k: v for k, v in bounds.items() if v is not None}
        node.set_outputs(node.call("clip", x, **given) if given else node.call("identity", x))
        return
    if node.has(1):
        x = node.call("maximum", x, node.input(1))
    if node.has(2):
        x = node.call("minimum", x, node.input(2))
    node.set_outputs(x)


@rule("Neg")
def negate(node: Node) -> None:
    node.set_outputs(node.call("negate", node.input(0)))


@rule("Identity")
def identity(node: Node) -> None:
    if node.name(0) in node.importer.sequences:
        hand_on(node)
        return
    node.set_outputs(node.call("identity", node.input(0)))


@rule(*BINARY)
def binary(node: Node) -> None:
    operator = BINARY[node.operator]
    if operator == "/" and str(node.elem(0)).startswith("i"):
        operator = "trunc_divide"
    if operator == "mod" and node.attribute("fmod", 0):
        operator = "fmod"
    if operator == "pow" and node.elem(0) != node.elem(1):
        node.set_outputs(_power(node))
        return
    expr = node.input(0)
    for i in range(1, node.count):
        expr = node.call(operator, expr, node.input(i))
    node.set_outputs(expr)


def _power(node: Node) -> Expression:
    """A power by an exponent of another type; the result has the type of the base."""
    whole = [str(node.elem(i)).startswith(("i", "u")) for i in (0, 1)]
    if whole == [True, False]:
        wide = [node.call("cast", node.input(i), to=Elem("f64")) for i in (0, 1)]
        return node.call("cast_like", node.call("pow", *wide), node.input(0))
    return node.call("pow", node.input(0), _cast_like(node, 1, 0))


@rule("Sum", "Mean")
def several(node: Node) -> None:
    expr = node.input(0)
    for i in range(1, node.count):
        expr = node.call("+", expr, node.input(i))
    if node.operator == "Mean":
        count = node.call("cast_like", node.literal(float(node.count)), node.input(0))
        expr = node.call("/", expr, count)
    node.set_outputs(expr)


@rule(*COMPARE)
def compare(node: Node) -> None:
    node.set_outputs(node.call(COMPARE[node.operator], node.input(0), node.input(1)))


@rule("Where")
def where(node: Node) -> None:
    node.set_outputs(node.call("where", *(node.input(i) for i in range(3))))


@rule("Cast")
def cast(node: Node) -> None:
    name = ELEMENTS.get(node.attribute("to", 0))
    if name is None:
        raise Unsupported("Cast to an element type that Axon does not have")
    node.set_outputs(node.call("cast", node.input(0), to=Elem(name)))


@rule("CastLike")
def cast_like(node: Node) -> None:
    node.set_outputs(_cast_like(node, 0, 1))


def _cast_like(node: Node, index: int, like: int) -> Expression:
    """An input with the element type of another one."""
    elem, x = node.elem(like), node.input(index)
    if isinstance(elem, str):
        return node.call("cast", x, to=Elem(elem))
    return node.call("cast_like", x, node.input(like))
