"""Where the values of a graph lie on a mesh of devices, by the sizes in their types.

A rule says that a size, `f`, is cut along some axes of the mesh. Law: an axis of a tensor is cut by
a rule if the size there *is* that of the rule, as types have it: `f` cuts neither `3*f` nor `f/h`,
for which there may be rules of their own. An axis of the mesh cuts a tensor once, where it is
mentioned first.

The variables of a graph that is called stand for sizes of its caller, so the same graph may lie in
several ways.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from axon.graph.graph import (
    Alias,
    Apply,
    Call,
    Check,
    Extern,
    Function,
    Graph,
    Item,
    Measure,
    Node,
    Value,
)
from axon.graph.scope import operand_type
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.type import DimValue, Shape, ShapeValue, Tensor, Tuple, Type
from axon.types.variables import DimVar, ShapeVar


@dataclass(frozen=True, slots=True)
class Rule:
    """A size, as it is written, and the axes of the mesh that cut it."""

    text: str
    size: Dim
    axes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """The rule that cuts each dimension of a tensor, or None."""

    rules: tuple[Rule | None, ...]


Tree = Layout | tuple["Tree | None", ...]
"""The layout of a value; of a tuple those of its parts, None where no rule has anything to say."""

Stands = Mapping[DimVar, Dim]
"""What the variables of a graph stand for in the first one."""


@dataclass(frozen=True, slots=True)
class Placement:
    """The values of a graph that rules cut, and the placement of each graph that it calls. The
    `key` is equal for placements that are equal.
    """

    values: Mapping[Value, Tree]
    calls: Mapping[Call, Placement]
    key: object


def placement(graph: Graph, rules: Sequence[Rule], typed: Graph | None = None) -> Placement:
    """Where the values of a graph lie. `typed` is the same program at sizes that are open, whose
    types mention what in the graph are numbers.
    """
    return _Placing(tuple(rules)).graph(graph, graph if typed is None else typed, {})


def layout(type_: Type, rules: Sequence[Rule], stands: Stands) -> Tree | None:
    """The layout of a value of this type; None if no rule cuts it."""
    match type_:
        case Tensor(_, shape):
            return _layout(shape, rules, stands)
        case Tuple(items):
            parts = tuple(layout(item, rules, stands) for item in items)
            return parts if any(part is not None for part in parts) else None
        case _:
            return None


def _layout(shape: Shape, rules: Sequence[Rule], stands: Stands) -> Layout | None:
    found: list[Rule | None] = []
    used: set[str] = set()
    for item in shape:
        if isinstance(item, ShapeVar):
            return None
        rule = None
        if not isinstance(item, int):
            size = dims.substitute(item, lambda var: stands.get(var, var), dims.of_size)
            rule = next((r for r in rules if r.size == size and used.isdisjoint(r.axes)), None)
            used.update(() if rule is None else rule.axes)
        found.append(rule)
    return Layout(tuple(found)) if used else None


class _Placing:
    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self.rules = rules
        self.known: dict[object, Placement] = {}

    def graph(self, graph: Graph, typed: Graph, stands: Stands) -> Placement:
        key = (graph, typed, tuple(stands.items()))
        known = self.known.get(key)
        if known is None:
            values: dict[Value, Tree] = {}
            calls: dict[Call, Placement] = {}
            for mine, its in zip(graph.params, typed.params, strict=True):
                self.value(mine, its, stands, values)
            self.nodes(graph.nodes, typed.nodes, stands, values, calls)
            inner = tuple((call, placed.key) for call, placed in calls.items())
            known = Placement(values, calls, (graph, tuple(values.items()), inner))
            self.known[key] = known
        return known

    def value(self, mine: Value, its: Value, stands: Stands, values: dict[Value, Tree]) -> None:
        tree = layout(its.type, self.rules, stands)
        if tree is not None and _fits(tree, mine.type):
            values[mine] = tree

    def nodes(
        self,
        nodes: Sequence[Node],
        typed: Sequence[Node],
        stands: Stands,
        values: dict[Value, Tree],
        calls: dict[Call, Placement],
    ) -> None:
        """The nodes of a graph beside those that the types are read off."""
        pairs = list(zip(_computing(nodes), _computing(typed), strict=False))
        if not all(_alike(mine, its) for mine, its in pairs):
            return  # the types are those of another program: the compiler places the values
        for mine, its in pairs:
            self.value(mine.result, its.result, stands, values)
            match mine, its:
                case Call(), Call():
                    inner = _stands(its, stands)
                    calls[mine] = self.graph(mine.graph, its.graph, inner)
                case Apply(), Apply():
                    for operand, other in zip(mine.operands, its.operands, strict=True):
                        if isinstance(operand, Function) and isinstance(other, Function):
                            for one, two in zip(operand.params, other.params, strict=True):
                                self.value(one, two, stands, values)
                            self.nodes(operand.nodes, other.nodes, stands, values, calls)
                case _:
                    pass


WithResult = Apply | Call | Extern | Item | Alias


def _computing(nodes: Sequence[Node]) -> list[WithResult]:
    return [node for node in nodes if not isinstance(node, Measure | Check)]


def _alike(mine: WithResult, its: WithResult) -> bool:
    """Whether two nodes are those of one expression of the program."""
    match mine, its:
        case Apply(), Apply():
            same = len(mine.operands) == len(its.operands)
            return same and mine.operator == its.operator and mine.span == its.span
        case Call(), Call():
            same = len(mine.graph.params) == len(its.graph.params)
            return same and mine.graph.name == its.graph.name and mine.span == its.span
        case Extern(), Extern():
            return mine.name == its.name
        case Item(), Item():
            return mine.index == its.index
        case Alias(), Alias():
            return True
        case _:
            return False


def _fits(tree: Tree | None, type_: Type) -> bool:
    """Whether a value of this type can lie so."""
    match tree, type_:
        case None, _:
            return True
        case Layout(rules), Tensor(_, shape):
            return len(rules) == len(shape)
        case tuple(parts), Tuple(items):
            return len(parts) == len(items) and all(map(_fits, parts, items))
        case _:
            return False


def _stands(call: Call, outer: Stands) -> dict[DimVar, Dim]:
    """What the variables of a graph that is called stand for: sizes of its operands and result."""
    found: dict[DimVar, Dim] = {}
    for param, operand in zip(call.graph.params, call.operands, strict=True):
        _align(param.type, operand_type(operand), outer, found)
    _align(operand_type(call.graph.result), call.result.type, outer, found)
    return found


def _align(inner: Type, type_: Type, outer: Stands, found: dict[DimVar, Dim]) -> None:
    match inner, type_:
        case (Tensor(_, mine), Tensor(_, its)) | (ShapeValue(mine), ShapeValue(its)):
            pairs: list[tuple[Dim | ShapeVar, Dim | ShapeVar]] = list(zip(mine, its, strict=False))
        case DimValue(one), DimValue(other):
            pairs = [(one, other)]
        case Tuple(items), Tuple(parts):
            for item, part in zip(items, parts, strict=False):
                _align(item, part, outer, found)
            return
        case _:
            return
    for var, size in pairs:
        if isinstance(var, DimVar) and not isinstance(size, ShapeVar):
            found.setdefault(var, dims.substitute(size, lambda v: outer.get(v, v), dims.of_size))


class CannotShard(Exception):
    """Values that cannot lie on a mesh as they should; the sentence says why."""
