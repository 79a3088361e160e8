"""Pools, and what undoes them."""

from __future__ import annotations

from typing import Any

from axon.importers.expressions import Expression
from axon.importers.node import Made, Node
from axon.importers.onnx.rules.layers.convolution import window_options
from axon.importers.onnx.rules.registry import SAME_RANK, rule
from axon.importers.operations import Unsupported
from axon.types import dim as dims

POOLS = {"MaxPool": "max_pool", "AveragePool": "avg_pool", "LpPool": "lp_pool"}


@rule("MaxPool", "AveragePool", "LpPool")
def pool(node: Node) -> None:
    window = node.attribute("kernel_shape")
    spatial, kind = len(window), node.operator
    x = node.ranked(0, spatial + 2)
    how: dict[str, Any] = {
        "window": window,
        **window_options(node, spatial),
        "dilation": node.attribute("dilations"),
        "ceil_mode": bool(node.attribute("ceil_mode", 0)),
    }
    own: dict[str, Any] = {}
    if kind == "AveragePool":
        own["count_pad"] = bool(node.attribute("count_include_pad", 0))
    elif kind == "LpPool":
        own["p"] = int(node.attribute("p", 2))
    node.set_outputs(node.call(POOLS[kind], x, **how, **own))
    if node.wants(1):
        columns = bool(node.attribute("storage_order", 0))
        node.set_outputs(None, node.call("argmax_pool", x, **how, columns=columns))


@rule("MaxUnpool")
def max_unpool(node: Node) -> Made:
    window = node.attribute("kernel_shape")
    spatial = len(window)
    rank = spatial + 2
    word = node.shape(0)
    if word is not None and len(word) != rank:
        return node.call("ensure_shape", node.input(0), sizes=[-1] * rank)  # which is refused
    parts = [node.ranked(i, rank) for i in (1, 0)]
    if word is None:
        return node.declared(SAME_RANK, 0)
    strides = node.attribute("strides") or [1] * spatial
    pads = node.attribute("pads") or [0] * (2 * spatial)
    if len(strides) != spatial or len(pads) != 2 * spatial:
        raise Unsupported("MaxUnpool with lists that do not fit")
    sizes: list[Any] = list(word[:2])
    for i, size in enumerate(word[2:]):
        margin = window[i] - strides[i] - pads[i] - pads[i + spatial]
        sizes.append(dims.add(dims.scale(strides[i], size), margin))  # type: ignore[arg-type]
    zeros = node.call("zeros", node.shape_literal([dims.product(sizes)]), to="f32")
    flat = [node.call("flatten", part) for part in parts]
    zeros = node.call("cast_like", zeros, flat[1])
    made = node.call("reshape", node.call("scatter", zeros, *flat), node.shape_literal(sizes))
    if not node.has(2):
        return made
    padded, wanted = _put_in(node, made, sizes), node.known_elements(2)
    return padded if wanted is None else node.shaped(padded, wanted)


def _put_in(node: Node, x: Expression, sizes: list[Any]) -> Expression:
    """Zeros behind, up to the sizes that are asked for."""
    axes = list(range(len(sizes)))
    wanted = node.sized(2, [len(sizes)])
    pads = node.call("padding_behind", wanted, node.shape_literal(sizes))
    return node.call("pad_by", x, pads, axis=axes)


@rule("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def global_pool(node: Node) -> Made:
    rank = node.rank(0)
    if rank is None:
        return node.declared(SAME_RANK, 0)
    axes = list(range(2, rank))
    if node.operator == "GlobalLpPool":
        power = int(node.attribute("p", 2))
        return node.call("norm", node.input(0), axis=axes, p=power, keep=True)
    kind = "mean" if node.operator == "GlobalAveragePool" else "max"
    return node.call(kind, node.input(0), axis=axes, keep=True)
