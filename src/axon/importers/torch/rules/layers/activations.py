"""The functions between the layers of a network."""

from __future__ import annotations

import math
from typing import Any

from axon.importers.expressions import Expression
from axon.importers.node import Made
from axon.importers.operations import Malformed
from axon.importers.torch import elements
from axon.importers.torch.node import TorchNode
from axon.importers.torch.rules.registry import rule

PLAIN = {
    "selu": "selu", "mish": "mish", "hardsigmoid": "hard_sigmoid", "hardswish": "hard_swish",
    "silu": "silu", "softsign": "softsign", "tanhshrink": "tanhshrink", "logsigmoid": "log_sigmoid",
    "log_sigmoid": "log_sigmoid",
}  # fmt: skip
"""Those without options, in Axon's words."""
WITH_ALPHA = {
    "celu": ("celu", "alpha", "alpha", 1.0),
    "leaky_relu": ("leaky_relu", "slope", "negative_slope", 0.01),
    "hardshrink": ("shrink", "threshold", "lambd", 0.5),
}
"""Those with one option: its name in Axon, in PyTorch, and what it is there if it is not given."""


def number(node: TorchNode, value: float) -> Expression:
    """A number in the element type of the tensor."""
    elem = node.elem_of() or elements.DEFAULT
    return node.scalar(value, elem)


@rule(*PLAIN)
def plain(node: TorchNode) -> Made:
    return node.call(PLAIN[node.operator.rstrip("_")], node.x())


@rule(*WITH_ALPHA)
def with_alpha(node: TorchNode) -> Made:
    operator, ours, theirs, usual = WITH_ALPHA[node.operator.rstrip("_")]
    return node.call(operator, node.x(), **{ours: float(node.real(theirs, usual))})


@rule("gelu")
def gelu(node: TorchNode) -> Made:
    return node.call("gelu", node.x(), approximate=node.text("approximate", "none"))


@rule("elu")
def elu(node: TorchNode) -> Made:
    """`scale * (max(x, 0) + alpha * (exp(input_scale * min(x, 0)) - 1))`."""
    alpha, scale, inner = (
        float(node.real(name, 1.0)) for name in ("alpha", "scale", "input_scale")
    )
    x = node.x()
    if scale == inner == 1.0:
        return node.call("elu", x, alpha=alpha)
    return node.call("scaled_elu", x, *(number(node, value) for value in (alpha, scale, inner)))


@rule("relu6", "hardtanh")
def hardtanh(node: TorchNode) -> Made:
    usual = (0.0, 6.0) if node.operator.startswith("relu6") else (-1.0, 1.0)
    names = ("min_val", "max_val")
    bounds = [node.real(name, bound) for name, bound in zip(names, usual, strict=True)]
    elem = node.elem_of()
    if elem is not None and not elements.is_float(elem):
        if not all(map(math.isfinite, bounds)):
            raise Malformed("a bound of integers is no number")
        bounds = [int(bound) for bound in bounds]
    return node.call("clip", node.x(), min=bounds[0], max=bounds[1])


@rule("softshrink")
def softshrink(node: TorchNode) -> Made:
    by = float(node.real("lambd", 0.5))
    return node.call("shrink", node.x(), threshold=by, bias=by)


@rule("threshold")
def threshold(node: TorchNode) -> Made:
    elem, x = node.elem_of(), node.x()
    bound, value = (node.converted(node.argument(name), elem) for name in ("threshold", "value"))
    return node.call("where", node.call(">", x, bound), x, value)


@rule("softplus")
def softplus(node: TorchNode) -> Made:
    """From the threshold on it is a straight line."""
    beta, bound = float(node.real("beta", 1.0)), float(node.real("threshold", 20.0))
    x = node.x()
    if beta == 1.0 and bound >= 20.0:
        return node.call("softplus", x)  # beyond it they differ by less than 2.1e-9
    return node.call("bent_softplus", x, number(node, beta), number(node, bound))


@rule("log_sigmoid_forward")
def log_sigmoid_forward(node: TorchNode) -> None:
    """The buffer is something that the gradient needs."""
    made = node.call("log_sigmoid", node.x())
    node.set_outputs(made, node.declared("t p -> t ?r", node.tensor_index("self")))


@rule("prelu", "_prelu_kernel")
def prelu(node: TorchNode) -> Made:
    """A slope for all, or one for each channel, which is the second axis."""
    x, slope, weight = node.x(), node.x("weight"), node.shape(node.tensor_index("weight"))
    rank = node.rank_of()
    if node.operator == "_prelu_kernel" or weight == () or weight == (1,):
        return node.call("prelu", x, slope)
    if rank is None or weight is None:
        return node.type_of(x)
    if rank > 2:
        slope = node.call("expand_dims", slope, axis=list(range(1, rank - 1)))
    return node.call("prelu", x, slope)


@rule("glu")
def glu(node: TorchNode) -> Made:
    return node.call("gated_half", node.x(), axis=node.axis("dim", -1))


@rule("rrelu", "rrelu_with_noise", "rrelu_with_noise_functional")
def rrelu(node: TorchNode) -> None:
    """While a network is trained the slope is drawn by chance; else it is the middle."""
    bounds, x = (node.real("lower", 1 / 8), node.real("upper", 1 / 3)), node.x()
    noise = node.x("noise") if node.index("noise") is not None else None
    if node.flag("training"):
        node.set_outputs(node.type_of(x), None if noise is None else node.type_of(noise))
        return
    made = node.call("leaky_relu", x, slope=sum(bounds) / 2)
    node.set_outputs(made, None if noise is None else node.call("identity", noise))


@rule("logit", "special_logit")
def logit(node: TorchNode) -> Made:
    x: Any = node.x()
    elem = node.elem_of()
    if elem is not None and not elements.is_float(elem):
        x = node.cast(x, elements.DEFAULT)
    if node.argument("eps") is not None:
        eps = float(node.real("eps", 0.0))
        x = node.call("clip", x, min=eps, max=1.0 - eps)
    return node.call("log_odds", x)
