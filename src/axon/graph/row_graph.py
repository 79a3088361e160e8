"""A function of the rows of tensors as a graph of its own, for one row.

In the function the sizes of its row are run-time sizes: each call receives them. In a graph of one
row they are sizes like any others, which its arguments have, and what is checked of them inside the
function must hold of the arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from axon.graph.graph import (
    Alias,
    Apply,
    Bundle,
    Call,
    Check,
    Extern,
    Function,
    Graph,
    Item,
    Measure,
    Node,
    Operand,
    ShapeOf,
    SizeOf,
    Value,
)
from axon.graph.sizes import SizeVar
from axon.solver.constraints import Guard
from axon.types import dim as dims
from axon.types.dim import Dim, FloorDiv
from axon.types.type import (
    DimEq,
    DimValue,
    Fn,
    Renaming,
    ShapeValue,
    Tensor,
    Type,
    relation_variables,
    type_variables,
)
from axon.types.variables import DimVar, ShapeVar

COMPUTED = "sizes are computed in each row"


class NoRowGraph(Exception):
    """Why there is no graph for one row: perhaps because sizes are `computed` from its values."""

    def __init__(self, why: str, computed: bool = False) -> None:
        super().__init__(why)
        self.computed = computed


@dataclass(frozen=True, slots=True)
class RowGraph:
    """The parameters are values and sizes from outside, `given` of them, and then a row of each
    tensor. `own` are the sizes that may differ from row to row.
    """

    graph: Graph
    given: int
    own: tuple[DimVar, ...]


def row_graph(
    function: Function, values: Sequence[Value], sizes: Sequence[SizeVar], name: str = "row"
) -> RowGraph:
    """The graph of a function that uses these values and these sizes from outside."""
    outside = {v for value in values for v in type_variables(value.type)} | set(sizes)
    mine = [v for param in function.params for v in type_variables(param.type)]
    own = [v for v in dict.fromkeys(mine) if isinstance(v, DimVar) and v not in outside]
    rows = _Rows()
    rows.given.update(mine)
    rows.equate(_equations(function.nodes), own)
    given = [rows.value(value) for value in values] + [rows.value(of_size(var)) for var in sizes]
    params = [rows.value(param) for param in function.params]
    rows.known = {v for value in (*given, *params) for v in type_variables(value.type)}
    nodes = rows.nodes(function.nodes, outermost=True)
    graph = Graph(
        name, (*given, *params), nodes, rows.operand(function.result), tuple(rows.requires)
    )
    varying = dict.fromkeys(v for var in own for v in dims.variables(rows.dim(var)))
    mine_now = [v for v in varying if isinstance(v, DimVar) and v in rows.fresh]
    return RowGraph(graph, len(given), tuple(mine_now))


def of_size(var: SizeVar) -> Value:
    """A parameter that is a size, or a shape."""
    return Value(var.name, ShapeValue((var,)) if isinstance(var, ShapeVar) else DimValue(var))


@dataclass(slots=True)
class _Rows:
    """The values and the sizes of the graph, by those of the function. `given` are the sizes of the
    function's own arguments, and of those of functions inside it; `known` are those of the
    graph's, and `fresh` those that are sizes of nothing but the row.
    """

    renaming: Renaming = field(default_factory=lambda: Renaming({}, {}, {}, {}))
    values: dict[Value, Value] = field(default_factory=dict)
    known: set[object] = field(default_factory=set)
    given: set[object] = field(default_factory=set)
    fresh: set[Dim] = field(default_factory=set)
    requires: list[Guard] = field(default_factory=list)

    # --- sizes ---

    def equate(self, equations: Iterable[tuple[Dim, Dim]], own: Sequence[DimVar]) -> None:
        """Sizes that are equated are one: the rows are those for which the equations hold. A size
        that must be a multiple of a number is so many times another size.
        """
        for one, other in equations:
            left, right = self.dim(one), self.dim(other)
            multiple = _multiple(left, right)
            if multiple is not None and multiple[0] in self.fresh:
                whole, factor = multiple
                part = DimVar(whole.name)
                self.fresh.add(part)
                self._stands(whole, dims.mul(factor, part))
                continue
            given = {self.dim(v) for v in own}
            for var, dim in sorted(
                ((left, right), (right, left)), key=lambda pair: pair[0] in given
            ):
                if var in self.fresh and var not in dims.variables(dim):
                    self._stands(var, dim)
                    break

    def _stands(self, var: Dim, dim: Dim) -> None:
        assert isinstance(var, DimVar)
        known = Renaming({var: dim}, {}, {}, {})
        for each, image in self.renaming.dims.items():
            self.renaming.dims[each] = known.dim(image)

    def dim(self, dim: Dim) -> Dim:
        for var in dims.variables(dim):
            self._rename(var)
        return self.renaming.dim(dim)

    def _rename(self, var: SizeVar) -> None:
        if isinstance(var, ShapeVar):
            if var.runtime:
                raise NoRowGraph("the rank of a value is not known")
        elif var.runtime and var.rank_of is None and var not in self.renaming.dims:
            made = self.renaming.dims[var] = DimVar(var.name)
            self.fresh.add(made)

    def type(self, type_: Type) -> Type:
        for var in type_variables(type_):
            if isinstance(var, DimVar | ShapeVar):
                self._rename(var)
        return self.renaming.type(type_)

    # --- values ---

    def value(self, value: Value) -> Value:
        found = self.values.get(value)
        if found is None:
            found = self.values[value] = Value(value.name, self.type(value.type), value.depth)
        return found

    def operand(self, operand: Operand) -> Operand:
        match operand:
            case Value():
                return self.value(operand)
            case SizeOf(dim, elem, number):
                pair = None if number is None else (self.dim(number[0]), self.dim(number[1]))
                return SizeOf(self.dim(dim), elem, pair)
            case ShapeOf(shape, elem):
                return ShapeOf(self._shape(shape), elem)
            case Bundle(items, names):
                return Bundle(tuple(map(self.operand, items)), names)
            case Function(params, nodes, result, depth):
                self.given.update(v for param in params for v in type_variables(param.type))
                inner = tuple(map(self.value, params))
                return Function(inner, self.nodes(nodes), self.operand(result), depth)
            case _:
                return operand

    def _shape(self, shape: Sequence[Dim | ShapeVar]) -> tuple[Dim | ShapeVar, ...]:
        made = self.type(ShapeValue(tuple(shape)))
        assert isinstance(made, ShapeValue)
        return made.shape

    def _attribute(self, value: object) -> object:
        if isinstance(value, tuple):
            return tuple(map(self._attribute, value))
        return self.operand(value) if isinstance(value, SizeOf | ShapeOf) else value

    # --- nodes ---

    def result(self, value: Value) -> Value:
        """What a node makes: its sizes must follow from those of what is given."""
        for var in type_variables(value.made or value.type):
            made = isinstance(var, DimVar | ShapeVar) and var.runtime and not var.derived
            if made and var not in self.given:
                raise NoRowGraph(COMPUTED, computed=True)
        return self.value(value)

    def nodes(self, nodes: Sequence[Node], outermost: bool = False) -> tuple[Node, ...]:
        made = [self._node(node, outermost) for node in nodes]
        return tuple([node for node in made if node is not None])

    def _node(self, node: Node, outermost: bool) -> Node | None:
        match node:
            case Apply():
                operands = tuple(map(self.operand, node.operands))
                attributes = {k: self._attribute(v) for k, v in node.attributes.items()}
                type_ = self.type(node.type)
                assert isinstance(type_, Fn)
                return replace(
                    node,
                    result=self.result(node.result),
                    operands=operands,
                    attributes=attributes,
                    type=type_,
                )
            case Call(result, graph, operands, span):
                return Call(self.result(result), graph, tuple(map(self.operand, operands)), span)
            case Item(result, whole, index):
                return Item(self.result(result), self.value(whole), index)
            case Alias(result, operand):
                return Alias(self.result(result), self.operand(operand))
            case Extern(_, name, _, _):
                raise NoRowGraph(f"`{name}` is a caller's operator")
            case Measure():
                raise NoRowGraph(COMPUTED, computed=True)
            case Check(relation, origin, depth):
                for var in relation_variables(relation):
                    self._rename(var)
                held = self.renaming.relation(relation)
                if isinstance(held, DimEq) and held.left == held.right:
                    return None
                if outermost:
                    self.requires.append(Guard(held, origin, depth))
                elif not self.known.issuperset(relation_variables(held)):
                    raise NoRowGraph("a size is checked further in")
                return None


def _equations(nodes: Sequence[Node]) -> list[tuple[Dim, Dim]]:
    """The sizes of one value under two types, and what checks equate."""
    found: list[tuple[Dim, Dim]] = []
    for node in nodes:
        if isinstance(node, Alias) and isinstance(node.operand, Value):
            shapes = [
                v.type.shape for v in (node.result, node.operand) if isinstance(v.type, Tensor)
            ]
            if len(shapes) == 2 and len(shapes[0]) == len(shapes[1]):
                for a, b in zip(*shapes, strict=True):
                    if not isinstance(a, ShapeVar) and not isinstance(b, ShapeVar):
                        found.append((a, b))
    relations = [node.relation for node in nodes if isinstance(node, Check)]
    return found + [(r.left, r.right) for r in relations if isinstance(r, DimEq)]


def _multiple(left: Dim, right: Dim) -> tuple[DimVar, int] | None:
    """Of `k = 2*(k/2)` the variable and the number."""
    terms = dict(dims.terms_of(dims.sub(left, right)))
    for mono, factor in terms.items():
        match mono:
            case (FloorDiv(args=(DimVar() as var, int() as number)),) if abs(factor) == number:
                if terms == {mono: factor, (var,): -factor // number}:
                    return var, number
    return None
