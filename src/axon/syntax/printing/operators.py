"""Infix operators and signs: each operand in parentheses where what is around it binds tighter."""

from __future__ import annotations

from axon.syntax.ast import Expr, Infix, Negate
from axon.syntax.printing.comments import Comments, remarks_and_lines
from axon.syntax.printing.layout import Doc, Line, group, indent, join
from axon.syntax.printing.levels import ATOM, level_of
from axon.syntax.printing.lists import Builder
from axon.syntax.tokens import COMPARISON, INFIX_LEVEL, POWER


def operand(expr: Expr, level: int) -> Builder:
    """An operand where what is around it binds at a level."""
    doc = yield expr
    return join("(", doc, ")") if level_of(expr) < level else doc


def negated(expr: Negate) -> Builder:
    """Signs in a loop, then what they are put before."""
    signs = 0
    inner: Expr = expr
    while isinstance(inner, Negate):
        signs += 1
        inner = inner.operand
    return join("-" * signs, (yield from operand(inner, POWER)))


def infix(expr: Infix, comments: Comments) -> Builder:
    """A chain of operators that bind alike, broken before each; its left spine may be very long."""
    level = INFIX_LEVEL[expr.op]
    if level == POWER:
        base = yield from operand(expr.left, POWER + 1)
        return join(base, "**", (yield from operand(expr.right, POWER)))
    links: list[Infix] = [expr]
    first = expr.left
    while isinstance(first, Infix) and INFIX_LEVEL[first.op] == level != COMPARISON:
        links.append(first)
        first = first.left
    own = level + 1 if level == COMPARISON else level
    head = yield from operand(first, own)
    docs: list[Doc] = []
    end = first.span.end
    for link in reversed(links):
        docs += remarks_and_lines(comments, end, link.right.span.start, Line())[0]
        docs.append(f"{link.op} ")
        right = yield from operand(link.right, level + 1)
        docs.append(right)
        end = link.right.span.end
    return chain(head, own <= level_of(first) < ATOM, docs)


def chain(head: Doc, is_chain: bool, links: list[Doc]) -> Doc:
    """An operand and what is linked to it, each on its own line if there is no room. A head that
    is broken in the same way is indented more than the links are.
    """
    return group(indent(head, *links)) if is_chain else group(head, indent(*links))
