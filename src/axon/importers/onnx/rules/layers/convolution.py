"""Convolutions."""

from __future__ import annotations

from typing import Any

from axon.importers.expressions import Expression
from axon.importers.node import Made, Node
from axon.importers.onnx.rules.registry import SAME_RANK, SLIDING, rule
from axon.importers.operations import Malformed, Unsupported
from axon.importers.windows import shortened, window_fits

SAME = {"SAME_UPPER": "same", "SAME_LOWER": "same_lower"}
"""The words for padding that both have."""


def _spatial(node: Node) -> int | None:
    """The number of spatial dimensions, from the rank of the filters or of the input."""
    rank = node.rank(1) or node.rank(0)
    return None if rank is None else rank - 2


def _filters(node: Node) -> Expression:
    """The filters, whose sizes an attribute may state too."""
    window = node.attribute("kernel_shape")
    return node.sized(1, [None, None, *window]) if window else node.input(1)


def window_options(node: Node, spatial: int) -> dict[str, Any]:
    """The options of what slides a window."""
    same = SAME.get(node.attribute("auto_pad", "NOTSET"))
    return {
        "stride": node.attribute("strides") or [1] * spatial,
        "pad": same or node.attribute("pads") or [0] * spatial,
        "dilation": node.attribute("dilations") or [1] * spatial,
    }


def sliding_options(node: Node, spatial: int) -> dict[str, Any]:
    """The options of all convolutions."""
    return {**window_options(node, spatial), "groups": node.attribute("group", 1)}


@rule("Conv")
def conv(node: Node) -> None:
    filters, spatial = _filters(node), _spatial(node)
    if spatial is None:
        node.set_outputs(node.declared(SLIDING, 0, 1))
        return
    if spatial not in (1, 2, 3):
        raise Unsupported("Conv over more than three dimensions")
    parts = [node.input(0), filters, *([node.input(2)] if node.has(2) else [])]
    slid = sliding_options(node, spatial)
    short = slid if node.rank(1) is None else shortened(slid)
    node.set_outputs(node.call("conv", *parts, **short))
    window_fits(node, node.shape(0), node.shape(1), slid)


@rule("DeformConv")
def deform_conv(node: Node) -> Made:
    filters = _filters(node)
    if _spatial(node) != 2 and node.rank(0) != 4:
        return node.declared(SAME_RANK, 0)
    parts = [node.input(0), filters, node.input(2)]
    if node.has(3):
        parts.append(node.input(3))
    elif node.has(4):
        parts.append(node.call("no_bias", filters))
    if node.has(4):
        parts.append(node.input(4))
    groups = node.attribute("offset_group", 1)
    return node.call("deform_conv", *parts, offset_groups=groups, **sliding_options(node, 2))


@rule("ConvTranspose")
def conv_transpose(node: Node) -> Made:
    filters, spatial = _filters(node), _spatial(node)
    rank = node.rank(1)
    if rank is not None and node.rank(0) not in (None, rank):
        return node.call("conv_transpose", node.ranked(0, rank), filters)
    if spatial is None or spatial > 3:
        return node.declared(SLIDING, 0, 1)
    slid = sliding_options(node, spatial)
    extra = node.attribute("output_padding") or [0] * spatial
    sizes = node.attribute("output_shape")
    if sizes and min(sizes) < 0:
        raise Malformed("its attribute `output_shape` has a negative size")
    x = node.ranked(0, spatial + 2)
    parts = [x, filters, *([node.input(2)] if node.has(2) else [])]
    if not sizes:
        if node.rank(1) is not None:
            slid, extra = shortened(slid), shortened({"extra": extra})["extra"]
        return node.call("conv_transpose", *parts, **slid, output_pad=extra)
    sizes = sizes[-spatial:]
    found = _pads(node, sizes, slid, extra)
    if found is not None:
        slid["pad"], extra = found
        return node.call("conv_transpose", *parts, **slid, output_pad=extra)
    made = ",".join(str(size) for size in sizes)
    signature = f"(t [n,c]@p, t [c,k]@q) -> t [n,{slid['groups']}*k,{made}]"
    return node.declared(signature, 0, 1)


def _pads(
    node: Node, sizes: list[int], slid: dict[str, Any], extra: list[int]
) -> tuple[list[int], list[int]] | None:
    """The padding that makes a result of these sizes, and what to add at its end."""
    x, f = node.shape(0), node.shape(1)
    if x is None or f is None or not len(x) == len(f) == len(sizes) + 2:
        return None
    if not all(len(each) == len(sizes) for each in (slid["stride"], slid["dilation"], extra)):
        raise Malformed("its strides, dilations and output_padding are not one for each axis")
    begins, ends, added = [], [], []
    lower = node.attribute("auto_pad", "NOTSET") != "SAME_UPPER"
    for i, size in enumerate(sizes):
        before, window = x[i + 2], f[i + 2]
        if not isinstance(before, int) or not isinstance(window, int):
            return None
        stride, dilation = slid["stride"][i], slid["dilation"][i]
        total = stride * (before - 1) + extra[i] + (window - 1) * dilation + 1 - size
        more = max(-total, 0) + extra[i]
        total = max(total, 0)
        half = total - total // 2 if lower else total // 2
        begins.append(half)
        ends.append(total - half)
        added.append(more)
    return begins + ends, added
