"""Documents that know where they may be broken, and their rendering in a given width.

A group is set on one line if it fits, else each of its own lines is broken. One with a break that
is always one is never on one line: that is found out when it is made. Rendering is a loop over a
stack, so no document is too deep or too long for it, and it takes time in proportion to the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 100


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
class IfBroken:
    """Text that is there only where the lines of its group are broken."""

    text: str


@dataclass(frozen=True, slots=True)
class Group:
    parts: tuple[Doc, ...]
    forced: bool


@dataclass(frozen=True, slots=True)
class Indent:
    parts: tuple[Doc, ...]
    forced: bool


@dataclass(frozen=True, slots=True)
class Join:
    """One after the other."""

    parts: tuple[Doc, ...]
    forced: bool


@dataclass(frozen=True, slots=True)
class Hug:
    """A head on one line, a block that is broken, and a tail; if the head does not fit, or all
    fits on one line, then as a group.
    """

    head: Doc
    block: Doc
    tail: str
    otherwise: Doc
    forced: bool


Doc = str | Line | Hard | Remark | IfBroken | Group | Indent | Join | Hug


def is_forced(doc: Doc) -> bool:
    """Whether there is a break in it that is always one."""
    match doc:
        case Group() | Indent() | Join() | Hug():
            return doc.forced
        case Hard() | Remark():
            return True
        case _:
            return False


def _any_forced(parts: tuple[Doc, ...]) -> bool:
    return True in [is_forced(part) for part in parts if not isinstance(part, str)]


def group(*parts: Doc) -> Doc:
    return Group(parts, _any_forced(parts))


def indent(*parts: Doc) -> Doc:
    return Indent(parts, _any_forced(parts))


def join(*parts: Doc) -> Doc:
    return Join(parts, _any_forced(parts))


def hug(head: Doc, block: Doc, tail: str, otherwise: Doc) -> Doc:
    return Hug(head, block, tail, otherwise, is_forced(head) or is_forced(block))


def commas(items: Sequence[Doc], line: str = " ") -> Doc:
    """Items with commas between them, and a place to break after each comma."""
    parts: list[Doc] = []
    for item in items:
        if parts:
            parts += [",", Line(line)]
        parts.append(item)
    return join(*parts)


_Entry = tuple[Doc, int, bool]
"""A document, its indentation, and whether it stands on one line."""


def render(doc: Doc, width: int = WIDTH) -> str:
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
            case Line(text) if flat:
                pieces.append(text)
                column += len(text)
            case Line() | Hard():
                empty = isinstance(part, Hard) and part.blank
                pieces.append(("\n\n" if empty else "\n") + " " * depth)
                column = depth
            case Remark(text):
                pieces.append(text)
            case IfBroken(text):
                if not flat:
                    pieces.append(text)
                    column += len(text)
            case Group(parts, forced):
                if not flat and not forced:
                    flat = _fits([(part, depth, True)], stack, width - column)
                for each in reversed(parts):
                    stack.append((each, depth, flat))
            case Indent(parts):
                for each in reversed(parts):
                    stack.append((each, depth + 2, flat))
            case Join(parts):
                for each in reversed(parts):
                    stack.append((each, depth, flat))
            case Hug(head, block, tail, otherwise, forced):
                broken = [(tail, depth, False), (block, depth, False), (head, depth, True)]
                if flat or (not forced and _fits([(part, depth, True)], stack, width - column)):
                    stack += [(tail, depth, True), (block, depth, True), (head, depth, True)]
                elif not is_forced(head) and _fits([*broken], stack, width - column):
                    stack += broken
                else:
                    stack.append((otherwise, depth, False))
    return "".join(pieces)


def _fits(first: list[_Entry], rest: list[_Entry], columns: int) -> bool:
    """Does this, with what follows it up to the next line break, fit in the remaining width?

    What follows is broken as its surroundings are.
    """
    below = len(rest)
    stack = first
    while columns >= 0:
        if not stack:
            if below == 0:
                return True
            below -= 1
            stack.append(rest[below])
        part, depth, flat = stack.pop()
        match part:
            case str():
                columns -= len(part)
            case Line(text) if flat:
                columns -= len(text)
            case Line() | Hard() | Remark():
                return True
            case IfBroken(text):
                columns -= 0 if flat else len(text)
            case Group(parts) | Indent(parts) | Join(parts):
                for each in reversed(parts):
                    stack.append((each, depth, flat))
            case Hug(head, block, tail):
                stack += [(tail, depth, flat), (block, depth, flat), (head, depth, True)]
    return False
