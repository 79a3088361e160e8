"""Diagnostics as text and as JSON."""

from __future__ import annotations

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from axon.diagnostics import Diagnostic, Label, Severity, error
from axon.diagnostics.json import to_json
from axon.diagnostics.text import render, render_all
from axon.source import Source, Span

NET = Source("net.axon", "f = fn (x : f32 [n,3], y : f32 [4,m]) {\n  matmul(x, y)\n};\n")


def label(source: Source, text: str, message: str, primary: bool = False) -> Label:
    start = source.text.index(text)
    return Label(Span(source, start, start + len(text)), message, primary)


def at(source: Source, start: int, end: int, message: str = "here") -> Diagnostic:
    return error("AX001", "wrong", Span(source, start, end), message)


def test_the_example_of_the_language_page() -> None:
    second = NET.text.index("y)", 50)
    problem = Diagnostic(
        "AX101",
        Severity.ERROR,
        "matmul: the inner sizes differ, 3 and 4",
        (
            Label(Span(NET, second - 3, second - 2), "last size 3, from `x : f32 [n,3]` (line 1)"),
            Label(
                Span(NET, second, second + 1),
                "second-last size 4, from `y : f32 [4,m]` (line 1)",
            ),
        ),
    )
    assert render(problem) == (
        "error[AX101]: matmul: the inner sizes differ, 3 and 4\n"
        "  --> net.axon:2:10\n"
        " 2 |   matmul(x, y)\n"
        "   |          ^  ^ second-last size 4, from `y : f32 [4,m]` (line 1)\n"
        "   |          last size 3, from `x : f32 [n,3]` (line 1)"
    )


def test_three_labels_notes_and_help() -> None:
    source = Source("a.axon", "one two six\n")
    problem = Diagnostic(
        "AX102",
        Severity.WARNING,
        "three things",
        (label(source, "one", "1"), label(source, "two", "2", True), label(source, "six", "3")),
        ("a note", "one\ntwo"),
        ("do this",),
    )
    assert render(problem) == (
        "warning[AX102]: three things\n"
        "  --> a.axon:1:5\n"
        " 1 | one two six\n"
        "   | ^^^ ^^^ ^^^ 3\n"
        "   | |   2\n"
        "   | 1\n"
        "   = note: a note\n"
        "   = note: one\n"
        "           two\n"
        "   = help: do this"
    )


def test_other_lines_and_files() -> None:
    other = Source("lib.axon", "g = 1;\n")
    problem = Diagnostic(
        "AX103",
        Severity.ERROR,
        "far apart",
        (
            label(NET, "};", "the end", True),
            label(NET, "f32 [n,3]", "the start"),
            label(other, "g", "elsewhere"),
        ),
    )
    assert render(problem) == (
        "error[AX103]: far apart\n"
        "  --> net.axon:3:1\n"
        " 1 | f = fn (x : f32 [n,3], y : f32 [4,m]) {\n"
        "   |             ^^^^^^^^^ the start\n"
        " ...\n"
        " 3 | };\n"
        "   | ^^ the end\n"
        "  ::: lib.axon:1:1\n"
        " 1 | g = 1;\n"
        "   | ^ elsewhere"
    )


def test_labels_inside_each_other() -> None:
    source = Source("a.axon", "f(x, y)\n")
    problem = Diagnostic(
        "AX104",
        Severity.ERROR,
        "nested",
        (label(source, "f(x, y)", "the call", True), label(source, "x", "the argument")),
    )
    assert render(problem).split("\n")[2:] == [
        " 1 | f(x, y)",
        "   | ^^^^^^^ the call",
        "   |   ^ the argument",
    ]


def test_no_place_at_all() -> None:
    assert render(Diagnostic("AX105", Severity.NOTE, "just so")) == "note[AX105]: just so"


