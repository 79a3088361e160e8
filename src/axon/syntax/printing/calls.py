"""Calls, subscripts and chains of `|>`."""

from __future__ import annotations

from axon.syntax.ast import (
    Call,
    Expr,
    Field,
    Fn,
    NewAxis,
    OperatorName,
    Rest,
    Slice,
    Subscript,
    SubscriptItem,
)
from axon.syntax.printing.comments import Comments, Items, remarks_and_lines
from axon.syntax.printing.functions import fn_parts
from axon.syntax.printing.layout import Doc, Line, hug, join
from axon.syntax.printing.levels import ATOM, is_enclosed_callee, level_of
from axon.syntax.printing.lists import Builder, attribute
from axon.syntax.printing.operators import chain, operand
from axon.syntax.tokens import PIPE


def _callee(expr: Expr, alone: bool = False) -> Builder:
    doc = yield expr
    return join("(", doc, ")") if is_enclosed_callee(expr, alone) else doc


def call_of(call: Call, args: tuple[Expr, ...], comments: Comments) -> Builder:
    """A call with these of its arguments; `x |> f` has no parentheses for them. A function that
    comes last begins on the line of the call, if what is before it fits there.
    """
    alone = len(args) < len(call.args) and not args and not call.attributes
    callee = yield from _callee(call.function, alone)
    if alone:
        return callee
    items = Items(comments, call.function.span.end)
    last = args[-1] if args and not call.attributes else None
    for arg in args:
        items.before(arg.span.start)
        if arg is last and isinstance(arg, Fn):
            before = [*items.parts]
            head, block = yield from fn_parts(arg, comments)
            items.add(join(head, " ", block), arg.span.end)
            commented = comments.any_before(call.span.end - 1)
            listed = join(callee, items.closed("(", ")", call.span.end - 1))
            if commented:
                return listed
            return hug(join(callee, "(", *before, head, " "), block, ")", listed)
        doc = arg.op if isinstance(arg, OperatorName) else (yield arg)
        items.add(doc, arg.span.end)
    for each in call.attributes:
        items.before(each.span.start)
        given = yield from attribute(each, comments, "=")
        items.add(given, each.span.end)
    return join(callee, items.closed("(", ")", call.span.end - 1))


def subscript(expr: Subscript, comments: Comments) -> Builder:
    value = yield from _callee(expr.value)
    items = Items(comments, expr.value.span.end)
    for each in expr.items:
        items.before(each.span.start)
        item = yield from _subscript_item(each)
        items.add(item, each.span.end)
    return join(value, items.closed("[", "]", expr.span.end - 1))


def _subscript_item(item: SubscriptItem) -> Builder:
    match item:
        case Rest():
            return "..."
        case NewAxis():
            return "None"
        case Slice(start, stop, step):
            parts: list[Doc] = []
            for i, bound in enumerate((start, stop, step)):
                if i == 1 or (i == 2 and step is not None):
                    parts.append(":")
                if bound is not None:
                    parts.append((yield bound))
            return join(*parts)
        case _:
            return (yield item)


def pipe(expr: Call, comments: Comments) -> Builder:
    """A chain of `|>`, broken before each."""
    links: list[Call] = []
    first: Expr = expr
    while isinstance(first, Call) and first.piped and first.args:
        links.append(first)
        first = first.args[0]
    head = yield from operand(first, PIPE)
    docs: list[Doc] = []
    end = first.span.end
    for link in reversed(links):
        docs += remarks_and_lines(comments, end, link.function.span.start, Line())[0]
        docs.append("|> ")
        call = yield from call_of(link, link.args[1:], comments)
        docs.append(call)
        end = link.span.end
    return chain(head, PIPE <= level_of(first) < ATOM, docs)


def field(expr: Field) -> Builder:
    return join((yield from _callee(expr.record)), f".{expr.name}")
