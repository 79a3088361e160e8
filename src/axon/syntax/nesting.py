"""How deep an expression is."""

from __future__ import annotations

from axon.syntax.ast import (
    Call,
    Expr,
    Field,
    Fn,
    If,
    Infix,
    ListExpr,
    Negate,
    Not,
    Record,
    Subscript,
    TupleExpr,
)


def depth_of(expr: Expr) -> int:
    """The most calls, fields, lists, tuples, records, signs and functions inside one another.

    Infix operators other than `**` are not counted: at most five stand between two other levels,
    apart from the left spine of a chain, which everyone walks in a loop.
    """
    deepest = 0
    waiting: list[tuple[Expr, int]] = [(expr, 0)]
    while waiting:
        expr, depth = waiting.pop()
        if depth > deepest:
            deepest = depth
        match expr:
            case Infix(op, left, right):
                waiting.append((left, depth))
                waiting.append((right, depth + (op == "**")))
            case Call(function, args, attributes):
                waiting.append((function, depth + 1))
                waiting.extend((arg, depth + 1) for arg in args)
                waiting.extend((attribute.value, depth + 1) for attribute in attributes)
            case Negate(operand) | Not(operand):
                waiting.append((operand, depth + 1))
            case TupleExpr(items) | ListExpr(items):
                waiting.extend((item, depth + 1) for item in items)
            case Subscript() | If():
                waiting.extend((part, depth + 1) for part in expr.parts)
            case Record(base, fields):
                waiting.extend((field.value, depth + 1) for field in fields)
                if base is not None:
                    waiting.append((base, depth + 1))
            case Field(record):
                waiting.append((record, depth + 1))
            case Fn(params, body=body):
                waiting.extend((p.default, depth + 1) for p in params if p.default is not None)
                waiting.append((body.result, depth + 1))
                waiting.extend((binding.value, depth + 1) for binding in body.bindings)
            case _:
                pass
    return deepest
