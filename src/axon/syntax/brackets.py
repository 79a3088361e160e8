"""Balance the brackets of a token sequence, so that the parser never meets one that is not.

Law: what comes out is balanced, and a sequence that was balanced comes out as it went in. An
opener without a closer gets a virtual one before the next definition that stands no deeper than
the opener's line (else where an outer bracket closes, else at the end), and the parameters of a
function before its body; a closer without an opener
becomes `stray`. The parser reports both when it meets them, so that one mistake is one message.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from dataclasses import dataclass, field

from axon.syntax.tokens import CLOSER, OPENER, Tokens


def balance(tokens: Tokens) -> Tokens:
    """The tokens with balanced brackets."""
    return tokens if _balanced(tokens.kinds) else _repair(tokens, _unclosed(tokens))


def is_settled(tokens: Tokens) -> bool:
    """Whether balanced tokens come out as they went in even where others, before or behind, are not
    balanced.
    """
    found = _repair(tokens, _unclosed(tokens))
    return not found.virtual and found.kinds == tokens.kinds


def _balanced(kinds: list[str]) -> bool:
    expected: list[str] = []
    for kind in kinds:
        if kind in CLOSER:
            expected.append(CLOSER[kind])
        elif kind in OPENER:
            if not expected or expected.pop() != kind:
                return False
        elif kind == ";" and expected and expected[-1] != "}":
            return False
    return not expected


@dataclass(frozen=True, slots=True)
class _Open:
    """An open bracket: the token, the number and the indentation of its line."""

    kind: str
    at: int
    line: int
    indent: int


@dataclass(slots=True)
class _Stack:
    """The open brackets, and how many there are of each kind."""

    opened: list[_Open] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=lambda: {"(": 0, "[": 0, "{": 0})

    def push(self, bracket: _Open) -> None:
        self.opened.append(bracket)
        self.counts[bracket.kind] += 1

    def cut(self, keep: int) -> list[_Open]:
        """Take all but the lowest `keep` brackets off."""
        taken = self.opened[keep:]
        for bracket in taken:
            self.counts[bracket.kind] -= 1
        del self.opened[keep:]
        return taken

    def below(self, closer: str, line: int, indent: int | None) -> int:
        """How many brackets lie below the opener of this closer; all of them when it has none.

        A round or square bracket does not reach across a `{` of an earlier line, and none reaches
        far: that keeps the search short where brackets are hopeless. A `}` that begins a line, with
        this indentation, closes what a line with the same indentation opens, if there is one.
        """
        opener, opened = OPENER[closer], self.opened
        if not self.counts[opener]:
            return len(opened)
        nearest = len(opened)
        for at in range(len(opened) - 1, max(len(opened) - 24, 0) - 1, -1):
            if opened[at].kind == opener:
                if indent is None or opened[at].indent == indent or opener != "{":
                    return at
                nearest = at if nearest == len(opened) else nearest
                if opened[at].indent < indent:
                    return nearest
            elif opened[at].kind == "{" and opened[at].line != line:
                break
        return nearest


def _unclosed(tokens: Tokens) -> set[int]:
    """The openers for which no closer comes.

    A definition on a line no deeper than the opener's ends the wait for its closer, except in the
    body of a function that is not indented.
    """
    stack = _Stack()
    unclosed: set[int] = set()
    line = indent = 0
    for at, kind in enumerate(tokens.kinds):
        if at in tokens.fresh:
            line += 1
            indent = tokens.fresh[at]
            if stack.opened and stack.opened[-1].indent >= indent and tokens.is_anchor(at):
                keep = len(stack.opened)
                while keep and _ends_at(tokens, stack.opened[keep - 1], indent):
                    keep -= 1
                unclosed.update(bracket.at for bracket in stack.cut(keep))
        if kind in CLOSER:
            if kind == "{" and _ends_header(tokens, stack, at):
                unclosed.update(bracket.at for bracket in stack.cut(len(stack.opened) - 1))
            stack.push(_Open(kind, at, line, indent))
        elif kind in OPENER:
            keep = stack.below(kind, line, tokens.fresh.get(at))
            unclosed.update(bracket.at for bracket in stack.cut(keep)[1:])
    unclosed.update(bracket.at for bracket in stack.opened)
    return unclosed


def _ends_header(tokens: Tokens, stack: _Stack, at: int) -> bool:
    """Whether a body begins inside the parameters of its function: `fn (x : f32 [n] {`."""
    top = stack.opened[-1].at if stack.opened else 0
    return top > 0 and tokens.kinds[top - 1] == "fn" and tokens.kinds[at - 1] in ("name", "]", ")")


def _ends_at(tokens: Tokens, bracket: _Open, indent: int) -> bool:
    """Does a definition at this indentation tell that the bracket was not closed?"""
    if bracket.indent < indent:
        return False
    return bracket.kind != "{" or tokens.fresh.get(bracket.at + 1, indent + 1) > indent


def _repair(tokens: Tokens, unclosed: set[int]) -> Tokens:
    kinds: list[str] = []
    starts = array("q")
    ends = array("q")
    fresh: dict[int, int] = {}
    virtual: dict[int, int] = {}
    stack = _Stack()
    # For each open bracket, the deepest line of an unclosed one up to it: it never falls, so that
    # it can be searched.
    reach: list[int] = []
    line = indent = 0

    def insert(kind: str, before: int, opener: int) -> None:
        offset = tokens.ends[before - 1] if before else 0
        virtual[len(kinds)] = tokens.starts[opener]
        kinds.append(kind)
        starts.append(offset)
        ends.append(offset)

    def close(keep: int, before: int) -> None:
        for bracket in reversed(stack.cut(keep)):
            insert(CLOSER[bracket.kind], before, bracket.at)
        del reach[keep:]

    for at, kind in enumerate(tokens.kinds):
        if at in tokens.fresh:
            line += 1
            indent = tokens.fresh[at]
            if reach and reach[-1] >= indent and tokens.is_anchor(at):
                close(bisect_left(reach, indent), at)
                insert(";", at, at)
        if kind == ";":
            if _ends_line(tokens, at + 1):
                keep = len(stack.opened)
                while keep and _is_unclosed(stack.opened[keep - 1], unclosed):
                    keep -= 1
                close(keep, at)
        elif kind == "eof":
            close(0, at)
        elif kind in CLOSER:
            header = _header(tokens, stack, unclosed) if kind == "{" else None
            if header is not None:
                close(header, at)
            stack.push(_Open(kind, at, line, indent))
            lower = reach[-1] if reach else -1
            reach.append(max(lower, indent) if at in unclosed else lower)
        elif kind in OPENER:
            keep = stack.below(kind, line, tokens.fresh.get(at))
            if keep == len(stack.opened):
                kind = "stray"
            else:
                close(keep + 1, at)
                stack.cut(keep)
                del reach[keep:]
        if at in tokens.fresh:
            fresh[len(kinds)] = indent
        kinds.append(kind)
        starts.append(tokens.starts[at])
        ends.append(tokens.ends[at])
    return Tokens(tokens.source, kinds, starts, ends, fresh, tokens.comments, virtual)


def _header(tokens: Tokens, stack: _Stack, unclosed: set[int]) -> int | None:
    """How many brackets lie below the parameters of a `fn` that were not closed before its body."""
    for keep in range(len(stack.opened) - 1, max(len(stack.opened) - 4, 0) - 1, -1):
        bracket = stack.opened[keep]
        if not _is_unclosed(bracket, unclosed):
            return None
        if bracket.at and tokens.kinds[bracket.at - 1] == "fn":
            return keep
    return None


def _is_unclosed(bracket: _Open, unclosed: set[int]) -> bool:
    return bracket.kind != "{" and bracket.at in unclosed


def _ends_line(tokens: Tokens, at: int) -> bool:
    return at in tokens.fresh or tokens.kinds[at] in ("eof", "}") or tokens.is_anchor(at)
