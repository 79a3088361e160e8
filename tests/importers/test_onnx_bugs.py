"""Mistakes in models: each is an error that names the node or the tensor."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.importers.onnx_models import floats, ints, model, node, save
from tests.shell import axon


def inner_size() -> Any:
    nodes = [node("MatMul", "x w1", "a"), node("MatMul", "a w2", "wrong")]
    weights = {"w1": floats(4, 5), "w2": floats(6, 7)}
    return model(nodes, {"x": ["n", 4]}, {"wrong": None}, weights)


def residual() -> Any:
    nodes = [node("MatMul", "x w", "a"), node("Add", "x a", "wrong")]
    return model(nodes, {"x": ["n", 4]}, {"wrong": None}, {"w": floats(4, 5)})


def two_sizes() -> Any:
    """The input must have 16 columns, and 17."""
    nodes = [node("MatMul", "x w1", "a"), node("MatMul", "x w2", "wrong")]
    weights = {"w1": floats(16, 4), "w2": floats(17, 4)}
    return model(nodes, {"x": ["n", "m"]}, {"a": None, "wrong": None}, weights)


def batch_norm() -> Any:
    nodes = [node("Conv", "x w", "a"), node("BatchNormalization", "a s b m v", "wrong")]
    weights = {"w": floats(8, 3, 3, 3), "s": floats(7), **{k: floats(8) for k in "bmv"}}
    return model(nodes, {"x": ["n", 3, "h", "w"]}, {"wrong": None}, weights)


def transposed_weight() -> Any:
    nodes = [node("Gemm", "x w b", "wrong")]  # without transB
    weights = {"w": floats(10, 4), "b": floats(10)}
    return model(nodes, {"x": ["n", 4]}, {"wrong": None}, weights)


def bias() -> Any:
    weights = {"w": floats(4, 10), "b": floats(4)}
    return model([node("Gemm", "x w b", "wrong")], {"x": ["n", 4]}, {"wrong": None}, weights)


def heads(batch: int | str = 2) -> Any:
    """12 heads of 63 are not 768."""
    weights = {"to": ints(0, 0, 12, 63)}
    nodes = [node("Reshape", "x to", "wrong")]
    return model(nodes, {"x": [batch, 128, 768]}, {"wrong": None}, weights)


def channels() -> Any:
    nodes = [node("Conv", "x w1", "a"), node("Conv", "a w2", "wrong")]
    weights = {"w1": floats(8, 3, 3, 3), "w2": floats(8, 9, 3, 3)}
    return model(nodes, {"x": ["n", 3, "h", "w"]}, {"wrong": None}, weights)


def joined() -> Any:
    nodes = [node("Concat", "x y", "wrong", axis=1)]
    return model(nodes, {"x": [2, 3], "y": [4, 3]}, {"wrong": None})


def layer_norm() -> Any:
    nodes = [node("LayerNormalization", "x s b", "wrong", axis=-1)]
    weights = {"s": floats(5), "b": floats(5)}
    return model(nodes, {"x": ["n", 4]}, {"wrong": None}, weights)


BUGS: dict[str, Callable[[], Any]] = {
    "inner size": inner_size,
    "residual": residual,
    "two sizes": two_sizes,
    "batch norm": batch_norm,
    "transposed weight": transposed_weight,
    "bias": bias,
    "heads": heads,
    "channels": channels,
    "joined": joined,
    "layer norm": layer_norm,
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_is_an_error(bug: str, tmp_path: Path) -> None:
    save(BUGS[bug](), tmp_path / "m.onnx")
    found = axon(["infer", "m.onnx"], tmp_path)
    assert found.status == 1
    assert "error[" in found.stderr
    assert "-> wrong" in found.stderr
    document = json.loads(axon(["infer", "m.onnx", "--json"], tmp_path).stdout)
    assert any(d["severity"] == "error" for d in document["diagnostics"])


@pytest.mark.parametrize("bug", BUGS)
def test_the_name_of_the_node_is_told(bug: str, tmp_path: Path) -> None:
    made = BUGS[bug]()
    made.graph.node[-1].name = "/layers.3/The_Node"
    save(made, tmp_path / "m.onnx")
    found = axon(["infer", "m.onnx"], tmp_path)
    assert found.status == 1
    assert "/layers.3/The_Node" in found.stderr


def test_both_sizes_are_told(tmp_path: Path) -> None:
    save(two_sizes(), tmp_path / "m.onnx")
    found = axon(["infer", "m.onnx"], tmp_path)
    assert "16" in found.stderr
    assert "17" in found.stderr


def test_only_an_empty_batch_can_be_reshaped_wrongly(tmp_path: Path) -> None:
    save(heads("n"), tmp_path / "m.onnx")
    found = axon(["infer", "m.onnx"], tmp_path)
    assert found.status == 1 or "f32 [0,128,768]" in found.stdout or "n = 0" in found.stdout


@pytest.mark.parametrize("declared", [["n", 5, 1], ["n"], ["n", 6], [4, "n"], []])
def test_a_declared_output_is_not_believed(declared: list[Any], tmp_path: Path) -> None:
    weights = {"w": floats(4, 5)}
    made = model([node("MatMul", "x w", "wrong")], {"x": ["n", 4]}, {"wrong": declared}, weights)
    save(made, tmp_path / "m.onnx")
    found = axon(["infer", "m.onnx"], tmp_path)
    assert found.status == 0
    assert found.stdout == "model : f32 [n,4] -> f32 [n,5]\n"
    assert "warning[AX501]" in found.stderr
    assert "`wrong`" in found.stderr
    checked = axon(["infer", "m.onnx", "--check"], tmp_path)
    assert checked.status == 1
    assert "error[AX501]" in checked.stderr


@pytest.mark.parametrize("declared", [["n", 5], ["batch", 5], [None, None], None, ["n", "m"]])
def test_a_declared_output_that_may_be_right(declared: Any, tmp_path: Path) -> None:
    weights = {"w": floats(4, 5)}
    made = model([node("MatMul", "x w", "y")], {"x": ["n", 4]}, {"y": declared}, weights)
    save(made, tmp_path / "m.onnx")
    found = axon(["infer", "m.onnx", "--check"], tmp_path)
    assert (found.status, found.stderr) == (0, "")
