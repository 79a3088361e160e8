"""Expressions with some of their names replaced."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from axon.syntax import ast


def replaced(expr: ast.Expr, change: Callable[[ast.Name], ast.Expr]) -> ast.Expr:
    """The expression with every name that is a value replaced; names of functions that are called
    stay, and so does what is inside a function.
    """

    def go(part: ast.Expr) -> ast.Expr:
        return replaced(part, change)

    match expr:
        case ast.Name():
            return change(expr)
        case ast.Call(_, args, attributes, _):
            return replace(
                expr,
                args=tuple(map(go, args)),
                attributes=tuple(replace(a, value=go(a.value)) for a in attributes),
            )
        case ast.Infix(_, left, right, _, _):
            return replace(expr, left=go(left), right=go(right))
        case ast.Negate(operand, _):
            return replace(expr, operand=go(operand))
        case ast.TupleExpr(items, _) | ast.ListExpr(items, _):
            return replace(expr, items=tuple(map(go, items)))
        case _:
            return expr
