"""Inputs of nodes that nothing has made by then."""

from __future__ import annotations

from typing import Any

import pytest
from onnx import helper

from tests.importers.onnx_models import floats, infer_model, model, node, value


def codes(made: Any) -> list[tuple[str, str]]:
    return [(d.code, d.message) for d in infer_model(made, "m.onnx").diagnostics]


def branch(name: str, given: str) -> Any:
    return helper.make_graph([node("Relu", given, f"{name}_y")], name, [], [value(f"{name}_y")])


def chosen(given: str) -> Any:
    made = helper.make_node(
        "If",
        ["c"],
        ["z"],
        name="choose",
        then_branch=branch("a", "x"),
        else_branch=branch("b", given),
    )
    inputs = [value("x", [2, 3]), helper.make_tensor_value_info("c", 9, [])]
    return model([node("Neg", "x", "w"), made], inputs, {"z": None})


def test_a_name_that_nothing_has() -> None:
    made = model([node("Relu", "nope", "y")], {"x": [2, 3]}, {"y": None})
    assert codes(made) == [
        ("AX504", "Relu `y`: its input `nope` is undefined: nothing has that name")
    ]


def test_nodes_in_the_wrong_order() -> None:
    nodes = [node("Relu", "h", "y"), node("Neg", "x", "h")]
    made = model(nodes, {"x": [2, 3]}, {"y": None})
    assert codes(made) == [("AX504", "Relu `y`: its input `h` is made only by a later node")]


def test_a_cycle() -> None:
    nodes = [node("Add", "x b", "a"), node("Relu", "a", "b")]
    assert [code for code, _ in codes(model(nodes, {"x": [2, 3]}, {"b": None}))] == ["AX504"]


@pytest.mark.parametrize("given", ["x", "w"])
def test_a_branch_takes_what_is_around_it(given: str) -> None:
    assert codes(chosen(given)) == []


def test_a_branch_that_takes_what_is_not_there() -> None:
    assert codes(chosen("nope"))[0] == (
        "AX504",
        "Relu `b_y`: its input `nope` is undefined: nothing has that name",
    )


def test_inputs_that_are_left_out() -> None:
    nodes = [helper.make_node("Clip", ["x", "", "m"], ["y"])]
    assert codes(model(nodes, {"x": [2, 3]}, {"y": None}, {"m": floats()})) == []
