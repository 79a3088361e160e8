"""Balance the brackets of a token sequence, so that the parser never meets one that is not.

Law: what comes out is balanced, and a sequence that was balanced comes out as it went in. An
opener without a closer gets a virtual one before the next definition that stands no deeper than
the opener's line (else where an outer bracket closes, else at the end); a closer without an opener becomes `stray`. The parser
reports both when it meets them, so that one mistake is one message.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left

from axon.syntax.tokens import CLOSER, OPENER, Tokens


def balance(tokens: Tokens) -> Tokens:
    """The tokens with balanced brackets."""
    return tokens if _balanced(tokens.kinds) else _repair(tokens, _unclosed(tokens))


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


def _matching(
    stack: list[tuple[str, int, int]], kind: str, line: int, counts: dict[str, int]
) -> int:
    """How many open brackets a closer leaves open: those below its opener, or all when it is stray.

    A round or square bracket does not reach across a `{` of an earlier line, and none reaches far:
    that keeps the search short where brackets are hopeless.
    """
    opener = OPENER[kind]
    if stack and stack[-1][0] == opener:
        return len(stack) - 1
    if not counts[opener]:
        return len(stack)
    for at in range(len(stack) - 1, max(len(stack) - 24, 0) - 1, -1):
        if stack[at][0] == opener:
            return at
        if stack[at][0] == "{" and stack[at][2] != line:
            break
    return len(stack)


def _unclosed(tokens: Tokens) -> set[int]:
    """The openers for which no closer comes, when brackets are matched as far as they go."""
    stack: list[tuple[str, int, int]] = []
    counts = {"(": 0, "[": 0, "{": 0}
    unclosed: set[int] = set()
    line = 0
    for at, kind in enumerate(tokens.kinds):
        if at in tokens.fresh:
            line += 1
        if kind in CLOSER:
            stack.append((kind, at, line))
            counts[kind] += 1
        elif kind in OPENER:
            keep = _matching(stack, kind, line, counts)
            unclosed.update(opened for _, opened, _ in stack[keep + 1 :])
            for opener, _, _ in stack[keep:]:
                counts[opener] -= 1
            del stack[keep:]
    unclosed.update(opened for _, opened, _ in stack)
    return unclosed


def _repair(tokens: Tokens, unclosed: set[int]) -> Tokens:
    kinds: list[str] = []
    starts = array("q")
    ends = array("q")
    fresh: dict[int, int] = {}
    virtual: dict[int, int] = {}
    stack: list[tuple[str, int, int]] = []
    counts = {"(": 0, "[": 0, "{": 0}
    reach: list[int] = []
    """For each open bracket, the deepest line of an unclosed one up to it: never falls, so it can be searched."""
    line = indent = 0

    def put_in(kind: str, opener: int) -> None:
        offset = tokens.ends[at - 1] if at else 0
        virtual[len(kinds)] = tokens.starts[opener]
        kinds.append(kind)
        starts.append(offset)
        ends.append(offset)

    def close(keep: int) -> None:
        for opener, opened, _ in reversed(stack[keep:]):
            put_in(CLOSER[opener], opened)
        drop(keep)

    def drop(keep: int) -> None:
        for opener, _, _ in stack[keep:]:
            counts[opener] -= 1
        del stack[keep:], reach[keep:]

    for at, kind in enumerate(tokens.kinds):
        if at in tokens.fresh:
            line += 1
            indent = tokens.fresh[at]
            if reach and reach[-1] >= indent and tokens.is_anchor(at):
                close(bisect_left(reach, indent))
                put_in(";", at)
        if kind == ";":
            keep = len(stack)
            while keep and stack[keep - 1][0] != "{" and stack[keep - 1][1] in unclosed:
                keep -= 1
            if keep < len(stack) and _ends_line(tokens, at + 1):
                close(keep)
        elif kind == "eof":
            close(0)
        elif kind in CLOSER:
            stack.append((kind, at, line))
            counts[kind] += 1
            below = reach[-1] if reach else -1
            reach.append(max(below, indent) if at in unclosed else below)
        elif kind in OPENER:
            keep = _matching(stack, kind, line, counts)
            if keep == len(stack):
                kind = "stray"
            else:
                close(keep + 1)
                drop(keep)
        if at in tokens.fresh:
            fresh[len(kinds)] = indent
        kinds.append(kind)
        starts.append(tokens.starts[at])
        ends.append(tokens.ends[at])
    return Tokens(tokens.source, kinds, starts, ends, fresh, tokens.comments, virtual)


def _ends_line(tokens: Tokens, at: int) -> bool:
    return at in tokens.fresh or tokens.kinds[at] in ("eof", "}") or tokens.is_anchor(at)
