"""Statements of other languages: reported once, and passed over to where they end. The names that
they would define are known, so that nothing is said where they are used.
"""

from __future__ import annotations

from axon.syntax.ast import Binding, Broken, NamePattern, Pattern, TuplePattern
from axon.syntax.cursor import Cursor
from axon.syntax.habits import FUNCTION, NEEDLESS, STATEMENTS, WITH_HEAD, Habit
from axon.syntax.tokens import CLOSER, OPENER

_FAR = 1000

_OPERANDS = frozenset({"name", "int", "float", "fn", "if", "not", "true", "false", "inf", "{"})


def foreign_statement(p: Cursor) -> Binding | Broken | None:
    """The statement that begins here, if it is one of another language. A word that is just left
    out is passed, and what follows is a statement.
    """
    if p.kind == "fn":
        if p.next_kind() != "name" or p.kinds[p.at + 2] != "(":
            return None
        return _passed(p, "fn f(x)", FUNCTION)
    while (word := p.text()) in NEEDLESS and _is_followed(p, word):
        p.add_habit(Habit(word, p.here(), STATEMENTS[word]))
        p.advance()
    help = STATEMENTS.get(word)
    if help is None or p.at + 1 in p.tokens.fresh or word in NEEDLESS:
        return None
    if p.next_kind() == "name" or (word in WITH_HEAD and _has_head(p)):
        return _passed(p, word, help)
    return None


def begins_foreign(p: Cursor) -> bool:
    """Whether a statement of another language begins here."""
    if p.kind != "name" or p.at + 1 in p.tokens.fresh:
        return False
    word = p.text()
    return word in STATEMENTS and (p.next_kind() == "name" or _is_followed(p, word))


def _is_followed(p: Cursor, word: str) -> bool:
    if p.kind != "name" or p.at + 1 in p.tokens.fresh:
        return False
    return p.next_kind() in _OPERANDS if word == "return" else p.next_kind() == "name"


def _passed(p: Cursor, word: str, help: str) -> Binding | Broken:
    start = p.at
    p.add_habit(Habit(word, p.here(), help))
    names = _imported(p) if word in ("import", "from") else _defined(p, word)
    _skip(p)
    broken = Broken(p.since(start))
    if not names:
        return broken
    pattern: Pattern = names[0] if len(names) == 1 else TuplePattern(tuple(names), broken.span)
    return Binding(pattern, broken, broken.span)


def _has_head(p: Cursor) -> bool:
    """Whether brackets and then a block follow: `while (x > 0) {`."""
    if p.next_kind() != "(":
        return False
    depth = 0
    for at in range(p.at + 1, min(p.at + _FAR, len(p.kinds) - 1)):
        kind = p.kinds[at]
        depth += (kind in CLOSER) - (kind in OPENER)
        if not depth:
            return p.kinds[at + 1] in ("{", ":")
    return False


def _defined(p: Cursor, word: str) -> list[NamePattern]:
    if word in ("for", "while") or p.next_kind() != "name":
        return []
    return [NamePattern(p.tokens.text(p.at + 1), p.tokens.span(p.at + 1))]


def _imported(p: Cursor) -> list[NamePattern]:
    """`np` of `import numpy as np`; `a` and `c` of `from m import a, b as c`."""
    found: list[NamePattern] = []
    at = p.at + 1
    if p.text() == "from":
        while p.kinds[at] in ("name", "field") and p.tokens.text(at) != "import":
            at += 1
        at += 1
    while (
        at < len(p.kinds)
        and p.kinds[at] in ("name", "field", ",", "(")
        and at not in p.tokens.fresh
    ):
        if p.kinds[at] == "name":
            name = NamePattern(p.tokens.text(at), p.tokens.span(at))
            if p.tokens.text(at - 1) == "as" and found:
                found[-1] = name
            elif name.name != "as":
                found.append(name)
        at += 1
    return found


def _skip(p: Cursor) -> None:
    """Behind the block in braces, or the lines that are indented deeper."""
    fresh, start = p.tokens.fresh, p.at
    line = start
    while line not in fresh and start - line < _FAR and line:
        line -= 1
    indent = fresh.get(line, 0)
    depth, at, by_lines = 0, start + 1, False
    while (kind := p.kinds[at]) != "eof":
        if not depth and fresh.get(at, indent + 1) <= indent:
            break
        if kind in CLOSER:
            depth += 1
        elif kind in OPENER:
            if not depth:
                break
            depth -= 1
            if not depth and kind == "}" and not by_lines:
                at += 1
                break
        elif not depth and kind == ";" and not by_lines:
            break
        elif not depth and kind == ":":
            by_lines = True
        at += 1
    p.at, p.kind = at, p.kinds[at]
