"""Expressions with some of their names replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from axon.syntax import ast

Change = Callable[[ast.Expr], ast.Expr]


def replaced(expr: ast.Expr, change: Change) -> ast.Expr:
    """The expression with names that are values, and calls without arguments, replaced: `change`
    returns its argument where nothing changes. Names that a function binds stay as they are inside
    it.
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
        case ast.Negate(operand, _) | ast.Not(operand, _):
            return replace(expr, operand=go(operand))
        case ast.Field(record, _, _):
            return replace(expr, record=go(record))
        case ast.Record(base, fields, _):
            return replace(
                expr,
                base=None if base is None else go(base),
                fields=tuple(replace(each, value=go(each.value)) for each in fields),
            )
        case ast.TupleExpr(items, _) | ast.ListExpr(items, _):
            return replace(expr, items=tuple(map(go, items)))
        case ast.Subscript(value, items, _):
            return replace(expr, value=go(value), items=tuple([_item(item, go) for item in items]))
        case ast.If(condition, then, otherwise, _):
            return replace(
                expr,
                condition=go(condition),
                then=_function(then, change),
                otherwise=_function(otherwise, change),
            )
        case ast.Fn():
            return _function(expr, change)
        case _:
            return expr


def _item(item: ast.SubscriptItem, go: Change) -> ast.SubscriptItem:
    match item:
        case ast.Slice(start, stop, step, span):
            return ast.Slice(_bound(start, go), _bound(stop, go), _bound(step, go), span)
        case ast.Rest() | ast.NewAxis():
            return item
        case _:
            return go(item)


def _bound(bound: ast.Expr | None, go: Change) -> ast.Expr | None:
    return None if bound is None else go(bound)


def _function(function: ast.Fn, change: Change) -> ast.Fn:
    """A function in which only what comes from outside is replaced."""
    params = tuple(
        param if param.default is None else replace(param, default=replaced(param.default, change))
        for param in function.params
    )
    bound = {param.name for param in function.params}

    def free(found: ast.Expr) -> ast.Expr:
        match found:
            case ast.Name(name, _) | ast.Call(ast.Name(name, _), _, _, _) if name in bound:
                return found
            case _:
                return change(found)

    bindings = []
    for binding in function.body.bindings:
        bindings.append(replace(binding, value=replaced(binding.value, free)))
        bound.update(_names(binding.pattern))
    result = replaced(function.body.result, free)
    body = replace(function.body, bindings=tuple(bindings), result=result)
    return replace(function, params=params, body=body)


def _names(pattern: ast.Pattern) -> Iterator[str]:
    match pattern:
        case ast.NamePattern(name, _):
            yield name
        case ast.TuplePattern(items, _) | ast.RecordPattern(items, _):
            for item in items:
                yield from _names(item)
