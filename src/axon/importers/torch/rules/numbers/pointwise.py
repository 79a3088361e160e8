"""Element by element: arithmetic, comparisons, logic, and changes of the element type."""

from __future__ import annotations

from axon.importers.expressions import Expression
from axon.importers.node import Made
from axon.importers.operations import Operand, Unsupported
from axon.importers.torch import elements
from axon.importers.torch.node import TorchNode
from axon.importers.torch.rules.registry import rule

ARITHMETIC = {
    "add": "+", "sub": "-", "subtract": "-", "mul": "*", "multiply": "*", "maximum": "maximum",
    "minimum": "minimum", "remainder": "mod", "fmod": "fmod", "fmax": "maximum", "fmin": "minimum",
}  # fmt: skip
COMPARISONS = {
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "not_equal": "!=",
    "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=",
}  # fmt: skip
LOGIC = {"logical_and": "logical_and", "logical_or": "logical_or", "logical_xor": "logical_xor"}
BITWISE = {
    "bitwise_and": ("logical_and", "bit_and"), "__and__": ("logical_and", "bit_and"),
    "bitwise_or": ("logical_or", "bit_or"), "__or__": ("logical_or", "bit_or"),
    "bitwise_xor": ("logical_xor", "bit_xor"), "__xor__": ("logical_xor", "bit_xor"),
    "__iand__": ("logical_and", "bit_and"), "__ior__": ("logical_or", "bit_or"),
    "__ixor__": ("logical_xor", "bit_xor"),
}  # fmt: skip
"""What they are of truth values, and of integers."""
OF_TRUTH = {
    "+": "logical_or", "maximum": "logical_or", "*": "logical_and", "minimum": "logical_and",
}  # fmt: skip
"""What arithmetic on truth values is."""
SHIFTS = {
    "bitwise_left_shift": "shift_left", "__lshift__": "shift_left",
    "bitwise_right_shift": "shift_right", "__rshift__": "shift_right",
    "__ilshift__": "shift_left", "__irshift__": "shift_right",
}  # fmt: skip
SAME_KIND = {
    "abs": "abs", "neg": "negate", "negative": "negate", "sign": "sign", "sgn": "sign",
    "square": "square", "absolute": "abs",
    "floor": "floor", "ceil": "ceil", "relu": "relu", "bitwise_not": "bit_not",
}  # fmt: skip
"""Functions of one tensor that keep its element type."""
FRACTIONAL = {
    name: name
    for name in (
        "exp", "expm1", "log", "log1p", "sqrt", "rsqrt", "sin", "cos", "tan", "asin", "acos",
        "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "sigmoid", "reciprocal",
        "exp2", "log2", "log10", "erfc", "sinc",
    )
} | {
    "special_exp2": "exp2", "special_erfc": "erfc", "special_sinc": "sinc",
    "special_expm1": "expm1", "special_log1p": "log1p", "special_expit": "sigmoid",
    "special_erf": "erf",
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh",
    "arctanh": "atanh",
}  # fmt: skip
"""Functions of one tensor that make fractions of integers."""
COPIES = (
    "clone", "contiguous", "detach", "alias", "lift_fresh_copy", "lift_fresh", "lift", "positive",
    "requires_grad", "resolve_conj", "resolve_neg", "conj", "conj_physical", "cpu", "cuda",
)  # fmt: skip
"""What has the values that it is given, in another place or layout."""


@rule(*ARITHMETIC)
def arithmetic(node: TorchNode) -> Made:
    operator = ARITHMETIC[node.operator.rstrip("_")]
    return combined(node, operator, "self", "other")


@rule("rsub")
def rsub(node: TorchNode) -> Made:
    return combined(node, "-", "other", "self")


def combined(node: TorchNode, operator: str, left: str, right: str) -> Expression:
    """Two operands in their joint element type; `alpha` scales the second."""
    elem = node.joint(left, right)
    a, b = node.operand(left, elem), node.operand(right, elem)
    if elem == "bool":
        operator = OF_TRUTH.get(operator, operator)
    if node.argument("alpha") not in (None, 1):
        b = node.call("*", b, node.operand("alpha", elem))
    return _in_place(node, node.call(operator, a, b), elem)


