"""Lines and columns as editors count them, in UTF-16 code units, and offsets in characters.

Lines end as the protocol says: `\\n`, `\\r\\n` or `\\r`.
"""

from __future__ import annotations

import re
from bisect import bisect_right

_END = re.compile(r"\r\n|\r|\n")


class Lines:
    """Both ways for one text. A position outside of it is moved to the nearest one inside."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(match.end() for match in _END.finditer(text))]
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
