"""What formatting must keep: the program, its comments, and what was formatted before."""

from __future__ import annotations

import re

from axon.diagnostics.text import render_all
from axon.format import Formatted, format_text
from axon.source import Source
from axon.syntax import parse_program
from axon.syntax.ast import Program
from axon.workspace import workspace
from tests.properties.syntax_trees import bones


def tree(text: str) -> Program | None:
    """The program of a text, if there is no mistake in its syntax."""
    with workspace():
        program, problems = parse_program(Source("test", text))
    return None if problems else program


def formatted(text: str) -> str:
    """The text formatted, after every law was checked on it."""
    found = format_text(text, "test")
    assert isinstance(found, Formatted), render_all(found)
    again = format_text(found.text, "test")
    assert isinstance(again, Formatted)
    assert again.text == found.text
    assert not again.changed
    before, after = tree(text), tree(found.text)
    assert before is not None
    assert after is not None
    with workspace():
        assert bones(before) == bones(after)
    assert comments(before) == comments(after)
    for line in found.text.split("\n"):
        assert line == line.rstrip(" "), "a blank at the end of a line"
    assert found.text.endswith("\n") or not found.text
    assert not re.search(r"\n\n\n|\{\n\n|\A\n|\n\n\Z", found.text), "needless empty lines"
    return found.text


def comments(program: Program) -> list[str]:
    return [span.text for span in program.comments]


def code(text: str) -> str:
    """A text without its empty lines."""
    return re.sub(r"\n\n+", "\n", text)
