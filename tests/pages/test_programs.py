"""Pictures of programs: every definition has one, with the shapes that inference found."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from axon.files import find_import, read_source
from axon.pages.dot import dot_of
from axon.pages.drawing import Box, Kind, Picture
from axon.pages.outline import outline_of
from axon.pages.program import picture_of
from axon.pages.recorded import Files
from axon.pages.svg import svg_of
from axon.pages.symbols import split_label
from axon.source import Source

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = [
    *sorted((ROOT / "examples").rglob("*.axon")),
    *sorted((ROOT / "tests" / "golden").rglob("*.axon")),
]


def _picture(text: str, name: str) -> Picture:
    found = picture_of(Files().recorded(Source("program.axon", text)), name)
    assert found is not None
    return found


def _example(path: str, name: str) -> Picture:
    recorded = Files(find_import).recorded(read_source(str(ROOT / "examples" / path)))
    found = picture_of(recorded, name)
    assert found is not None
    return found


def _boxes(picture: Picture, title: str, drawing: int = 0) -> list[Box]:
    return [box for box in picture.drawings[drawing].boxes if box.title == title]


def _labels(picture: Picture, title: str, drawing: int = 0) -> list[str]:
    (box,) = _boxes(picture, title, drawing)
    return [output.label for output in box.outputs]


@pytest.mark.parametrize("part", range(8))
def test_every_definition_has_a_picture(part: int) -> None:
    for path in PROGRAMS[part::8]:
        recorded = Files(find_import).recorded(read_source(str(path)))
        right = not any(d.severity == "error" for d in recorded.diagnostics)
        for name in recorded.names():
            picture = picture_of(recorded, name)
            assert picture is not None
            for each in picture.drawings:
                sources = {edge.source for edge in each.edges}
                for at, box in enumerate(each.boxes):
                    assert not right or box.kind != Kind.UNKNOWN, (path, name, box.title)
                    assert box.inside is None or box.inside < len(picture.drawings)
                    assert at not in sources or box.outputs
                for edge in each.edges:
                    assert edge.output < len(each.boxes[edge.source].outputs)
            root = ElementTree.fromstring(svg_of(picture, depth=1))
            assert root.tag.endswith("svg")
            assert dot_of(picture, 1).startswith("digraph") and outline_of(picture, 1)


def test_attention() -> None:
    picture = _example("attention.axon", "attention")
    assert picture.signature == "(t [a,b], t [c,b], t [c,d]) -> t [a,d]"
    assert _labels(picture, "softmax") == ["[a,c]"]
    assert [b.outputs[0].label for b in _boxes(picture, "matmul")] == ["[a,c]", "[a,d]"]
    assert outline_of(picture).splitlines()[4:] == [
        "  %1 = transpose(K)                                     [b,c]",
        "  %2 = matmul(Q, %1)                                    [a,c]",
        "  %3 = softmax(%2)                                      [a,c]",
        "  %4 = matmul(%3, V)                                    [a,d]",
        "  result: %4",
    ]


def test_the_inside_of_a_call_has_the_sizes_of_the_call() -> None:
    text = "norm = fn (x : t [m,n]) { exp(x) };\nf = fn (y : f32 [rows,8]) { norm(y) };"
    picture = _picture(text, "f")
    (call,) = _boxes(picture, "norm")
    assert call.inside is not None
    assert _labels(picture, "exp", call.inside) == ["[rows,8]"]


def test_sizes_inside_are_found_through_products() -> None:
    text = (
        "heads = fn (x : t [b,s,h*k], h : dim h) { reshape(x, [b, s, h, k]) };\n"
        "f = fn (x : f32 [n,m,64]) { heads(x, 8) };"
    )
    picture = _picture(text, "f")
    (call,) = _boxes(picture, "heads")
    assert call.inside is not None and call.lines == ["h = 8"]
    assert _labels(picture, "reshape", call.inside) == ["[n,m,8,8]"]


def test_equal_calls_share_a_drawing_and_a_chain_is_one_box() -> None:
    text = (
        "layer = fn (x : t [n,d], w : t [d,d]) { relu(matmul(x, w)) };\n"
        "f = fn (x : f32 [n,4], a, b, c) { layer(layer(layer(x, a), b), c) };"
    )
    picture = _picture(text, "f")
    (box,) = _boxes(picture, "layer")
    assert box.count == 3 and len(picture.drawings) == 2
    (at,) = [i for i, each in enumerate(picture.top.boxes) if each is box]
    assert len([e for e in picture.top.edges if e.target == at]) == 4


def test_functions_of_operators_are_inside_and_take_from_outside() -> None:
    picture = _picture("f = fn (x : f32 [n,m], s : f32 [m]) { map(fn (a) { a / s }, x) };", "f")
    (box,) = _boxes(picture, "map")
    assert box.inside is not None
    inner = picture.drawings[box.inside]
    assert sorted(b.title for b in inner.boxes if b.kind == Kind.INPUT) == ["a", "s"]
    (at,) = [i for i, each in enumerate(picture.top.boxes) if each is box]
    sources = {picture.top.boxes[e.source].title for e in picture.top.edges if e.target == at}
    assert sources == {"x", "s"}


def test_records_are_drawn_by_their_fields() -> None:
    text = "f = fn (p : { w : t [i,o], b : t [o] }, x : t [n,i]) { matmul(x, p.w) + p.b };"
    picture = _picture(text, "f")
    inputs = {b.title: b.outputs[0].label for b in picture.top.boxes if b.kind == Kind.INPUT}
    assert inputs == {"p.w": "[i,o]", "p.b": "[o]", "x": "[n,i]"}


def test_open_ranks_and_branches() -> None:
    text = "f = fn (c : bool, x : t s@[n]) { if c { exp(x) } else { -x } };"
    picture = _picture(text, "f")
    (box,) = _boxes(picture, "if")
    assert [o.label for o in box.outputs] == ["s@[n]"] and box.inside is not None
    inner = picture.drawings[box.inside].boxes
    assert [b.title for b in inner if b.kind == Kind.FUNCTION] == ["then", "else"]


def test_the_sides_of_an_error_are_marked() -> None:
    text = (
        "mlp = fn (x : f32 [b,784], w1 : f32 [784,256], w2 : f32 [128,10]) {\n"
        "  h = relu(matmul(x, w1));\n  matmul(h, w2)\n};"
    )
    picture = _picture(text, "mlp")
    marked = [b.title for b in picture.top.boxes if b.problem == 0]
    assert marked == ["w1", "w2", "matmul", "matmul"]
    assert picture.problems[0].message == "AX101: matmul: the inner sizes differ, 256 and 128"
    red = {
        (picture.top.boxes[e.source].title, picture.top.boxes[e.target].title)
        for e in picture.top.edges
        if e.problem == 0
    }
    assert red == {("w1", "matmul"), ("matmul", "relu"), ("relu", "matmul"), ("w2", "matmul")}
    assert _labels(picture, "relu") == ["[b,256]"]
    assert "inner sizes differ" in svg_of(picture)


def test_what_cannot_be_read_is_a_box() -> None:
    picture = _picture("f = fn (x) { y = x + ; relu(y) };", "f")
    assert any(box.kind == Kind.UNKNOWN for box in picture.top.boxes)


def test_a_symbol_has_one_colour() -> None:
    picture = _example("models/gpt2.axon", "gpt2")
    colours: dict[str, set[int | None]] = {}
    for drawing in picture.drawings:
        for box in drawing.boxes:
            for output in box.outputs:
                for text, symbol in split_label(output.label, picture.symbols):
                    if re.fullmatch(r"\w+", text) and symbol is not None:
                        colours.setdefault(text, set()).add(symbol)
    assert {"b", "s", "c", "d"} <= colours.keys()
    assert all(len(found) == 1 for found in colours.values())
    assert len({next(iter(found)) for found in colours.values()}) == len(colours)
    root = ElementTree.fromstring(svg_of(picture, depth=4))
    classes: dict[str, set[str]] = {}
    for span in root.iter("{http://www.w3.org/2000/svg}tspan"):
        if (span.get("class") or "").startswith("c"):
            classes.setdefault(span.text or "", set()).add(span.get("class") or "")
    assert {"b", "s"} <= classes.keys() and all(len(found) == 1 for found in classes.values())


def test_numbers_have_no_colour() -> None:
    assert split_label("[b,8,3*d]", {"b": 0, "d": 1}) == [
        ("[", None),
        ("b", 0),
        (",8,3*", None),
        ("d", 1),
        ("]", None),
    ]


HOSTILE = 'f = fn (x : f32 [n]) { reshape(x, "</svg><script>alert(1)</script>&]]>\u0001") };'


def test_nothing_in_a_program_is_markup() -> None:
    picture = _picture(HOSTILE, "f")
    picture.title = "</title><script>\"'&\x00\ud800"
    for depth in (0, 1):
        text = svg_of(picture, depth)
        root = ElementTree.fromstring(text)
        assert not list(root.iter("{http://www.w3.org/2000/svg}script"))
        assert "<script" not in text and text.encode()
    outside = re.sub(r'"(?:[^"\\]|\\.)*"', "", dot_of(picture))
    assert "script" not in outside and outside.isascii()


def test_what_is_drawn_is_bounded() -> None:
    """Each function calls the one before twice: shared drawings, not 2^40 boxes."""
    lines = ["f0 = fn (x : t [n]) { exp(x) };"]
    lines += [f"f{i} = fn (x : t [n]) {{ f{i - 1}(x) * f{i - 1}(exp(x)) }};" for i in range(1, 40)]
    picture = _picture("\n".join(lines), "f39")
    assert picture.count < 200
    assert len(svg_of(picture, depth=99)) < 80_000_000
