"""Element by element: functions that are expressions of several operators, in `std/torch.axon`."""

from __future__ import annotations

import math

from axon.importers.expressions import Expression
from axon.importers.node import Made
from axon.importers.torch import elements
from axon.importers.torch.node import TorchNode
from axon.importers.torch.rules.numbers.pointwise import as_float
from axon.importers.torch.rules.registry import rule

OF_ONE = {
    "exp2": "exp2", "log2": "log2", "log10": "log10", "erfc": "erfc", "sinc": "sinc",
    "special_exp2": "exp2", "special_erfc": "erfc", "special_sinc": "sinc",
    "special_expm1": "expm1", "special_log1p": "log1p", "special_expit": "sigmoid",
    "special_erf": "erf",
}  # fmt: skip
OF_TWO = {
    "atan2": "atan2", "arctan2": "atan2", "hypot": "hypot", "logaddexp": "logaddexp",
    "logaddexp2": "logaddexp2", "copysign": "copysign", "xlogy": "xlogy", "special_xlogy": "xlogy",
    "ldexp": "ldexp",
}  # fmt: skip
LARGEST = {
    "f16": 65504.0, "bf16": 3.3895313892515355e38, "f32": 3.4028234663852886e38,
    "f64": 1.7976931348623157e308,
}  # fmt: skip


@rule(*OF_ONE)
def of_one(node: TorchNode) -> Made:
    return node.call(OF_ONE[node.operator.rstrip("_")], as_float(node, "self"))


@rule(
    "erfinv", "digamma", "lgamma", "i0", "polygamma", "special_erfinv", "special_digamma",
    "special_gammaln", "special_i0", "special_i0e", "special_i1", "special_i1e", "special_ndtr",
    "special_ndtri", "special_psi", "special_multigammaln", "special_bessel_j0",
    "special_bessel_j1", "special_polygamma", "special_log_ndtr", "special_entr", "special_erfcx",
    "mvlgamma",
)  # fmt: skip
def lacking(node: TorchNode) -> Made:
    """Functions of one tensor that Axon does not have."""
    return node.type_of(node.call("exp", as_float(node, "self")))


def _floats(node: TorchNode) -> list[Expression]:
    """Two operands in their joint type, integers as floats."""
    found = node.joint("self", "other")
    given = [node.argument(name) for name in ("self", "other")]
    if found is None:
        return [node.converted(value, None) for value in given]
    elem = found if elements.is_float(found) else elements.DEFAULT
    return [node.converted_to(value, elem) for value in given]


@rule(*OF_TWO)
def of_two(node: TorchNode) -> Made:
    return node.call(OF_TWO[node.operator.rstrip("_")], *_floats(node))


@rule(
    "nextafter", "special_xlog1py", "special_zeta", "igamma", "igammac", "special_gammainc",
    "special_gammaincc",
)  # fmt: skip
def lacking_of_two(node: TorchNode) -> Made:
    """Functions of two tensors that Axon does not have."""
    return node.type_of(node.call("+", *_floats(node)))


@rule("gcd", "lcm")
def divisors(node: TorchNode) -> Made:
    elem = node.joint("self", "other")
    return node.type_of(node.call("+", *[node.operand(n, elem) for n in ("self", "other")]))


@rule("deg2rad", "rad2deg")
def angles(node: TorchNode) -> Made:
    scale = math.pi / 180 if node.operator.startswith("deg") else 180 / math.pi
    return node.call("*", as_float(node, "self"), node.literal(scale))


@rule("heaviside")
def heaviside(node: TorchNode) -> Made:
    return node.call("heaviside", node.x(), node.x("values"))


@rule("nan_to_num")
def nan_to_num(node: TorchNode) -> Made:
    elem, x = node.elem_of(), node.x()
    if elem is None or not elements.is_float(elem):
        return node.call("identity", x)
    usual = {"nan": 0.0, "posinf": LARGEST[elem], "neginf": -LARGEST[elem]}
    numbers = [node.scalar(node.real(name, value), elem) for name, value in usual.items()]
    return node.call("nan_to_num", x, *numbers)


# --- tests ---------------------------------------------------------------------------------------


@rule("signbit")
def signbit(node: TorchNode) -> Made:
    elem, x = node.elem_of(), node.x()
    if elem == "bool":
        return node.call("zeros_like", x)
    if elem is not None and not elements.is_float(elem):
        return node.call("<", x, node.literal(0))
    return node.call("has_minus", x)


@rule("isfinite", "isposinf", "isneginf")
def endless(node: TorchNode) -> Made:
    x = as_float(node, "self")
    if node.operator == "isfinite":
        return node.call("isfinite", x)
    sides = {"negative": node.operator == "isneginf", "positive": node.operator == "isposinf"}
    return node.call("isinf", x, **sides)


@rule("isreal")
def is_real(node: TorchNode) -> Made:
    return node.cast(node.call("ones_like", node.x()), "bool")


@rule("isclose", "allclose")
def near(node: TorchNode) -> Made:
    """Numbers that are none are near to one another if that is asked for."""
    x, y = _floats(node)
    parts = [
        node.literal(node.real(name, usual)) for name, usual in (("rtol", 1e-5), ("atol", 1e-8))
    ]
    made = node.call("isclose_or_nan" if node.flag("equal_nan") else "isclose", x, y, *parts)
    return node.call("all", made) if node.operator == "allclose" else made


@rule("equal")
def equal(node: TorchNode) -> Made:
    """Tensors of other shapes are not equal."""
    a, b = node.tensor_index("self"), node.tensor_index("other")
    word = node.shape(a)
    if word is None or word != node.shape(b):
        return node.type_of(node.literal(True))
    return node.call("all", node.call("==", node.input(a), node.input(b)))
