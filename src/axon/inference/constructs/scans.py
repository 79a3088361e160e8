"""A scan of a structure: a loop whose output is its state."""

from __future__ import annotations

from axon.inference.environment import Environment
from axon.inference.walk import Walk
from axon.ops.families.functional import loop
from axon.source import Span
from axon.syntax import ast
from axon.types.type import Type

STATE, ROW, NEXT, ALL = "state.", "row.", "next.", "all."
"""Names that no program has."""


def infer_scan(inference: Walk, exprs: tuple[ast.Expr, ...], span: Span, env: Environment) -> Type:
    """The type of `scan(function, start, rows)`, where rows or start are a structure."""
    function, start, rows = exprs
    found = as_loop(function, start, rows, span)
    if inference.record is not None:
        inference.record.rewritten[span] = found
    return inference.infer(found, env)


def as_loop(function: ast.Expr, start: ast.Expr, rows: ast.Expr, span: Span) -> ast.Call:
    """`(fn () { _, all = loop(start, fn (s, r) { next = f(s, r); next, next }, rows); all })()`."""

    def name(text: str) -> ast.Name:
        return ast.Name(text, here)

    here = Span(span.source, function.span.end, function.span.end)
    step = ast.Call(function, (name(STATE), name(ROW)), (), here)
    params = tuple(ast.Param(each, None, here, here) for each in (STATE, ROW))
    both = ast.TupleExpr((name(NEXT), name(NEXT)), here)
    binding = ast.Binding(ast.NamePattern(NEXT, here), step, here)
    body = ast.Fn(params, None, (), ast.Block((binding,), both, here), here)
    inside = Span(span.source, span.start, span.end - 1)  # one of its own: uses are known by span
    call = ast.Call(ast.OperatorName(loop.name, here), (start, body, rows), (), inside)
    pattern = ast.TuplePattern((ast.NamePattern("_", here), ast.NamePattern(ALL, here)), here)
    block = ast.Block((ast.Binding(pattern, call, span),), name(ALL), span)
    begin = Span(span.source, span.start, span.start)
    return ast.Call(ast.Fn((), None, (), block, begin), (), (), begin)
