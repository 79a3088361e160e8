"""What makes the importer fast changes no answer: nodes that come again, signatures applied at
once, layers written as functions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

import axon
from axon.diagnostics import Severity
from axon.driver import check_text
from axon.importers import imported as models
from axon.importers import walk
from axon.importers.imported import Imported
from axon.importers.onnx.model import ONNX
from axon.importers.onnx.read import model_of
from axon.importers.writing.program import write_program
from axon.types import dim as dims
from axon.types.show import Show
from axon.types.type import Tensor
from axon.types.variables import DimVar, ShapeVar
from axon.workspace import workspace
from tests.importers.onnx_models import import_model, ints, model, node
from tests.importers.onnx_random import SIZES, Growing, grown

SEEDS = range(60)
X = numpy.array([[1.0, -2.0, 3.0]], numpy.float32)


@pytest.fixture(autouse=True)
def remembering(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small models remember what they have seen, too."""
    monkeypatch.setattr(walk, "OFTEN", 2)


def slowly(made: Any, forget: bool = False) -> Imported:
    """The model inferred without any of it."""
    with mock.patch("axon.importers.walk.may_repeat", return_value=False), workspace():
        asked = models._Asked(model_of(made), ONNX, "m", forget, True)
        return models._rounds(asked, {}, reasons=True)


def said(imported: Imported) -> dict[str, list[object]]:
    """What the sizes of the inputs tell of each tensor."""

    def size(item: Any) -> object:
        if isinstance(item, int):
            return item
        known = isinstance(item, DimVar) or not isinstance(item, ShapeVar)
        if known and all(v.user for v in dims.variables(item)):
            return Show().dim(item)
        return "?"

    found: dict[str, list[object]] = {}
    for name in imported.importer.types:
        type_ = imported.type(name)
        assert isinstance(type_, Tensor)
        found[name] = [type_.elem if isinstance(type_.elem, str) else "?", *map(size, type_.shape)]
    return found


def wrong(imported: Imported, it: Growing) -> Iterator[str]:
    """The tensors that are not what they are said to be. A size that is no input's is what it is
    where it is met first.
    """
    for at in range(len(SIZES)):
        sizes: dict[DimVar, int] = {}
        for name in [*it.inputs, *(name for each in it.nodes for name in each.output)]:
            type_, truth = imported.type(name), it.values[name][at].shape
            if not isinstance(type_, Tensor) or any(isinstance(i, ShapeVar) for i in type_.shape):
                continue
            if len(type_.shape) != len(truth):
                yield f"{name}: {type_.shape} is {truth}"
                continue
            for item, size in zip(type_.shape, truth, strict=True):
                if isinstance(item, DimVar):
                    sizes.setdefault(item, size)
                known = dims.evaluate(item, sizes)  # type: ignore[arg-type]
                if known not in (None, size):
                    yield f"{name}: {type_.shape} is {truth}"


def errors(text: str) -> list[str]:
    found = check_text(text, "model.axon").diagnostics
    return [each.message for each in found if each.severity == Severity.ERROR]


@pytest.mark.parametrize("seed", SEEDS)
def test_what_comes_again_is_the_same(seed: int) -> None:
    made = grown(seed).model()
    found = said(import_model(made, "m"))
    assert found == said(slowly(made))
    assert found == said(import_model(made, "m", program=False))


@pytest.mark.parametrize("seed", SEEDS)
def test_shapes_are_those_of_a_run(seed: int) -> None:
    it = grown(seed)
    for forget in (False, True):
        imported = import_model(it.model(), "m", forget=forget)
        assert not imported.importer.state.store.conflicts
        assert not imported.importer.state.diagnostics
        assert not list(wrong(imported, it))


@pytest.mark.parametrize("seed", SEEDS)
def test_programs_compute_what_the_model_does(seed: int) -> None:
    it = grown(seed)
    made = it.model()
    written = write_program(import_model(made, "m"))
    assert errors(written.text) == []
    if written.opaque:
        return
    program = axon.from_onnx(made)
    for at in range(len(SIZES)):
        found = program.model(*(it.values[name][at] for name in it.inputs))
        for name, value in zip(
            it.outputs(), found if type(found) is tuple else [found], strict=True
        ):
            truth = it.values[name][at]
            assert value.dtype == truth.dtype
            numpy.testing.assert_allclose(value, truth, rtol=1e-3, atol=1e-4)


# --- found by looking ------------------------------------------------------------------------


