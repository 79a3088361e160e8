"""The command line's contract (docs/language.md, LANGUAGE section 6): scripts rely on it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shell import axon

GOOD = "f = fn (x, y) { matmul(x, y) };\nfn (x : f32 [n], y : f32 [m]) { x + y }\n"
BAD = "f = fn (x : f32 [n,3], y : f32 [4,m]) { matmul(x, y) };\ng = fn (x) { exp(x) };\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "good.axon").write_text(GOOD)
    (tmp_path / "bad.axon").write_text(BAD)
    return tmp_path


def test_check_exits_0_when_fine_and_1_when_not(folder: Path) -> None:
    assert axon(["check", "good.axon"], folder).status == 0
    found = axon(["check", "good.axon", "bad.axon"], folder)
    assert found.status == 1
    assert "error[AX101]" in found.stderr
    assert "error" not in found.stdout


def test_infer_prints_one_line_a_definition(folder: Path) -> None:
    found = axon(["infer", "good.axon"], folder)
    assert found.status == 0
    assert found.stdout.splitlines() == [
        "f : (t a@[b,c], t a@[c,d]) -> t a@[b,d]",
        "main : (f32 [n], f32 [m]) -> f32 [a] where a = broadcast(n, m)",
    ]
    assert found.stderr == ""


def test_json_has_no_where_in_the_signature(folder: Path) -> None:
    document = json.loads(axon(["infer", "good.axon", "--json"], folder).stdout)
    main = document["definitions"][1]
    assert main["name"] == "main"
    assert main["signature"] == "(f32 [n], f32 [m]) -> f32 [a]"
    assert main["where"] == ["a = broadcast(n, m)"]
    assert main["guards"] == []
    assert document["diagnostics"] == []


def test_json_goes_to_standard_output_with_errors_too(folder: Path) -> None:
    found = axon(["infer", "bad.axon", "--json"], folder)
    assert found.status == 1
    document = json.loads(found.stdout)
    assert [d["name"] for d in document["definitions"]] == ["g"]
    (diagnostic,) = document["diagnostics"]
    assert diagnostic["code"] == "AX101"
    assert diagnostic["severity"] == "error"
    assert (diagnostic["line"], diagnostic["column"]) == (1, 48)
    assert {"line", "column", "text"} <= diagnostic["labels"][0].keys()
    assert "3 and 4" in diagnostic["message"]


def test_run_time_checks_are_guards(folder: Path) -> None:
    (folder / "conv.axon").write_text(
        "f = fn (x : f32 [n,c,h,w], k : f32 [8,c,5,5]) { conv(x, k) };"
    )
    document = json.loads(axon(["infer", "conv.axon", "--json"], folder).stdout)
    (definition,) = document["definitions"]
    assert definition["where"] == []
    assert definition["guards"] == ["h >= 4", "w >= 4"]


def test_explain_shows_constraints_rules_and_the_result(folder: Path) -> None:
    found = axon(["explain", "good.axon", "main"], folder)
    assert found.status == 0
    assert "constraints" in found.stdout
    assert "broadcasting" in found.stdout
    assert found.stdout.rstrip().endswith("where a = broadcast(n, m)")


def test_explain_why_names_the_places(folder: Path) -> None:
    (folder / "w.axon").write_text("f = fn (x, w : f32 [16,4]) {\n  h = matmul(x, w);\n  h\n};\n")
    found = axon(["explain", "w.axon", "f", "--why", "x[1]"], folder)
    assert found.status == 0
    assert found.stdout.splitlines()[0] == "x[1] is 16"
    assert "w.axon:1:12" in found.stdout
    assert "w.axon:2:17" in found.stdout


def test_explain_from_shows_only_what_follows(folder: Path) -> None:
    text = "f = fn (x : f32 [n,k], w : f32 [k,m]) { matmul(x, w) };"
    (folder / "f.axon").write_text(text)
    everything = axon(["explain", "f.axon", "f", "--short"], folder).stdout
    from_x = axon(["explain", "f.axon", "f", "--short", "--from", "x"], folder).stdout
    assert "argument 2 of matmul" in everything
    assert "argument 2 of matmul" not in from_x
    assert "argument 1 of matmul" in from_x


def test_explain_code_prints_its_page(folder: Path) -> None:
    found = axon(["explain", "AX101"], folder)
    assert found.status == 0
    assert "AX101" in found.stdout
    assert axon(["explain", "AX999"], folder).status == 2


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("missing.axon", None, "no such file"),
        ("binary.axon", b"\x7fELF\x00\x01\x02", "binary"),
        ("latin.axon", b"# caf\xe9\nf = fn (x) { x };\n", "UTF-8"),
        ("empty.axon", b"", "empty"),
        ("blank.axon", b"  \n\n", "empty"),
        ("folder.axon", "directory", "directory"),
    ],
)
@pytest.mark.parametrize("command", ["check", "infer", "explain"])
def test_bad_input_is_one_clear_line_and_exit_2(
    folder: Path, command: str, name: str, content: bytes | str | None, says: str
) -> None:
    path = folder / name
    if content == "directory":
        path.mkdir()
    elif isinstance(content, bytes):
        path.write_bytes(content)
    found = axon([command, name], folder)
    assert found.status == 2
    assert found.stdout == ""
    assert len(found.stderr.splitlines()) == 1
    assert says in found.stderr
    assert name in found.stderr


@pytest.mark.parametrize(
    "arguments",
    [[], ["nonsense"], ["infer"], ["infer", "--notation", "roman", "x"], ["infer", "a\0b"]],
)
def test_wrong_usage_exits_2(folder: Path, arguments: list[str]) -> None:
    assert axon(arguments, folder).status == 2


def test_an_unknown_definition_is_wrong_usage(folder: Path) -> None:
    found = axon(["explain", "good.axon", "nothing"], folder)
    assert found.status == 2
    assert "f, main" in found.stderr


def test_a_real_process_has_the_same_exit_codes(folder: Path) -> None:
    def run(*arguments: str) -> int:
        return subprocess.run(
            [sys.executable, "-m", "axon", *arguments], cwd=folder, capture_output=True
        ).returncode

    assert [run("check", "good.axon"), run("check", "bad.axon"), run("check", "no")] == [0, 1, 2]


def test_a_closed_pipe_is_no_error(folder: Path) -> None:
    (folder / "many.axon").write_text("".join(f"f{i} = fn (x) {{ x }};\n" for i in range(3000)))
    command = f"{sys.executable} -m axon infer many.axon | head -n 1"
    found = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True)
    assert found.stdout == "f0 : a -> a\n"
    assert found.stderr == ""
