"""Every fenced block of the README and the docs does what the text says it does.

- `axon`: the program has no errors.
- `axon-error`: it has one; on the page of a code, or with `code=AX101`, it has that one.
- Either with `file=a.axon`: the program is also there, by this name, for the rest of the page.
- Either with `flags=--prove`: so it is when Axon is given these flags.
- `console`: each `$ command` is run, and prints exactly the lines that follow it.

Commands run in an empty directory that has only those files and `examples/`. A command that is
not meant to be run goes into a block tagged `sh`.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import pytest

from axon.diagnostics.pages import page
from axon.prove.extra import INSTALL, missing
from tests.markdown import Block, blocks
from tests.shell import Outcome, axon

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "errors"
DOCUMENTS = tuple(
    path for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if path.exists()
)

UNCHECKED_TAGS = frozenset({"", "bnf", "diff", "json", "make", "python", "sh", "text", "toml"})
PROGRAMS_TO_RUN = {"cat": "cat", "ls": "ls", "python": sys.executable}
CODE = re.compile(r"AX[0-9]{3}")


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


# --- one document -----------------------------------------------------------------------------


@dataclass(slots=True)
class Reader:
    """Someone who tries everything a document shows, in order, in one directory."""

    directory: Path
    page_code: str | None = None
    last_status: int = 0
    problems: list[str] = field(default_factory=list)

    def read(self, block: Block) -> None:
        match block.tag:
            case "axon":
                self._accepted(block)
            case "axon-error":
                self._rejected(block)
            case "console":
                self._console(block)
            case tag if tag not in UNCHECKED_TAGS:
                self._complain(block, f"unknown tag `{tag}`")
            case _:
                pass

    def _accepted(self, block: Block) -> None:
        outcome = axon(["check", self._write(block), *_flags(block)], self.directory)
        if _lacks_prover(outcome):
            return
        if outcome.status != 0:
            self._complain(block, f"this program should be fine:\n{outcome.terminal}")

    def _rejected(self, block: Block) -> None:
        outcome = axon(["infer", self._write(block), "--json", *_flags(block)], self.directory)
        if _lacks_prover(outcome):
            return
        found = json.loads(outcome.stdout)["diagnostics"]
        wanted = block.settings.get("code", self.page_code)
        notes_too = wanted is not None and wanted.startswith("AX3")
        codes = [each["code"] for each in found if notes_too or each["severity"] == "error"]
        if not codes:
            self._complain(block, "this program should have an error")
        elif wanted is not None and wanted not in codes:
            self._complain(block, f"this program should have {wanted}, but has {codes}")

    def _write(self, block: Block) -> str:
        name = block.settings.get("file", "block.axon")
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")
        return name

    def _console(self, block: Block) -> None:
        if not block.text.startswith("$ "):
            self._complain(block, "the first line should be a command: `$ axon …`")
        for command, expected in _session(block):
            printed = self._run(command)
            if printed is None and "--prove" in command and missing():
                continue
            if printed is None:
                self._complain(block, f"`{command}` is not run here: use a block tagged `sh`")
            elif printed.rstrip("\n") != expected.rstrip("\n"):
                self._complain(block, f"$ {command}\nprints\n{printed}\nand not\n{expected}")

    def _run(self, command: str) -> str | None:
        """What a command prints, or None for one that is not known."""
        match shlex.split(command, comments=True):
            case ["axon", *arguments]:
                outcome = axon(arguments, self.directory)
                self.last_status = outcome.status
                return None if _lacks_prover(outcome) else outcome.terminal
            case ["echo", "$?"]:
                return f"{self.last_status}\n"
            case [program, *arguments] if program in PROGRAMS_TO_RUN:
                finished = subprocess.run(
                    [PROGRAMS_TO_RUN[program], *arguments],
                    cwd=self.directory,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    stdin=subprocess.DEVNULL,
                    encoding="utf-8",
                    timeout=60,
                    check=False,
                )
                self.last_status = finished.returncode
                return finished.stdout
            case _:
                return None

    def _complain(self, block: Block, what: str) -> None:
        self.problems.append(f"the block at line {block.line}: {what}")


def _flags(block: Block) -> list[str]:
    return block.settings.get("flags", "").split()


def _lacks_prover(outcome: Outcome) -> bool:
    """Without the extra `prove` (`dev` has it) its examples only say that it is needed."""
    return bool(missing()) and outcome.status == 2 and INSTALL in outcome.stderr


def _session(block: Block) -> Iterator[tuple[str, str]]:
    """The commands of a console block, each with the lines it prints."""
    _, *parts = re.split(r"^\$ (.*)\n", block.text, flags=re.MULTILINE)
    return zip(parts[::2], parts[1::2], strict=True)


@pytest.mark.parametrize("document", DOCUMENTS, ids=_name)
def test_document(document: Path, tmp_path: Path) -> None:
    if (ROOT / "examples").is_dir():
        (tmp_path / "examples").symlink_to(ROOT / "examples")
    code = document.stem if document in ERROR_PAGES else None
    reader = Reader(tmp_path, page_code=code)
    for block in blocks(document.read_text(encoding="utf-8")):
        reader.read(block)
    assert not reader.problems, "\n\n".join([_name(document), *reader.problems])


# --- the pages of the error codes -------------------------------------------------------------

ERROR_PAGES = tuple(path for path in sorted(PAGES.glob("*.md")) if CODE.fullmatch(path.stem))


def _codes_in(module: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        match node:
            case ast.Constant(value=str(text)) if CODE.fullmatch(text):
                yield text


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    codes = set(chain.from_iterable(map(_codes_in, (ROOT / "src").rglob("*.py"))))
    pages = {path.stem for path in ERROR_PAGES}
    assert sorted(codes - pages) == [], "codes without a page in docs/errors"
    assert sorted(pages - codes) == [], "pages whose code is nowhere in src"


@pytest.mark.parametrize("path", ERROR_PAGES, ids=_name)
def test_error_page(path: Path) -> None:
    """One wrong program, at most one mended one (files that they import aside)."""
    text = path.read_text(encoding="utf-8")
    assert page(path.stem) == text
    found = list(blocks(text))
    assert sum(block.tag == "axon-error" for block in found) == 1
    assert sum(block.tag == "axon" and "file" not in block.settings for block in found) <= 1
