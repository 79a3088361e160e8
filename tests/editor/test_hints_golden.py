"""The programs of `examples/` as an editor shows them: with all types that are not written, and
with what it says of each name where it is bound.

`make golden` (that is, AXON_GOLDEN=write) rewrites the files. Read the diff: it is the test.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from axon.driver import check
from axon.editor import Document, Workspace
from axon.source import Source

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden" / "editor"
PROGRAMS = [*sorted((ROOT / "examples").glob("*.axon")), ROOT / "examples/models/gpt2.axon"]
WRITE = os.environ.get("AXON_GOLDEN") == "write"


def read(name: str) -> str | Exception:
    path = ROOT / name
    return path.read_text(encoding="utf-8") if path.exists() else FileNotFoundError(name)


def opened(path: Path) -> Document:
    name = path.relative_to(ROOT).as_posix()
    return Workspace(read).open(name, path.read_text(encoding="utf-8"))


def shown(document: Document) -> str:
    """The text with its hints, then a hover for each name that a definition binds."""
    pieces: list[str] = []
    at = 0
    for hint in document.hints():
        pieces += (document.text[at : hint.at], f"‹{hint.text}›")
        at = hint.at
    pieces.append(document.text[at:])
    lines = ["".join(pieces), "--- hover ---"]
    for symbol in document.symbols():
        hover = document.hover(symbol.place.start)
        assert hover is not None
        lines.append(hover.code)
        lines += [f"    {line}" for line in hover.text.splitlines() if line]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_hints_and_hovers(path: Path) -> None:
    golden = GOLDEN / f"{path.stem}.shown"
    text = shown(opened(path))
    if WRITE:
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_hint_says_what_the_signature_says(path: Path) -> None:
    """The types of parameters and results are those that `axon infer` prints."""
    document = opened(path)

    def find(name: str, source: Source) -> Source | str:
        return document.workspace.find(name, source)

    hints = {hint.at: hint.full for hint in document.hints()}
    checked = check(Source(document.name, document.text), find)
    for signature in checked.signatures:
        view, binder = document.bound(signature.name)[-1]
        place = binder.start + view.start
        hover = document.hover(place)
        assert hover is not None
        assert hover.code == signature.line(names=True)
        fn = binder.value
        for name, type_ in signature.params:
            param = next(
                b
                for b in view.names.binders
                if b.kind == "parameter" and b.function is fn and b.name == name
            )
            assert hints.get(param.end + view.start, type_) == type_


def test_every_golden_has_a_program() -> None:
    assert {p.stem for p in GOLDEN.iterdir()} == {p.stem for p in PROGRAMS}
