"""How text looks in a terminal: wide characters, characters without width, unsafe ones."""

from __future__ import annotations

import unicodedata

TAB = 4


def cells(character: str, column: int) -> tuple[str, int]:
    """The text to show for a character at a column, and its width in columns.

    Control and formatting characters are named instead of sent: they could move the cursor, or show
    a text in another order than it is read.
    """
    if " " <= character <= "~":
        return character, 1
    if character == "\t":
        width = TAB - column % TAB
        return " " * width, width
    match unicodedata.category(character):
        case "Mn" | "Me":
            return character, 0
        case "Cs":
            return "\ufffd", 1
        case "Cc" | "Cf" | "Zl" | "Zp":
            named = f"<U+{ord(character):04X}>"
            return named, len(named)
        case _:
            return character, 2 if unicodedata.east_asian_width(character) in "WF" else 1


def shown(text: str) -> str:
    """A text that is safe to send to a terminal, on one line."""
    if text.isascii() and text.isprintable():
        return text
    column = 0
    pieces: list[str] = []
    for character in text:
        piece, width = cells(character, column)
        pieces.append(piece)
        column += width
    return "".join(pieces)
