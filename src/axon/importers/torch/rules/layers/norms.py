"""Norms of layers, batches, groups and weights."""

from __future__ import annotations

from typing import Any

from axon.importers.expressions import Expression
from axon.importers.node import Made
from axon.importers.operations import Malformed
from axon.importers.torch.node import TorchNode
from axon.importers.torch.rules.registry import rule
from axon.types import dim as dims

LEAST = {"f16": 2.0**-10, "bf16": 2.0**-7, "f32": 2.0**-23, "f64": 2.0**-52}
"""The distance of 1 from the next number."""


def in_elem(node: TorchNode, name: str, elem: str | None) -> Expression:
    """A tensor argument with this element type, if both are known and differ."""
    own, x = node.elem_of(name), node.x(name)
    return x if elem is None or own is None or own == elem else node.cast(x, elem)


# --- over the last axes ----------------------------------------------------------------------


@rule("layer_norm", "native_layer_norm")
def layer_norm(node: TorchNode) -> None:
    axes, x, elem = _last_axes(node), _of_size(node), node.elem_of("input")
    epsilon = float(node.real("eps", 1e-5))
    given = [name for name in ("weight", "bias") if node.index(name) is not None]
    extras = [in_elem(node, name, elem) for name in given]
    if given == ["bias"]:
        made = node.call("+", node.call("layer_norm", x, axes=axes, epsilon=epsilon), *extras)
    else:
        made = node.call("layer_norm", x, *extras, axes=axes, epsilon=epsilon)
    node.set_outputs(made)
    if len(node.outputs) > 1:
        found = node.call("layer_statistics", x, axes=list(range(-axes, 0)), epsilon=epsilon)
        node.set_tuple_outputs(found, node.outputs[1:])


def _last_axes(node: TorchNode) -> int:
    """How many axes the norm is over."""
    given = node.argument("normalized_shape")
    if not given:
        raise Malformed("it has no sizes to normalise over")
    return len(given) if isinstance(given, tuple) else 1


def _of_size(node: TorchNode) -> Expression:
    """The input, whose last sizes an argument says."""
    at, sizes = node.tensor_index("input"), node.sizes("normalized_shape")
    word, x = node.shape(at), node.input(at)
    if word is None or len(word) < len(sizes) or list(word[-len(sizes) :]) == sizes:
        return x
    if not all(isinstance(size, int) for size in sizes):
        return x  # the weights say it, if there are any
    return node.sized(at, [None] * (len(word) - len(sizes)) + sizes)


@rule("rms_norm", "_fused_rms_norm")
def rms_norm(node: TorchNode) -> None:
    axes, x, elem = _last_axes(node), _of_size(node), node.elem_of("input")
    least = LEAST.get(elem or "", LEAST["f32"])
    epsilon = float(node.real("eps", least)) if node.argument("eps") is not None else least
    scale = [] if node.index("weight") is None else [in_elem(node, "weight", elem)]
    made = node.call("rms_norm", x, *scale, axes=axes, epsilon=epsilon)
    last = list(range(-axes, 0))
    node.set_outputs(made, node.call("inverse_rms", x, axes=last, epsilon=epsilon))


# --- by channels -----------------------------------------------------------------------------


@rule(
    "batch_norm", "native_batch_norm", "_native_batch_norm_legit", "cudnn_batch_norm",
    "_native_batch_norm_legit_no_training", "_native_batch_norm_legit_functional",
    "_batch_norm_with_update", "_batch_norm_no_update", "_batch_norm_impl_index",
    "_batch_norm_with_update_functional",
)  # fmt: skip
def batch_norm(node: TorchNode) -> None:
    """By statistics that are given, or, while a network is trained, by those of this batch."""
    kind = node.operator
    trains = node.flag("training", "with_update" in kind)
    if trains or node.index("running_mean") is None:
        _by_this_batch(node)
        return
    made = _batch_norm(node, *_running(node))
    if len(node.outputs) == 1:
        node.set_outputs(made)
        return
    none = node.call("zeros", node.shape_literal([0]), to=node.elem_of("input") or "f32")
    running = [node.x(name) for name in ("running_mean", "running_var")]
    rest = running if kind.endswith("functional") else []
    node.set_outputs(made, none, none, *rest)


def _running(node: TorchNode) -> list[Expression]:
    """The mean and the variance of batches before."""
    elem = node.elem_of("input")
    return [in_elem(node, name, elem) for name in ("running_mean", "running_var")]


def _batch_norm(node: TorchNode, mean: Expression, variance: Expression) -> Expression:
    elem = node.elem_of("input")
    name = "epsilon" if "epsilon" in node.attributes else "eps"
    scale, bias = (
        node.call(f"{usual}_like", mean)
        if node.index(given) is None
        else in_elem(node, given, elem)
        for given, usual in (("weight", "ones"), ("bias", "zeros"))
    )
    parts = [node.x("input"), scale, bias, mean, variance]
    return node.call("batch_norm", *parts, epsilon=float(node.real(name, 1e-5)))


