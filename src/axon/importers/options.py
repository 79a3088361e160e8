"""Functions of the library that have options: one function for each choice of these.

An option is a parameter with a default. Where it occurs stands the constant that a rule gives, and
the function is inferred like any other that is written so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any

from axon import stdlib
from axon.driver import no_import, prelude
from axon.importers.operations import Malformed
from axon.inference.program import infer_program
from axon.source import Source, Span
from axon.syntax import ast, parse_program, replaced
from axon.types.type import Scheme

Options = tuple[tuple[str, Any, str], ...]
"""Numbers, truth values, element types, or tuples of such: the name and the value of each, and the
value as text, which tells `1` from `1.0` and from `true`.
"""
MOST_KEPT = 1024
"""Functions that are kept for models to come."""


@dataclass(frozen=True, slots=True)
class Specialised:
    """A function at one choice of its options, and its type."""

    function: ast.Fn
    scheme: Scheme


@cache
def functions() -> dict[str, ast.Fn]:
    """The functions that have options, by name."""
    program, problems = parse_program(Source("models.axon", stdlib.with_options()))
    assert not problems, problems
    return {
        item.pattern.name: item.value
        for item in program.items
        if isinstance(item, ast.Binding)
        and isinstance(item.pattern, ast.NamePattern)
        and isinstance(item.value, ast.Fn)
    }


def chosen(given: Mapping[str, Any]) -> Options:
    """Options as something to look up by; lists become tuples."""
    return tuple([(name, _frozen(value), repr(value)) for name, value in sorted(given.items())])


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value


@lru_cache(MOST_KEPT)
def specialised(name: str, options: Options) -> Specialised:
    """The function with constants for its options; those that are not given have their defaults.
    Raises `Malformed` where an operator cannot have such a constant.
    """
    general = functions()[name]
    optional = {param.name: param.default for param in general.params if param.default is not None}
    values = {**optional, **{each: constant(value, general.span) for each, value, _ in options}}
    assert values.keys() == optional.keys(), (name, options)

    def change(found: ast.Expr) -> ast.Expr:
        value = values.get(found.name) if isinstance(found, ast.Name) else None
        return found if value is None else value

    params = tuple([param for param in general.params if param.default is None])
    function = replaced(replace(general, params=params), change)
    assert isinstance(function, ast.Fn)
    binding = ast.Binding(ast.NamePattern(name, general.span), function, general.span)
    program = ast.Program((binding,), None, general.span.source)
    inferred = infer_program(program, no_import, prelude)
    for problem in inferred.diagnostics:
        raise Malformed(problem.message)
    scheme = inferred.environment.names[name].type
    assert isinstance(scheme, Scheme)
    return Specialised(function, scheme)


def constant(value: Any, span: Span) -> ast.Expr:
    """A number, a truth value, an element type, or several of these, as an expression."""
    match value:
        case bool():
            return ast.Number(value, "bool", str(value).lower(), span)
        case int() if value < 0:
            return ast.Negate(ast.Number(-value, "int", str(-value), span), span)
        case int():
            return ast.Number(value, "int", str(value), span)
        case float() if math.isnan(value):
            endless = ast.Number(math.inf, "float", "inf", span)
            return ast.Infix("-", endless, endless, span, span)
        case float() if math.copysign(1, value) < 0:
            return ast.Negate(ast.Number(-value, "float", str(-value), span), span)
        case float():
            return ast.Number(value, "float", str(value), span)
        case str():
            return ast.Name(value, span)
        case _:
            return ast.ListExpr(tuple([constant(item, span) for item in value]), span)
