"""The symbols in labels: each has one colour, wherever it is.

Colours are given in the order in which symbols appear. There are eight that people with any of the
common kinds of colour blindness can tell apart; the ninth symbol has the first one, underlined.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from axon.pages.drawing import Picture
from axon.syntax.tokens import ELEMENT_TYPES

COLOURS = 8
ROUNDS = 2

_WORD = re.compile(r"\??[A-Za-z_][A-Za-z0-9_]*'*")
_NO_SYMBOL = frozenset(
    {"mod", "min", "max", "broadcast", "size", "rank", "shape", "dim", *ELEMENT_TYPES}
)


class Piece(NamedTuple):
    """A part of a label: text, and the number of its symbol, or None."""

    text: str
    symbol: int | None


def symbols_in(label: str) -> Iterator[tuple[int, int, str]]:
    """Where a label names a size or a shape: inside its brackets, or a shape's name before `@`."""
    depth = 0
    at = 0
    for found in _WORD.finditer(label):
        depth += label.count("[", at, found.start()) - label.count("]", at, found.start())
        at = found.start()
        word = found[0]
        after = label[found.end() : found.end() + 1]
        if word in _NO_SYMBOL or after == "(":
            continue
        if depth > 0 or after == "@" or label[max(0, found.start() - 1) : found.start()] == "@":
            yield found.start(), found.end(), word.lstrip("?")


def number_symbols(labels: Iterable[str], known: dict[str, int]) -> None:
    """Give each new symbol the next number."""
    for label in labels:
        for _, _, symbol in symbols_in(label):
            known.setdefault(symbol, len(known))


def number_all(picture: Picture) -> None:
    """Number the symbols of a picture: those of its signature first."""
    number_symbols([picture.signature], picture.symbols)
    for drawing in picture.drawings:
        for box in drawing.boxes:
            number_symbols([output.label for output in box.outputs], picture.symbols)


def split_label(label: str, known: dict[str, int]) -> list[Piece]:
    found: list[Piece] = []
    at = 0
    for start, end, symbol in symbols_in(label):
        if start > at:
            found.append(Piece(label[at:start], None))
        found.append(Piece(label[start:end], known.get(symbol)))
        at = end
    if at < len(label):
        found.append(Piece(label[at:], None))
    return found


def colour(symbol: int | None) -> str:
    """The class of a symbol: `c0` to `c7`, with `u` where it is underlined."""
    if symbol is None:
        return ""
    return f"c{symbol % COLOURS}" + (" u" if symbol // COLOURS % ROUNDS else "")
