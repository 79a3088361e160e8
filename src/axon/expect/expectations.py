"""The expectations in the comments of a program."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from axon.source import Source

_COMMENT = re.compile(r"#\s*expect:[ \t]*(.*?)\s*$")
_DIAGNOSTIC = re.compile(r"(?:(error|warning)\s+)?(AX\d{3})\b[:\s]*(.*)")
_WARNINGS = "AX3"
_OPENERS, _CLOSERS = "([{", ")]}"


@dataclass(frozen=True, slots=True)
class TypeExpected:
    """`SUBJECT : TYPE`: the signature of a definition, or the type of an expression. The offsets
    are those of the type in the file.
    """

    line: int
    subject: str
    type: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class DiagnosticExpected:
    """A message of this code on line `about`, with these words in it."""

    line: int
    about: int
    severity: str
    code: str
    words: str


@dataclass(frozen=True, slots=True)
class ValueExpected:
    """An expression that is true, or `left == right`."""

    line: int
    text: str


Expected = TypeExpected | DiagnosticExpected | ValueExpected


def expectations(source: Source) -> tuple[Expected, ...]:
    """All of a program, in the order of its lines."""
    return tuple(_found(source))


def _found(source: Source) -> Iterator[Expected]:
    lines = source.text.split("\n")
    offset = 0
    for number, line in enumerate(lines, start=1):
        comment = _COMMENT.search(line)
        if comment is not None and line[: comment.start()].count('"') % 2 == 0:
            alone = not line[: comment.start()].strip()
            about = _next_code(lines, number) if alone else number
            yield _read(number, about, comment[1], offset + comment.start(1))
        offset += len(line) + 1


def _next_code(lines: list[str], number: int) -> int:
    for at in range(number, len(lines)):
        text = lines[at].strip()
        if text and not text.startswith("#"):
            return at + 1
    return number


def _read(line: int, about: int, text: str, offset: int) -> Expected:
    diagnostic = _DIAGNOSTIC.fullmatch(text)
    if diagnostic is not None:
        severity, code, words = diagnostic.groups()
        severity = severity or ("warning" if code.startswith(_WARNINGS) else "error")
        return DiagnosticExpected(line, about, severity, code, words)
    colon = _colon(text)
    if colon is None:
        return ValueExpected(line, text)
    after = text[colon + 1 :]
    start = offset + colon + 1 + len(after) - len(after.lstrip())
    type_ = after.strip()
    return TypeExpected(line, text[:colon].strip(), type_, start, start + len(type_))


def _colon(text: str) -> int | None:
    """The first colon outside of brackets."""
    depth = 0
    for at, character in enumerate(text):
        if character in _OPENERS:
            depth += 1
        elif character in _CLOSERS:
            depth -= 1
        elif character == ":" and depth == 0:
            return at
    return None
