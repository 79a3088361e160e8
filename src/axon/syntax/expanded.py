"""Eta-expansion: a function value as the `fn` that calls it."""

from __future__ import annotations

from axon.source import Span
from axon.syntax import ast


def eta_expanded(function: ast.Expr, count: int, span: Span) -> ast.Fn:
    """`fn (arg0, …) { function(arg0, …) }`; the call stands right behind the function."""
    span = Span(span.source, span.end, span.end)
    names = [f"arg{i}" for i in range(count)]
    params = tuple(ast.Param(name, None, span, span) for name in names)
    call = ast.Call(function, tuple(ast.Name(name, span) for name in names), (), span)
    return ast.Fn(params, None, (), ast.Block((), call, span), span)
