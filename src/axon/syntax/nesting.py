"""How deep an expression is."""

from __future__ import annotations

from axon.syntax.ast import Call, Expr, Field, Fn, Infix, ListExpr, Negate, Record, TupleExpr


def depth_of(expr: Expr) -> int:
    """The most calls, fields, lists, tuples, records, signs and functions inside one another.

    Infix operators are not counted: at most three stand between two other levels, apart from the
    left spine of a chain, which everyone walks in a loop.
    """
    deepest = 0
    waiting: list[tuple[Expr, int]] = [(expr, 0)]
    while waiting:
        expr, depth = waiting.pop()
        if depth > deepest:
            deepest = depth
        match expr:
            case Infix(_, left, right):
                waiting.append((left, depth))
                waiting.append((right, depth))
            case Call(function, args, attributes):
                waiting.append((function, depth + 1))
                waiting.extend((arg, depth + 1) for arg in args)
                waiting.extend((attribute.value, depth + 1) for attribute in attributes)
            case Negate(operand):
                waiting.append((operand, depth + 1))
            case TupleExpr(items) | ListExpr(items):
                waiting.extend((item, depth + 1) for item in items)
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