def _in_place(node: TorchNode, made: Expression, elem: str | None) -> Expression:
    """What works in place keeps the element type."""
    if not node.operator.endswith("_") or node.index("self") is None:
        return made
    own = node.elem_of()
    return made if own is None or own == elem else node.cast(made, own)


@rule("div", "divide", "true_divide", "floor_divide")
def divide(node: TorchNode) -> Made:
    elem = node.joint("self", "other")
    rounding = node.argument("rounding_mode")
    if node.operator.startswith("floor"):
        rounding = "floor"
    if rounding is None and elem is not None and not elements.is_float(elem):
        elem = elements.DEFAULT
    a, b = node.operand("self", elem), node.operand("other", elem)
    if rounding is None:
        return _in_place(node, node.call("/", a, b), elem)
    if rounding not in ("floor", "trunc"):
        raise Unsupported(f"{node.operator} with rounding mode {rounding}")
    if elem is not None and not elements.is_float(elem):
        return _in_place(
            node, node.call("//" if rounding == "floor" else "trunc_divide", a, b), elem
        )
    quotient = node.call("/", a, b)
    if rounding == "floor":
        return _in_place(node, node.call("floor", quotient), elem)
    return _in_place(node, node.call("truncate", quotient), elem)


@rule("pow", "float_power")
def power(node: TorchNode) -> Made:
    elem = node.joint("self", "exponent")
    if node.operator == "float_power":
        elem = "f64"
    return _in_place(
        node, node.call("pow", node.operand("self", elem), node.operand("exponent", elem)), elem
    )


@rule(*COMPARISONS)
def compare(node: TorchNode) -> Made:
    elem = node.joint("self", "other")
    if elem == "bool":
        elem = "u8" if node.operator not in ("eq", "ne") else elem
    a, b = node.operand("self", elem), node.operand("other", elem)
    return node.call(COMPARISONS[node.operator.rstrip("_")], a, b)


@rule(*LOGIC)
def logic(node: TorchNode) -> Made:
    a, b = node.operand("self", "bool"), node.operand("other", "bool")
    return node.call(LOGIC[node.operator.rstrip("_")], a, b)


@rule("logical_not")
def logical_not(node: TorchNode) -> Made:
    return node.call("logical_not", node.operand("self", "bool"))


@rule(*BITWISE)
def bitwise(node: TorchNode) -> Made:
    elem = node.joint("self", "other")
    name = node.operator if node.operator.startswith("__") else node.operator.rstrip("_")
    truth, whole = BITWISE[name]
    if elem is None:
        raise Unsupported(f"{node.operator} of elements of an unknown type")
    a, b = node.operand("self", elem), node.operand("other", elem)
    return node.call(truth if elem == "bool" else whole, a, b)


@rule(*SHIFTS)
def shift(node: TorchNode) -> Made:
    elem = node.joint("self", "other")
    name = node.operator if node.operator.startswith("__") else node.operator.rstrip("_")
    return node.call(SHIFTS[name], node.operand("self", elem), node.operand("other", elem))


@rule(*SAME_KIND)
def same_kind(node: TorchNode) -> Made:
    operator = SAME_KIND[node.operator.rstrip("_")]
    if operator == "bit_not" and node.elem_of() == "bool":
        operator = "logical_not"
    if operator in ("floor", "ceil") and not elements.is_float(node.elem_of() or elements.DEFAULT):
        operator = "identity"
    return node.call(operator, node.x())


@rule("round", "trunc", "fix", "frac")
def rounded(node: TorchNode) -> Made:
    x, operator = node.x(), node.operator.rstrip("_")
    if not elements.is_float(node.elem_of() or elements.DEFAULT):
        return node.call("identity", x)
    digits = node.integer("decimals", 0)
    if digits:
        scale = node.literal(float(f"1e{abs(digits)}"))  # infinite, if it is too large for a float
        scaling, back = ("*", "/") if digits > 0 else ("/", "*")
        return node.call(back, node.call("round", node.call(scaling, x, scale)), scale)
    if operator == "round":
        return node.call("round", x)
    whole = node.call("truncate", x)
    return node.call("-", x, whole) if operator == "frac" else whole


