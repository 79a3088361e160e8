"""Functions in other forms: without their optional parameters, or as the `fn` that calls them."""

from __future__ import annotations

from dataclasses import replace

from axon.source import Span
from axon.syntax import ast


def with_defaults(function: ast.Fn, given: frozenset[str] = frozenset()) -> ast.Fn:
    """The function without the parameters that have a default and are not `given`: they are bound
    to their defaults in its body.
    """
    left_out = [p for p in function.params if p.default is not None and p.name not in given]
    if not left_out:
        return function
    bindings = [
        ast.Binding(ast.NamePattern(param.name, param.name_span), _default(param), param.span)
        for param in left_out
    ]
    params = tuple(p for p in function.params if p not in left_out)
    body = replace(function.body, bindings=(*bindings, *function.body.bindings))
    return replace(function, params=params, body=body)


def _default(param: ast.Param) -> ast.Expr:
    """The default of a parameter, of the type that is declared for it."""
    value, span = param.default, param.span
    assert value is not None
    if param.type is None:
        return value
    declared = replace(param, default=None)
    body = ast.Block((), ast.Name(param.name, span), span)
    return ast.Call(ast.Fn((declared,), None, (), body, span), (value,), (), span)


def eta_expanded(function: ast.Expr, count: int, span: Span) -> ast.Fn:
    """`fn (arg0, …) { function(arg0, …) }`; the call stands right behind the function."""
    span = Span(span.source, span.end, span.end)
    names = [f"arg{i}" for i in range(count)]
    params = tuple(ast.Param(name, None, span, span) for name in names)
    call = ast.Call(function, tuple(ast.Name(name, span) for name in names), (), span)
    return ast.Fn(params, None, (), ast.Block((), call, span), span)
