"""What commands print with `--json` is as `axon schema` says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from axon.cli import COMMANDS
from axon.cli.out import FORMAT
from tests.shell import axon

ROOT = Path(__file__).resolve().parents[2]
ENCODER = str(ROOT / "examples" / "onnx" / "encoder.onnx")
CLASSIFIER = str(ROOT / "examples" / "torch" / "classifier.pt2")
PROGRAM = """# expect: f : t s -> t s
f = fn (x) { x + x };
g = fn (p, x) { x @ p.w + p.b };
h = fn (x : f32 [n]) { x[1], { a = sum(x) / 0f, b = true } };
r = fn (x : f32 [n,*]) { x };
"""
BROKEN = "f = fn (x : f32 [3]) { max(x, zeros([4])) };\ng = fn (x) { x + y };\n"


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(axon(["schema"], ROOT).stdout)
    jsonschema.Draft202012Validator.check_schema(found)
    return found


CASES = [
    ("check", ["a.axon", "b.axon"]),
    ("check", [ENCODER]),
    ("infer", ["a.axon"]),
    ("infer", ["a.axon", "--params"]),
    ("infer", ["b.axon"]),
    ("infer", ["a.axon", "b.axon", ENCODER]),
    ("infer", [ENCODER, "--forget-inputs"]),
    ("infer", [CLASSIFIER, "a.axon"]),
    ("infer", [CLASSIFIER, "--input", "x=f32 [4,5,8,8]"]),
    ("check", [CLASSIFIER]),
    ("run", [CLASSIFIER, "x=rand[4,3,8,8]"]),
    ("explain", ["a.axon"]),
    ("explain", ["b.axon"]),
    ("explain", ["a.axon", "h", "--why", "x[0]"]),
    ("explain", [CLASSIFIER, "--why", "x"]),
    ("explain", [ENCODER, "--why", "result[2]"]),
    ("explain", ["AX101"]),
    ("run", ["a.axon", "f", "x=rand[2,3]"]),
    ("run", ["a.axon", "h", "x=[1,2]"]),
    ("run", ["a.axon", "f", "x=true"]),
    ("run", ["b.axon", "f", "x=[1,2,3]"]),
    ("run", ["a.axon", "r", "x=[[1],[2,3]]"]),
    ("ops", []),
    ("ops", ["conv"]),
    ("ops", ["no such thing"]),
    ("test", ["a.axon", "b.axon"]),
    ("fmt", ["--check", "a.axon", "b.axon"]),
    ("fmt", ["--diff", "c.axon"]),
    ("fmt", ["c.axon", "d.axon"]),
    ("graph", ["a.axon", "f"]),
    ("graph", ["b.axon", "-o", "b.svg"]),
    ("graph", ["a.axon", "-o", "a.html"]),
    ("graph", ["a.axon", "nope"]),
    ("graph", [CLASSIFIER, "-o", "c.dot"]),
    ("import", [ENCODER]),
    ("import", [CLASSIFIER, "-o", "c.axon", "--weights", "c.safetensors"]),
    ("doc", ["a.axon"]),
    ("doc", ["a.axon", "-o", "a.html"]),
    ("doc", ["a.axon", "b.axon"]),
]


@pytest.mark.parametrize(("command", "arguments"), CASES, ids=lambda case: str(case)[-40:])
def test_documents_are_as_the_schema_says(
    schema: dict[str, Any], command: str, arguments: list[str], tmp_path: Path
) -> None:
    (tmp_path / "a.axon").write_text(PROGRAM)
    (tmp_path / "b.axon").write_text(BROKEN)
    (tmp_path / "c.axon").write_text("f=fn(x){x};")
    (tmp_path / "d.axon").write_text("f = fn (x { x };")
    found = axon([command, *arguments, "--json"], tmp_path)
    document = json.loads(found.stdout)
    jsonschema.validate(document, {**schema, "anyOf": [{"$ref": f"#/$defs/{command}"}]})


def test_every_command_that_takes_json_is_in_the_schema(schema: dict[str, Any]) -> None:
    """And each of them is tried above."""
    found = {name for name in COMMANDS if "--json" in axon([name, "--help"], ROOT).stdout}
    assert found == {command for command, _ in CASES}
    assert {part["$ref"] for part in schema["anyOf"]} == {f"#/$defs/{name}" for name in found}


def test_the_schema_says_which_format_it_is(schema: dict[str, Any]) -> None:
    assert schema["$id"] == f"urn:axon-shapes:json:{FORMAT}"
    assert f"Format {FORMAT}." in schema["description"]


def test_values_are_json(tmp_path: Path) -> None:
    (tmp_path / "a.axon").write_text(PROGRAM)
    found = json.loads(axon(["run", "a.axon", "h", "x=[1,2]", "--json"], tmp_path).stdout)
    assert found == {
        "format": 1,
        "type": "(f32, { a : f32, b : bool })",
        "value": [2.0, {"a": "inf", "b": True}],
    }
