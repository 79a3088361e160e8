"""The names of a definition: sizes, shapes, element types, types, and types under a name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from axon.source import Span
from axon.syntax import ast
from axon.types.dim import Dim
from axon.types.variables import DimVar, ElemVar, ShapeVar, TypeVar


@dataclass(slots=True)
class Scope:
    """The names of one definition. A name is a dimension or a shape, never both."""

    index: dict[str, DimVar | ShapeVar] = field(default_factory=dict)
    elems: dict[str, ElemVar] = field(default_factory=dict)
    types: dict[str, TypeVar] = field(default_factory=dict)
    given: dict[str, Dim] = field(default_factory=dict)
    rows: dict[str, frozenset[str]] = field(default_factory=dict)
    """The fields that stand beside each row."""
    places: dict[str, Span] = field(default_factory=dict)
    ragged: bool = False
    """Whether a `*` was read."""


@dataclass(frozen=True, slots=True, eq=False)
class Alias:
    """A type under a name: its parameters, and the aliases that it uses in turn."""

    name: str
    params: tuple[str, ...]
    type: ast.TypeExpr
    known: dict[str, Alias]
    parts: int
    """How many parts it has when it is written out."""
    depth: int = 1
    """How many aliases there are one inside the other."""
    broken: bool = False
    """Whether it was reported where it is defined."""


Aliases = Callable[[str], Alias | None]
