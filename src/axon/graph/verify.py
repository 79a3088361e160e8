"""The invariants of graphs, checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
    Number,
    Operand,
    OperatorFunction,
    ShapeOf,
    SizeOf,
    Value,
)
from axon.graph.sizes import (
    SizeVar,
    decided,
    needed,
    operand_needs,
    operands_of,
    provided,
    readable,
)
from axon.types.elements import BIT
from axon.types.type import DimValue, Fn, ShapeValue, Tensor, Tuple, Type, Unknown
from axon.types.variables import ElemVar, TypeVar


def verify(graph: Graph) -> list[str]:
    """The violated invariants of a graph, as sentences; there should be none."""
    return list(_graph(graph, set()))


def _graph(graph: Graph, seen: set[Graph]) -> Iterator[str]:
    if graph in seen:
        return
    seen.add(graph)
    sizes = {var for param in graph.params for var, _ in readable(param)}
    sizes |= {var for var, _, _ in decided(graph.params, sizes)}
    yield from _body(graph.name, graph.params, graph.nodes, graph.result, set(), sizes, seen)


def _body(
    where: str,
    params: Sequence[Value],
    nodes: Sequence[Node],
    result: Operand,
    outer: set[Value],
    sizes: set[SizeVar],
    seen: set[Graph],
) -> Iterator[str]:
    """A value is made once, before it is used; so is a size. All types are completely known."""
    known = outer | set(params)
    for param in params:
        yield from _type(where, param.type)
    for node in nodes:
        for operand in operands_of(node):
            yield from _operand(where, operand, known, sizes, seen)
        for var in needed(node) - sizes:
            if not isinstance(node, Check | Extern):
                yield f"{where}: the size {var!r} is not known where it is needed"
        yield from _node(where, node, known, seen)
        sizes = sizes | provided(node)
        if not isinstance(node, Measure | Check):
            known = known | {node.result}
    yield from _operand(where, result, known, sizes, seen)
    for var in operand_needs(result) - sizes:
        yield f"{where}: the size {var!r} of the result is not known"


def _node(where: str, node: Node, known: set[Value], seen: set[Graph]) -> Iterator[str]:
    if isinstance(node, Measure | Check):
        return
    if node.result in known:
        yield f"{where}: a value is made twice"
    yield from _type(where, node.result.type)
    match node:
        case Apply(_, operator, operands, attributes, _, type_, _):
            if operator.meaning is None:
                yield f"{where}: {operator.name} has no meaning"
            missing = operator.attributes.keys() - attributes.keys()
            if missing:
                yield f"{where}: {operator.name} lacks {', '.join(sorted(missing))}"
            if len(type_.params) != len(operands):
                count = len(type_.params)
                yield f"{where}: {operator.name} has {len(operands)} operands, not {count}"
        case Call(_, graph, operands, _):
            if len(graph.params) != len(operands):
                yield f"{where}: {graph.name} takes {len(graph.params)} values"
            yield from _graph(graph, seen)
        case Item(_, whole, index):
            if not isinstance(whole.type, Tuple) or index >= len(whole.type.items):
                yield f"{where}: there is no part {index}"
        case Extern() | Alias():
            pass


def _operand(
    where: str, operand: Operand, known: set[Value], sizes: set[SizeVar], seen: set[Graph]
) -> Iterator[str]:
    match operand:
        case Value():
            if operand not in known:
                yield f"{where}: `{operand.name or 'a value'}` is used before it is made"
        case Bundle(items):
            for item in items:
                yield from _operand(where, item, known, sizes, seen)
        case Function(params, nodes, result, _):
            inner = sizes | {var for param in params for var, _ in readable(param)}
            yield from _body(f"{where}, fn", params, nodes, result, known, inner, seen)
        case SizeOf(_, elem) | ShapeOf(_, elem):
            if elem and elem not in BIT:
                yield f"{where}: an element type is not known"
        case Number() | OperatorFunction():
            pass


def _type(where: str, type_: Type) -> Iterator[str]:
    match type_:
        case Tensor(elem, _):
            if isinstance(elem, ElemVar):
                yield f"{where}: an element type is not known"
        case Tuple(items):
            for item in items:
                yield from _type(where, item)
        case DimValue() | ShapeValue():
            pass
        case Fn() | TypeVar() | Unknown():
            yield f"{where}: a value of no tensor type"
