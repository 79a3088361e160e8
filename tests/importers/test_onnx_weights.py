"""A model as a program and a file of weights: together they are the model."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from unittest import mock

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import axon
from axon.run.safetensors import read
from tests.shell import axon as shell

RANDOM = np.random.default_rng(0)
IMPORT = ["import", "m.onnx", "-o", "m.axon", "--weights", "m.safetensors"]


def perceptron() -> Any:
    """Two layers, a table that is looked up, and a weight that nothing uses."""
    weights = {
        "table": RANDOM.normal(size=(10, 6)).astype(np.float32),
        "/layer.0/w": RANDOM.normal(size=(6, 8)).astype(np.float32),
        "/layer.0/b": RANDOM.normal(size=8).astype(np.float32),
        "/layer.1/w": RANDOM.normal(size=(8, 4)).astype(np.float32),
        "mask": np.array([True, False, True, True]),
        "unused": np.ones(5, np.float32),
    }
    nodes = [
        helper.make_node("Gather", ["table", "ids"], ["x"]),
        helper.make_node("MatMul", ["x", "/layer.0/w"], ["h"]),
        helper.make_node("Add", ["h", "/layer.0/b"], ["a"]),
        helper.make_node("Relu", ["a"], ["r"]),
        helper.make_node("MatMul", ["r", "/layer.1/w"], ["o"]),
        helper.make_node("Where", ["mask", "o", "r0"], ["y"]),
    ]
    weights["r0"] = np.array([0.5, 1.5, 2.5, 3.5], np.float32)
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, ["n"])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])


def halves() -> Any:
    """The element types that are not those of every day."""
    nodes = [
        helper.make_node("Add", ["x", "w"], ["s"]),
        helper.make_node("Cast", ["s"], ["c"], to=TensorProto.FLOAT16),
        helper.make_node("Mul", ["c", "h"], ["y"]),
    ]
    weights = [
        numpy_helper.from_array(np.array([1.5, -2, 3]).astype(ml_dtypes.bfloat16), "w"),
        numpy_helper.from_array(np.array([2, 4, 8], np.float16), "h"),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.BFLOAT16, ["n", 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT16, None)],
        weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])


MODELS: dict[str, tuple[Any, Any]] = {
    "perceptron": (perceptron, np.array([3, 1, 9])),
    "halves": (halves, np.ones((2, 3), ml_dtypes.bfloat16)),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("external", [False, True])
def test_the_program_with_its_weights_is_the_model(
    name: str, external: bool, tmp_path: Path
) -> None:
    make, given = MODELS[name]
    onnx.save(make(), tmp_path / "m.onnx", save_as_external_data=external, location="m.bin",
              size_threshold=0)  # fmt: skip
    expected = axon.from_onnx(tmp_path / "m.onnx").model(given)
    outcome = shell(IMPORT, tmp_path)
    assert outcome.status == 0, outcome.terminal
    left = {"m.onnx", "m.axon", "m.safetensors"} | ({"m.bin"} if external else set())
    assert set(os.listdir(tmp_path)) == left
    for backend in ("numpy", "jax"):
        net = axon.load(tmp_path / "m.axon", weights=tmp_path / "m.safetensors", backend=backend)
        found = net.model(given)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(
            np.asarray(found, np.float64), np.asarray(expected, np.float64), rtol=1e-5
        )


def test_the_names_are_those_of_the_program(tmp_path: Path) -> None:
    onnx.save(perceptron(), tmp_path / "m.onnx")
    assert shell(IMPORT, tmp_path).status == 0
    text = (tmp_path / "m.axon").read_text(encoding="utf-8")
    declared = {line.split()[1] for line in text.splitlines() if line.startswith("op ")}
    places = read(str(tmp_path / "m.safetensors")).places
    assert set(places) == declared
    assert "unused" not in places
    assert str(places["table"]) == "f32 [10,6]"


def test_it_runs_from_the_command_line(tmp_path: Path) -> None:
    onnx.save(perceptron(), tmp_path / "m.onnx")
    outcome = shell(["import", "m.onnx", "--weights", "m.safetensors"], tmp_path)
    assert outcome.status == 0
    (tmp_path / "m.axon").write_text(outcome.stdout, encoding="utf-8")
    outcome = shell(["run", "m.axon", "model", "ids=[1,2]", "--weights", "m.safetensors"], tmp_path)
    assert outcome.status == 0
    assert outcome.stdout.startswith("f32 [2,4]\n")


def test_no_file_of_the_model_is_overwritten(tmp_path: Path) -> None:
    onnx.save(perceptron(), tmp_path / "m.onnx", save_as_external_data=True, location="m.bin",
              size_threshold=0)  # fmt: skip
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for path in ("m.onnx", "m.bin", "./m.bin", "m.axon", ".", "none/w", "/dev/null"):
        outcome = shell([*IMPORT[:-1], path], tmp_path)
        assert outcome.status == 2, path
        assert outcome.stderr.startswith("axon: ")
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def _cut(model: Any, folder: Path) -> None:
    (folder / "m.bin").write_bytes((folder / "m.bin").read_bytes()[:-200])


def _lost(model: Any, folder: Path) -> None:
    (folder / "m.bin").unlink()


def _entry(key: str, value: str) -> Any:
    def change(model: Any, folder: Path) -> None:
        for tensor in model.graph.initializer:
            for entry in tensor.external_data:
                if entry.key == key:
                    entry.value = value

    return change


def _sizes(*sizes: int) -> Any:
    def change(model: Any, folder: Path) -> None:
        for tensor in model.graph.initializer:
            if tensor.name == "/layer.0/b":
                del tensor.dims[:]
                tensor.dims.extend(sizes)

    return change


@pytest.mark.parametrize(
    "change",
    [
        _cut, _lost, _entry("offset", "many"), _entry("offset", "-8"), _entry("offset", "1" * 5000),
        _entry("offset", str(1 << 70)), _entry("location", "../m.bin"), _sizes(1 << 40),
        _sizes(1 << 62, 1 << 62), _sizes(-8),
    ],
)  # fmt: skip
def test_nothing_is_written_when_a_weight_cannot_be_read(change: Any, tmp_path: Path) -> None:
    onnx.save(perceptron(), tmp_path / "m.onnx", save_as_external_data=True, location="m.bin",
              size_threshold=0)  # fmt: skip
    model = onnx.load(tmp_path / "m.onnx", load_external_data=False)
    change(model, tmp_path)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    before = sorted(os.listdir(tmp_path))
    outcome = shell(IMPORT, tmp_path)
    assert outcome.status == 2, outcome.terminal
    assert outcome.stderr.startswith("axon: the ")
    assert sorted(os.listdir(tmp_path)) == before


def test_nothing_is_written_when_the_program_cannot_be(tmp_path: Path) -> None:
    onnx.save(perceptron(), tmp_path / "m.onnx")
    command = ["import", "m.onnx", "-o", "none/m.axon", "--weights", "m.safetensors"]
    assert shell(command, tmp_path).status == 2
    assert os.listdir(tmp_path) == ["m.onnx"]


def test_a_terminal_sees_a_bar(tmp_path: Path) -> None:
    onnx.save(perceptron(), tmp_path / "m.onnx")
    with (
        mock.patch("tests.shell._Tee.isatty", return_value=True),
        mock.patch("axon.cli.bar.PATIENCE_S", 0),
    ):
        outcome = shell(IMPORT, tmp_path)
    assert outcome.status == 0
    assert "█ 6/6 0 s" in outcome.stderr
    assert outcome.stderr.endswith("\r\033[K")


def test_elements_that_axon_lacks_are_not_written(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Cast", ["small"], ["c"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["c", "w"], ["y"]),
    ]
    weights = [
        helper.make_tensor("small", TensorProto.FLOAT8E4M3FN, [2], [1, 2]),
        numpy_helper.from_array(np.array([1.5, 2], np.float32), "w"),
    ]
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "g", [], [y], weights)
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]), tmp_path / "m.onnx"
    )
    outcome = shell(IMPORT, tmp_path)
    assert outcome.status == 0
    assert "with elements that Axon lacks: small" in outcome.stderr
    assert set(read(str(tmp_path / "m.safetensors")).places) == {"w"}
    with pytest.raises(axon.ArgumentError, match="there is no `small` in"):
        axon.load(tmp_path / "m.axon", weights=tmp_path / "m.safetensors")
