"""Operators that Axon has under another name: the inputs are the arguments, in their order."""

from __future__ import annotations

from axon.importers.node import Made, Node
from axon.importers.onnx.rules.registry import rule

UNARY = {
    "Relu": "relu", "Tanh": "tanh", "Sigmoid": "sigmoid", "Exp": "exp", "Log": "log",
    "Sqrt": "sqrt", "Erf": "erf", "Sin": "sin", "Cos": "cos", "Tan": "tan", "Asin": "asin",
    "Acos": "acos", "Atan": "atan", "Sinh": "sinh", "Cosh": "cosh", "Asinh": "asinh",
    "Acosh": "acosh", "Atanh": "atanh", "Floor": "floor", "Ceil": "ceil", "Round": "round",
    "Abs": "abs", "Sign": "sign", "Neg": "negate", "Reciprocal": "reciprocal",
    "Softplus": "softplus", "Softsign": "softsign", "Mish": "mish", "HardSwish": "hard_swish",
    "Elu": "elu", "Selu": "selu", "Celu": "celu", "LeakyRelu": "leaky_relu",
    "HardSigmoid": "hard_sigmoid", "ThresholdedRelu": "thresholded_relu", "Shrink": "shrink",
    "Swish": "silu", "Gelu": "gelu", "Not": "logical_not", "BitwiseNot": "bit_not",
    "IsNaN": "isnan", "IsInf": "isinf", "ArgMax": "argmax", "ArgMin": "argmin", "Det": "det",
}  # fmt: skip
BINARY = {
    "Equal": "==", "Less": "<", "Greater": ">", "LessOrEqual": "<=", "GreaterOrEqual": ">=",
    "And": "logical_and", "Or": "logical_or", "Xor": "logical_xor", "BitwiseAnd": "bit_and",
    "BitwiseOr": "bit_or", "BitwiseXor": "bit_xor", "ReverseSequence": "reverse_sequence",
}  # fmt: skip
TERNARY = {"Where": "where", "InstanceNormalization": "instance_norm"}
NAMES = {
    theirs: (ours, count)
    for count, names in enumerate((UNARY, BINARY, TERNARY), 1)
    for theirs, ours in names.items()
}
"""The name in Axon, and the number of inputs."""

INDEX = {"axis": ("axis", 0), "keep": ("keepdims", True), "last": ("select_last_index", False)}
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
    "IsInf": {"negative": ("detect_negative", True), "positive": ("detect_positive", True)},
    "ArgMax": {**INDEX},
    "ArgMin": {**INDEX},
    "ReverseSequence": {"time": ("time_axis", 0), "batch": ("batch_axis", 1)},
    "InstanceNormalization": {"epsilon": ("epsilon", 1e-5)},
}
"""The attributes of these: Axon's name, ONNX's name, and ONNX's default."""


@rule(*NAMES)
def renamed(node: Node) -> Made:
    name, count = NAMES[node.operator]
    given = {}
    for ours, (theirs, default) in ATTRIBUTES.get(node.operator, {}).items():
        value = node.attribute(theirs, default)
        given[ours] = bool(value) if isinstance(default, bool) else value
    return node.call(name, *(node.input(i) for i in range(count)), **given)
