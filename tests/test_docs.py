"""Every fenced block of the README and the docs does what the text says it does.

- `axon`: the program has no errors.
- `axon-error`: it has one; on the page of a code, or with `code=AX101`, it has that one.
- Either with `file=a.axon`: the program is also there, by this name, for the rest of the page.
- Either with `flags=--prove`: so it is when Axon is given these flags.
- `console`: each `$ command` is run, and prints exactly the lines that follow it.
- `python`: what follows `>>>` is run, and prints exactly the lines after it. The blocks of a page
  are one session.
- `text` with `session=repl`: what follows `axon> ` is typed into `axon repl`, and shows what is
  below.
- `text` with `session=notebook`: what follows `In [1]: ` is a cell of IPython, and shows that.
- `console` and `python` with `needs=jax`: left out where that package is not installed (PyTorch's
  are run by `make torch`).

Commands and code run in an empty directory that has only those files and `examples/`. What is not
meant to be run goes into a block tagged `sh`.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from axon.diagnostics.pages import page
from axon.graph.state import MOST_NODES
from axon.ops.reference import reference
from axon.prove.extra import INSTALL, missing
from axon.repl.interpreter import Interpreter
from tests import transcripts
from tests.markdown import Block, blocks
from tests.notebook.shells import notebook
from tests.repl.sessions import text_of
from tests.shell import Outcome, axon

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "errors"
DOCUMENTS = tuple(
    path for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if path.exists()
)

UNCHECKED_TAGS = frozenset({"", "{toctree}", "bnf", "diff", "json", "make", "sh", "text", "toml"})
PROGRAMS_TO_RUN = {"cat": "cat", "ls": "ls", "python": sys.executable}
CODE = re.compile(r"AX[0-9]{3}")
FEW_NODES = 2000
NEVER_SEEN = {
    "AX401": "inference at the sizes of the arguments finds a cause, which has a code of its own",
}


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
    names: dict[str, Any] = field(default_factory=dict)
    repl: Interpreter | None = None
    cells: list[str] = field(default_factory=list)
    """The cells of the blocks before: a page is one notebook."""

    stands_for: tuple[str, str] = ("", "")
    """What a command prints here, and what it would print."""

    def read(self, block: Block) -> None:
        if "needs" in block.settings and find_spec(block.settings["needs"]) is None:
            return
        match block.tag:
            case "axon":
                self._accepted(block)
            case "axon-error":
                self._rejected(block)
            case "console":
                self._console(block)
            case "python":
                self._python(block)
            case "text" if block.settings.get("session") == "repl":
                self._repl(block)
            case "text" if block.settings.get("session") == "notebook":
                self._notebook(block)
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

    def _python(self, block: Block) -> None:
        if not block.text.startswith(">>> "):
            self._complain(block, "the first line should be a prompt: `>>> import axon`")
        text = _with_blank_lines(block.text)
        test = doctest.DocTestParser().get_doctest(text, self.names, "block", None, 0)
        told: list[str] = []
        with contextlib.chdir(self.directory):
            doctest.DocTestRunner().run(test, out=told.append, clear_globs=False)
        self.names = test.globs
        if told:
            self._complain(block, "".join(told))

    def _repl(self, block: Block) -> None:
        if self.repl is None:
            self.repl = Interpreter()
        for typed in transcripts.repl(block.text):
            with contextlib.chdir(self.directory):
                shown = "\n".join(map(text_of, self.repl.answer(typed.text)))
            if shown != typed.shown:
                self._complain(block, f"{typed.text}\nshows\n{shown}\nand not\n{typed.shown}")

    def _notebook(self, block: Block) -> None:
        with notebook(self.directory) as cells, contextlib.chdir(self.directory):
            for code in self.cells:
                cells.run(code)
            for typed in transcripts.cells(block.text):
                self.cells.append(typed.text)
                ran = cells.run(typed.text)
                shown = (ran.text + ran.printed).strip("\n")
                if shown != typed.shown:
                    self._complain(block, f"{typed.text}\nshows\n{shown}\nand not\n{typed.shown}")

    def _run(self, command: str) -> str | None:
        """What a command prints, or None for one that is not known."""
        match shlex.split(command, comments=True):
            case ["axon", *arguments]:
                outcome = axon(arguments, self.directory)
                self.last_status = outcome.status
                return None if _lacks_prover(outcome) else self._printed(outcome)
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

    def _printed(self, outcome: Outcome) -> str:
        here, there = self.stands_for
        return outcome.terminal.replace(here, there) if here else outcome.terminal

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


def _with_blank_lines(session: str) -> str:
    """A session in which a blank line belongs to what is printed, unless a prompt follows."""
    return re.sub(r"\n\n(?=(?!>>>)\S)", "\n<BLANKLINE>\n", session)


@pytest.mark.parametrize("document", DOCUMENTS, ids=_name)
def test_document(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if (ROOT / "examples").is_dir():
        (tmp_path / "examples").symlink_to(ROOT / "examples")
    code = document.stem if document in ERROR_PAGES else None
    reader = Reader(tmp_path, page_code=code)
    if code == "AX402":  # to get to the limit takes 10 s, so a lower one stands for it
        monkeypatch.setattr("axon.graph.state.MOST_NODES", FEW_NODES)
        reader.stands_for = (f"{FEW_NODES} nodes", f"{MOST_NODES} nodes")
    for block in blocks(document.read_text(encoding="utf-8")):
        reader.read(block)
    assert not reader.problems, "\n\n".join([_name(document), *reader.problems])


def test_the_operator_reference_is_as_generated() -> None:
    written = (ROOT / "docs" / "operators.md").read_text(encoding="utf-8")
    assert written == reference(), "python -m axon.ops.reference > docs/operators.md"


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
    if path.stem.startswith("AX4"):  # the program has no errors, but a call of it has
        calls = [b.text for b in found if b.tag == "console" and b.text.startswith("$ axon run ")]
        assert any(f"error[{path.stem}]" in text for text in calls) or path.stem in NEVER_SEEN
        assert calls
    elif path.stem.startswith("AX5"):  # what is wrong is in an ONNX file: see tests/importers
        assert not found
    else:
        assert sum(block.tag == "axon-error" for block in found) == 1
        assert sum(block.tag == "axon" and "file" not in block.settings for block in found) <= 1
