"""Expressions as documents: which builder makes which.

Builders are run from a list, so that nesting costs no Python frames.
"""

from __future__ import annotations

from axon.syntax.ast import (
    Broken,
    Call,
    Expr,
    Field,
    Fn,
    If,
    Infix,
    ListExpr,
    Name,
    Negate,
    Not,
    Number,
    OperatorName,
    Record,
    String,
    Subscript,
    TupleExpr,
)
from axon.syntax.lexer import quote, unquote
from axon.syntax.printing.calls import call_of, field, pipe, subscript
from axon.syntax.printing.comments import Comments
from axon.syntax.printing.functions import fn_parts, if_
from axon.syntax.printing.layout import Doc, join
from axon.syntax.printing.lists import Builder, listed, record
from axon.syntax.printing.operators import infix, negated, operand
from axon.syntax.tokens import NOT


def build(builder: Builder, comments: Comments) -> Doc:
    """Run a builder and those it asks for."""
    running = [builder]
    done: Doc | None = None
    while True:
        try:
            wanted = next(running[-1]) if done is None else running[-1].send(done)
        except StopIteration as stop:
            done = stop.value
            running.pop()
            if not running:
                return stop.value  # type: ignore[no-any-return]
        else:
            done = leaf(wanted)
            if done is None:
                running.append(expression(wanted, comments))


def leaf(expr: Expr) -> str | None:
    """The text of an expression that has no parts."""
    match expr:
        case Name(name):
            return name
        case Number(text=text):
            return text
        case String(value, span):
            written = span.text
            as_written = written.startswith('"') and unquote(written) == value
            return written if as_written else quote(value)
        case OperatorName(op):
            return f"({op})"
        case Broken(span):
            return " ".join(span.text.split()) or "..."
        case _:
            return None


def expression(expr: Expr, comments: Comments) -> Builder:
    """An expression that has parts; a tuple has its parentheses."""
    match expr:
        case Call(piped=True) if expr.args:
            return (yield from pipe(expr, comments))
        case Call():
            return (yield from call_of(expr, expr.args, comments))
        case Infix():
            return (yield from infix(expr, comments))
        case Not():
            return join("not ", (yield from operand(expr.operand, NOT)))
        case Negate():
            return (yield from negated(expr))
        case Subscript():
            return (yield from subscript(expr, comments))
        case TupleExpr(items, span):
            return (yield from listed("(", items, ")", span.start, span.end - 1, comments))
        case ListExpr(items, span):
            return (yield from listed("[", items, "]", span.start, span.end - 1, comments))
        case Record():
            return (yield from record(expr, comments))
        case Field():
            return (yield from field(expr))
        case Fn():
            head, block = yield from fn_parts(expr, comments)
            return join(head, " ", block)
        case If():
            return (yield from if_(expr, comments))
        case _:
            return (yield expr)
