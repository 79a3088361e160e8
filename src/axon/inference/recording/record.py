"""The record of inference: types by expression, used to make graphs."""

from __future__ import annotations

from dataclasses import dataclass, field

from axon.ops import Operator
from axon.source import Span
from axon.syntax import ast
from axon.types.dim import Dim
from axon.types.type import Fn, Type
from axon.types.variables import DimVar


@dataclass(frozen=True, slots=True)
class Use:
    """An operator at one place: its attributes, the dimensions among them by generated names, its
    signature, and its type there.
    """

    operator: Operator
    attributes: dict[str, object]
    given: dict[str, Dim]
    signature: Type
    type: Type


@dataclass(frozen=True, slots=True)
class Part:
    """One operator of a subscript: the span of its use, and the tensors that it takes besides."""

    span: Span
    tensors: tuple[ast.Expr, ...]


@dataclass(frozen=True, slots=True)
class Default:
    """The default of a parameter, where a call leaves it out; `type` is that of a function without
    parameters which gives it.
    """

    name: str
    type: Fn


@dataclass(slots=True)
class Record:
    """`types` has every expression by its identity, `uses` and `calls` the type of what is applied,
    by the span of the application; `arguments` those of calls by name, or that leave some out;
    `rewritten` what stands for a call, or for a function with defaults; `data` the sizes that are
    values of expressions, `subscripts` the operators that subscripts become.

    The types are as inference made them: bindings of their variables are in its state.
    """

    types: dict[int, Type] = field(default_factory=dict)
    uses: dict[Span, Use] = field(default_factory=dict)
    calls: dict[Span, Fn] = field(default_factory=dict)
    arguments: dict[Span, tuple[ast.Expr | Default, ...]] = field(default_factory=dict)
    rewritten: dict[Span, ast.Expr] = field(default_factory=dict)
    data: list[tuple[DimVar, ast.Expr]] = field(default_factory=list)
    subscripts: dict[Span, tuple[Part, ...]] = field(default_factory=dict)
