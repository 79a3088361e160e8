"""Norms, and what makes a distribution of numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from axon.importers.expressions import Expression
from axon.importers.node import Made, Node
from axon.importers.onnx.elements import ELEMENTS, FLOATS
from axon.importers.onnx.rules.layers.attention import as_elem
from axon.importers.onnx.rules.registry import MOST_RANK, rule
from axon.importers.operations import Unsupported
from axon.ops.families.normalise import MOST_AROUND
from axon.types import dim as dims
from axon.types.type import shape_size


@rule("BatchNormalization")
def batch_norm(node: Node) -> None:
    """By statistics that are given, or while a network is trained by those of this batch."""
    epsilon = node.attribute("epsilon", 1e-5)
    parts = [as_elem(node, node.input(i), node.elem(i), node.elem(0)) for i in range(5)]
    if not node.attribute("training_mode", 0):
        node.set_outputs(node.call("batch_norm", *parts, epsilon=epsilon))
        return
    rank, elem = node.rank(0), node.elem(0)
    if rank is None or not isinstance(elem, str):
        node.set_outputs(*(node.type_of(node.input(i)) for i in (0, 3, 4)))
        return
    axes, kept = [0, *range(2, rank)], node.scalar(node.attribute("momentum", 0.9), elem)
    now = [node.call(kind, parts[0], axis=axes) for kind in ("mean", "variance")]
    pairs = zip(parts[3:], now, strict=True)
    running = [node.call("moving_average", before, here, kept) for before, here in pairs]
    running = [as_elem(node, x, elem, node.elem(3)) for x in running]
    node.set_outputs(node.call("batch_norm", *parts[:3], *now, epsilon=epsilon), *running)


@rule("LayerNormalization", "RMSNormalization", "SimplifiedLayerNormalization")
def layer_norm(node: Node) -> Made:
    axis, rank = node.attribute("axis", -1), node.rank(0)
    if axis >= 0 and rank is None:
        return node.type_of(node.input(0))
    axes = -axis if rank is None or axis < 0 else rank - axis
    kind = "layer_norm" if node.operator == "LayerNormalization" else "rms_norm"
    epsilon = node.attribute("epsilon", 1e-5)
    elem = node.elem(0)
    made = node.elem(1) if kind == "rms_norm" and isinstance(elem, str) else elem
    extras = [as_elem(node, node.input(i), node.elem(i), elem) for i in (1, 2) if node.has(i)]
    x = node.input(0)
    if all(_fits(node, i, axes) for i in (1, 2) if node.has(i)):
        y = node.call(kind, x, *extras, axes=axes, epsilon=epsilon)
    else:
        y = node.call(kind, x, axes=axes, epsilon=epsilon)
        for function, extra in zip(("times_within", "plus_within"), extras, strict=False):
            y = node.call(function, y, extra)
    if len(node.outputs) > 1:
        _statistics(node, axes, kind, epsilon)
    return as_elem(node, y, elem, made)


def _fits(node: Node, index: int, axes: int) -> bool:
    """Whether a scale has the shape of the last axes, as far as one can see: it may be smaller, and
    broadcast.
    """
    scale, x = node.shape(index), node.shape(0)
    if scale is None or len(scale) != axes:
        return False
    if x is not None and len(x) < axes:
        return True  # which it does not, whatever the scale
    last = (None,) * axes if x is None else x[-axes:]
    return all(s != 1 or n == 1 for s, n in zip(scale, last, strict=True))


def _statistics(node: Node, axes: int, kind: str, epsilon: float) -> None:
    """The other outputs: the mean, and one over the deviation."""
    elem = ELEMENTS.get(node.attribute("stash_type", 1), "f32")
    x = as_elem(node, node.input(0), node.elem(0), elem)
    if not 0 <= axes <= MOST_RANK or elem not in FLOATS:
        raise Unsupported(f"{node.operator} with statistics over {axes} axes in {elem}")
    last = list(range(-axes, 0))
    if kind == "rms_norm":
        node.set_outputs(None, node.call("inverse_rms", x, axes=last, epsilon=epsilon))
    else:
        found = node.call("layer_statistics", x, axes=last, epsilon=epsilon)
        node.set_tuple_outputs(found, node.outputs[1:])


@rule("GroupNormalization")
def group_norm(node: Node) -> Made:
    """The scale and the bias are by channel, and were by group before opset 21."""
    groups = node.attribute("num_groups")
    if groups < 1:
        raise Unsupported(f"GroupNormalization with {groups} groups")
    if node.importer.opset >= 21:
        parts = [_by_channel(node, i) for i in (1, 2)]
    elif node.dim(0, 1) is None:
        return node.type_of(node.input(0))
    else:
        each = dims.floordiv(node.dim(0, 1), groups)
        parts = [node.call("repeat", node.input(i), times=each) for i in (1, 2)]
    epsilon = node.attribute("epsilon", 1e-5)
    return node.call("group_norm", node.input(0), *parts, groups=groups, epsilon=epsilon)


def _by_channel(node: Node, index: int) -> Expression:
    """A scale or a bias as a vector: one of another rank is taken as one, and a single number is
    that of all channels.
    """
    part, own, word = node.input(index), node.shape(index), node.shape(0)
    if own is None or word is None or len(word) < 2:
        return part
    count, channels = shape_size(own), word[1]
    if len(own) != 1:
        part = node.call("reshape", part, node.shape_literal([count]))
    if count == 1 and channels != 1:
        part = node.call("broadcast_to", part, node.shape_literal([channels]))
    return part


@rule("LRN")
def local_response_norm(node: Node) -> Made:
    size = node.attribute("size")
    if not 1 <= size <= MOST_AROUND:
        return node.type_of(node.input(0))
    options = {"alpha": 1e-4, "beta": 0.75, "bias": 1.0}
    given = {name: node.attribute(name, usual) for name, usual in options.items()}
    return node.call("local_response_norm", node.input(0), size=size, **given)


@rule("LpNormalization")
def lp_normalization(node: Node) -> Made:
    """Divided by the norm along an axis; where that is zero, so is the result."""
    axis, power = node.attribute("axis", -1), float(node.attribute("p", 2))
    return node.call("normalise", node.input(0), axis=axis, p=power)


@rule("MeanVarianceNormalization")
def mean_variance_normalization(node: Node) -> Made:
    axes, x = node.attribute("axes", [0, 2, 3]), node.input(0)
    if not axes:
        return node.type_of(x)
    return node.call("standardise", x, axes=axes)


@rule("Softmax", "LogSoftmax")
def softmax(node: Node) -> Made:
    kind = "softmax" if node.operator == "Softmax" else "log_softmax"
    return _along(node, lambda x, axis, _: node.call(kind, x, axis=axis))


@rule("Hardmax")
def hardmax(node: Node) -> Made:
    """A one where the largest element is, and zeros elsewhere."""
    elem = node.elem(0)
    if node.rank(0) is None or not isinstance(elem, str):
        return node.type_of(node.input(0))

    def hard(x: Expression, axis: int, size: Any) -> Expression:
        largest = node.call("argmax", x, axis=axis)
        return node.call("one_hot", largest, depth=size, axis=axis, to=elem)

    return _along(node, hard)


def _along(node: Node, make: Callable[[Expression, int, Any], Expression]) -> Expression:
    """Along one axis; before opset 13, along all from that one on, as if they were one."""
    word, old = node.shape(0), node.importer.opset < 13
    axis = node.attribute("axis", 1 if old else -1)
    if word is None:
        rest = old or axis >= 0
        return node.type_of(node.input(0)) if rest else make(node.input(0), axis, None)
    if not -len(word) <= axis < len(word):
        if old:
            raise Unsupported(f"{node.operator} along axis {axis}, which is not there")
        return make(node.input(0), axis, None)
    at = axis % len(word)
    if not old or at == len(word) - 1:
        return make(node.input(0), axis, word[at])
    flat = [shape_size(word[:at]), shape_size(word[at:])]
    rows = node.call("reshape", node.input(0), node.shape_literal(flat))
    sizes: Any = word
    return node.call("reshape", make(rows, -1, flat[1]), node.shape_literal(sizes))


@rule("SwiGLU")
def swiglu(node: Node) -> Made:
    """One half goes through a gate that the other makes."""
    alpha = node.attribute("alpha", 1.0)
    return node.call("gated_silu", node.input(0), node.input(1), alpha=alpha)


@rule("Dropout")
def dropout(node: Node) -> None:
    """A trained network passes everything through, and so does one that leaves nothing out."""
    x = node.input(0)
    training = node.known_elements(2) if node.has(2) else [False]
    ratio = node.known_elements(1) if node.has(1) else [node.attribute("ratio", 0.5)]
    through = training == [False] or ratio == [0.0]
    same = node.call("identity", x)
    node.set_outputs(same if through else node.type_of(same))
    if node.wants(1):
        all_ = node.call("full", node.call("shape", x), node.literal(True))
        if node.importer.opset < 10 and isinstance(node.elem(0), str):
            all_ = node.cast(all_, node.elem(0))
        node.set_outputs(None, all_ if through else node.type_of(all_))
