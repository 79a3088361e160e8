"""Small models: what is inferred about every tensor, and what the command line says of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy
import pytest
from onnx import TensorProto, helper

from axon.importers.formats import read_model
from axon.importers.reporting.report import Report
from tests.importers.onnx_models import (
    INT64,
    floats,
    import_model,
    infer_model,
    ints,
    model,
    node,
    save,
    scalar,
    value,
)
from tests.shell import axon


def infer(made: Any, forget: bool = False) -> Report:
    """What is found about a model without mistakes; no rule may trip over it."""
    report = infer_model(made, "m.onnx", forget)
    assert report.diagnostics == ()
    assert import_model(made, "m.onnx", forget).importer.malformed == {}
    return report


def shape(report: Report, name: str) -> tuple[int | str, ...] | None:
    return report.tensors[name].shape


LINEAR = model([node("MatMul", "x w", "y")], {"x": ["n", 4]}, {"y": ["n", 5]}, {"w": floats(4, 5)})


def test_a_linear_layer() -> None:
    report = infer(LINEAR)
    assert report.signature == "f32 [n,4] -> f32 [n,5]"
    assert report.where == report.guards == report.unsupported == ()
    assert report.ok
    assert shape(report, "y") == ("n", 5)
    assert shape(report, "w") == (4, 5)


def test_a_perceptron() -> None:
    nodes = [
        node("Gemm", "x w1 b1", "a", transB=1),
        node("Relu", "a", "r"),
        node("Gemm", "r w2 b2", "y"),
        node("Softmax", "y", "p", axis=-1),
    ]
    weights = {"w1": floats(16, 4), "b1": floats(16), "w2": floats(16, 3), "b2": floats(3)}
    report = infer(model(nodes, {"x": ["batch", 4]}, {"p": ["batch", 3]}, weights))
    assert report.signature == "f32 [batch,4] -> f32 [batch,3]"
    assert shape(report, "r") == ("batch", 16)


def conv_net() -> Any:
    nodes = [
        node("Conv", "x w1", "a", strides=[2, 2], pads=[1, 1, 1, 1], kernel_shape=[3, 3]),
        node("BatchNormalization", "a s b m v", "c"),
        node("Relu", "c", "d"),
        node("MaxPool", "d", "e", kernel_shape=[2, 2], strides=[2, 2]),
        node("GlobalAveragePool", "e", "f"),
        node("Flatten", "f", "g"),
        node("Gemm", "g w2", "y", transB=1),
    ]
    norm = {name: floats(8) for name in "sbmv"}
    weights = {"w1": floats(8, 3, 3, 3), **norm, "w2": floats(10, 8)}
    return model(nodes, {"x": ["n", 3, "h", "w"]}, {"y": ["n", 10]}, weights)


def test_a_net_of_convolutions() -> None:
    report = infer(conv_net())
    assert report.signature == "f32 [n,3,h,w] -> f32 [n,10]"
    assert shape(report, "a") == ("n", 8, "(h+1)/2", "(w+1)/2")
    assert shape(report, "f") == ("n", 8, 1, 1)
    assert shape(report, "g") == ("n", 8)


def test_the_rank_and_the_channels_come_from_the_weights() -> None:
    report = infer(conv_net(), forget=True)
    found = shape(report, "x")
    assert found is not None and len(found) == 4
    assert found[1] == 3
    assert all(isinstance(found[i], str) for i in (0, 2, 3))
    assert shape(report, "y") == (found[0], 10)


def test_the_inner_size_comes_from_the_weight() -> None:
    report = infer(LINEAR, forget=True)
    tensor = report.tensors["x"]
    assert tensor.shape is None
    assert tensor.partial is not None and tensor.partial.endswith("4]")


def test_a_perceptron_whose_inputs_are_forgotten() -> None:
    made = model([node("Gemm", "x w", "y")], {"x": [7, 4]}, {"y": None}, {"w": floats(4, 3)})
    found = shape(infer(made, forget=True), "x")
    assert found is not None and len(found) == 2
    assert isinstance(found[0], str) and found[1] == 4


# --- sizes as values ---------------------------------------------------------------------------


def test_a_reshape_to_sizes_that_were_computed() -> None:
    nodes = [
        node("Shape", "x", "s"),
        node("Gather", "s zero", "n", axis=0),
        node("Gather", "s one", "t", axis=0),
        node("Unsqueeze", "n axes", "n1"),
        node("Unsqueeze", "t axes", "t1"),
        node("Concat", "n1 t1 heads", "to", axis=0),
        node("Reshape", "x to", "y"),
        node("Transpose", "y", "z", perm=[0, 2, 1, 3]),
    ]
    weights = {
        "zero": scalar(0), "one": scalar(1), "axes": ints(0), "heads": ints(12, 64),
    }  # fmt: skip
    made = model(nodes, {"x": ["batch", "seq", 768]}, {"z": None}, weights)
    report = infer(made)
    assert report.signature == "f32 [batch,seq,768] -> f32 [batch,12,seq,64]"
    assert shape(report, "to") == (4,)
    assert report.tensors["to"].dtype == "i64"


def test_a_size_of_minus_one_is_computed() -> None:
    weights = {"to": ints(0, -1)}
    made = model([node("Reshape", "x to", "y")], {"x": ["n", 3, "h"]}, {"y": None}, weights)
    assert shape(infer(made), "y") == ("n", "3*h")


def test_arithmetic_with_sizes() -> None:
    nodes = [
        node("Shape", "x", "s"),
        node("Gather", "s zero", "n", axis=0),
        node("Mul", "n two", "m"),
        node("Add", "m two", "k"),
        node("Unsqueeze", "k axes", "k1"),
        node("ConstantOfShape", "k1", "y"),
    ]
    weights = {"zero": scalar(0), "two": scalar(2), "axes": ints(0)}
    assert shape(infer(model(nodes, {"x": ["n", 4]}, {"y": None}, weights)), "y") == ("2*n + 2",)


def test_expand_as_exporters_write_it() -> None:
    """-1 stands for the size that is there: Where(Equal(wanted, -1), ones, wanted)."""
    nodes = [
        node("Shape", "x", "s"),
        node("Gather", "s zero", "n", axis=0),
        node("Unsqueeze", "n axes", "n1"),
        node("Concat", "n1 minus four", "wanted", axis=0),
        node("ConstantOfShape", "three", "ones0", value=helper.make_tensor("v", INT64, [1], [1])),
        node("Mul", "ones0 minus", "minuses"),
        node("Equal", "wanted minuses", "is"),
        node("Where", "is ones0 wanted", "to"),
        node("Expand", "mask to", "y"),
    ]
    weights = {
        "zero": scalar(0), "axes": ints(0), "minus": ints(-1), "four": ints(4), "three": ints(3),
        "mask": floats(1, 5, 4),
    }  # fmt: skip
    report = infer(model(nodes, {"x": ["n", 4]}, {"y": None}, weights))
    assert shape(report, "y") == ("n", 5, 4)
    assert report.tensors["is"].dtype == "bool"


def test_a_range_over_a_size() -> None:
    nodes = [
        node("Shape", "x", "s"),
        node("Gather", "s one", "t", axis=0),
        node("Range", "zero t one", "positions"),
        node("Gather", "table positions", "y", axis=0),
    ]
    weights = {"zero": scalar(0), "one": scalar(1), "table": floats(512, 64)}
    report = infer(model(nodes, {"x": ["n", "t"]}, {"y": None}, weights))
    assert shape(report, "positions") == ("t",)
    assert shape(report, "y") == ("t", 64)


# --- cutting and joining -----------------------------------------------------------------------


def test_slices_splits_and_axes() -> None:
    nodes = [
        node("Slice", "x start end axes", "a"),
        node("Split", "x parts", "b1 b2", axis=1),
        node("Split", "x", "c1 c2 c3", axis=1),
        node("Transpose", "x", "d"),
        node("Unsqueeze", "x axes", "e"),
        node("Squeeze", "e axes", "f"),
        node("Concat", "b1 b2", "g", axis=1),
        node("Slice", "x start big axes step", "h"),
    ]
    weights = {
        "start": ints(1), "end": ints(4), "axes": ints(1), "parts": ints(2, 4),
        "big": ints(2**63 - 1), "step": ints(2),
    }  # fmt: skip
    report = infer(model(nodes, {"x": ["n", 6]}, {"g": ["n", 6]}, weights))
    expected = {
        "a": ("n", 3), "b1": ("n", 2), "b2": ("n", 4), "c1": ("n", 2), "c3": ("n", 2),
        "d": (6, "n"), "e": ("n", 1, 6), "f": ("n", 6), "g": ("n", 6), "h": ("n", 3),
    }  # fmt: skip
    assert {name: shape(report, name) for name in expected} == expected


def test_embeddings_and_element_types() -> None:
    nodes = [
        node("Gather", "table ids", "e"),
        node("Cast", "ids", "c", to=TensorProto.INT32),
        node("Greater", "e zero", "p"),
        node("ArgMax", "e", "i", axis=-1, keepdims=0),
        node("ReduceMean", "e", "m", axes=[-1]),
    ]
    weights = {"table": floats(100, 8), "zero": numpy.array(0, dtype=numpy.float32)}
    inputs = [value("ids", ["n", "t"], INT64)]
    report = infer(model(nodes, inputs, {"e": None, "i": None}, weights))
    assert report.signature == "i64 [n,t] -> (f32 [n,t,8], i64 [n,t])"
    found = {name: report.tensors[name].dtype for name in ("c", "p", "i", "m")}
    assert found == {"c": "i32", "p": "bool", "i": "i64", "m": "f32"}
    assert shape(report, "m") == ("n", "t", 1)


@pytest.mark.parametrize(("direction", "count"), [("forward", 1), ("bidirectional", 2)])
def test_a_recurrent_layer(direction: str, count: int) -> None:
    nodes = [node("LSTM", "x w r b", "y h c", hidden_size=16, direction=direction)]
    weights = {"w": floats(count, 64, 8), "r": floats(count, 64, 16), "b": floats(count, 128)}
    made = model(nodes, {"x": ["seq", "n", 8]}, {"y": None, "h": None, "c": None}, weights)
    report = infer(made)
    assert shape(report, "y") == ("seq", count, "n", 16)
    assert shape(report, "h") == shape(report, "c") == (count, "n", 16)


# --- functions, and operators without a rule ---------------------------------------------------


def test_functions_of_the_models_own() -> None:
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
    inner = [node("MatMul", "a k", "p"), node("Relu", "p", "b")]
    layer = helper.make_function("local", "Layer", ["a", "k"], ["b"], inner, opsets)
    both = [
        helper.make_node("Layer", ["a", "k"], ["m"], domain="local"),
        helper.make_node("Layer", ["m", "l"], ["b"], domain="local"),
    ]
    net = helper.make_function("local", "Net", ["a", "k", "l"], ["b"], both, opsets)
    call = helper.make_node("Net", ["x", "w1", "w2"], ["y"], domain="local")
    weights = {"w1": floats(4, 5), "w2": floats(5, 6)}
    report = infer(model([call], {"x": ["n", 4]}, {"y": None}, weights, functions=[layer, net]))
    assert report.signature == "f32 [n,4] -> f32 [n,6]"


def test_the_rest_is_inferred_around_an_unknown_operator(tmp_path: Path) -> None:
    nodes = [
        node("MatMul", "x w", "a"),
        helper.make_node("Mystery", ["a"], ["b"], domain="com.example"),
        node("MatMul", "a w2", "c"),
    ]
    weights = {"w": floats(4, 5), "w2": floats(5, 6)}
    made = model(nodes, {"x": ["n", 4]}, {"b": None, "c": None}, weights)
    report = infer_model(made, "m.onnx")
    assert report.unsupported == ("Mystery",)
    assert shape(report, "c") == ("n", 6)
    assert report.tensors["b"].shape is None
    save(made, tmp_path / "m.onnx")
    found = axon(["infer", "m.onnx"], tmp_path)
    assert found.status == 0
    assert "warning[AX503]: Mystery `b`: Axon has no rule for it" in found.stderr
    assert axon(["infer", "m.onnx", "--check"], tmp_path).status == 0


# --- the command line --------------------------------------------------------------------------


def test_the_command_prints_one_line(tmp_path: Path) -> None:
    save(LINEAR, tmp_path / "m.onnx")
    found = axon(["infer", "m.onnx"], tmp_path)
    assert (found.status, found.stderr) == (0, "")
    assert found.stdout == "model : f32 [n,4] -> f32 [n,5]\n"
    assert read_model(str(tmp_path / "m.onnx")).report().signature == "f32 [n,4] -> f32 [n,5]"


def test_forgotten_inputs_on_the_command_line(tmp_path: Path) -> None:
    save(LINEAR, tmp_path / "m.onnx")
    found = axon(["infer", "m.onnx", "--forget-inputs"], tmp_path)
    assert found.status == 0
    assert found.stdout == ("model : f32 a@[4] -> f32 a@[5]\nsuggested, and tried: x : f32 [4]\n")


def test_json(tmp_path: Path) -> None:
    save(conv_net(), tmp_path / "m.onnx")
    found = axon(["infer", "m.onnx", "--json"], tmp_path)
    assert (found.status, found.stderr) == (0, "")
    document = json.loads(found.stdout)
    assert {"definitions", "tensors", "where", "guards", "diagnostics"} <= set(document)
    (definition,) = document["definitions"]
    assert definition["signature"] == "f32 [n,3,h,w] -> f32 [n,10]"
    assert definition["where"] == document["where"]
    assert definition["guards"] == document["guards"]
    assert document["diagnostics"] == []
    assert document["tensors"]["y"] == {"dtype": "f32", "shape": ["n", 10], "partial": None}
    for name in ("x", "w1", "a", "c", "d", "e", "f", "g", "y"):
        assert document["tensors"][name]["shape"] is not None


def test_a_partial_shape_in_json(tmp_path: Path) -> None:
    save(LINEAR, tmp_path / "m.onnx")
    document = json.loads(axon(["infer", "m.onnx", "--json", "--forget-inputs"], tmp_path).stdout)
    assert document["tensors"]["x"]["shape"] is None
    assert "4" in document["tensors"]["x"]["partial"]


# --- it stays readable -------------------------------------------------------------------------


def test_sizes_stay_readable_through_64_halvings() -> None:
    nodes = []
    for i in range(64):
        nodes += [
            node("Conv", f"x{i} w", f"c{i}", strides=[2, 2], pads=[1, 1, 1, 1]),
            node("Resize", f"c{i} - scales", f"x{i + 1}", mode="nearest"),
        ]
    scales = numpy.array([1, 1, 2, 2], dtype=numpy.float32)
    weights = {"w": floats(3, 3, 3, 3), "scales": scales}
    report = infer(model(nodes, {"x0": ["n", 3, "h", "w"]}, {"x64": None}, weights))
    for tensor in report.tensors.values():
        assert tensor.shape is not None
        assert all(len(str(size)) < 60 for size in tensor.shape)
    assert len(report.signature) < 200
    assert all(len(text) < 200 for text in (*report.where, *report.guards))
