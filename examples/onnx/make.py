"""The models of this folder, made again: `python examples/onnx/make.py`.

They are what exporters write, small: sizes are computed from shapes, weights have the names of the
modules that they belong to, and layers are written out one after another.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = Path(__file__).parent
WORDS, WIDTH, HEADS, INNER, LAYERS = 50, 16, 4, 32, 2


class Graph:
    """Nodes and weights, one after another."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.weights: list[Any] = []
        self.random = numpy.random.default_rng(0)

    def weight(self, name: str, *shape: int) -> str:
        values = self.random.normal(size=shape) / numpy.sqrt(shape[0])
        self.weights.append(numpy_helper.from_array(values.astype(numpy.float32), name))
        return name

    def ints(self, name: str, *values: int) -> str:
        if all(weight.name != name for weight in self.weights):
            self.weights.append(numpy_helper.from_array(numpy.array(values, numpy.int64), name))
        return name

    def node(self, kind: str, given: list[str], made: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(kind, given, [made], name=made, **attributes))
        return made

    def linear(self, x: str, name: str, width: int, out: int) -> str:
        product = self.node(
            "MatMul", [x, self.weight(f"{name}.weight", width, out)], f"{name}/MatMul"
        )
        return self.node("Add", [product, self.weight(f"{name}.bias", out)], f"{name}/Add")


def encoder() -> Any:
    """A transformer encoder on words."""
    graph = Graph()
    x = graph.node("Gather", [graph.weight("words.weight", WORDS, WIDTH), "ids"], "words/Gather")
    for number in range(LAYERS):
        x = _layer(graph, x, f"encoder.layer.{number}")
    graph.node("Identity", [x], "hidden")
    ids = helper.make_tensor_value_info("ids", TensorProto.INT64, ["batch", "seq"])
    hidden = helper.make_tensor_value_info("hidden", TensorProto.FLOAT, None)
    return _model(graph, [ids], [hidden])


def _layer(graph: Graph, x: str, name: str) -> str:
    shape = graph.node("Shape", [x], f"{name}/Shape")
    rows = graph.node("Gather", [shape, graph.ints("two", 0, 1)], f"{name}/rows", axis=0)
    split = [rows, graph.ints("heads", HEADS, WIDTH // HEADS)]
    apart = graph.node("Concat", split, f"{name}/apart", axis=0)
    together = graph.node("Concat", [rows, graph.ints("width", WIDTH)], f"{name}/together", axis=0)

    def heads(part: str, *perm: int) -> str:
        made = graph.linear(x, f"{name}.{part}", WIDTH, WIDTH)
        made = graph.node("Reshape", [made, apart], f"{name}.{part}/Reshape")
        return graph.node("Transpose", [made], f"{name}.{part}/Transpose", perm=perm)

    query, key = heads("query", 0, 2, 1, 3), heads("key", 0, 2, 3, 1)
    scores = graph.node("MatMul", [query, key], f"{name}/scores")
    weights = graph.node("Softmax", [scores], f"{name}/Softmax", axis=-1)
    mixed = graph.node("MatMul", [weights, heads("value", 0, 2, 1, 3)], f"{name}/mixed")
    back = graph.node("Transpose", [mixed], f"{name}/Transpose", perm=[0, 2, 1, 3])
    back = graph.node("Reshape", [back, together], f"{name}/Reshape")
    out = graph.linear(back, f"{name}.output", WIDTH, WIDTH)
    x = _norm(graph, graph.node("Add", [out, x], f"{name}/Add"), f"{name}.norm1")
    inner = graph.node("Relu", [graph.linear(x, f"{name}.inner", WIDTH, INNER)], f"{name}/Relu")
    outer = graph.linear(inner, f"{name}.outer", INNER, WIDTH)
    return _norm(graph, graph.node("Add", [outer, x], f"{name}/Add_1"), f"{name}.norm2")


def _norm(graph: Graph, x: str, name: str) -> str:
    parts = [x, graph.weight(f"{name}.weight", WIDTH), graph.weight(f"{name}.bias", WIDTH)]
    return graph.node("LayerNormalization", parts, f"{name}/LayerNormalization", axis=-1)


def broken() -> Any:
    """Two layers that do not fit together."""
    graph = Graph()
    first = graph.node("MatMul", ["x", graph.weight("proj.W", 8, 16)], "proj")
    active = graph.node("Relu", [first], "act")
    graph.node("MatMul", [active, graph.weight("head.W", 17, 4)], "head")
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 8])
    return _model(graph, [x], [helper.make_tensor_value_info("head", TensorProto.FLOAT, None)])


def _model(graph: Graph, inputs: list[Any], outputs: list[Any]) -> Any:
    made = helper.make_graph(graph.nodes, "g", inputs, outputs, graph.weights)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


if __name__ == "__main__":
    onnx.save(encoder(), HERE / "encoder.onnx")
    onnx.save(broken(), HERE / "broken.onnx")
