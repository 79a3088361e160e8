"""Expressions with some of their names replaced."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from axon.syntax import ast


Change = Callable[[ast.Expr], ast.Expr]


def replaced(expr: ast.Expr, change: Change) -> ast.Expr:
    """The expression with names that are values, and calls without arguments, replaced: `change`
    gives back what stays. What is inside a function stays as it is.
    """

    def go(part: ast.Expr) -> ast.Expr:
        return replaced(part, change)

    match expr:
        case ast.Name() | ast.Call(_, (), (), _):
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