def text_of(made: Any) -> str:
    """The program of a model, which computes what the model does."""
    text = write_program(import_model(made, "m")).text
    assert errors(text) == []
    found = axon.from_onnx(made).model(X)
    truth = ReferenceEvaluator(made).run(None, {"x": X})
    for a, b in zip(found if type(found) is tuple else [found], truth, strict=True):
        numpy.testing.assert_allclose(a, b, rtol=1e-5)
    return text


def layers(stem: str) -> Any:
    """Three layers whose tensors are called by a word and a number."""
    nodes, last = [], "x"
    for i in range(3):
        for op, letter in (("Relu", "a"), ("Tanh", "b"), ("Neg", "c")):
            nodes.append(helper.make_node(op, [last], [f"{stem}.{i}.{letter}"]))
            last = f"{stem}.{i}.{letter}"
    nodes.append(helper.make_node("Abs", [last], ["y"]))
    return model(nodes, {"x": ["n", 3]}, {"y": None})


def test_zeros_of_both_signs_are_two_weights() -> None:
    nodes = [
        *(node("Mul", f"x {w}", f"p{w}") for w in "ab"),
        *(node("Reciprocal", f"p{w}", f"y{w}") for w in "ab"),
    ]
    zeros = {"a": numpy.array([0.0], numpy.float32), "b": numpy.array([-0.0], numpy.float32)}
    text = text_of(model(nodes, {"x": [1, 3]}, {"ya": None, "yb": None}, zeros))
    assert "op a :" in text and "op b :" in text


@pytest.mark.parametrize("stem", ["model", "models", "blöcke", "日本", "fn", "_s"])
def test_layers_may_be_called_anything(stem: str) -> None:
    text = text_of(layers(stem))
    assert text.count("\nmodel = ") + text.startswith("model = ") == 1
    assert text.isascii()


def test_a_parameter_does_not_hide_the_function_that_a_layer_calls() -> None:
    body = [node("Relu", "p", "h"), node("Tanh", "h", "g"), node("Neg", "g", "q")]
    function = helper.make_function("local", "F", ["p"], ["q"], body, [helper.make_opsetid("", 17)])
    nodes = [node("Relu", "x", "F_0")]
    for i in range(4):
        nodes += [
            helper.make_node("F", [f"F_{i}"], [f"a{i}"], domain="local"),
            node("Exp", f"a{i}", f"b{i}"),
            node("Abs", f"b{i}", f"c{i}"),
            node("Add", f"c{i} F_0", f"F_{i + 1}"),
        ]
    text = text_of(model(nodes, {"x": ["n", 3]}, {"F_4": None}, functions=[function]))
    assert "F = fn" in text and "layer = fn" in text


def test_a_parameter_does_not_hide_a_size() -> None:
    nodes, last = [node("Relu", "x", "n_2")], "n_2"
    for i in range(3):
        nodes += [
            node("Shape", "x", f"s{i}"),
            node("Concat", f"s{i} one", f"t{i}", axis=0),
            node("Reshape", f"{last} t{i}", f"r{i}"),
            node("Relu", f"r{i}", f"u{i}"),
            node("Squeeze", f"u{i} two", f"w{i}"),
            node("Tanh", f"w{i}", f"v{i}"),
        ]
        last = f"v{i}"
    weights = {"one": ints(1), "two": ints(2)}
    assert "layer = fn" in text_of(model(nodes, {"x": ["n", 3]}, {last: None}, weights))


def test_a_weight_may_be_a_parameter_in_one_place_and_shared_in_another() -> None:
    nodes, last = [], "x"
    for i, weight in enumerate(("w", "w", "v")):
        nodes += [
            node("Add", f"{last} {weight}", f"a{i}"),
            node("Tanh", f"a{i}", f"b{i}"),
            node("Mul", f"b{i} w", f"c{i}"),
        ]
        last = f"c{i}"
    weights = {"w": X[0], "v": -X[0]}
    assert "layer = fn" in text_of(model(nodes, {"x": ["n", 3]}, {last: None}, weights))


def test_sizes_that_a_run_tells_are_not_shared() -> None:
    """The same node twice makes two sizes, though its inputs are of one kind."""
    nodes = [
        node("NonZero", "x", "a"),
        node("Neg", "x", "z"),
        node("NonZero", "z", "b"),
        node("Concat", "a b", "y", axis=1),
    ]
    imported = import_model(model(nodes, {"x": ["n", 3]}, {"y": None}), "m")
    (_, a), (_, b) = (imported.type(name).shape for name in "ab")  # type: ignore[union-attr]
    assert a is not b
    assert imported.type("y").shape[1] == dims.add(a, b)  # type: ignore[union-attr,arg-type]


