"""Saying the types of inputs, suggestions for those that are open, and writing shapes back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from axon.cli import main
from tests.importers.onnx_models import floats, infer_model, ints, model, node


def convolution() -> Any:
    filters = numpy_helper.from_array(np.zeros((5, 3, 3, 3), np.float32), "f")
    nodes = [helper.make_node("Conv", ["x", "f"], ["y"], strides=[2, 2], name="stem")]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3, "h", "w"])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    return helper.make_model(helper.make_graph(nodes, "g", [x], [y], [filters]))


def tokens() -> Any:
    """Looks up each token, and adds a vector for each of the first so many positions."""
    table = numpy_helper.from_array(np.zeros((10, 4), np.float32), "table")
    one = numpy_helper.from_array(np.array(1, np.int64), "one")
    nodes = [
        helper.make_node("Gather", ["table", "ids"], ["embedded"]),
        helper.make_node("Shape", ["ids"], ["s"]),
        helper.make_node("Gather", ["s", "one"], ["n"]),
    ]
    ids = helper.make_tensor_value_info("ids", TensorProto.INT64, ["b", "n"])
    outputs = [
        helper.make_tensor_value_info("embedded", TensorProto.FLOAT, None),
        helper.make_tensor_value_info("n", TensorProto.INT64, None),
    ]
    return helper.make_model(helper.make_graph(nodes, "g", [ids], outputs, [table, one]))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    onnx.save(convolution(), tmp_path / "m.onnx")
    return tmp_path / "m.onnx"


def test_the_type_of_an_input_can_be_said(path: Path, capsys: Any) -> None:
    assert main(["infer", str(path), "--input", "x=f32 [n,3,64,2*k]"]) == 0
    assert capsys.readouterr().out == "model : f32 [n,3,64,2*k] -> f32 [n,5,31,k-1]\n"


@pytest.mark.parametrize(
    ("said", "status", "text"),
    [
        ("x=f32 [n,4,h,w]", 1, "4"),
        ("y=f32 [n]", 2, "no input `y`"),
        ("x=f32 [", 2, "not a type"),
        ("x", 2, "NAME=TYPE"),
    ],
)
def test_what_is_said_may_be_wrong(
    path: Path, said: str, status: int, text: str, capsys: Any
) -> None:
    assert main(["infer", str(path), "--input", said]) == status
    assert text in capsys.readouterr().err


def test_an_open_rank_has_a_suggestion(tmp_path: Path, capsys: Any) -> None:
    report = infer_model(tokens(), "m.onnx", forget=True)
    assert report.tensors["ids"].shape is None
    assert report.suggested == {"ids": "i64 [a,b]"}  # of rank 1 it has no size 1
    onnx.save(tokens(), tmp_path / "m.onnx")
    assert main(["infer", str(tmp_path / "m.onnx"), "--forget-inputs", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["suggested"] == {"ids": "i64 [a,b]"}


def test_what_only_fits_empty_is_no_suggestion() -> None:
    nodes = [node("MatMul", "x w", "h"), node("Reshape", "h s", "y")]
    weights = {"w": floats(16, 16), "s": ints(0, 0, 4, 4)}
    made = model(nodes, {"x": ["a", "b", 16]}, {"y": None}, weights)
    assert infer_model(made, "m.onnx", forget=True).suggested == {"x": "f32 [a,b,16]"}


def test_nothing_is_suggested_where_the_rank_is_known() -> None:
    assert infer_model(convolution(), "m.onnx", forget=True).suggested == {}


def test_shapes_are_written_back(path: Path, tmp_path: Path, capsys: Any) -> None:
    out = tmp_path / "out.onnx"
    assert main(["infer", str(path), "--write", str(out)]) == 0
    written = onnx.load(out)
    onnx.checker.check_model(written)
    (y,) = written.graph.output
    sizes = [d.dim_value or d.dim_param for d in y.type.tensor_type.shape.dim]
    assert sizes == ["batch", 5, "(h+1)/2-1", "(w+1)/2-1"]
    assert main(["infer", str(out), "--check"]) == 0
    assert main(["infer", str(path), "--write", str(path)]) == 2
    assert main(["infer", str(path), "--write", str(tmp_path / "no" / "out.onnx")]) == 2
    capsys.readouterr()
