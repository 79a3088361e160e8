"""Completion of command lines: what is proposed, and that real shells take it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from axon.cli import COMMANDS
from axon.cli.complete import candidates
from tests.shell import axon

PROGRAM = "dense = fn (x : f32 [n,m], w) { x @ w };\ndouble = fn (x) { x + x };\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "net.axon").write_text(PROGRAM)
    (tmp_path / "model.onnx").write_bytes(b"")
    (tmp_path / "model.pt2").write_bytes(b"")
    (tmp_path / "notes.txt").write_text("")
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("che", ["check"]),
        ("check --str", ["--strict"]),
        ("check ", ["model.onnx", "model.pt2", "net.axon", "sub/"]),
        ("check net.axon ", ["model.onnx", "model.pt2", "net.axon", "sub/"]),
        ("fmt --check ", ["net.axon", "sub/"]),
        ("test ", ["net.axon", "sub/"]),
        ("doc net.axon -o n", ["net.axon", "notes.txt"]),
        ("explain m", ["model.onnx", "model.pt2"]),
        ("explain AX00", [f"AX00{n}" for n in range(1, 8)]),
        ("import ", ["model.onnx", "model.pt2", "sub/"]),
        ("infer --notation ", ["infix", "paper"]),
        ("infer --notation=p", ["--notation=paper"]),
        ("infer --write n", ["net.axon", "notes.txt"]),
        ("explain net.axon d", ["dense", "double"]),
        ("explain --notation paper net.axon de", ["dense"]),
        ("run net.axon dense ", ["x=", "w="]),
        ("run net.axon dense x=1 ", ["w="]),
        ("run net.axon dense x=no", ["x=notes.txt"]),
        ("ops softm", ["softmax"]),
        ("completion f", ["fish"]),
        ("run --backend j", ["jax"]),
        ("nonsense ", []),
        ("run gone.axon ", []),
        ("infer sub/../n", ["sub/../net.axon"]),
    ],
)
def test_candidates(folder: Path, line: str, expected: list[str]) -> None:
    found = [word for word, _ in candidates(line.split(" "))]
    if line == "nonsense ":
        assert set(COMMANDS) <= set(found)
    else:
        assert found == expected


def test_descriptions_are_types(folder: Path) -> None:
    found = dict(candidates(["run", "net.axon", "d"]))
    assert found["dense"] == "(f32 [n,m], f32 a@[m,b]) -> f32 a@[n,b]"


def test_a_broken_program_proposes_what_is_fine(folder: Path) -> None:
    (folder / "net.axon").write_text(PROGRAM + "bad = fn (x) { x + y };\nhalf = fn (")
    assert "dense" in dict(candidates(["run", "net.axon", ""]))


def test_every_command_can_be_completed(folder: Path) -> None:
    for command in COMMANDS:
        candidates([command, ""])
        assert "--color" in dict(candidates([command, "--"]))


ASK = {
    "bash": """source <(axon completion bash)
COMP_WORDS=(axon explain net.axon d); COMP_CWORD=3; _axon
printf '%s\\n' "${COMPREPLY[@]}"
""",
    "zsh": """autoload -U compinit; compinit -u -D
source <(axon completion zsh)
_describe() { print -l -- ${(P)4}; }
compadd() { shift 3; print -l -- "$@"; }
words=(axon explain net.axon d); CURRENT=4; _axon
""",
    "fish": """axon completion fish | source
complete -C "axon explain net.axon d"
""",
}


@pytest.mark.parametrize("shell", ASK)
def test_shells_take_the_script(folder: Path, shell: str) -> None:
    if shutil.which(shell) is None and not os.environ.get("CI"):
        pytest.skip(f"there is no {shell} here")
    path = folder / "bin"
    path.mkdir()
    command = path / "axon"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m axon "$@"\n')
    command.chmod(0o755)
    environment = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}", "HOME": str(folder)}
    found = subprocess.run(
        [shell, "-c", ASK[shell]],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    proposed = [line.replace(":", "\t").split("\t")[0] for line in found.stdout.splitlines()]
    assert proposed == ["dense", "double"], found


def test_without_a_shell(folder: Path) -> None:
    assert axon(["completion"], folder).status == 2
