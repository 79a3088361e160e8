"""The interface that the modules of lowering see of the walk over the tree."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from axon.graph.graph import Graph, Operand
from axon.graph.module import Module
from axon.graph.scope import Known, Scope
from axon.graph.state import State
from axon.source import Span
from axon.syntax import ast
from axon.types.type import Fn, Shape, Type


class Walk:
    """Each expression becomes what is known of its value."""

    def __init__(self, state: State) -> None:
        self.state = state

    @abstractmethod
    def graph(
        self,
        module: Module,
        name: str,
        at: int,
        params: Sequence[Type | None],
        result: Type | None,
    ) -> Graph:
        """Another graph of the same program."""

    @abstractmethod
    def function(
        self,
        value: Known,
        type_: Fn,
        written: Type,
        own: Type,
        span: Span,
        rows: Sequence[Shape] = (),
        groups: Sequence[Type] = (),
        by_row: int = 0,
    ) -> Operand:
        """A function argument of an operator, as a nested graph."""

    @abstractmethod
    def result(self, fn: ast.Fn, scope: Scope) -> Known:
        """The body of a function whose parameters are bound."""

    @abstractmethod
    def bind(self, pattern: ast.Pattern, value: Known, names: dict[str, Known]) -> None:
        """Names for a value, or for the parts of a tuple."""

    @abstractmethod
    def expr(self, expr: ast.Expr, scope: Scope) -> Known:
        """The value of an expression."""
