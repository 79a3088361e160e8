"""Sizes that are known not to be negative, also where a model computes with them before any tensor
has them, as exporters that put such arithmetic first do.
"""

from __future__ import annotations

from typing import Any

import pytest

import axon
from axon.importers.reporting.report import Report
from tests.importers.onnx_models import floats, infer_model, ints, model, node, scalar

WEIGHTS = {
    "w": floats(2, 3, 3),
    "at": scalar(2),
    "less": scalar(-3),
    "two": scalar(2),
    "one": scalar(1),
    "vector": ints(1),
}
SIZE = [
    node("Shape", "x", "s"),
    node("Gather", "s at", "n"),
    node("Add", "n less", "room"),
    node("Div", "room two", "half"),
    node("Add", "half one", "places"),
    node("Reshape", "places vector", "sizes"),
    node("ConstantOfShape", "sizes", "z"),
]
"""Zeros, as many as a window of 3 has places by steps of 2; `Div` rounds towards zero."""
CONV = node("Conv", "x w", "y", strides=[2])


def found(nodes: list[Any]) -> Report:
    made = model(nodes, {"x": ["b", 3, "n"]}, {"y": None, "z": None}, WEIGHTS)
    report = infer_model(made, "m")
    assert report.ok
    return report


@pytest.mark.parametrize("nodes", [[CONV, *SIZE], [*SIZE, CONV]])
def test_what_is_left_beside_a_window_is_not_negative(nodes: list[Any]) -> None:
    report = found([*nodes, node("Add", "y z", "sum")])
    assert report.tensors["z"].shape == ("(n+1)/2 - 1",)
    assert report.tensors["sum"].shape == ("b", 2, "(n+1)/2 - 1")
    assert "n >= 3" in report.guards


def test_without_a_window_nothing_is_known_of_it() -> None:
    made = model(SIZE, {"x": ["b", 3, "n"]}, {"z": None}, WEIGHTS)
    report = infer_model(made, "m")
    assert report.tensors["z"].shape != ("(n+1)/2 - 1",)
    for n, size in ((0, 0), (1, 0), (2, 1), (3, 1), (5, 2)):
        assert axon.from_onnx(made).model(floats(1, 3, n)).shape == (size,)


def test_a_window_fits_also_where_nobody_asks() -> None:
    made = model([CONV], {"x": ["b", 3, "n"]}, {"y": None}, WEIGHTS)
    assert infer_model(made, "m").guards == ("n >= 3",)


def test_sizes_without_names_come_again() -> None:
    made = model([*SIZE, CONV], {"x": None}, {"y": None, "z": None}, WEIGHTS)
    made.graph.input[0].type.tensor_type.shape.dim.add()
    for size in (3, None):
        dim = made.graph.input[0].type.tensor_type.shape.dim.add()
        if size:
            dim.dim_value = size
    report = infer_model(made, "m")
    (places,) = report.tensors["z"].shape or ()
    assert report.tensors["y"].shape is not None
    assert report.tensors["y"].shape[-1] == places


@pytest.mark.parametrize("n", [3, 4, 5, 9])
@pytest.mark.parametrize("nodes", [[CONV, *SIZE], [*SIZE, CONV]])
def test_it_runs(nodes: list[Any], n: int) -> None:
    made = model([*nodes, node("Add", "y z", "sum")], {"x": ["b", 3, "n"]}, {"sum": None}, WEIGHTS)
    assert axon.from_onnx(made).model(floats(2, 3, n)).shape == (2, 2, (n - 1) // 2)


def test_a_size_rounded_up_to_a_multiple_is_no_less() -> None:
    """What is padded to a multiple and cut again is as it was."""
    nodes = [
        node("Slice", "x zero most axis step", "y0"),
        node("Shape", "y0", "s"),
        node("Gather", "s at", "n"),
        node("Neg", "n", "m"),
        node("Mod", "m four", "rest"),
        node("Reshape", "rest vector", "after"),
        node("Concat", "zeros after", "pads", axis=0),
        node("Pad", "y0 pads", "p"),
        node("Reshape", "n vector", "end"),
        node("Slice", "p zero end axis step1", "cut"),
        node("Add", "cut y0", "y"),
        node("Identity", "s", "z"),
    ]
    weights = {
        "zero": ints(0), "most": ints(1 << 40), "axis": ints(2), "step": ints(2),
        "step1": ints(1), "at": scalar(2), "four": scalar(4), "vector": ints(1),
        "zeros": ints(0, 0, 0, 0, 0),
    }  # fmt: skip
    made = model(nodes, {"x": ["b", 3, "n"]}, {"y": None, "z": None}, weights)
    assert infer_model(made, "m").tensors["y"].shape == ("b", 3, "(n+1)/2")


def test_what_is_asked_last_is_known_of_what_came_first() -> None:
    nodes = [
        node("Slice", "x zero one zero", "first"),
        node("TopK", "x one", "best at", axis=0),
    ]
    weights = {"zero": ints(0), "one": ints(1)}
    made = model(nodes, {"x": ["n", 3]}, {"first": None, "best": None}, weights)
    assert infer_model(made, "m").tensors["first"].shape == (1, 3)
