"""A text cut into pieces: each is read only if it is new.

A text is cut at the beginning of each definition, at the left margin. A piece that parses, and ends
in `;`, is read alone. One that does not is read together with what follows it, up to a piece that
the parser reads then exactly as it reads it alone: from there on it is where a new reading would
be. So the tree and the messages are those of the entire text. Where there is no such piece, the
rest of the text is one piece.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field, replace
from itertools import pairwise

from axon.diagnostics import Diagnostic
from axon.inference.environment import bound_names
from axon.session.parts import Part
from axon.source import Source, Span
from axon.syntax import ast, mentioned, parse_program
from axon.syntax.brackets import balance, is_settled
from axon.syntax.cursor import RESERVED_WORD
from axon.syntax.lexer import lex
from axon.syntax.problems import MAX_SHOWN

_BEGINNING = re.compile(r"^(?=[A-Za-z_(])", re.MULTILINE)
_COMMENTS = re.compile(r"(?:\s|#[^\n]*\n)*")
_ENDS = re.compile(r";\s*(#[^\n]*\s*)*\Z")
_SPANS_LINES = re.compile(r'/\*|"""')
_SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
"""How many pieces are read together."""


@dataclass(slots=True, eq=False)
class Piece:
    """A text that was read by itself, what is in it, and the mistakes in it."""

    source: Source
    parts: list[Part]
    problems: tuple[Diagnostic, ...] = ()
    ends: bool = False
    """Whether it parses and more can follow."""
    start: int = 0
    """Where it stands in the entire text."""

    broken: tuple[Span, ...] = ()
    """The places of mistakes in what was read, here or elsewhere."""
    settled: bool | None = None
    """Whether its brackets are read in the same way wherever it stands; None if not known yet."""


@dataclass(slots=True)
class Cutter:
    """The pieces of a text, those of the text before used again."""

    name: str
    _known: dict[tuple[str, int], Piece] = field(default_factory=dict)
    _together: dict[tuple[str, str], Piece | None] = field(default_factory=dict)

    def cut(self, text: str) -> list[Piece]:
        starts = [m.start() for m in _BEGINNING.finditer(text)]
        if not starts or _SPANS_LINES.search(text) or not _COMMENTS.fullmatch(text, 0, starts[0]):
            starts = [0]
        found = _Cut(self, text, [*starts, len(text)])
        pieces = found.piece_by_piece()
        if pieces is None or not _add_up(pieces):
            pieces = found.at_once()
        self._known, self._together = found.used, found.together
        above, at = 0, 0
        for piece in pieces:
            if piece.start >= at:
                above += text.count("\n", at, piece.start)
                at = piece.start
                piece.source.lines_above = above
        return pieces


