"""Attention."""

from __future__ import annotations

from axon.importers.onnx.build import Node
from axon.importers.onnx.rules import rule
from axon.types.type import Tensor


@rule("Attention")
def attention(node: Node) -> None:
    q, v = node.shape(0), node.shape(2)
    if q is None or v is None:
        node.gives(node.unknown(node.elem(0)))
    elif len(q) == 4:
        node.gives(Tensor(node.elem(0), (*q[:3], v[3])))
    else:
        heads, kv = node.attribute("q_num_heads"), node.attribute("kv_num_heads")
        last = v[2]
        if heads != kv and isinstance(last, int) and heads and kv:
            last = last // kv * heads
        elif heads != kv:
            last = node.fresh_dim()
        node.gives(Tensor(node.elem(0), (*q[:2], last)))
