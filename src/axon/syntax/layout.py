"""Documents that know where they may be broken, and their rendering in a given width.

A group is set on one line if it fits, else each of its own lines is broken. Rendering is a loop
over a stack, so no document is too deep or too long for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Line:
    """A line break, or `flat` where the group fits on one line."""

    flat: str = " "


@dataclass(frozen=True, slots=True)
class Hard:
    """A line break that is always one; with `blank`, an empty line as well."""

    blank: bool = False


@dataclass(frozen=True, slots=True)
class Remark:
    """Text at the end of a line that does not count for its width: a comment."""

    text: str


@dataclass(frozen=True, slots=True)
class Group:
    parts: tuple[Doc, ...]


@dataclass(frozen=True, slots=True)
class Indent:
    parts: tuple[Doc, ...]


@dataclass(frozen=True, slots=True)
class Join:
    """One after the other."""

    parts: tuple[Doc, ...]


Doc = str | Line | Hard | Remark | Group | Indent | Join


def group(*parts: Doc) -> Doc:
    return Group(parts)


def indent(*parts: Doc) -> Doc:
    return Indent(parts)


def join(*parts: Doc) -> Doc:
    return Join(parts)


def commas(items: Sequence[Doc]) -> Doc:
    """Items with commas between them, and a place to break after each comma."""
    parts: list[Doc] = []
    for item in items:
        if parts:
            parts += [",", Line()]
        parts.append(item)
    return Join(tuple(parts))


def bracketed(opener: str, items: Sequence[Doc], closer: str) -> Doc:
    """`(a, b)`, or one item on each line."""
    if not items:
        return opener + closer
    return group(opener, indent(Line(""), commas(items)), Line(""), closer)


_Entry = tuple[Doc, int, bool]
"""A document, its indentation, and whether it stands on one line."""


def render(doc: Doc, width: int = 90) -> str:
    """The text of a document."""
    pieces: list[str] = []
    column = 0
    stack: list[_Entry] = [(doc, 0, False)]
    while stack:
        part, depth, flat = stack.pop()
        match part:
            case str():
                pieces.append(part)
                column += len(part)
            case Remark(text):
                pieces.append(text)
            case Line(text) if flat:
                pieces.append(text)
                column += len(text)
            case Line() | Hard():
                empty = isinstance(part, Hard) and part.blank
                pieces.append(("\n\n" if empty else "\n") + " " * depth)
                column = depth
            case Group(parts):
                flat = flat or _fits((part, depth, True), stack, width - column)
                stack.extend((each, depth, flat) for each in reversed(parts))
            case Indent(parts):
                stack.extend((each, depth + 2, flat) for each in reversed(parts))
            case Join(parts):
                stack.extend((each, depth, flat) for each in reversed(parts))
    return "\n".join(line.rstrip() for line in "".join(pieces).split("\n"))


def _fits(entry: _Entry, rest: list[_Entry], columns: int) -> bool:
    """Does this, with what follows it up to the next line break, fit in the remaining width?

    What follows is broken as its surroundings are; only a hard break inside the group itself keeps
    it from being flat.
    """
    below = len(rest)
    stack = [entry]
    inside = 1
    while columns >= 0:
        if not stack:
            if below == 0:
                return True
            below -= 1
            stack.append(rest[below])
            inside = 0
        part, depth, flat = stack.pop()
        match part:
            case str():
                columns -= len(part)
            case Line(text) if flat:
                columns -= len(text)
            case Hard() if inside:
                return False
            case Line() | Hard() | Remark():
                return True
            case Group(parts) | Indent(parts) | Join(parts):
                stack.extend((each, depth, flat) for each in reversed(parts))
    return False
