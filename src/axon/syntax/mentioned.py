"""The names that a part of a tree mentions, bound there or not."""

from __future__ import annotations

from collections.abc import Iterator

from axon.syntax import ast


def mentioned(*nodes: ast.Item | ast.Expr | None) -> Iterator[str]:
    """Every name in the expressions."""
    todo: list[object] = [*nodes]
    while todo:
        node = todo.pop()
        match node:
            case ast.Name(name, _):
                yield name
            case ast.Binding(_, value, _):
                todo.append(value)
            case ast.Call(function, args, attributes, _):
                todo.extend((function, *args, *(a.value for a in attributes)))
            case ast.Infix(_, left, right, _, _):
                todo.extend((left, right))
            case ast.Negate(operand, _):
                todo.append(operand)
            case ast.TupleExpr(items, _) | ast.ListExpr(items, _):
                todo.extend(items)
            case ast.Fn(_, _, _, body, _):
                todo.extend((*body.bindings, body.result))
            case _:
                pass
