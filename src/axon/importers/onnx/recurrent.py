"""Recurrent networks."""

from __future__ import annotations

from typing import Any

from axon.importers.onnx.build import Node
from axon.importers.onnx.rules import rule
from axon.types.type import Tensor


@rule("LSTM", "GRU", "RNN")
def recurrent(node: Node) -> None:
    """From [seq,batch,input] to [seq,directions,batch,hidden]; the states have no seq."""
    word, filters = node.shape(0), node.shape(2)
    elem = node.elem(0)
    hidden = node.attribute("hidden_size")
    size = hidden or (filters[-1] if filters is not None else node.fresh_dim())
    count = 2 if node.attribute("direction", "forward") == "bidirectional" else 1
    if word is None:
        rest = node.unknown(elem, 3)
        from axon.inference.unify import unify
        from axon.solver.constraints import Origin

        x = node.importer.types[node.name(0)]
        unify(node.importer.state, rest, x, Origin("value", node.span, node.proto.op_type))
        word = node.importer.state.store.word(rest.shape)
    assert word is not None
    seq, batch = word[0], word[1]
    state: tuple[Any, ...] = (count, batch, size)
    whole: tuple[Any, ...] = (seq, count, batch, size)
    if node.attribute("layout", 0):
        seq, batch = word[1], word[0]
        state, whole = (batch, count, size), (batch, seq, count, size)
    node.gives(Tensor(elem, whole), *[Tensor(elem, state) for _ in node.outputs[1:]])
