"""Named texts, spans in them, and their lines as editors count them."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Any

_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(slots=True, eq=False)
class Source:
    """One text. Offsets count characters; lines and columns count from one.

    A part of a larger text knows how many lines are above it, which may change as that is edited.
    A line that stands for something else, a node of a model say, has that as its `subject`; one of
    a PyTorch program has the path of the `module` that it is part of, and its columns are unknown.
    """

    name: str
    text: str
    lines_above: int = 0
    subject: Any = None
    module: str | None = None
    _line_starts: list[int] = field(default_factory=list, repr=False)

    def position(self, offset: int) -> tuple[int, int]:
        """The line and column of an offset."""
        starts = self._starts()
        line = bisect_right(starts, offset)
        return line + self.lines_above, offset - starts[line - 1] + 1

    def place(self, offset: int) -> str:
        """`net.axon:2:10`; `model.py:42 (encoder.layers.3.attn)` of a PyTorch program."""
        line, column = self.position(offset)
        if self.module is None:
            return f"{self.name}:{line}:{column}"
        return f"{self.name}:{line} ({self.module})" if self.module else f"{self.name}:{line}"

    def line(self, number: int) -> str:
        """The text of a line, without its end."""
        number -= self.lines_above
        starts = self._starts()
        end = starts[number] - 1 if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : end].rstrip("\r")

    def _starts(self) -> list[int]:
        if not self._line_starts:
            self._line_starts.append(0)
            at = self.text.find("\n")
            while at >= 0:
                self._line_starts.append(at + 1)
                at = self.text.find("\n", at + 1)
        return self._line_starts


@dataclass(slots=True, unsafe_hash=True)
class Span:
    """The characters `start` up to `end` of a source.

    Never changed. It is not declared frozen, since there are many: each would take four times as
    long to make.
    """

    source: Source
    start: int
    end: int

    @property
    def line(self) -> int:
        return self.source.position(self.start)[0]

    @property
    def column(self) -> int:
        return self.source.position(self.start)[1]

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]

    def is_within(self, other: Span) -> bool:
        return self.source is other.source and other.start <= self.start and self.end <= other.end

    def to(self, other: Span) -> Span:
        """From the start of this span to the end of the other."""
        return Span(self.source, self.start, other.end)


class Lines:
    """From offsets in characters to lines and columns as editors count them, in UTF-16 code units,
    and back. A line ends in `\\n`, `\\r\\n` or `\\r`, as the protocol of language servers says. A
    position outside of the text is moved to the nearest one inside.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
        self._narrow = text.isascii() or max(text, default="") <= "\uffff"

    def offset(self, line: int, column: int) -> int:
        if line < 0:
            return 0
        if line >= len(self._starts):
            return len(self.text)
        start = self._starts[line]
        end = self._end(line)
        if self._narrow:
            return min(start + max(column, 0), end)
        units = 0
        for at in range(start, end):
            units += 2 if self.text[at] > "\uffff" else 1
            if units > column:
                return at  # a column inside a pair is that of the pair
        return end

    def position(self, offset: int) -> tuple[int, int]:
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(self._starts, offset) - 1
        start = self._starts[line]
        if self._narrow:
            return line, offset - start
        piece = self.text[start:offset]
        return line, len(piece) + sum(letter > "\uffff" for letter in piece)

    def _end(self, line: int) -> int:
        """Where a line ends, before what ends it."""
        if line + 1 == len(self._starts):
            return len(self.text)
        end = self._starts[line + 1]
        while end > self._starts[line] and self.text[end - 1] in "\r\n":
            end -= 1
        return end
