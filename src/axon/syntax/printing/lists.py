"""Lists, tuples and records, and what stands behind a `=`.

A builder yields each expression inside its own and is sent that one's document. Each goes through
its expression in the order of the text, as comments do.
"""

from __future__ import annotations

from collections.abc import Generator

from axon.syntax.ast import Attribute, Expr, Negate, Number, Record, TupleExpr
from axon.syntax.printing.comments import Comments, Items, remarks_and_lines
from axon.syntax.printing.layout import Doc, Hard, IfBroken, Line, group, indent, join

Builder = Generator[Expr, Doc, Doc]


def bare(expr: Expr, comments: Comments) -> Builder:
    """An expression where a tuple needs no parentheses, unless it is broken over lines."""
    match expr:
        case TupleExpr(items, span) if items:
            opener, closer = IfBroken("("), IfBroken(")")
            return (yield from listed(opener, items, closer, span.start, span.end - 1, comments))
        case _:
            return (yield expr)


def assigned(
    head: Doc, value: Expr, since: int, comments: Comments, sign: str = " = ", is_bare: bool = False
) -> Builder:
    """`head = value`, with the comments between them; the head ends at `since`."""
    around, commented = remarks_and_lines(comments, since, value.span.start, Hard())
    doc = (yield from bare(value, comments)) if is_bare else (yield value)
    if not commented:
        return join(head, sign, doc)
    return join(head, sign.rstrip(), indent(*around, doc))


def attribute(attribute: Attribute, comments: Comments, sign: str) -> Builder:
    """`axis=1` of a call, `w = e` of a record."""
    since = attribute.span.start + len(attribute.name)
    return (yield from assigned(attribute.name, attribute.value, since, comments, sign))


def listed(
    opener: Doc, exprs: tuple[Expr, ...], closer: Doc, start: int, until: int, comments: Comments
) -> Builder:
    """Expressions in brackets, which are at these places."""
    items = Items(comments, start)
    if opener == "[" and len(exprs) > 1 and not comments.any_before(until) and _numbers(exprs):
        return (yield from _filled(exprs))
    for each in exprs:
        items.before(each.span.start)
        items.add((yield each), each.span.end)
    return items.closed(opener, closer, until)


def _numbers(exprs: tuple[Expr, ...]) -> bool:
    return all(
        isinstance(each.operand if isinstance(each, Negate) else each, Number) for each in exprs
    )


def _filled(exprs: tuple[Expr, ...]) -> Builder:
    """A list of numbers: as many on a line as fit."""
    parts: list[Doc] = [Line("")]
    for each in exprs:
        doc = yield each
        parts.append(group(",", Line(), doc) if len(parts) > 1 else doc)
    return group("[", indent(*parts, IfBroken(",")), Line(""), "]")


def record(record: Record, comments: Comments) -> Builder:
    opener: Doc = "{"
    items = Items(comments, record.span.start, edge=" ")
    if record.base is not None:
        opener = join("{ ", (yield record.base), " |")
        items.end = record.base.span.end
    for each in record.fields:
        items.before(each.span.start)
        doc = yield from attribute(each, comments, " = ")
        items.add(doc, each.span.end)
    if not items.parts and record.base is not None:
        return join(opener, " }")
    return items.closed(opener, "}", record.span.end - 1)
