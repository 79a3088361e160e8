"""cond, while_loop, scan and map: graphs inside nodes become functions."""

from __future__ import annotations

from collections.abc import Sequence

from axon.contents.values import scalar
from axon.importers.node import Made
from axon.importers.operations import Graph, Operand, Unsupported
from axon.importers.subgraphs.branches import choose
from axon.importers.subgraphs.loop_state import (
    Iterations,
    define,
    padded,
    rows_of,
    same_types,
    settled,
    stacked,
    types_of,
    write_loop,
)
from axon.importers.subgraphs.subgraph import Subgraph, subgraph
from axon.importers.torch.node import TorchNode
from axon.importers.torch.rules.registry import rule
from axon.types.type import Type


@rule("cond", domain="higher_order")
def cond(node: TorchNode) -> None:
    test = node.argument("test")
    _graph(node, "then"), _graph(node, "else")
    known = node.contents(test.index) if isinstance(test, Operand) else scalar(test, "bool")
    choose(node, known, node.as_scalar(test), "then", "else")


def _graph(node: TorchNode, name: str) -> Graph:
    found = node.argument(name)
    if not isinstance(found, Graph):
        raise Unsupported(f"{node.operator} with other arguments than it has")
    return found


@rule("while_loop", domain="higher_order")
def while_loop(node: TorchNode) -> None:
    """While a condition holds of a state."""
    condition, _ = _graph(node, "condition"), _graph(node, "body")
    indices = node.indices("state")

    def infer(states: Sequence[Type]) -> Subgraph:
        return subgraph(node, "body", states)

    settled_ = settled(node, types_of(node, indices), infer, 0)
    found, types = settled_.body, settled_.last(node)
    params = found.params
    taken = dict(zip((each.name for each in condition.inputs), params, strict=False))
    test = subgraph(node, "condition", [], outside=taken)
    define(node, types)
    if not node.importer.writes:
        return
    differ = settled_.differ(node)
    same = same_types(node, indices, params, found.outputs, differ)
    iterations = Iterations(node, found, params, found.outputs, [], same, (), differ)
    begin = [node.input(i) for i in indices]
    expr = iterations.holding(begin, test.outputs[0], test.steps)
    write_loop(node, expr, padded(node.outputs, len(types)), [], types)


@rule("scan", "map_impl", "map", domain="higher_order")
def scan(node: TorchNode) -> None:
    """Through the rows of some tensors, with a state, which may be empty."""
    _graph(node, "body")
    indices, items = node.indices("state"), node.indices("rows")
    rows, times = rows_of(node, items, [0] * len(items))

    def infer(states: Sequence[Type]) -> Subgraph:
        return subgraph(node, "body", [*states, *rows])

    settled_ = settled(node, types_of(node, indices), infer, 0)
    found, states = settled_.body, settled_.last(node)
    count = len(indices)
    outputs = [stacked(node, row, times) for row in found.types[count:]]
    types = [*states, *settled_.after(node, outputs)]
    define(node, types)
    if not node.importer.writes:
        return
    params, made = found.params[:count], found.outputs[:count]
    same = same_types(node, indices, params, made)
    iterations = Iterations(node, found, params, made, found.outputs[count:], same)
    begin, given = [node.input(i) for i in indices], [node.input(i) for i in items]
    expr = iterations.over(begin, found.params[count:], given)
    names = padded(node.outputs, len(types))
    write_loop(node, expr, names[:count], names[count:], types)


@rule("associative_scan", domain="higher_order")
def associative_scan(node: TorchNode) -> Made:
    """Each result has the type of what is combined."""
    found = [each for each in node.attributes.values() if isinstance(each, tuple)]
    if not found:
        raise Unsupported("associative_scan of no tensors")
    rows = [each.index for each in found[0] if isinstance(each, Operand)]
    node.set_outputs(*[node.type_of(node.input(i)) for i in rows])
    return None
