"""Patterns: what stands on the left of `=`."""

from __future__ import annotations

from axon.diagnostics.value import error
from axon.syntax.ast import NamePattern, Pattern, TuplePattern
from axon.syntax.cursor import LIST, MAX_DEPTH, Cursor
from axon.syntax.parse_record import parse_record_pattern


def parse_pattern(p: Cursor) -> Pattern:
    """Names, tuples of patterns and fields of records; a bare `a, b` is a tuple."""
    start = p.at
    first = _part(p)
    if p.kind != ",":
        return first
    items = [first]
    while p.kind == ",":
        p.advance()
        items.append(_part(p))
    return TuplePattern(tuple(items), p.since(start))


def _part(p: Cursor) -> Pattern:
    start = p.at
    if p.kind == "{" and p.depth < MAX_DEPTH:
        return parse_record_pattern(p)
    if p.kind != "(":
        found = p.name("a name")
        return NamePattern(found[0], found[1]) if found else NamePattern("_", p.since(start))
    if p.depth >= MAX_DEPTH:
        return NamePattern("_", p.too_deep())
    outer = p.inside
    p.inside = LIST
    p.depth += 1
    p.advance()
    items: list[Pattern] = []
    more = p.kind != ")"
    while more:
        items.append(_part(p))
        more = p.next_item(")")
    if len(items) == 1 and p.kinds[p.at - 1] == ",":
        message = "there is no tuple of one item"
        p.add(error("AX002", message, p.since(start), "one item", "leave out the comma"))
    p.inside = outer
    p.depth -= 1
    p.close()
    return items[0] if len(items) == 1 else TuplePattern(tuple(items), p.since(start))
