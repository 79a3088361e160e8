"""Mistakes in models: each is an error that names the node or the tensor."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from axon.importers.reporting.problems import operation_at
from axon.inference.report.conflict import describe
from tests.importers.onnx_models import floats, import_model, ints, model, node, save
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
    assert found.stdout == ""  # a model that contradicts itself has no type
    document = json.loads(axon(["infer", "m.onnx", "--json"], tmp_path).stdout)
    assert document["definitions"] == []
    assert any(d["severity"] == "error" for d in document["diagnostics"])


def test_shapes_that_contradict_each_other_are_not_written(tmp_path: Path) -> None:
    save(residual(), tmp_path / "m.onnx")
    found = axon(["infer", "m.onnx", "--write", "out.onnx"], tmp_path)
    assert found.status == 1
    assert found.stderr.endswith("axon: out.onnx is not written: the model has errors\n")
    assert not (tmp_path / "out.onnx").exists()


@pytest.mark.parametrize("bug", BUGS)
def test_the_name_of_the_node_is_told(bug: str, tmp_path: Path) -> None:
    made = BUGS[bug]()
    made.graph.node[-1].name = "/layers.3/The_Node"
    save(made, tmp_path / "m.onnx")
    found = axon(["infer", "m.onnx"], tmp_path)
    assert found.status == 1
    assert "/layers.3/The_Node" in found.stderr


def test_both_sizes_are_told_with_the_weights_they_come_from(tmp_path: Path) -> None:
    save(two_sizes(), tmp_path / "m.onnx")
    found = axon(["infer", "m.onnx"], tmp_path)
    assert "MatMul `wrong`: the inner sizes differ, 16 and 17" in found.stderr
    assert "note: 16 is a size of input `x`, as weight `w1` asks" in found.stderr
    assert "note: 17 is a size of weight `w2`" in found.stderr


def test_a_conflict_knows_its_nodes_and_sizes() -> None:
    store = import_model(two_sizes(), "m.onnx").importer.state.store
    found = describe(store, store.conflicts[0], ())
    nodes = [operation_at(each.origin.span) for each in found.core]
    assert {each.label for each in nodes if each is not None} == {"a", "wrong"}
    assert found.sizes == (16, 17)


def test_a_size_is_followed_to_the_weight_it_comes_from(tmp_path: Path) -> None:
    nodes = [
        node("MatMul", "x proj.W", "p"),
        node("Relu", "p", "r"),
        node("MatMul", "r head.W", "y"),
    ]
    nodes[0].name = "proj"
    weights = {"proj.W": floats(8, 16), "head.W": floats(17, 4)}
    save(model(nodes, {"x": ["n", 8]}, {"y": None}, weights), tmp_path / "m.onnx")
    found = axon(["infer", "m.onnx"], tmp_path)
    assert "r : f32 [n,16], head.W : f32 [17,4]" in found.stderr
    assert "note: 16 is a size of `r`, from weight `proj.W` (node `proj`)" in found.stderr
    assert "note: 17 is a size of weight `head.W`" in found.stderr


def test_a_program_from_a_wrong_model_comes_with_the_mistake(tmp_path: Path) -> None:
    save(two_sizes(), tmp_path / "m.onnx")
    found = axon(["import", "m.onnx"], tmp_path)
    assert found.status == 1
    assert "model = fn" in found.stdout
    assert "MatMul `wrong`: the inner sizes differ, 16 and 17" in found.stderr


def test_a_mistake_is_told_once(tmp_path: Path) -> None:
    save(batch_norm(), tmp_path / "m.onnx")
    found = axon(["infer", "m.onnx"], tmp_path)
    assert found.stderr.count("error[AX101]") == 1


def test_only_an_empty_batch_can_be_reshaped_wrongly(tmp_path: Path) -> None:
    save(heads("n"), tmp_path / "m.onnx")
    found = axon(["infer", "m.onnx"], tmp_path)
    assert found.status == 0
    assert found.stdout == "model : f32 [0,128,768] -> f32 [0,128,12,63]\n"
    assert "warning[AX502]: `n` of input `x` can only be 0" in found.stderr
    assert "Reshape(x, to) -> wrong" in found.stderr
    assert axon(["infer", "m.onnx", "--check"], tmp_path).status == 1


@pytest.mark.parametrize("declared", ["(h - 1)//2 + 1", "(h + 1)//2", "Max(h + 1, 0)//2", "other"])
def test_a_declared_expression_that_is_right(declared: str, tmp_path: Path) -> None:
    save(_strided(declared), tmp_path / "m.onnx")
    found = axon(["infer", "m.onnx", "--check"], tmp_path)
    assert (found.status, found.stderr) == (0, "")


@pytest.mark.parametrize("declared", ["h", "h//2 + 1 + h", "2*((h + 1)//2)", "n + h", 7])
def test_a_declared_expression_that_is_wrong(declared: Any, tmp_path: Path) -> None:
    save(_strided(declared), tmp_path / "m.onnx")
    assert "warning[AX501]" in axon(["infer", "m.onnx"], tmp_path).stderr


def test_a_declared_expression_is_tried_where_the_model_runs(tmp_path: Path) -> None:
    """A table of 16 rows lets no more through, so an annotation may or may not say so."""
    nodes = [
        node("Shape", "x", "s", start=1, end=2),
        node("Slice", "table zero s one", "rows"),
        node("Add", "x rows", "y"),
    ]
    weights = {"table": floats(1, 16, 4), "zero": ints(0), "one": ints(1)}
    for declared in ("Min(16, n)", "n"):
        made = model(nodes, {"x": ["b", "n", 4]}, {"y": ["b", declared, 4]}, weights)
        save(made, tmp_path / "m.onnx")
        found = axon(["infer", "m.onnx", "--check"], tmp_path)
        assert (found.status, found.stderr) == (0, "")


def test_a_name_that_is_declared_for_two_sizes(tmp_path: Path) -> None:
    weights = {"w": floats(4, 5)}
    made = model([node("MatMul", "x w", "y")], {"x": ["n", 4]}, {"y": ["k", "k"]}, weights)
    save(made, tmp_path / "m.onnx")
    found = axon(["infer", "m.onnx"], tmp_path)
    assert "`y` is declared f32 [k,k], but the graph makes it f32 [n,5]" in found.stderr
    assert "`k` would be n and 5" in found.stderr


def _strided(declared: Any) -> Any:
    nodes = [node("Conv", "x w", "y", strides=[2], pads=[1, 1])]
    weights = {"w": floats(6, 3, 3)}
    return model(nodes, {"x": ["n", 3, "h"]}, {"y": ["n", 6, declared]}, weights)


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
