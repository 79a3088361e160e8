"""What names stand for while a graph is made, and the types that functions have there."""

from __future__ import annotations

from dataclasses import dataclass, field

from axon.diagnostics import Diagnostic
from axon.graph import ragged
from axon.graph.graph import (
    Bundle,
    Function,
    Number,
    Operand,
    OperatorFunction,
    ShapeOf,
    SizeOf,
    Value,
)
from axon.graph.module import Module
from axon.inference.elaborate import Elaboration
from axon.syntax import ast
from axon.types.type import (
    DimValue,
    Fn,
    Renaming,
    ShapeValue,
    Tensor,
    Tuple,
    Type,
    type_variables,
)
from axon.types.variables import DimVar, ShapeVar


@dataclass(frozen=True, slots=True, eq=False)
class Closure:
    """A function with what its names stand for. One that a name was bound to may be called at many
    types, so it is inferred again for each call; the types of one that stands where it is used
    are in the elaboration around it.
    """

    fn: ast.Fn
    scope: Scope
    name: str = ""
    elaboration: Elaboration | None = None
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Declared:
    """A function that is only declared: `op`."""

    name: str


Known = Operand | Closure | Declared
NotAValue = Closure | Declared


@dataclass(slots=True, eq=False)
class Scope:
    """What names stand for, from the inside out; outermost is a file, seen from one of its items.

    `around` is the elaboration whose named dimensions can be used.
    """

    module: Module
    before: int
    outer: Scope | None = None
    names: dict[str, Known] = field(default_factory=dict)
    around: Elaboration | None = None

    def find(self, name: str) -> Known | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.outer
        return None


class Stop(Exception):
    """The program cannot become a graph; never leaves this module."""

    def __init__(self, diagnostics: list[Diagnostic]) -> None:
        self.diagnostics = diagnostics


def constant(expr: ast.Expr) -> ast.Fn:
    """A value as a function of nothing."""
    return ast.Fn((), None, (), ast.Block((), expr, expr.span), expr.span)


def operand_type(operand: Operand) -> Type:
    match operand:
        case Value() | Number():
            return operand.type
        case SizeOf(dim, elem):
            return Tensor(elem, ()) if elem else DimValue(dim)
        case ShapeOf(shape, elem):
            return Tensor(elem, (len(shape),)) if elem else ShapeValue(shape)
        case Bundle(items):
            return Tuple(tuple(operand_type(item) for item in items))
        case Function() | OperatorFunction():
            raise AssertionError(operand)


def plain(type_: Fn) -> bool:
    """Whether a call needs nothing but values: no functions, sizes as arguments, ragged types."""
    types = (*type_.params, type_.result)
    return all(
        isinstance(t, Tensor | Tuple) and not _has_function(t) and not ragged.runtime(t)
        for t in types
    )


def _has_function(type_: Type) -> bool:
    if isinstance(type_, Tuple):
        return any(_has_function(item) for item in type_.items)
    return not isinstance(type_, Tensor)


def made_outside(type_: Fn, depth: int) -> Fn:
    """The type with sizes that the run has made by now as variables like others: for a function
    that is called, an argument has the sizes that it has.
    """
    renaming = Renaming({}, {}, {}, {})
    for var in type_variables(type_):
        if isinstance(var, DimVar) and var.runtime and var.scope <= depth:
            renaming.dims.setdefault(var, DimVar(var.name, 1, scope=depth))
        elif isinstance(var, ShapeVar) and var.runtime and var.scope <= depth:
            renaming.shapes.setdefault(var, (ShapeVar(var.name, 1, scope=depth),))
    result = renaming.type(type_)
    assert isinstance(result, Fn)
    return result


def renamed(type_: Fn) -> Fn:
    """The type with variables of its own."""
    renaming = Renaming({}, {}, {}, {})
    for var in type_variables(type_):
        if isinstance(var, DimVar) and var not in renaming.dims:
            renaming.dims[var] = DimVar(var.name)
        elif isinstance(var, ShapeVar) and var not in renaming.shapes:
            renaming.shapes[var] = (ShapeVar(var.name),)
    result = renaming.type(type_)
    assert isinstance(result, Fn)
    return result