@pytest.mark.parametrize("unnamed", range(3))
def test_an_output_may_have_a_name_in_some_layers_only(unnamed: int) -> None:
    nodes, last = [], "x"
    for i in range(3):
        values = "" if i == unnamed else f"v{i}"
        nodes += [
            node("Relu", last, f"a{i}"),
            helper.make_node("TopK", [f"a{i}", "k"], [values, f"i{i}"]),
            node("Tanh", f"a{i}", f"c{i}"),
        ]
        last = f"c{i}"
    outputs = [helper.make_tensor_value_info(last, 1, None)]
    outputs += [helper.make_tensor_value_info(f"v{i}", 1, None) for i in range(3) if i != unnamed]
    outputs += [helper.make_tensor_value_info(f"i{i}", 7, None) for i in range(3)]
    inputs = [helper.make_tensor_value_info("x", 1, ["n", 3])]
    assert "layer = fn" in text_of(model(nodes, inputs, outputs, {"k": ints(2)}))


def test_tensors_that_nothing_makes_are_not_alike() -> None:
    nodes = [
        node("Softmax", "u", "a"),
        node("Softmax", "v", "b"),
        node("MatMul", "a three", "c"),
        node("MatMul", "b five", "d"),
    ]
    weights = {"three": numpy.eye(3, dtype="f"), "five": numpy.eye(5, dtype="f")}
    imported = import_model(model(nodes, {"x": [3]}, {"c": None, "d": None}, weights), "m")
    assert not imported.importer.state.store.conflicts


def test_a_shape_that_a_run_tells_is_no_result_of_a_layer() -> None:
    nodes, last = [], "x"
    for i in range(3):
        nodes += [
            node("Relu", last, f"a{i}"),
            node("NonZero", f"a{i}", f"b{i}"),
            node("Shape", f"b{i}", f"s{i}"),
            node("Tanh", f"a{i}", f"c{i}"),
        ]
        last = f"c{i}"
    text_of(model(nodes, {"x": ["n", 3]}, {last: None, "s0": None, "s1": None, "s2": None}))


# --- sizes as floats -------------------------------------------------------------------------


def sized(op: str, weight: float, size: int | str) -> Any:
    """A tensor of as many elements as a float that was made of a size."""
    nodes = [
        node("Shape", "x", "s", end=1),
        node("Cast", "s", "f", to=1),
        node(op, "f w", "g"),
        node("Cast", "g", "i", to=7),
        node("ConstantOfShape", "i", "y"),
    ]
    weights = {"w": numpy.array([weight], numpy.float32)}
    return model(nodes, {"x": [size, 3]}, {"y": None}, weights)


@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Div", "Max", "Min"])
@pytest.mark.parametrize("size", [1, "n"])
def test_a_size_may_meet_a_fraction(op: str, size: int | str) -> None:
    imported = import_model(sized(op, 0.5, size), "m")
    assert not imported.importer.malformed
    text_of(sized(op, 0.5, size))


def test_floats_are_rounded_as_f32_does() -> None:
    assert import_model(sized("Mul", 0.29, 100), "m").type("y") == Tensor("f32", (29,))


def test_sizes_as_floats_are_divided_as_floats() -> None:
    nodes = [
        node("Shape", "x", "s", start=1),
        node("Cast", "s", "f", to=1),
        node("Shape", "x", "r", end=1),
        node("Cast", "r", "g", to=1),
        node("Add", "g g", "h"),
        node("Div", "f h", "q"),
        node("Add", "q q", "p"),
        node("Cast", "p", "i", to=7),
        node("ConstantOfShape", "i", "y"),
    ]
    text_of(model(nodes, {"x": ["n", "m"]}, {"y": None}))


def test_many_kinds_of_layers_are_found_in_good_time() -> None:
    nodes, last = [], "x"
    for i in range(120):
        for copy in range(2):
            for j in range(4):
                name = f"d{i}_{copy}_{j}"
                alpha = (4 * i + j + 1) / 1000
                nodes.append(helper.make_node("LeakyRelu", [last], [name], alpha=alpha))
                last = name
    made = model(nodes, {"x": ["n", 3]}, {last: None})
    text = write_program(import_model(made, "m")).text
    assert text.count("= fn") == 121
