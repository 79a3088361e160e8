"""Convolutions and pools."""

from __future__ import annotations

from typing import Any

from axon.importers.onnx.build import Elem, Node, Unsupported
from axon.importers.onnx.rules import rule
from axon.syntax import ast


def _spatial(node: Node, index: int = 0) -> int | None:
    rank = node.rank(index)
    return None if rank is None else rank - 2


@rule("Conv", "ConvInteger")
def conv(node: Node) -> None:
    spatial = _spatial(node, 1) or _spatial(node, 0)
    if spatial is None:
        node.gives(node.unknown(node.elem(0)))
        return
    if spatial not in (1, 2, 3):
        raise Unsupported("Conv over more than three dimensions")
    auto, pads = node.attribute("auto_pad", "NOTSET"), node.attribute("pads")
    pad: Any = pads
    if auto == "SAME_UPPER" or auto == "SAME_LOWER":
        pad = "same"
    parts = [node.given(i) for i in range(3) if node.has(i)]
    if node.proto.op_type == "ConvInteger":
        parts = [node.call("cast", part, to=Elem("i32")) for part in parts[:2]]
        node.gives(node.infer(_conv(node, parts, spatial, pad)))
    elif auto == "SAME_LOWER":
        node.gives(node.infer(_conv(node, parts, spatial, pad)))
    else:
        node.gives(_conv(node, parts, spatial, pad))


def _conv(node: Node, parts: list[ast.Expr], spatial: int, pad: Any) -> ast.Expr:
    return node.call(
        "conv",
        *parts,
        stride=node.attribute("strides") or [1] * spatial,
        pad=pad or [0] * spatial,
        dilation=node.attribute("dilations") or [1] * spatial,
        groups=node.attribute("group", 1),
    )


@rule("ConvTranspose")
def conv_transpose(node: Node) -> None:
    spatial = _spatial(node, 1) or _spatial(node, 0)
    if spatial is None or spatial not in (1, 2, 3):
        node.gives(node.unknown(node.elem(0), None if spatial is None else spatial + 2))
        return
    if node.attribute("output_shape") or node.attribute("auto_pad", "NOTSET") != "NOTSET":
        raise Unsupported("ConvTranspose with a shape of its own")
    node.gives(
        node.call(
            "conv_transpose",
            *(node.given(i) for i in range(3) if node.has(i)),
            stride=node.attribute("strides") or [1] * spatial,
            pad=node.attribute("pads") or [0] * spatial,
            dilation=node.attribute("dilations") or [1] * spatial,
            output_pad=node.attribute("output_padding") or [0] * spatial,
            groups=node.attribute("group", 1),
        )
    )


@rule("MaxPool", "AveragePool", "LpPool")
def pool(node: Node) -> None:
    window = node.attribute("kernel_shape")
    spatial = len(window)
    auto = node.attribute("auto_pad", "NOTSET")
    pad: Any = node.attribute("pads") or [0] * spatial
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        pad = "same"
    average = node.proto.op_type == "AveragePool"
    expr = node.call(
        "avg_pool" if average else "max_pool",
        node.given(0),
        window=window,
        stride=node.attribute("strides") or [1] * spatial,
        pad=pad,
        dilation=node.attribute("dilations"),
        ceil_mode=bool(node.attribute("ceil_mode", 0)) or None,
        count_pad=bool(node.attribute("count_include_pad", 0)) or None if average else None,
    )
    plain = node.proto.op_type != "LpPool" and auto != "SAME_LOWER"
    node.gives(expr if plain else node.infer(expr))
    if len(node.outputs) > 1 and node.outputs[1]:
        found = ast.Name(node.importer.alias(node.outputs[0]), node.span)
        node.gives(None, node.infer(node.call("cast", found, to=Elem("i64"))))


@rule("GlobalAveragePool", "GlobalMaxPool")
def global_pool(node: Node) -> None:
    rank = node.rank(0)
    if rank is None:
        node.gives(node.unknown(node.elem(0)))
        return
    kind = "mean" if node.proto.op_type == "GlobalAveragePool" else "max"
    node.gives(node.call(kind, node.given(0), axis=list(range(2, rank)), keep=True))
