"""The GitHub Action in the repository, and the annotations that it writes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.shell import axon

ROOT = Path(__file__).resolve().parents[2]
WARNS = "f = fn (x : f32 [n,m]) { matmul(x, x) };\n"
FAILS = "g = fn (x : f32 [n,3], y : f32 [4,m]) {\n  matmul(x, y)\n};\n"


def _last_script() -> str:
    """What the last step of the action runs."""
    text = (ROOT / "action.yml").read_text()
    scripts: list[str] = re.findall(r"^ +run: '(.*)'$", text, re.MULTILINE)
    return scripts[-1]


def test_the_step_fails_on_a_warning_and_shows_it_at_its_line(tmp_path: Path) -> None:
    (tmp_path / "net.axon").write_text(WARNS)
    command = tmp_path / "axon of the action"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m axon "$@"\n')
    command.chmod(0o755)
    found = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", _last_script()],
        cwd=tmp_path,
        env={**os.environ, "AXON": str(command), "FILES": "."},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 1
    assert "::warning title=warning AX301,file=net.axon,line=1,col=20::" in found.stdout


def test_an_annotation_is_one_line_with_every_label(tmp_path: Path) -> None:
    (tmp_path / "a,b.axon").write_text(FAILS)
    found = axon(["check", "--github", "a,b.axon"], tmp_path)
    (line,) = found.stdout.splitlines()
    assert line.startswith("::error title=error AX101,file=a%2Cb.axon,line=2,col=10::matmul: the")
    assert "%0Aline 2, x: last size 3" in line
    assert "error[AX101]" in found.stderr