class _Cut:
    """One cutting: `used` are the pieces in it, by their text and how often it was there before."""

    def __init__(self, cutter: Cutter, text: str, starts: list[int]) -> None:
        self._cutter, self._text, self._starts = cutter, text, starts
        self._texts = [text[start:end] for start, end in pairwise(starts)]
        self.used: dict[tuple[str, int], Piece] = {}
        self.together: dict[tuple[str, str], Piece | None] = {}

    def piece_by_piece(self) -> list[Piece] | None:
        """The pieces, None if what follows a mistake is not read as it is alone."""
        texts, starts = self._texts, self._starts
        found: list[Piece] = []
        at = 0
        while at < len(texts):
            piece = self._piece(texts[at], starts[at])
            following = at + 1
            if not (piece.ends or (following == len(texts) and not piece.problems)):
                window = self._window(at)
                if window is None:
                    return None
                piece, following = window
            found.append(piece)
            at = following
        return found

    def at_once(self) -> list[Piece]:
        """The text read as a whole; where that is what a piece is alone, that piece."""
        text = self._text
        program, problems = parse_program(Source(self._cutter.name, text))
        labels = [label.span for each in problems for label in each.labels]
        touched = sorted(at for span in labels for at in (span.start, span.end))
        kinds = {(i.span.start, i.span.end): type(i) for i in program.items}
        alone: dict[tuple[int, int], Piece] = {}
        for start, end in pairwise(self._starts):
            near = bisect_left(touched, start)
            if near < len(touched) and touched[near] < end:
                continue
            piece = self._piece(text[start:end], start)
            items = [part.item for part in piece.parts]
            places = [(each.span.start + start, each.span.end + start) for each in items]
            if piece.ends and [kinds.get(place) for place in places] == list(map(type, items)):
                alone.update(dict.fromkeys(places, piece))
        found = [Piece(program.source, [], problems, broken=_places(problems))]
        before: Piece | None = None
        for part in _parts(program):
            span = part.item.span
            piece_alone = alone.get((span.start, span.end))
            if piece_alone is None:
                found[-1].parts.append(part)
            elif piece_alone is not before:
                found += [piece_alone, Piece(program.source, [], broken=_places(problems))]
                before = piece_alone
        return found

    def _piece(self, text: str, start: int) -> Piece:
        count = 0
        while (text, count) in self.used:
            count += 1
        key = text, count
        piece = self.used[key] = self._cutter._known.get(key) or _read(self._cutter.name, text)
        piece.start = start
        return piece

    def _window(self, at: int) -> tuple[Piece, int] | None:
        """What is read together with a piece, and the first piece after it."""
        texts, starts = self._texts, self._starts
        for size in _SIZES:
            after = at + size
            if after >= len(texts):
                break
            next_ = self._alone(texts[after])
            if not next_.ends:
                continue
            key = self._text[starts[at] : starts[after]], texts[after]
            if key not in self.together:
                known = self._cutter._together
                self.together[key] = known[key] if key in known else self._read(*key, next_)
            piece = self.together[key]
            if piece is not None:
                piece.start = starts[at]
                return piece, after
        if at + _SIZES[-1] < len(texts):
            return None
        return self._piece(self._text[starts[at] :], starts[at]), len(texts)

    def _alone(self, text: str) -> Piece:
        """A piece that is only looked at: it is not used here, or not yet."""
        key = text, 0
        known = self.used.get(key) or self._cutter._known.get(key)
        if known is None:
            known = self._cutter._known[key] = _read(self._cutter.name, text)
        return known

    def _read(self, text: str, next_text: str, next_: Piece) -> Piece | None:
        """A text read before another; None if that changes how the other is read."""
        source = Source(self._cutter.name, text + next_text)
        program, problems = parse_program(source)
        end = len(text)
        mine = [item for item in program.items if item.span.start < end]
        others = [item for item in program.items if item.span.start >= end]
        expected = [part.program.items[0] for part in next_.parts]
        if program.result is not None or any(item.span.end > end for item in mine):
            return None
        if any(label.span.end > end for each in problems for label in each.labels):
            return None
        if len(others) != len(expected) or any(
            not _same(*each, end) for each in zip(others, expected, strict=True)
        ):
            return None
        program = replace(program, items=tuple(mine))
        return Piece(source, _parts(program), problems, broken=_places(problems))


def _same(item: ast.Item, other: ast.Item, distance: int) -> bool:
    """Whether an item is the other one, so much further on."""
    moved = item.span.start - distance, item.span.end - distance
    return type(item) is type(other) and moved == (other.span.start, other.span.end)


def _add_up(pieces: list[Piece]) -> bool:
    """Whether the messages of the pieces are those of the entire text. A few are said once for a
    file, and there are at most so many. Whether all brackets of a file have their counterpart
    decides how it is read, where the indentation says something else.
    """
    broken = [piece for piece in pieces if piece.problems]
    said = [each for piece in broken for each in piece.problems]
    once = [p for p in said if p.code == "AX001" or p.labels[0].text == RESERVED_WORD]
    if len(broken) > 1 and (len(once) > 1 or len(said) > MAX_SHOWN):
        return False
    open_ = [piece for piece in broken if not _is_balanced(piece)]
    if not open_ or len(pieces) == 1:
        return True
    return len(broken) == 1 and all(_is_settled(piece) for piece in pieces if piece is not open_[0])


def _is_balanced(piece: Piece) -> bool:
    tokens, _ = lex(piece.source)
    return balance(tokens) is tokens


def _is_settled(piece: Piece) -> bool:
    if piece.settled is None:
        piece.settled = is_settled(lex(piece.source)[0])
    return piece.settled


def _read(name: str, text: str) -> Piece:
    """The items of a piece of text, each a program of its own."""
    program, problems = parse_program(Source(name, text))
    ends = not problems and program.result is None and _ENDS.search(text) is not None
    ends = ends and bool(program.items)
    return Piece(program.source, _parts(program), problems, ends, broken=_places(problems))


def _places(problems: tuple[Diagnostic, ...]) -> tuple[Span, ...]:
    return tuple(p.span for p in problems if p.span is not None)


def _parts(program: ast.Program) -> list[Part]:
    alone = [replace(program, items=(item,), result=None) for item in program.items]
    if program.result is not None:
        alone.append(replace(program, items=()))
    return [
        Part(each, _bound(each), tuple(sorted(set(mentioned(*each.items, each.result)))))
        for each in alone
    ]


def _bound(program: ast.Program) -> tuple[tuple[str, Span], ...]:
    return tuple(
        found
        for item in program.items
        if isinstance(item, ast.Binding)
        for found in bound_names(item.pattern)
    )
