"""Files on the command line: several, standard input, models, and those that are not there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import axon as package
from tests.shell import Outcome, axon

ROOT = Path(__file__).resolve().parents[1]
MODELS = ROOT / "examples" / "onnx"
NEEDS_ONNX = pytest.mark.skipif(find_spec("onnx") is None, reason="models need onnx")

GOOD = "dense = fn (x : f32 [b,n], w : f32 [n,m]) { x @ w };\n"
BAD = "f = fn (x : f32 [3], y : f32 [4]) { max(x, y) };\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "good.axon").write_text(GOOD)
    (tmp_path / "bad.axon").write_text(BAD)
    return tmp_path


def given(text: str, arguments: list[str], folder: Path) -> Outcome:
    """A command with a text on its standard input."""
    done = subprocess.run(
        [sys.executable, "-m", "axon", *arguments],
        input=text.encode(),
        capture_output=True,
        cwd=folder,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))},
    )
    out, problems = done.stdout.decode(), done.stderr.decode()
    return Outcome(done.returncode, out, problems, out + problems)


def test_the_version_is_printed(folder: Path) -> None:
    found = axon(["--version"], folder)
    assert (found.status, found.stdout) == (0, f"axon {package.__version__}\n")


def test_the_version_costs_no_more_than_the_parser_of_arguments() -> None:
    """What a module costs shows in every command, so the first of them import little."""
    code = (
        "import sys; from axon.cli import main; main(['--version']);"
        "print(sorted(m for m in sys.modules if m in ('numpy', 'dataclasses', 'inspect', 'json')"
        " or m.startswith('axon.') and not m.startswith('axon.cli')))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert ran.stdout.splitlines()[1] == "[]"


@pytest.mark.parametrize("command", ["check", "infer"])
def test_a_missing_file_does_not_hide_the_others(folder: Path, command: str) -> None:
    found = axon([command, "none.axon", "good.axon", "bad.axon"], folder)
    assert found.status == 2
    assert "none.axon: there is no such file" in found.stderr
    assert "error[AX101]" in found.stderr
    assert "dense :" in found.stdout if command == "infer" else "good.axon: fine" in found.stdout


def test_a_missing_file_leaves_the_json_of_the_others(folder: Path) -> None:
    found = axon(["check", "--json", "none.axon", "bad.axon"], folder)
    assert found.status == 2
    assert [d["code"] for d in json.loads(found.stdout)["diagnostics"]] == ["AX101"]


def test_several_files_are_inferred(folder: Path) -> None:
    found = axon(["infer", "good.axon", "bad.axon"], folder)
    assert found.status == 1
    assert found.stdout.splitlines() == [
        "# good.axon",
        "dense : (f32 [b,n], f32 [n,m]) -> f32 [b,m]",
        "# bad.axon",
    ]
    document = json.loads(axon(["infer", "--json", "good.axon", "bad.axon"], folder).stdout)
    assert [each["file"] for each in document["files"]] == ["good.axon", "bad.axon"]
    assert document["files"][0]["definitions"][0]["name"] == "dense"
    assert document["files"][1]["diagnostics"][0]["code"] == "AX101"


def test_names_of_parameters_are_shown_on_request(folder: Path) -> None:
    found = axon(["infer", "--names", "good.axon"], folder)
    assert found.stdout == "dense : (x : f32 [b,n], w : f32 [n,m]) -> f32 [b,m]\n"
    document = json.loads(axon(["infer", "--json", "good.axon"], folder).stdout)
    assert document["definitions"][0]["params"] == ["x", "w"]


def test_standard_input_is_a_file(folder: Path) -> None:
    assert given(GOOD, ["check", "-"], folder).stdout == "<stdin>: fine, 1 definition\n"
    found = given(BAD, ["infer", "-"], folder)
    assert found.status == 1
    assert "--> <stdin>:1:" in found.stderr
    text = 'import "good.axon" as g;\nf = fn (x, w) { g.dense(x, w) };\n'
    found = given(text, ["run", "-", "f", "x=ones[1,2]", "w=ones[2,1]"], folder)
    assert (found.status, found.stdout) == (0, "f32 [1,1]\n[[2.]]\n")
    assert given("", ["check", "-"], folder).status == 2


def test_an_import_is_not_standard_input(folder: Path) -> None:
    (folder / "odd.axon").write_text('import "-" as g;\nf = g.dense;\n')
    assert "AX211" in given(GOOD, ["check", "odd.axon"], folder).stderr


@NEEDS_ONNX
def test_models_are_checked_beside_programs(folder: Path) -> None:
    fine, broken = str(MODELS / "encoder.onnx"), str(MODELS / "broken.onnx")
    found = axon(["check", fine, "good.axon"], folder)
    assert found.status == 0
    assert found.stdout.startswith(f"{fine}: fine, ")
    found = axon(["check", broken], folder)
    assert (found.status, found.stdout) == (1, "")
    found = axon(["infer", fine, "good.axon", "none.onnx"], folder)
    assert found.status == 2
    assert "model : " in found.stdout
    assert "dense : " in found.stdout
    assert "there is no file none.onnx" in found.stderr
    assert axon(["infer", fine, fine, "--write", "out.onnx"], folder).status == 2


@NEEDS_ONNX
def test_a_model_runs(folder: Path) -> None:
    import onnx
    import onnx.parser

    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[n,2] x) => (float[n,2] y)'
        " { y = Relu(x) }"
    )
    onnx.save(model, str(folder / "relu.onnx"))
    for arguments in (["x=[[-1,2]]"], ["model", "x=[[-1,2]]"]):
        found = axon(["run", "relu.onnx", *arguments], folder)
        assert (found.status, found.stdout) == (0, "f32 [1,2]\n[[0. 2.]]\n"), found.terminal
    assert axon(["run", "none.onnx", "x=1"], folder).status == 2


def test_a_model_is_explained_one_size_at_a_time(folder: Path) -> None:
    found = axon(["explain", "model.onnx"], folder)
    assert found.status == 2
    assert "axon import model.onnx -o model.axon" in found.stderr


def test_a_large_derivation_is_bounded(folder: Path) -> None:
    lines = "".join(f"  y = matmul(y, w{i});\n" for i in range(80))
    params = ", ".join(f"w{i}" for i in range(80))
    (folder / "deep.axon").write_text(f"deep = fn (x, {params}) {{\n  y = x;\n{lines}  y\n}};\n")
    found, whole = (
        axon(["explain", "deep.axon"], folder),
        axon(["explain", "deep.axon", "--all"], folder),
    )
    assert len(found.stdout.splitlines()) < 180
    assert "more: --all shows them" in found.stdout
    assert found.stdout.splitlines()[-1] == whole.stdout.splitlines()[-1]
    assert "more:" not in whole.stdout
    assert len(whole.stdout.splitlines()) > 300


def test_so_are_the_sets_of_its_steps(folder: Path) -> None:
    """A step has the set that is left, which grows with the definition."""
    lines = "".join(f"  y{i} = softmax(x{i} @ w + b{i});\n" for i in range(12))
    params = ", ".join(f"x{i}, b{i}" for i in range(12))
    total = " + ".join(f"sum(y{i})" for i in range(12))
    (folder / "wide.axon").write_text(f"wide = fn (w, {params}) {{\n{lines}  {total}\n}};\n")
    found = axon(["explain", "wide.axon"], folder)
    assert len(found.stdout.splitlines()) < 500
    assert found.stdout.count("more: --all shows them") == 2
