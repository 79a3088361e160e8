"""`axon graph`: formats, names, and what is said when something is wrong."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import axon
from axon.cli import main

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ATTENTION = str(EXAMPLES / "attention.axon")


def test_without_an_output_it_is_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graph", ATTENTION, "softmax"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("softmax : t [m,n] -> t [m,n]\n  e (input)") and "s = map(%1)" in out


def test_the_last_definition_is_drawn_if_none_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graph", ATTENTION, "--depth", "1"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("attention : ") and "z = exp(e)" in out


@pytest.mark.parametrize("file", [ATTENTION, str(EXAMPLES / "onnx" / "encoder.onnx")])
@pytest.mark.parametrize("suffix", ["svg", "png", "html", "dot"])
def test_formats(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], file: str, suffix: str
) -> None:
    out = tmp_path / f"g.{suffix}"
    assert main(["graph", file, "-o", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}\n"
    data = out.read_bytes()
    match suffix:
        case "svg":
            assert ElementTree.fromstring(data).tag.endswith("svg")
        case "png":
            assert data.startswith(b"\x89PNG")
        case "html":
            assert data.startswith(b"<!doctype html>")
        case _:
            assert data.startswith(b"digraph")


def test_a_broken_program_has_a_picture_and_status_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "f.axon"
    program.write_text("f = fn (x : f32 [2,3]) { matmul(x, x) };", encoding="utf-8")
    assert main(["graph", str(program), "-o", str(tmp_path / "g.svg")]) == 1
    assert "AX101" in capsys.readouterr().err
    assert "inner sizes differ" in (tmp_path / "g.svg").read_text("utf-8")


@pytest.mark.parametrize(
    "arguments",
    [
        [ATTENTION, "nothing"],
        [ATTENTION, "nothing", "-o", "g.html"],
        [ATTENTION, "-o", "g.jpg"],
        [ATTENTION, "-o", "missing/g.svg"],
        ["nowhere.axon"],
        [str(EXAMPLES / "onnx" / "encoder.onnx"), "encoder"],
    ],
    ids=lambda a: " ".join(Path(x).name for x in a),
)
def test_wrong_usage_is_one_line_and_status_2(
    arguments: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["graph", *arguments]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith("axon: ") and said.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_program_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "f.svg"
    program.write_text("f = fn (x) { x };", encoding="utf-8")
    assert main(["graph", str(program), "-o", str(program)]) == 2
    assert program.read_text(encoding="utf-8") == "f = fn (x) { x };"


def test_png_without_its_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    assert main(["graph", ATTENTION, "-o", "g.png"]) == 2
    assert "pip install 'axon-shapes[png]'" in capsys.readouterr().err
    with pytest.raises(ImportError, match=r"pip install 'axon-shapes\[png\]'"):
        axon.load(ATTENTION).attention.picture().save("g.png")


def test_figures_in_python(tmp_path: Path) -> None:
    net = axon.load(ATTENTION)
    figure = net.attention.picture()
    assert isinstance(figure, axon.Figure)
    assert figure._repr_svg_() == figure.svg and figure.svg.startswith("<svg")
    for suffix in ("svg", "png", "html", "dot"):
        figure.save(tmp_path / f"g.{suffix}")
        assert (tmp_path / f"g.{suffix}").stat().st_size > 500
    with pytest.raises(ValueError, match="svg"):
        figure.save(tmp_path / "g.jpg")
