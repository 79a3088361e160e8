"""A text cut into fragments: each is read only if it is new.

A text is cut at the beginning of each definition, at the left margin. A fragment that parses, and
ends in `;`, is read alone. One that does not is read together with what follows it, up to a
fragment that the parser reads then exactly as it reads it alone: from there on it is where a new
reading would be. So the tree and the messages are those of the entire text. Where there is no such
fragment, the rest of the text is one.
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
"""How many fragments are read together."""


@dataclass(slots=True, eq=False)
class Fragment:
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
    """The fragments of a text, those of the text before used again."""

    name: str
    _known: dict[tuple[str, int], Fragment] = field(default_factory=dict)
    _joint: dict[tuple[str, str], Fragment | None] = field(default_factory=dict)

    def cut(self, text: str) -> list[Fragment]:
        starts = [m.start() for m in _BEGINNING.finditer(text)]
        if not starts or _SPANS_LINES.search(text) or not _COMMENTS.fullmatch(text, 0, starts[0]):
            starts = [0]
        found = _Cut(self, text, [*starts, len(text)])
        fragments = found.one_by_one()
        if fragments is None or not _add_up(fragments):
            fragments = found.at_once()
        self._known, self._joint = found.used, found.joint
        above, at = 0, 0
        for fragment in fragments:
            if fragment.start >= at:
                above += text.count("\n", at, fragment.start)
                at = fragment.start
                fragment.source.lines_above = above
        return fragments


class _Cut:
    """One cutting: `used` are its fragments, by their text and how often it was there before."""

    def __init__(self, cutter: Cutter, text: str, starts: list[int]) -> None:
        self._cutter, self._text, self._starts = cutter, text, starts
        self._texts = [text[start:end] for start, end in pairwise(starts)]
        self.used: dict[tuple[str, int], Fragment] = {}
        self.joint: dict[tuple[str, str], Fragment | None] = {}

    def one_by_one(self) -> list[Fragment] | None:
        """The fragments, None if what follows a mistake is not read as it is alone."""
        texts, starts = self._texts, self._starts
        found: list[Fragment] = []
        at = 0
        while at < len(texts):
            fragment = self._fragment(texts[at], starts[at])
            following = at + 1
            if not (fragment.ends or (following == len(texts) and not fragment.problems)):
                window = self._window(at)
                if window is None:
                    return None
                fragment, following = window
            found.append(fragment)
            at = following
        return found

    def at_once(self) -> list[Fragment]:
        """The text read as a whole; where that is what a fragment is alone, that fragment."""
        text = self._text
        program, problems = parse_program(Source(self._cutter.name, text))
        labels = [label.span for each in problems for label in each.labels]
        touched = sorted(at for span in labels for at in (span.start, span.end))
        kinds = {(i.span.start, i.span.end): type(i) for i in program.items}
        alone: dict[tuple[int, int], Fragment] = {}
        for start, end in pairwise(self._starts):
            near = bisect_left(touched, start)
            if near < len(touched) and touched[near] < end:
                continue
            fragment = self._fragment(text[start:end], start)
            items = [part.item for part in fragment.parts]
            places = [(each.span.start + start, each.span.end + start) for each in items]
            if fragment.ends and [kinds.get(place) for place in places] == list(map(type, items)):
                alone.update(dict.fromkeys(places, fragment))
        found = [Fragment(program.source, [], problems, broken=_places(problems))]
        before: Fragment | None = None
        for part in _parts(program):
            span = part.item.span
            fragment_alone = alone.get((span.start, span.end))
            if fragment_alone is None:
                found[-1].parts.append(part)
            elif fragment_alone is not before:
                found += [fragment_alone, Fragment(program.source, [], broken=_places(problems))]
                before = fragment_alone
        return found

    def _fragment(self, text: str, start: int) -> Fragment:
        count = 0
        while (text, count) in self.used:
            count += 1
        key = text, count
        fragment = self.used[key] = self._cutter._known.get(key) or _read(self._cutter.name, text)
        fragment.start = start
        return fragment

    def _window(self, at: int) -> tuple[Fragment, int] | None:
        """What is read together with a fragment, and the first fragment after it."""
        texts, starts = self._texts, self._starts
        for size in _SIZES:
            after = at + size
            if after >= len(texts):
                break
            next_ = self._alone(texts[after])
            if not next_.ends:
                continue
            key = self._text[starts[at] : starts[after]], texts[after]
            if key not in self.joint:
                known = self._cutter._joint
                self.joint[key] = known[key] if key in known else self._read(*key, next_)
            fragment = self.joint[key]
            if fragment is not None:
                fragment.start = starts[at]
                return fragment, after
        if at + _SIZES[-1] < len(texts):
            return None
        return self._fragment(self._text[starts[at] :], starts[at]), len(texts)

    def _alone(self, text: str) -> Fragment:
        """A fragment that is only looked at: it is not used here, or not yet."""
        key = text, 0
        known = self.used.get(key) or self._cutter._known.get(key)
        if known is None:
            known = self._cutter._known[key] = _read(self._cutter.name, text)
        return known

    def _read(self, text: str, next_text: str, next_: Fragment) -> Fragment | None:
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
        return Fragment(source, _parts(program), problems, broken=_places(problems))


def _same(item: ast.Item, other: ast.Item, distance: int) -> bool:
    """Whether an item is the other one, so much further on."""
    moved = item.span.start - distance, item.span.end - distance
    return type(item) is type(other) and moved == (other.span.start, other.span.end)


def _add_up(fragments: list[Fragment]) -> bool:
    """Whether the messages of the fragments are those of the entire text. A few are said once for a
    file, and there are at most so many. Whether all brackets of a file have their counterpart
    decides how it is read, where the indentation says something else.
    """
    broken = [fragment for fragment in fragments if fragment.problems]
    said = [each for fragment in broken for each in fragment.problems]
    once = [p for p in said if p.code == "AX001" or p.labels[0].text == RESERVED_WORD]
    if len(broken) > 1 and (len(once) > 1 or len(said) > MAX_SHOWN):
        return False
    open_ = [fragment for fragment in broken if not _is_balanced(fragment)]
    if not open_ or len(fragments) == 1:
        return True
    return len(broken) == 1 and all(
        _is_settled(fragment) for fragment in fragments if fragment is not open_[0]
    )


def _is_balanced(fragment: Fragment) -> bool:
    tokens, _ = lex(fragment.source)
    return balance(tokens) is tokens


def _is_settled(fragment: Fragment) -> bool:
    if fragment.settled is None:
        fragment.settled = is_settled(lex(fragment.source)[0])
    return fragment.settled


def _read(name: str, text: str) -> Fragment:
    """The items of a fragment of text, each a program of its own."""
    program, problems = parse_program(Source(name, text))
    ends = not problems and program.result is None and _ENDS.search(text) is not None
    ends = ends and bool(program.items)
    return Fragment(program.source, _parts(program), problems, ends, broken=_places(problems))


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
