"""Comments in their order, and lists and lines of things with the comments between them.

Each comment is taken once, at the first place behind it where a line may be broken. The first one
taken there stays at the end of the line if it was on the line of what is before it; the others
stand on lines of their own. So a comment is found at the same place when the text is read again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from axon.source import Span
from axon.syntax.printing.layout import Doc, Hard, IfBroken, Line, Remark, group, indent, join

_BEHIND_ITEM = re.compile(r"(?:[\s,]|#[^\n]*)*+")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")

BEGINNING = -1
"""Before all of the text: a comment there is on a line of its own."""


@dataclass(slots=True)
class Comments:
    """The comments of a file; those up to `taken` are placed."""

    spans: tuple[Span, ...]
    taken: int = 0

    def take(self, since: int, until: int) -> tuple[Remark | None, list[Span]]:
        """Those before `until`: one that ends the line of what ends at `since`, then the others."""
        spans, at = self.spans, self.taken
        if at == len(spans) or spans[at].start >= until:
            return None, []
        first = spans[at]
        ends_line = since != BEGINNING and "\n" not in first.source.text[since : first.start]
        at += ends_line
        while at < len(spans) and spans[at].start < until:
            at += 1
        others = list(spans[self.taken + ends_line : at])
        self.taken = at
        return (Remark("  " + first.text) if ends_line else None), others

    def any_before(self, until: int) -> bool:
        return self.taken < len(self.spans) and self.spans[self.taken].start < until

    def closer(self, item_end: int) -> int:
        """Where the bracket around an item closes that is the last in it and ends there."""
        if not self.spans:
            return 0
        found = _BEHIND_ITEM.match(self.spans[0].source.text, item_end)
        return found.end() if found else item_end


def remarks_and_lines(
    comments: Comments, since: int, until: int, line: Doc
) -> tuple[list[Doc], bool]:
    """A line break with the comments around it, and whether there are any."""
    ending, others = comments.take(since, until)
    parts: list[Doc] = [] if ending is None else [ending]
    parts.append(line)
    for comment in others:
        parts += [comment.text, Hard()]
    return parts, len(parts) > 1


@dataclass(slots=True)
class Items:
    """What stands between brackets, with commas: on one line, or each item on its own. `end` is
    where the text before the next item ends.
    """

    comments: Comments
    end: int
    edge: str = ""
    between: str = " "
    parts: list[Doc] = field(default_factory=list)

    def before(self, start: int) -> None:
        """The comma and the line break before an item that begins there."""
        line = Line(self.between if self.parts else self.edge)
        if self.parts:
            self.parts.append(",")
        self.parts += remarks_and_lines(self.comments, self.end, start, line)[0]

    def add(self, doc: Doc, end: int) -> None:
        self.parts.append(doc)
        self.end = end

    def closed(self, opener: Doc, closer: Doc, until: int) -> Doc:
        """All of it; the bracket closes at `until`."""
        ending, others = self.comments.take(self.end, until)
        inside: list[Doc] = [*self.parts]
        if inside:
            inside.append(IfBroken(","))
        if ending is not None:
            inside.append(ending)
        for comment in others:
            inside += [Hard(), comment.text]
        if not inside:
            return join(opener, closer)
        return group(opener, indent(*inside), Line(self.edge), closer)


@dataclass(slots=True)
class Lines:
    """Statements, each on a line of its own, with an empty line where there was one. `opening` is
    the comment on the line before them.
    """

    comments: Comments
    end: int
    parts: list[Doc] = field(default_factory=list)
    opening: Doc = ""
    commented: bool = False

    def before(self, span: Span) -> None:
        """The comments and the line break before a statement."""
        self._comment(span.start)
        if self.parts:
            self.parts.append(Hard(_blank_before(span)))

    def add(self, doc: Doc, end: int) -> None:
        self.parts.append(doc)
        self.end = end

    def finish(self, until: int) -> None:
        """The comments behind the last statement, up to there."""
        self._comment(until)

    def _comment(self, until: int) -> None:
        ending, others = self.comments.take(self.end, until)
        self.commented = self.commented or ending is not None or bool(others)
        if ending is not None and self.parts:
            self.parts.append(ending)
        elif ending is not None:
            self.opening = ending
        for comment in others:
            if self.parts:
                self.parts.append(Hard(_blank_before(comment)))
            self.parts.append(comment.text)


def _blank_before(span: Span) -> bool:
    """Was there an empty line before this, and before parentheses around it? One is kept."""
    before = span.source.text[max(0, span.start - 1000) : span.start]
    return _BLANK_LINE.search(before, len(before.rstrip(" \t\r\f\v\n("))) is not None
