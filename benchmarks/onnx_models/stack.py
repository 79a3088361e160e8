"""A decoder of any depth as an ONNX model, node by node as PyTorch's exporter writes one.

Its weights are declared with their sizes, and their data is said to be in a file that need not be
there: nothing of it is made, read or copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
from onnx import TensorProto, helper, numpy_helper

HIDDEN, HEADS, INNER, WORDS, LONGEST = 768, 12, 2048, 32000, 1024
WIDTH = HIDDEN // HEADS
OPSET = 17


class Exporter:
    """The nodes and weights of a graph, in the order in which they are made."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.weights: list[Any] = []
        self.scope = ""

    def __call__(self, op: str, *given: str, **attributes: Any) -> str:
        """A node with one output; the name of the output."""
        name = f"/{self.scope}{op}_{len(self.nodes)}_output_0"
        self.nodes.append(helper.make_node(op, given, [name], **attributes))
        return name

    def constant(self, value: int | float | Sequence[int]) -> str:
        dtype = numpy.float32 if isinstance(value, float) else numpy.int64
        return self("Constant", value=numpy_helper.from_array(numpy.asarray(value, dtype)))

    def weight(self, name: str, *sizes: int) -> str:
        tensor = TensorProto(
            name=self.scope.replace("/", ".") + name,
            data_type=TensorProto.FLOAT,
            dims=sizes,
            data_location=TensorProto.EXTERNAL,
        )
        tensor.external_data.add(key="location", value="weights.bin")
        self.weights.append(tensor)
        return str(tensor.name)

    def size(self, x: str, axis: int) -> str:
        return self("Gather", self("Shape", x), self.constant(axis), axis=0)

    def reshape(self, x: str, *sizes: str | int) -> str:
        """A reshape whose sizes are put together one by one, some of them from other tensors."""
        parts = [
            self.constant([size])
            if isinstance(size, int)
            else self("Unsqueeze", size, self.constant([0]))
            for size in sizes
        ]
        return self("Reshape", x, self("Concat", *parts, axis=0), allowzero=0)

    def slice(self, x: str, start: str, end: str, axis: int) -> str:
        bounds = (self("Unsqueeze", bound, self.constant([0])) for bound in (start, end))
        return self("Slice", x, *bounds, self.constant([axis]), self.constant([1]))


def norm(export: Exporter, x: str, name: str) -> str:
    squares = export("Pow", x, export.constant(2.0))
    mean = export("ReduceMean", squares, axes=[-1], keepdims=1)
    root = export("Sqrt", export("Add", mean, export.constant(1e-6)))
    scaled = export("Mul", x, export("Div", export.constant(1.0), root))
    return export("Mul", export.weight(f"{name}.weight", HIDDEN), scaled)


def rotated(export: Exporter, x: str, cos: str, sin: str) -> str:
    """Rotary positions: the second half, negated, before the first."""
    half = export("Div", export.size(x, 3), export.constant(2))
    first = export.slice(x, export.constant(0), half, 3)
    second = export.slice(x, half, export.constant(2**63 - 1), 3)
    turned = export("Concat", export("Neg", second), first, axis=-1)
    return export("Add", export("Mul", x, cos), export("Mul", turned, sin))


def attention(export: Exporter, x: str, cos: str, sin: str, mask: str) -> str:
    batch, length = export.size(x, 0), export.size(x, 1)

    def heads(name: str) -> str:
        made = export("MatMul", x, export.weight(f"{name}_proj.weight", HIDDEN, HIDDEN))
        split = export.reshape(made, batch, length, HEADS, WIDTH)
        return export("Transpose", split, perm=[0, 2, 1, 3])

    query, key, value = heads("q"), heads("k"), heads("v")
    query, key = rotated(export, query, cos, sin), rotated(export, key, cos, sin)
    keys = export.size(key, 2)
    scores = export("MatMul", query, export("Transpose", key, perm=[0, 1, 3, 2]))
    scores = export("Div", scores, export.constant(WIDTH**0.5))
    scores = export("Add", scores, export.slice(mask, export.constant(0), keys, 3))
    mixed = export("MatMul", export("Softmax", scores, axis=-1), value)
    joined = export.reshape(export("Transpose", mixed, perm=[0, 2, 1, 3]), batch, length, -1)
    return export("MatMul", joined, export.weight("o_proj.weight", HIDDEN, HIDDEN))


def perceptron(export: Exporter, x: str) -> str:
    gate = export("MatMul", x, export.weight("gate_proj.weight", HIDDEN, INNER))
    up = export("MatMul", x, export.weight("up_proj.weight", HIDDEN, INNER))
    gated = export("Mul", export("Mul", gate, export("Sigmoid", gate)), up)
    return export("MatMul", gated, export.weight("down_proj.weight", INNER, HIDDEN))


def layer(export: Exporter, x: str, cos: str, sin: str, mask: str) -> str:
    attended = attention(export, norm(export, x, "input_layernorm"), cos, sin, mask)
    x = export("Add", x, attended)
    made = perceptron(export, norm(export, x, "post_attention_layernorm"))
    return export("Add", x, made)


def positions(export: Exporter, ids: str) -> tuple[str, str]:
    """The rows of the tables of cosines and sines for the length of the input."""
    end = export.size(ids, 1)
    found = []
    for name in ("cos", "sin"):
        table = export.weight(f"{name}_cached", LONGEST, WIDTH)
        rows = export.slice(table, export.constant(0), end, 0)
        found.append(export("Unsqueeze", rows, export.constant([0, 1])))
    return found[0], found[1]


def causal(export: Exporter, ids: str) -> str:
    """What is added to the scores: nothing, or a very small number for what is later."""
    length = export.size(ids, 1)
    row = export("Range", export.constant(0), length, export.constant(1))
    column = export.reshape(row, length, 1)
    later = export("Greater", row, column)
    added = export("Where", later, export.constant(-3.4e38), export.constant(0.0))
    return export("Unsqueeze", added, export.constant([0, 1]))


def stack(nodes: int) -> Any:
    """A model of as many whole layers as come nearest to so many nodes, at least one."""
    export = Exporter()
    embedded = export("Gather", export.weight("embed_tokens.weight", WORDS, HIDDEN), "input_ids")
    cos, sin = positions(export, "input_ids")
    mask = causal(export, "input_ids")
    x, around = embedded, len(export.nodes)
    depth, count = 0, 1
    while depth < count:
        export.scope = f"layers.{depth}/"
        x = layer(export, x, cos, sin, mask)
        depth += 1
        if depth == 1:
            count = max(1, round((nodes - around) / (len(export.nodes) - around)))
    export.scope = ""
    last = norm(export, x, "norm")
    made = export("MatMul", last, export.weight("lm_head.weight", HIDDEN, WORDS))
    graph = helper.make_graph(
        [*export.nodes, helper.make_node("Identity", [made], ["logits"])],
        "stack",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "seq"])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, None)],
        export.weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
