"""`axon fmt`: what it writes, prints and leaves alone."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shell import Outcome, axon

ROOT = Path(__file__).resolve().parents[2]

LOOSE = "f=fn(x){x+1}; # one\n"
TIGHT = "f = fn (x) { x + 1 };  # one\n"
WRONG = "f = fn (x {\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "loose.axon").write_text(LOOSE)
    (tmp_path / "tight.axon").write_text(TIGHT)
    return tmp_path


def given(text: bytes, arguments: list[str], folder: Path) -> subprocess.CompletedProcess[bytes]:
    path = os.pathsep.join(map(os.path.abspath, sys.path))
    return subprocess.run(
        [sys.executable, "-m", "axon", "fmt", *arguments],
        input=text,
        capture_output=True,
        cwd=folder,
        check=False,
        env={**os.environ, "PYTHONPATH": path, "PYTHONIOENCODING": "ascii"},
    )


def test_nothing_stays_nothing(folder: Path) -> None:
    (folder / "empty.axon").write_text("")
    assert axon(["fmt", "--check", "empty.axon"], folder).status == 0
    assert given(b"\n\n", ["-"], folder).stdout == b""


def test_files_are_rewritten(folder: Path) -> None:
    os.utime(folder / "tight.axon", (1, 1))
    os.chmod(folder / "loose.axon", 0o640)
    found = axon(["fmt", "loose.axon", "tight.axon"], folder)
    assert found == Outcome(0, "formatted loose.axon\n", "", "formatted loose.axon\n")
    assert (folder / "loose.axon").read_text() == TIGHT
    assert (folder / "loose.axon").stat().st_mode & 0o777 == 0o640
    assert (folder / "tight.axon").stat().st_mtime == 1, "a file that is fine is not written"
    assert sorted(path.name for path in folder.iterdir()) == ["loose.axon", "tight.axon"]
    assert axon(["fmt", "."], folder).stdout == ""


def test_what_would_change_is_listed(folder: Path) -> None:
    found = axon(["fmt", "--check", "tight.axon", "loose.axon"], folder)
    assert (found.status, found.terminal) == (1, "loose.axon\n")
    assert axon(["fmt", "--check", "tight.axon"], folder) == Outcome(0, "", "", "")
    assert (folder / "loose.axon").read_text() == LOOSE


def test_what_would_change_is_shown(folder: Path) -> None:
    found = axon(["fmt", "--diff", "."], folder)
    assert (found.status, found.stderr) == (1, "")
    assert found.stdout == (
        f"--- ./loose.axon\n+++ ./loose.axon (formatted)\n@@ -1 +1 @@\n-{LOOSE}+{TIGHT}"
    )
    assert axon(["fmt", "--diff", "tight.axon"], folder) == Outcome(0, "", "", "")
    (folder / "loose.axon").write_text("f = x")
    assert (
        "-f = x\n\\ No newline at end of file\n+f = x;\n"
        in axon(["fmt", "--diff", "loose.axon"], folder).stdout
    )
    assert (folder / "loose.axon").read_text() == "f = x"


def test_standard_input(folder: Path) -> None:
    text = LOOSE.replace("one", "é \u4f60").encode()
    done = given(text, ["-"], folder)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == TIGHT.replace("one", "é \u4f60").encode()
    done = given(text, ["--check", "-"], folder)
    assert (done.returncode, done.stdout) == (1, b"<stdin>\n")
    assert given(TIGHT.encode(), ["--check", "-"], folder).returncode == 0
    assert b"+f = fn" in given(text, ["--diff", "-"], folder).stdout
    done = given(WRONG.encode(), ["-"], folder)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"error[AX002]" in done.stderr


def test_line_ends_of_others(folder: Path) -> None:
    (folder / "loose.axon").write_bytes(b"\xef\xbb\xbff = x;\r\n\r\n\r\ng = f;\r\n")
    assert axon(["fmt", "loose.axon"], folder).status == 0
    assert (folder / "loose.axon").read_bytes() == b"f = x;\n\ng = f;\n"


def test_mistakes_in_the_syntax_leave_a_file_alone(folder: Path) -> None:
    (folder / "bad.axon").write_text(WRONG)
    found = axon(["fmt", "bad.axon", "loose.axon"], folder)
    assert found.status == 1
    assert "error[AX002]" in found.stderr
    assert "bad.axon:1:" in found.stderr
    assert (folder / "bad.axon").read_text() == WRONG
    assert (folder / "loose.axon").read_text() == TIGHT


def test_mistakes_in_types_do_not_matter(folder: Path) -> None:
    (folder / "bad.axon").write_text("f=fn(x:f32 [3],y:f32 [4]){max(x,y)}")
    assert axon(["fmt", "bad.axon"], folder) == Outcome(
        0, "formatted bad.axon\n", "", "formatted bad.axon\n"
    )
    assert (folder / "bad.axon").read_text() == (
        "f = fn (x : f32 [3], y : f32 [4]) { max(x, y) };\n"
    )


def test_folders(folder: Path) -> None:
    (folder / "sub" / "deep").mkdir(parents=True)
    (folder / ".hidden").mkdir()
    for place in ("sub/deep/a.axon", ".hidden/a.axon", "sub/a.txt"):
        (folder / place).write_text(LOOSE)
    found = axon(["fmt", "."], folder)
    assert found.stdout.splitlines() == ["formatted ./loose.axon", "formatted ./sub/deep/a.axon"]
    assert (folder / ".hidden/a.axon").read_text() == LOOSE
    assert (folder / "sub/a.txt").read_text() == LOOSE
    (folder / "empty").mkdir()
    found = axon(["fmt", "empty"], folder)
    assert (found.status, "no programs" in found.stderr) == (2, True)


def test_what_cannot_be_formatted(folder: Path) -> None:
    (folder / "bytes.axon").write_bytes(b"\0\1")
    found = axon(["fmt", "none.axon", "bytes.axon", "loose.axon"], folder)
    assert found.status == 2
    assert found.stderr.splitlines() == [
        "axon: none.axon: there is no such file",
        "axon: bytes.axon is a binary file, not a program",
    ]
    assert (folder / "loose.axon").read_text() == TIGHT
    assert axon(["fmt"], folder).status == 2
    assert axon(["fmt", "--check", "--diff", "tight.axon"], folder).status == 2


def test_links_stay(folder: Path) -> None:
    (folder / "link.axon").symlink_to("loose.axon")
    assert axon(["fmt", "link.axon"], folder).status == 0
    assert (folder / "link.axon").is_symlink()
    assert (folder / "loose.axon").read_text() == TIGHT


def test_a_file_that_cannot_be_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writable = os.access
    monkeypatch.setattr(
        os, "access", lambda path, mode: path != "loose.axon" and writable(path, mode)
    )
    (folder / "other.axon").write_text(LOOSE)
    found = axon(["fmt", "loose.axon", "other.axon"], folder)
    assert found.status == 2
    assert found.stderr == "axon: loose.axon may not be written: permission denied\n"
    assert (folder / "loose.axon").read_text() == LOOSE
    assert (folder / "other.axon").read_text() == TIGHT


def test_the_programs_of_the_repository_are_canonical() -> None:
    """Those of the paper are as the paper prints them."""
    places = [*(ROOT / "examples").glob("*.axon"), ROOT / "examples" / "models"]
    places.append(ROOT / "src" / "axon" / "stdlib")
    found = axon(["fmt", "--diff", *map(str, places)], ROOT)
    assert (found.status, found.terminal) == (0, "")


def test_the_hooks_run_commands_that_exist(folder: Path) -> None:
    text = (ROOT / ".pre-commit-hooks.yaml").read_text()
    assert re.findall(r"id: (.*)", text) == ["axon-fmt", "axon-check"]
    for entry in re.findall(r"entry: axon (.*)", text):
        assert axon([*entry.split(), "loose.axon"], folder).status == 0
    assert (folder / "loose.axon").read_text() == TIGHT
