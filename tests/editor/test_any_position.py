"""Whatever is edited, every query has an answer at every place, and the messages are those of a
text that is new.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from axon.driver import check
from axon.editor import Document, Lines, Refusal, Workspace
from axon.source import Source

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = [
    text
    for path in sorted((ROOT / "tests" / "golden").rglob("*.axon"))
    if len(text := path.read_text(encoding="utf-8")) < 1200 and "import" not in text
]
PIECES = (
    "(", ")", "{", "}", "[", "]", ";", ",", ".", "=", ":", '"', "#", "'", "😀", "\n", "x",
    "fn (x) {",
    "p.w", "relu(", "\nop f : ", "\ntype T = ", "where ", "|> f(", "*k", "?k", "1e", "\n}", "/*",
    "if ",
    '\nimport "std/layers.axon" as L;\n', "L.", "None", "f32 [n", "@", "\r\n",
)  # fmt: skip


def ask_everything(document: Document, offset: int) -> None:
    document.hover(offset)
    document.definition(offset)
    document.references(offset)
    document.highlights(offset)
    document.completions(offset)
    document.signature_help(offset)
    document.selections(offset)
    if not isinstance(document.can_rename(offset), Refusal):
        document.rename(offset, "other")
    for action in document.actions(offset, offset + 3):
        if action.question:
            document.why(offset, action.question)


def ask_of_the_text(document: Document) -> None:
    length = len(document.text)
    for hint in document.hints():
        assert 0 <= hint.at <= length
    for symbol in document.symbols():
        assert document.text[symbol.place.start : symbol.place.end] == symbol.name
    for token in document.tokens():
        assert 0 <= token.start < token.end <= length
    document.folds()
    lines = Lines(document.text)
    for diagnostic in document.diagnostics:
        for label in diagnostic.labels:
            place = document.place_of(label.span)
            assert 0 <= place.start <= place.end <= length
            lines.position(place.end)


@pytest.mark.parametrize("seed", range(8))
def test_random_edits(seed: int) -> None:
    source = random.Random(seed)
    for _ in range(3):
        text = "\n".join(source.sample(PROGRAMS, 2))
        files = Workspace()
        document = files.open("net.axon", text)
        for _ in range(5):
            files.change("net.axon", text)
            whole = check(Source("net.axon", text), files.find)
            assert [d.message for d in document.diagnostics] == [
                d.message for d in whole.diagnostics
            ]
            assert [s.line() for s in document.signatures] == [s.line() for s in whole.signatures]
            ask_of_the_text(document)
            for offset in (
                0,
                len(text),
                len(text) + 9,
                *(source.randrange(len(text) + 1) for _ in "1234567"),
            ):
                ask_everything(document, offset)
            at = source.randrange(len(text) + 1)
            ask_everything(document, at)
            cut = source.randrange(6) if source.randrange(3) == 0 else 0
            text = text[:at] + source.choice(PIECES) + text[at + cut :]
            files.change("net.axon", text)
            ask_everything(document, at + 1)


def test_every_place_of_a_program_with_everything() -> None:
    text = (ROOT / "examples" / "ragged.axon").read_text(encoding="utf-8")[:700]
    document = Workspace().open("net.axon", text + "\nf = fn (p : { w : f32 [n] }) { p.w + ")
    for offset in range(len(document.text) + 1):
        ask_everything(document, offset)


def test_open_files_are_seen_by_those_that_import_them() -> None:
    texts = {"/a.axon": "f = fn (x : f32 [3]) { x };\n"}
    files = Workspace(lambda name: texts.get(name) or FileNotFoundError(name))
    main = files.open("/b.axon", 'import "a.axon" as a;\ny = a.f(ones([4]));\n')
    assert [d.code for d in main.diagnostics] == ["AX101"]
    files.open("/a.axon", "f = fn (x : f32 [4]) { x };\n")
    assert not main.diagnostics
    assert [d.name for d in files.dependents("/a.axon")] == ["/b.axon"]
    files.change("/a.axon", "f = fn (x : f32 [4]) { y };\n")
    assert [d.code for d in main.diagnostics] == ["AX211"]
    files.close("/a.axon")
    assert [d.code for d in main.diagnostics] == ["AX101"]
    del texts["/a.axon"]
    files.touch("/a.axon")
    assert [d.code for d in main.diagnostics] == ["AX211"]