def _by_this_batch(node: TorchNode) -> None:
    rank, elem = node.rank_of("input"), node.elem_of("input") or "f32"
    x = node.x("input")
    if rank is None:
        node.set_outputs(node.type_of(x))
        return
    axes = [0, *range(2, rank)]
    mean, variance = (node.call(kind, x, axis=axes) for kind in ("mean", "variance"))
    made = _batch_norm(node, mean, variance)
    if len(node.outputs) == 1:
        node.set_outputs(made)
        return
    name = "epsilon" if "epsilon" in node.attributes else "eps"
    epsilon = node.scalar(float(node.real(name, 1e-5)), elem)
    found = [made, mean, node.call("rsqrt", node.call("+", variance, epsilon))]
    if node.operator.endswith("functional") and node.index("running_mean") is not None:
        found += _moved_on(node, x, mean, axes, elem)
    node.set_outputs(*found)


def _moved_on(
    node: TorchNode, x: Expression, mean: Expression, axes: list[int], elem: str
) -> list[Expression]:
    """The statistics that go on to the next batch."""
    share = node.scalar(float(node.real("momentum", 0.1)), elem)
    spread = node.call("variance", x, axis=axes, correction=1)
    pairs = (("running_mean", mean), ("running_var", spread))
    return [node.call("lerp", in_elem(node, name, elem), now, share) for name, now in pairs]


@rule("group_norm", "native_group_norm")
def group_norm(node: TorchNode) -> None:
    name = "num_groups" if "num_groups" in node.attributes else "group"
    groups, elem = node.integer(name), node.elem_of("input")
    if groups is None or groups < 1:
        raise Malformed(f"it has {groups} groups")
    epsilon = float(node.real("eps", 1e-5))
    made = _channels(node, "group_norm", epsilon, groups=groups)
    if len(node.outputs) == 1:
        node.set_outputs(made)
        return
    word: Any = node.shape(node.tensor_index("input"))
    if word is None or len(word) < 2:
        shape = node.shape_literal([node.size_argument("N"), groups])
        stats = node.type_of(node.call("zeros", shape, to=elem or "f32"))
        node.set_outputs(made, stats, stats)
        return
    x = node.x("input")
    sizes = [word[0], groups, dims.floordiv(word[1], groups), *word[2:]]
    listed = [node.call("size", x, axis=i) for i in range(len(word))]
    each = node.call("//", listed[1], node.literal(groups))
    held = node.list_of([listed[0], node.literal(groups), each, *listed[2:]])
    cut = node.call("reshape", x, node.shape_literal(sizes, held))
    how: dict[str, Any] = {"axes": list(range(2, len(sizes))), "keep": False, "epsilon": epsilon}
    node.set_outputs(made)
    node.set_tuple_outputs(node.call("layer_statistics", cut, **how), node.outputs[1:])


def _channels(node: TorchNode, kind: str, epsilon: float, **how: Any) -> Expression:
    """A norm with a scale and a bias for each channel, as far as they are given."""
    elem, x = node.elem_of("input"), node.x("input")
    given = [name for name in ("weight", "bias") if node.index(name) is not None]
    extras = [in_elem(node, name, elem) for name in given]
    if given == ["bias"]:
        extras.insert(0, node.call("ones_like", extras[0]))
    return node.call(kind, x, *extras, epsilon=epsilon, **how)


@rule("instance_norm")
def instance_norm(node: TorchNode) -> Made:
    """By the statistics of each image, or by those of all images before."""
    epsilon = float(node.real("eps", 1e-5))
    if node.flag("use_input_stats", True) or node.index("running_mean") is None:
        return _channels(node, "instance_norm", epsilon)
    return _batch_norm(node, *_running(node))


# --- of weights ------------------------------------------------------------------------------


@rule("_weight_norm", "_weight_norm_interface")
def weight_norm(node: TorchNode) -> None:
    """A weight by its length along one axis, which is given, and its direction."""
    rank, axis, v = node.rank_of("v"), node.axis("dim", 0), node.x("v")
    if rank is None:
        node.set_outputs(node.type_of(v), node.type_of(node.x("g")))
        return
    if not -1 <= axis < rank:
        raise Malformed(f"it has axis {axis} of a tensor with {rank} dimensions")
    axes = [i for i in range(rank) if i != axis]
    if axis == -1:  # which stands for none here
        size: Expression = node.call("norm", v)
    else:
        size = node.call("norm", v, axis=axes, keep=True) if axes else node.call("abs", v)
    node.set_outputs(node.call("*", v, node.call("/", node.x("g"), size)), size)


# --- distributions ---------------------------------------------------------------------------


@rule(
    "softmax", "log_softmax", "_softmax", "_log_softmax", "special_softmax",
    "special_log_softmax", "_safe_softmax",
)  # fmt: skip
def softmax(node: TorchNode) -> Made:
    kind = "log_softmax" if "log" in node.operator else "softmax"
    asked, own, x = node.dtype(), node.elem_of(), node.x()
    if node.flag("half_to_float"):
        asked = "f32"
    if asked is not None and asked != own:
        x = node.cast(x, asked)
    if node.rank_of() == 0:
        line = node.call("reshape", x, node.shape_literal([1]))
        return node.call("reshape", node.call(kind, line), node.shape_literal(()))
    axis = node.axis()
    return node.call("safe_softmax" if node.operator == "_safe_softmax" else kind, x, axis=axis)


@rule("_masked_softmax")
def masked_softmax(node: TorchNode) -> Made:
    return node.type_of(node.call("softmax", node.x()))
