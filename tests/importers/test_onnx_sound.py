"""Models that run must be accepted, and have the shapes that they have: cases that went wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

import axon
from axon.driver import check_text
from axon.importers.writing.program import write_program
from tests.importers.onnx_models import floats, import_model, infer_model, ints, model, node


def shape(made: Any, name: str, **options: Any) -> Any:
    report = infer_model(made, "m", **options)
    assert report.ok, report.diagnostics
    return report.tensors[name].shape


def branch(given: Any, name: str) -> Any:
    made = helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
    return helper.make_graph([given], name, [], [made])


def conditional(sizes: Any) -> Any:
    """Squeeze what can be squeezed, or else add it up: as exporters write `squeeze`."""
    chosen = helper.make_node(
        "If",
        ["c"],
        ["y"],
        then_branch=branch(node("Squeeze", "x zero", "t"), "t"),
        else_branch=branch(node("ReduceSum", "x zero", "e", keepdims=0), "e"),
    )
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, sizes),
        helper.make_tensor_value_info("c", TensorProto.BOOL, []),
    ]
    return model([chosen], inputs, {"y": None}, {"zero": ints(0)})


@pytest.mark.parametrize(("sizes", "signature"), [(["n", 3], "f32 [n,3]"), ([2, 3], "f32 [2,3]")])
def test_a_branch_asks_nothing_of_the_graph_around(sizes: Any, signature: str) -> None:
    report = infer_model(conditional(sizes), "m")
    assert report.ok
    assert report.signature == f"({signature}, bool) -> f32 [3]"


def test_a_program_with_branches_asks_no_more_than_the_model() -> None:
    made = conditional(["n", 3])
    written = write_program(import_model(made, "m"))
    checked = check_text(written.text)
    assert checked.ok
    assert checked.signatures[-1].signature.startswith("(f32 [n,3], bool) -> ")


def test_the_other_branch_runs() -> None:
    net = axon.from_onnx(conditional([1, 3]))
    x = np.arange(3, dtype=np.float32).reshape(1, 3)
    for condition in (True, False):
        np.testing.assert_array_equal(net.model(x, np.array(condition)), x[0])


@pytest.mark.parametrize("start", ["n - 2", "n - 5"])
def test_a_bound_that_may_be_negative_is_not_taken_for_a_place(start: str) -> None:
    less = int(start.split("- ")[1])
    nodes = [
        node("Shape", "x", "s", end=1),
        node("Sub", "s less", "start"),
        node("Slice", "x start far zero", "y"),
    ]
    weights = {"less": ints(less), "far": ints(2**62), "zero": ints(0)}
    found = shape(model(nodes, {"x": ["n", 3]}, {"y": None}, weights), "y")
    assert found[1] == 3
    assert found[0] not in (less, f"min(n,{less})")


def test_a_window_tells_how_many_dimensions_are_pooled() -> None:
    made = model([node("MaxPool", "x", "y", kernel_shape=[3])], {"x": None}, {"y": None})
    report = infer_model(made, "m")
    assert len(report.tensors["x"].shape or ()) == 3


def test_a_split_into_a_number_of_parts_may_be_uneven() -> None:
    nodes = [
        node("LayerNormalization", "x w", "a"),
        node("Split", "a", "y z", axis=2, num_outputs=2),
    ]
    made = model(nodes, {"x": None}, {"y": None, "z": None}, {"w": floats(3)}, opset=18)
    assert infer_model(made, "m", forget=True).ok


def test_sizes_that_go_round() -> None:
    """Reshapes of a size that only a run tells, and a mistake, for which all is inferred again."""
    nodes = [
        node("Unique", "x", "y"),
        node("Shape", "y", "s"),
        node("Concat", "s one", "a", axis=0),
        node("Concat", "s two", "b", axis=0),
        node("Reshape", "y a", "r"),
        node("Reshape", "y b", "q"),
        node("Add", "u v", "wrong"),
    ]
    weights = {"one": ints(-1), "two": ints(-1, 1), "u": floats(2), "v": floats(3)}
    report = infer_model(model(nodes, {"x": ["n"]}, {"wrong": None, "q": None}, weights), "m")
    assert [d.code for d in report.diagnostics if d.severity == "error"] == ["AX110"]


@pytest.mark.parametrize("name", ["n", "fn", "true", "é", "0", "_0", "a b", "shape", "f32", "relu"])
def test_names_of_sizes_and_tensors_that_mean_something_else(name: str) -> None:
    nodes = [
        node("Relu", "x", name) if " " not in name else helper.make_node("Relu", ["x"], [name]),
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Concat", ["s", "one"], ["t"], axis=0),
        helper.make_node("Reshape", [name, "t"], ["y"]),
    ]
    made = model(nodes, {"x": [name, 3]}, {"y": None}, {"one": ints(1)})
    x = np.array([[1, -2, 3], [-4, 5, 6]], np.float32)
    np.testing.assert_array_equal(axon.from_onnx(made).model(x), np.maximum(x, 0)[..., None])


@pytest.mark.parametrize("kind", ["Shape", "Size"])
def test_the_rank_of_a_tensor_is_a_value(kind: str) -> None:
    made = model([node("Shape", "x", "s"), node(kind, "s", "y")], {"x": ["n", "k"]}, {"y": None})
    found = axon.from_onnx(made).model(np.ones((4, 5), np.float32))
    np.testing.assert_array_equal(found, [2] if kind == "Shape" else 2)


def test_a_function_may_be_called_with_fewer_inputs() -> None:
    body = [node("Relu", "p", "h"), helper.make_node("Clip", ["h", "", "o"], ["r"])]
    opsets = [helper.make_opsetid("", 20)]
    function = helper.make_function("local", "F", ["p", "o"], ["r"], body, opsets)
    call = helper.make_node("F", ["x"], ["y"], domain="local")
    made = model([call], {"x": ["n"]}, {"y": None}, functions=[function])
    x = np.array([-1, 2], np.float32)
    np.testing.assert_array_equal(axon.from_onnx(made).model(x), [0, 2])


def test_a_sum_of_a_thousand_tensors() -> None:
    made = model([helper.make_node("Sum", ["x"] * 1000, ["y"])], {"x": ["n"]}, {"y": None})
    np.testing.assert_allclose(axon.from_onnx(made).model(np.ones(2, np.float32)), [1000, 1000])


@pytest.mark.parametrize("number", [np.nan, -0.0, np.inf, -np.inf, 0.1])
def test_every_number_can_be_a_weight(number: float) -> None:
    weights = {"w": np.float32(number), "one": np.float32(1)}
    nodes = [node("Mul", "x w", "a"), node("Div", "one a", "y")]
    made = model(nodes, {"x": ["n"]}, {"y": None}, weights)
    with np.errstate(divide="ignore"):
        expected = np.float32(1) / (np.ones(1, np.float32) * np.float32(number))
        np.testing.assert_array_equal(axon.from_onnx(made).model(np.ones(1, np.float32)), expected)


def test_a_size_that_only_a_run_tells_is_marked() -> None:
    """As in the program that the model becomes: who has the model cannot choose it."""
    made = model([node("NonZero", "x", "y")], {"x": ["n", 3]}, {"y": None})
    assert infer_model(made, "m").signature == "f32 [n,3] -> i64 [2,?a]"
    text = write_program(import_model(made, "m")).text
    assert check_text(text).signatures[-1].signature == "f32 [n,3] -> i64 [2,?a]"


def test_what_an_input_is_does_not_hang_on_what_a_run_computes() -> None:
    """The sizes of `y` are known to a run alone; they are made from those of `x`, whose sizes are
    known when the model is called.
    """
    nodes = [
        node("Transpose", "x", "t", perm=[0, 1, 2]),
        node("Abs", "s", "s1"),
        node("Reshape", "t s1", "y"),
    ]
    made = model(nodes, [helper.make_tensor_value_info("x", TensorProto.FLOAT, None)], {"y": None})
    made.graph.input.append(helper.make_tensor_value_info("s", TensorProto.INT64, [2]))
    assert infer_model(made, "m").signature.startswith("(f32 [a,b,c], i64 [2]) -> f32 [?d,?e]")


def test_a_model_that_returns_a_shape_returns_a_tensor_as_a_program_too() -> None:
    made = model([node("Shape", "x", "s")], {"x": ["n", 3, 4]}, {"s": None})
    assert infer_model(made, "m").signature == "f32 [n,3,4] -> i64 [3]"
    text = write_program(import_model(made, "m")).text
    assert check_text(text).signatures[-1].signature == "f32 [n,3,4] -> i64 [3]"


def test_a_size_that_grows_out_of_hand_is_left_to_the_run() -> None:
    inputs = {f"x{i}": [f"a{i}", f"b{i}"] for i in range(14)}
    nodes = []
    for i in range(14):
        nodes += [node("Shape", f"x{i}", f"s{i}"), node("ReduceSum", f"s{i}", f"r{i}")]
        nodes += [node("Mul", f"m{i - 1} r{i}", f"m{i}")] if i else [node("Identity", "r0", "m0")]
    made = model([*nodes, node("ConstantOfShape", "m13", "y")], inputs, {"y": None})
    assert infer_model(made, "m").signature.endswith(" -> f32 [?a]")
    text = write_program(import_model(made, "m")).text
    assert check_text(text).signatures[-1].signature.endswith(" -> f32 [?a]")
