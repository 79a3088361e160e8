"""Scopes: what names stand for while a graph is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from axon.diagnostics import Diagnostic
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
from axon.inference.constructs.parameters import constant
from axon.inference.recording.elaborate import Elaboration
from axon.syntax import ast, eta_expanded
from axon.types.type import (
    DimValue,
    Record,
    ShapeValue,
    Tensor,
    Tuple,
    Type,
)


@dataclass(frozen=True, slots=True, eq=False)
class Closure:
    """A function with the values of its names. One that is bound to a name may be called at many
    types, so it is inferred again for each call; the types of one that is used where it is written
    are in the enclosing elaboration.
    """

    fn: ast.Fn
    scope: Scope
    name: str = ""
    elaboration: Elaboration | None = None
    depth: int = 0

    @property
    def of_file(self) -> bool:
        """Whether it is a definition of a file, which sees nothing but the file."""
        return self.scope.outer is None and not self.scope.names


@dataclass(frozen=True, slots=True)
class Declared:
    """A function that is only declared: `op`."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Structure:
    """A tuple or a record with functions in it, which exists only while the graph is made."""

    items: tuple[Known, ...]
    names: tuple[str, ...] | None = None


Known = Operand | Closure | Declared | Structure
NotAValue = Closure | Declared | Structure


def bundle(items: Sequence[Known], names: tuple[str, ...] | None = None) -> Known:
    """A tuple, or a record if there are names."""
    values = tuple(i for i in items if not isinstance(i, NotAValue | OperatorFunction))
    return Bundle(values, names) if len(values) == len(items) else Structure(tuple(items), names)


@dataclass(slots=True, eq=False)
class Scope:
    """What names stand for, innermost first; outermost is a file, seen from one of its items.

    `around` is the elaboration whose named dimensions can be used.
    """

    module: Module
    before: int
    outer: Scope | None = None
    names: dict[str, Known] = field(default_factory=dict)
    around: Elaboration | None = None

    def within(self) -> Scope:
        """A scope inside this one: what is written there is no definition of the file."""
        return Scope(self.module, self.before, self, {}, self.around)

    def find(self, name: str) -> Known | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.outer
        return None


class Stop(Exception):
    """The program cannot become a graph; `lower` catches it."""

    def __init__(self, diagnostics: list[Diagnostic]) -> None:
        self.diagnostics = diagnostics


def as_function(expr: ast.Expr, count: int) -> ast.Fn:
    """A definition as a function of `count` arguments."""
    if isinstance(expr, ast.Fn):
        return expr
    return eta_expanded(expr, count, expr.span) if count else constant(expr)


def operand_type(operand: Operand) -> Type:
    match operand:
        case Value() | Number():
            return operand.type
        case SizeOf(dim, elem, number):
            return Tensor(elem, ()) if elem else DimValue(dim, number)
        case ShapeOf(shape, elem):
            return Tensor(elem, (len(shape),)) if elem else ShapeValue(shape)
        case Bundle(items, names):
            types = tuple(operand_type(item) for item in items)
            return Tuple(types) if names is None else Record(types, names)
        case Function() | OperatorFunction():
            raise AssertionError(operand)
