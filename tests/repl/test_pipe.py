"""The session from a pipe: answers on standard output, complaints on standard error."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import axon


def _pipe(folder: Path, text: str | bytes, *arguments: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "axon", "repl", *arguments],
        input=text.encode() if isinstance(text, str) else text,
        capture_output=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(axon.__file__).parents[1])},
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_a_pipe(tmp_path: Path) -> None:
    text = "x = ones([2]);\nf = fn (a) {\n\n  a + x\n}\nf(x)\n:quit\nnever(\n"
    assert _pipe(tmp_path, text) == (
        0,
        "x : f32 [2]\nf : (a : f32 a) -> f32 b where b = broadcast([2], a)\nf32 [2]\n[2. 2.]\n",
        "",
    )


def test_a_pipe_with_mistakes(tmp_path: Path) -> None:
    status, out, err = _pipe(tmp_path, "x = 1\nf = fn (a {\n:names\nnope\n\x1b[31m = (\n\n\nx\n(")
    assert status == 1
    assert out == "x : i64\nx : i64\ni64\n1\n"
    assert err.count("error[") >= 4 and "\x1b" not in err


def test_a_file_first(tmp_path: Path) -> None:
    (tmp_path / "a.axon").write_text("double = fn (x) { x + x };\n", encoding="utf-8")
    status, out, _ = _pipe(tmp_path, "double(4)", "a.axon")
    assert (status, out) == (0, "double : (x : t a) -> t a\ni64\n8\n")


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    status, _, err = _pipe(tmp_path, b"x = \xff\xfe;\ny = 1\n\0\n")
    assert status == 1
    assert "Traceback" not in err and "bug" not in err
