"""The graph: values, and the nodes that make them, in an order in which they can be computed.

graph   = params, nodes, result, and what must hold of the params before any of it is computed
node    = Apply(operator) | Call(graph) | Extern(op) | Item | Alias | Measure | Check
operand = Value | Number | SizeOf | ShapeOf | Bundle | Function | OperatorFunction

It is first-order: a `Function` is a graph of its own, given to an operator such as `map`, and may
use the values around it. Sizes are no values: they are known, or read off the shapes of values.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field

from axon.ops import Operator
from axon.ops.levels import LevelTree
from axon.solver.constraints import Guard, Origin
from axon.source import Span
from axon.types.dim import Dim
from axon.types.type import Fn, Relation, Shape, Tensor, Type
from axon.types.variables import Var


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """The result of a node, or a parameter. `depth` is that of the functions around it: a run-time
    size that was made further in varies inside it.

    `made` is the type with the run-time sizes that are made here, even where a check equates one of
    them with something that `type` has in its place. The `foreign` sizes are made elsewhere: a
    check states that this value has them, so they are not read off it.
    """

    name: str
    type: Type
    depth: int = 1
    made: Type | None = None
    foreign: Container[Var] = ()


@dataclass(frozen=True, slots=True)
class Number:
    """A number literal of the program."""

    value: int | float | bool
    type: Tensor


@dataclass(frozen=True, slots=True)
class SizeOf:
    """A size: an integer, or a scalar of an element type if it has one. A quotient of sizes is
    `number` where a number is expected: the dividend and the divisor.
    """

    dim: Dim
    elem: str = ""
    number: tuple[Dim, Dim] | None = None


@dataclass(frozen=True, slots=True)
class ShapeOf:
    """A shape: integers, or a vector of an element type."""

    shape: Shape
    elem: str = ""


@dataclass(frozen=True, slots=True)
class Bundle:
    """A tuple, or a record if its items have `names`."""

    items: tuple[Operand, ...]
    names: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A graph inside a graph; `depth` is that of its parameters and of what it makes."""

    params: tuple[Value, ...]
    nodes: tuple[Node, ...]
    result: Operand
    depth: int


@dataclass(frozen=True, slots=True)
class OperatorFunction:
    """An operator used as a function, as in `reduce(+, 0f, x)`."""

    operator: Operator


Operand = Value | Number | SizeOf | ShapeOf | Bundle | Function | OperatorFunction

# --- nodes -----------------------------------------------------------------------------------

Attribute = object
"""A plain value; a size in it is a `SizeOf`."""


@dataclass(frozen=True, slots=True, eq=False)
class Apply:
    """An operator. `type` is its type here, `written` the same before substitution: its signature,
    which states how it treats the dimensions of its operands.
    """

    result: Value
    operator: Operator
    operands: tuple[Operand, ...]
    attributes: dict[str, Attribute]
    span: Span
    type: Fn
    written: Type


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    result: Value
    graph: Graph
    operands: tuple[Operand, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Extern:
    """An operator that the program declares and the caller implements."""

    result: Value
    name: str
    operands: tuple[Operand, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Item:
    """One part of a tuple or a record."""

    result: Value
    whole: Value
    index: int


@dataclass(frozen=True, slots=True, eq=False)
class Alias:
    """The same value under the type that it has further out."""

    result: Value
    operand: Operand


@dataclass(frozen=True, slots=True, eq=False)
class Measure:
    """The numbers in an array become sizes: from here on they are the values of this shape. If
    `counted`, the number of its elements is.
    """

    source: Operand
    shape: Shape
    counted: bool = False
    span: Span | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """A condition on run-time sizes that must hold from here on."""

    relation: Relation
    origin: Origin
    depth: int


Node = Apply | Call | Extern | Item | Alias | Measure | Check


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """`requires` must hold before anything is computed. `levels` are those of the values, and of
    the shapes that vary (see `graph/levels.py`).
    """

    name: str
    params: tuple[Value, ...]
    nodes: tuple[Node, ...]
    result: Operand
    requires: tuple[Guard, ...] = ()
    levels: Mapping[Value | ShapeOf, LevelTree] = field(default_factory=dict)