@rule(*FRACTIONAL)
def fractional(node: TorchNode) -> Made:
    return node.call(FRACTIONAL[node.operator.rstrip("_")], as_float(node, "self"))


def as_float(node: TorchNode, name: str) -> Expression:
    """A tensor; integers as floats."""
    elem = node.elem_of(name)
    x = node.x(name)
    return x if elem is None or elements.is_float(elem) else node.cast(x, elements.DEFAULT)


@rule("isnan", "isinf")
def test(node: TorchNode) -> Made:
    return node.call(node.operator, as_float(node, "self"))


@rule("clamp", "clamp_min", "clamp_max", "clip")
def clamp(node: TorchNode) -> Made:
    bounds = [n for n in ("min", "max") if node.argument(n) is not None]
    elem = node.joint("self", *bounds)
    x = node.operand("self", elem)
    for name in bounds:
        operator = "maximum" if name == "min" else "minimum"
        x = node.call(operator, x, node.operand(name, elem))
    return _in_place(node, x, elem)


@rule("where")
def where(node: TorchNode) -> None:
    if node.argument("self") is None:
        node.set_outputs(*_positions(node))
        return
    elem = node.joint("self", "other")
    parts = [node.argument(name) for name in ("self", "other")]
    sides = [node.converted(part, elem) for part in parts]
    if not any(isinstance(part, Operand) for part in parts) and elem is not None:
        sides[0] = node.scalar(parts[0], elem)
    node.set_outputs(node.call("where", node.operand("condition", "bool"), *sides))


def _positions(node: TorchNode) -> list[Expression]:
    """The places where a tensor is not zero, one list of numbers for each axis."""
    rank = node.rank_of("condition")
    if rank is None:
        raise Unsupported("where of a tensor whose rank is not known")
    found = node.call("argwhere", node.operand("condition", "bool"))
    return [node.call("index", found, axis=1, i=i) for i in range(rank)]


@rule("masked_fill")
def masked_fill(node: TorchNode) -> Made:
    elem = node.elem_of()
    value = node.operand("value", elem)
    return node.call("where", node.operand("mask", "bool"), value, node.x())


@rule("lerp")
def lerp(node: TorchNode) -> Made:
    elem = node.joint("self", "end")
    return node.call("lerp", *(node.operand(n, elem) for n in ("self", "end", "weight")))


@rule("addcmul", "addcdiv")
def add_combined(node: TorchNode) -> Made:
    elem = node.joint("self", "tensor1", "tensor2")
    operator = "*" if node.operator.startswith("addcmul") else "/"
    made = node.call(operator, node.operand("tensor1", elem), node.operand("tensor2", elem))
    if node.argument("value") not in (None, 1):
        made = node.call("*", made, node.operand("value", elem))
    return node.call("+", node.operand("self", elem), made)


# --- element types and copies ------------------------------------------------------------------


@rule("to", "_to_copy", "type_as", "_cast_Float")
def to(node: TorchNode) -> Made:
    x, elem = node.x(), node.dtype()
    other = node.index("other")
    if other is not None:
        like = node.elem(other)
        if not isinstance(like, str):
            return node.call("cast_like", x, node.input(other))
        elem = like
    if elem is None or elem == node.elem_of():
        return node.call("identity", x)
    return node.cast(x, elem)


@rule(*COPIES)
def copy(node: TorchNode) -> Made:
    return node.call("identity", node.x())


@rule("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout")
def dropout(node: TorchNode) -> Made:
    trains = node.flag("train") and node.real("p", 0.5) > 0
    x = node.x("input" if "input" in node.attributes else "self")
    return node.type_of(x) if trains else node.call("identity", x)


@rule("native_dropout")
def native_dropout(node: TorchNode) -> None:
    x = node.x("input")
    mask = node.call("==", x, x)
    trains = node.flag("train", True) and node.real("p", 0.5) > 0
    node.set_outputs(node.type_of(x) if trains else node.call("identity", x), node.type_of(mask))
