"""Models are inferred without an array library, as in a browser."""

from __future__ import annotations

import subprocess
import sys
import textwrap

WITHOUT_NUMPY = """
import sys
for name in ("numpy", "onnx", "jax"):
    sys.modules[name] = None
from axon.importers.imported import import_operations
from axon.importers.node import Format
from axon.importers.onnx.rules.tensors import constants, join_and_split
from axon.importers.onnx.rules.numbers import pointwise
from axon.importers.onnx.rules.numbers import reductions
from axon.importers.onnx.rules.tensors import shapes, slicing
from axon.importers.onnx.rules.registry import find
from axon.importers.operations import Declared, Graph, Model, Operation

graph = Graph(
    [Declared("x", "f32", ("batch", "seq", 12))],
    [Declared("y", "f32", None)],
    [
        Operation("Constant", [], ["two"], {"value_ints": (2,)}),
        Operation("Constant", [], ["first"], {"value_ints": (0, 1)}),
        Operation("Shape", ["x"], ["shape"]),
        Operation("Gather", ["shape", "first"], ["outer"]),
        Operation("Slice", ["shape", "two", "end"], ["inner"]),
        Operation("Div", ["inner", "two"], ["half"]),
        Operation("ReduceProd", ["outer"], ["rows"], {"keepdims": 1}),
        Operation("Concat", ["rows", "two", "half"], ["sizes"], {"axis": 0}),
        Operation("Reshape", ["x", "sizes"], ["y"]),
    ],
)
graph.operations.insert(0, Operation("Constant", [], ["end"], {"value_ints": (3,)}))
onnx = Format(find)
found = import_operations(Model(graph, version=18), onnx, "model", program=False)
print(list(found.importer.malformed), found.type("y"))
"""


def test_models_are_inferred_without_numpy() -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(WITHOUT_NUMPY)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "batch" in done.stdout and done.stdout.startswith("[]")
    assert done.stdout.count("2") and done.stdout.count("6"), done.stdout