def caret(source: Source, start: int, end: int) -> tuple[str, str]:
    """The line that is shown and the carets below it."""
    lines = render(at(source, start, end, "")).split("\n")
    return lines[2][5:], lines[3][5:]


def test_tabs_wide_and_combining_characters() -> None:
    assert caret(Source("a", "\tx y"), 1, 2) == ("    x y", "    ^")
    assert caret(Source("a", "世界 x"), 3, 4) == ("世界 x", "     ^")
    assert caret(Source("a", "世界 x"), 0, 2) == ("世界 x", "^^^^")
    assert caret(Source("a", "e\u0301 x"), 3, 4) == ("e\u0301 x", "  ^")
    assert caret(Source("a", "\u202ex"), 1, 2) == ("<U+202E>x", "        ^")
    assert caret(Source("a", "\x1b[31m"), 0, 1) == ("<U+001B>[31m", "^^^^^^^^")
    assert caret(Source("a", "a\ud800b"), 2, 3) == ("a\ufffdb", "  ^")


def test_the_end_of_a_line_and_of_the_text() -> None:
    source = Source("a", "ab\r\ncd")
    assert caret(source, 2, 2) == ("ab", "  ^")
    assert caret(source, 6, 6) == ("cd", "  ^")
    assert caret(source, 1, 6) == ("ab", " ^")
    assert render(at(Source("a", ""), 0, 0)).endswith(" 1 |\n   | ^ here")


def test_long_lines_are_cut_around_the_label() -> None:
    source = Source("a", "x" * 100_000 + "HERE" + "y" * 100_000)
    shown, carets = caret(source, 100_000, 100_004)
    assert len(shown) < 250
    assert shown[0] == shown[-1] == "…"
    assert shown[carets.index("^") : len(carets)] == "HERE"
    whole = render(at(source, 0, 200_004))
    assert max(len(line) for line in whole.split("\n")) < 250


def test_far_labels_of_a_long_line_are_shown_apart() -> None:
    source = Source("a", "A" + "x" * 5000 + "B")
    problem = Diagnostic(
        "AX106", Severity.ERROR, "far", (label(source, "A", "one", True), label(source, "B", "two"))
    )
    text = render(problem)
    assert "one" in text
    assert "two" in text
    assert text.count("\n 1 |") == 2


def test_colour_changes_nothing_else() -> None:
    problem = at(NET, 4, 6)
    coloured = render(problem, colour=True)
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == render(problem)


def test_several() -> None:
    problem = at(NET, 0, 1)
    assert render_all([problem, problem]) == render(problem) + "\n\n" + render(problem)


def test_json() -> None:
    data = to_json(
        Diagnostic(
            "AX107",
            Severity.ERROR,
            "wrong",
            (Label(Span(NET, 0, 1), "first"), Label(Span(NET, 42, 48), "second", True)),
            ("a note",),
            ("help",),
        )
    )
    assert json.loads(json.dumps(data)) == data
    assert (data["code"], data["severity"], data["message"]) == ("AX107", "error", "wrong")
    assert (data["file"], data["line"], data["column"]) == ("net.axon", 2, 3)
    assert (data["notes"], data["help"]) == (["a note"], ["help"])
    labels = data["labels"]
    assert isinstance(labels, list)
    assert labels[1] == {
        "file": "net.axon",
        "line": 2,
        "column": 3,
        "end_line": 2,
        "end_column": 9,
        "text": "second",
        "primary": True,
    }


@given(st.text(), st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99), st.text())))
def test_anything_can_be_shown(text: str, places: list[tuple[int, int, str]]) -> None:
    source = Source("any", text)
    size = len(text)
    labels = tuple(
        Label(Span(source, min(a, b, size), min(max(a, b), size)), message, a < b)
        for a, b, message in places
    )
    problem = Diagnostic("AX108", Severity.ERROR, text, labels)
    for line in render(problem).split("\n"):
        line.encode()
        assert line.isprintable() or not line.isascii()
    to_json(problem)
