"""Pictures of imported models."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from onnx import TensorProto, helper

from axon.importers.formats import read_model as read_any
from axon.importers.onnx.load import read_model
from axon.importers.reporting.report import report_on
from axon.pages.drawing import Kind, Picture
from axon.pages.model import picture_of_model
from axon.pages.svg import svg_of
from tests.importers.onnx_models import import_model

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "onnx"


def _picture(proto: Any) -> Picture:
    imported = import_model(proto, "model", program=False)
    return picture_of_model(imported, report_on(imported, "model", suggesting=False), "model")


def _example(name: str) -> Picture:
    return _picture(read_model(str(EXAMPLES / name)))


def _model(nodes: list[Any], inputs: list[Any], outputs: list[Any], weights: list[Any]) -> Any:
    graph = helper.make_graph(nodes, "g", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def _info(name: str, shape: list[int | str] | None) -> Any:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def test_layers_that_repeat_are_one_box() -> None:
    picture = _example("encoder.onnx")
    (layer,) = [box for box in picture.top.boxes if box.kind == Kind.FUNCTION]
    assert (layer.title, layer.count) == ("layer", 2) and layer.inside is not None
    assert [output.label for output in layer.outputs] == ["[batch,seq,16]"]
    inner = picture.drawings[layer.inside]
    assert [b.title for b in inner.boxes if b.kind == Kind.INPUT] == ["words/Gather"]
    assert any(box.lines == ["weight [16,16]"] for box in inner.boxes)
    count = sum(b.kind in (Kind.OPERATOR, Kind.FUNCTION) for b in picture.top.boxes)
    inside = sum(b.kind == Kind.OPERATOR for b in inner.boxes)
    nodes = len(read_model(str(EXAMPLES / "encoder.onnx")).graph.node)
    assert count - 1 + layer.count * inside == nodes


def test_layers_of_pytorch_are_named_by_their_modules() -> None:
    """What PyTorch added itself has no line of the user's."""
    imported = read_any(str(EXAMPLES.parent / "torch" / "encoder.pt2")).imported(program=False)
    picture = picture_of_model(imported, report_on(imported, "model", suggesting=False), "model")
    (layer,) = [box for box in picture.top.boxes if box.kind == Kind.FUNCTION]
    assert (layer.title, layer.count) == ("layer", 2)
    lines = [box.lines for box in picture.top.boxes if box.kind == Kind.OPERATOR]
    assert lines == [["dim = 0"], ["dim = 1"], ["weight [50,8]", "encoder.py:43"]]


def test_an_error_is_marked() -> None:
    picture = _example("broken.onnx")
    assert [b.title for b in picture.top.boxes if b.problem == 0] == ["MatMul", "Relu", "MatMul"]
    assert sum(edge.problem == 0 for edge in picture.top.edges) == 2
    ElementTree.fromstring(svg_of(picture))


def test_layers_are_alike_only_if_they_are_wired_alike() -> None:
    nodes = []
    last = "x"
    for i in range(4):
        nodes += [
            helper.make_node("Relu", [last], [f"a{i}"]),
            helper.make_node("Tanh", [f"a{i}"], [f"b{i}"]),
            helper.make_node("Add", [f"a{i}" if i == 2 else last, f"b{i}"], [f"c{i}"]),
        ]
        last = f"c{i}"
    picture = _picture(_model(nodes, [_info("x", ["n", 4])], [_info(last, None)], []))
    boxes = [b for b in picture.top.boxes if b.kind == Kind.FUNCTION]
    assert [b.count for b in boxes] == [2]
    assert len([b for b in picture.top.boxes if b.kind == Kind.OPERATOR]) == 6


def test_graphs_inside_nodes_are_drawings() -> None:
    then = helper.make_graph([helper.make_node("Relu", ["x"], ["t"])], "t", [], [_info("t", None)])
    other = helper.make_graph([helper.make_node("Neg", ["x"], ["e"])], "e", [], [_info("e", None)])
    node = helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other)
    condition = helper.make_tensor_value_info("c", TensorProto.BOOL, [])
    picture = _picture(_model([node], [condition, _info("x", ["n"])], [_info("y", None)], []))
    (box,) = [b for b in picture.top.boxes if b.title == "If"]
    assert box.inside is not None
    branches = [b for b in picture.drawings[box.inside].boxes if b.kind == Kind.FUNCTION]
    assert sorted(b.title for b in branches) == ["else_branch", "then_branch"]
    (at,) = [i for i, each in enumerate(picture.top.boxes) if each is box]
    sources = {picture.top.boxes[e.source].title for e in picture.top.edges if e.target == at}
    assert sources == {"c", "x"}


def test_names_of_tensors_are_no_markup() -> None:
    name = '</svg><script>alert("1")</script>'
    node = helper.make_node("Relu", [name], ["<y>"], name="<&>")
    picture = _picture(_model([node], [_info(name, ["n"])], [_info("<y>", None)], []))
    text = svg_of(picture)
    assert "<script" not in text
    ElementTree.fromstring(text)


def test_a_model_without_nodes() -> None:
    picture = _picture(_model([], [_info("x", [2])], [_info("x", [2])], []))
    assert [b.kind for b in picture.top.boxes] == [Kind.INPUT, Kind.RESULT]
