"""Element by element: arithmetic, comparisons, functions of one number."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy

from axon.importers.contents import arithmetic as contents
from axon.importers.contents import reals as floats
from axon.importers.contents.queries import size_of
from axon.importers.contents.reals import Real
from axon.importers.contents.values import Unsupported
from axon.importers.elem import Elem
from axon.importers.expressions import Expression
from axon.importers.node import Node
from axon.importers.onnx.elements import ELEMENTS
from axon.importers.onnx.rules.registry import rule
from axon.importers.onnx.rules.sequences import hand_on
from axon.types import dim as dims

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

BINARY: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "Add": ("+", contents.add), "Sub": ("-", contents.sub), "Mul": ("*", contents.mul),
    "Div": ("/", contents.div), "Pow": ("pow", contents.power), "Mod": ("mod", contents.mod),
    "Max": ("maximum", contents.greatest), "Min": ("minimum", contents.least),
}  # fmt: skip
COMPARE = {
    "Equal": ("==", contents.equal), "Less": ("<", contents.less), "Greater": (">", None),
    "LessOrEqual": ("<=", None), "GreaterOrEqual": (">=", None),
    "And": ("logical_and", contents.both), "Or": ("logical_or", None), "Xor": ("logical_xor", None),
}  # fmt: skip
KNOWN: dict[str, Callable[[Any], Any]] = {
    "Not": contents.opposite, "Floor": contents.floor, "Ceil": contents.ceil,
    "Sqrt": contents.root,
}  # fmt: skip
"""Functions of one number that are followed."""

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
    found, known = node.contents(0), None
    if kind in KNOWN and found is not None:
        known = contents.pointwise(KNOWN[kind], found)
        if known is not None and node.elem(0) == "f32":
            known = contents.pointwise(contents.rounded, known)
    node.set_outputs(node.call(UNARY[kind], node.input(0), **given), contents=known)


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
    found = node.contents(0)
    known = None if found is None else contents.pointwise(contents.negate, found)
    node.set_outputs(node.call("negate", node.input(0)), contents=known)


@rule("Identity")
def identity(node: Node) -> None:
    if node.name(0) in node.importer.sequences:
        hand_on(node)
        return
    node.set_outputs(node.call("identity", node.input(0)), contents=node.contents(0))


@rule(*BINARY)
def binary(node: Node) -> None:
    operator, function = BINARY[node.operator]
    whole = str(node.elem(0)).startswith(("i", "u"))
    found = node.contents(0)
    expr = node.input(0)
    for i in range(1, node.count):
        other = node.contents(i)
        expr = node.call(operator, expr, node.input(i))
        known = found is not None and other is not None
        if known and node.operator == "Div" and not whole:
            function = contents.ratio
        elif known and node.operator in ("Div", "Mod"):
            if node.operator == "Div":
                function = partial(contents.div, is_size=node.importer.is_size)
            sizes = [size for size in other.flat if contents.is_symbol(size)]
            if not all(map(node.importer.is_size, sizes)):
                function = contents.exact if node.operator == "Div" else contents.nothing
                sizes = []
            for size in sizes:
                node.guard(dims.sub(size, 1))
        found = contents.pointwise(function, found, other) if known else None
    if found is not None and node.elem(0) == "f32":
        found = contents.pointwise(contents.rounded, found)
    elif found is not None and whole and node.elem(0) != "i64":
        found = contents.pointwise(partial(contents.within, node.elem(0)), found)
    if node.operator == "Div" and str(node.elem(0)).startswith("i"):
        expr = _rounded_to_zero(node)
    if node.operator == "Mod" and node.attribute("fmod", 0):
        node.set_outputs(node.call("fmod", node.input(0), node.input(1)))
        return
    if node.operator == "Pow" and node.elem(0) != node.elem(1):
        expr = node.call("pow", node.input(0), _cast_like(node, 1, 0))
    node.set_outputs(expr, contents=found)


def _rounded_to_zero(node: Node) -> Expression:
    """A quotient of integers as ONNX has it; Axon rounds down."""
    x, y = node.input(0), node.input(1)
    whole = node.call("/", node.call("abs", x), node.call("abs", y))
    return node.call("*", node.call("*", node.call("sign", x), node.call("sign", y)), whole)


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
    operator, function = COMPARE[node.operator]
    a, b = node.contents(0), node.contents(1)
    known = None
    if a is not None and b is not None:
        if node.operator == "Equal":
            known = contents.pointwise(partial(_equal, node), a, b)
        elif function is not None:
            known = contents.pointwise(function, a, b)
        elif node.operator == "Greater":
            known = contents.pointwise(lambda x, y: contents.less(y, x), a, b)
    node.set_outputs(node.call(operator, node.input(0), node.input(1)), contents=known)


def _equal(node: Node, a: Any, b: Any) -> Any:
    """Whether two are the same; a size is never negative."""
    for size, other in ((a, b), (b, a)):
        negative = type(other) is int and other < 0
        if negative and contents.is_symbol(size) and node.importer.is_size(size):
            return False
    return contents.equal(a, b)


@rule("Where")
def where(node: Node) -> None:
    parts = [node.contents(i) for i in range(3)]
    known = None
    if all(part is not None for part in parts) and contents.fit(*parts):
        c, a, b = numpy.broadcast_arrays(*parts)
        known = numpy.empty(c.shape, dtype=object)
        for index in numpy.ndindex(c.shape):
            known[index] = contents.choose(c[index], a[index], b[index])
    node.set_outputs(node.call("where", *(node.input(i) for i in range(3))), contents=known)


@rule("Cast")
def cast(node: Node) -> None:
    name = ELEMENTS.get(node.attribute("to", 0))
    if name is None:
        raise Unsupported("Cast to an element type that Axon does not have")
    found = node.contents(0)
    known = None if found is None else contents.pointwise(partial(_cast, node, name), found)
    node.set_outputs(node.call("cast", node.input(0), to=Elem(name)), contents=known)


def _cast(node: Node, name: str, x: Any) -> Any:
    """One element, cast to the type of that name."""
    if name.startswith(("i", "u")):
        found = size_of(node, x) if isinstance(x, Real) else contents.whole(x)
        return contents.within(name, found)
    if name == "bool":
        return None if contents.is_symbol(x) or isinstance(x, Real) else bool(x)
    if contents.is_symbol(x) or isinstance(x, Real):
        return floats.as_float(x, name)
    x = float(x) if isinstance(x, int) else x
    return contents.rounded(x) if name == "f32" else x


@rule("CastLike")
def cast_like(node: Node) -> None:
    node.set_outputs(_cast_like(node, 0, 1))


def _cast_like(node: Node, index: int, like: int) -> Expression:
    """An input with the element type of another one."""
    elem, x = node.elem(like), node.input(index)
    if isinstance(elem, str):
        return node.call("cast", x, to=Elem(elem))
    return node.call("cast_like", x, node.input(like))
