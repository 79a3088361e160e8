"""If, Loop and Scan: graphs inside nodes become functions.

A branch is a function of nothing, and what a Loop or a Scan does each time a function of its
state. States whose shape the body keeps have it in the end; what it gives each time is stacked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from axon.contents.values import scalar
from axon.importers.expressions import Expression
from axon.importers.node import Node
from axon.importers.onnx.rules.loops.collecting_loops import appended, collect, listed
from axon.importers.onnx.rules.registry import rule
from axon.importers.operations import Unsupported
from axon.importers.runtime_values import scalar_of
from axon.importers.steps import Step
from axon.importers.subgraphs.branches import choose, truth
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
from axon.importers.subgraphs.subgraph import Subgraph, hidden, ranked, subgraph
from axon.types.type import Type

NO_LIMIT = 1 << 40
"""A Loop that may go on for so long is meant to go on while its condition holds."""


@rule("If")
def if_(node: Node) -> None:
    choose(node, node.contents(0), scalar_of(node, 0), "then_branch", "else_branch")


# --- Loop ------------------------------------------------------------------------------------


@rule("Loop")
def loop(node: Node) -> None:
    sequences = listed(node)
    if sequences:
        collect(node, sequences)
        return
    indices = range(2, node.count)
    first = [node.infer(each) for each in (node.scalar(0, "i64"), node.literal(True))]

    def infer(states: Sequence[Type]) -> Subgraph:
        return subgraph(node, "body", [*first, *states], {1: scalar(True, "bool")})

    settled_ = settled(node, types_of(node, indices), infer, 1)
    found, states = settled_.body, settled_.states
    if len(found.params) != 2 + len(states):
        raise Unsupported("Loop whose body takes another number of states")
    endless = truth(node.importer.contents.get(found.outputs[0])) is True
    times = _times(node) if endless else None
    size = node.fresh_dim() if times is None else times
    outputs = [stacked(node, row, size) for row in found.types[1 + len(states) :]]
    types = [*settled_.last(node), *settled_.after(node, outputs)]
    define(node, types)
    collected = appended(node.attribute("body")) if endless and node.has(0) else {}
    if collected:
        if collect(node, collected):
            return
        define(node, types)
    if not node.importer.writes:
        return
    params, differ, count = found.params[2:], settled_.differ(node), len(states)
    made, rows = found.outputs[1 : 1 + count], found.outputs[1 + count :]
    same = same_types(node, indices, params, made, differ)
    iterations = Iterations(node, found, params, made, rows, same, (), differ)
    if not endless:
        _while(iterations, types)
    elif node.has(0):
        _for(iterations, types, times)


def _times(node: Node) -> Any:
    """How often a Loop goes round that nothing stops, where that is known."""
    known = node.element(0) if _starts(node) else None
    return known if known is not None and node.importer.is_size(known) else None


def _starts(node: Node) -> bool:
    """Whether the condition is known to hold in the beginning."""
    return not node.has(1) or truth(node.contents(1)) is True


def _for(iterations: Iterations, types: Sequence[Type], times: Any) -> None:
    """So many times: a loop over the numbers of the iterations."""
    node, (number, condition) = iterations.node, iterations.body.params[:2]
    true = Step((condition,), node.literal(True), node.operation)
    iterations = replace(iterations, more=[true])
    begin = [node.input(i) for i in range(2, node.count)]
    zero, one, limit = node.literal(0), node.literal(1), scalar_of(node, 0)
    if not _starts(node):
        limit = node.call("where", scalar_of(node, 1), limit, zero)
    expr = fallback = iterations.over(begin, [number], [node.call("arange", zero, limit, one)])
    if times is not None:
        expr = iterations.over(begin, [number], [node.call("range", node.size(times))])
    names, count = padded(node.outputs, len(types)), len(begin)
    write_loop(node, expr, names[:count], names[count:], types, fallback)


def _while(iterations: Iterations, types: Sequence[Type]) -> None:
    """While a condition holds. It is part of the state, and so is the number of the iteration."""
    node, found = iterations.node, iterations.body
    (number, condition), keep = found.params[:2], found.outputs[0]
    scalars = [node.importer.types[name] for name in (number, condition)]
    after = hidden(node, f"{found.prefix}⟨after⟩", "after", scalars[0])
    test = hidden(node, f"{found.prefix}⟨test⟩", "test", scalars[1])
    alias = {n: node.tensor(n) for n in (number, condition)}
    counting = Step((after,), node.call("+", alias[number], node.literal(1)), node.operation)
    count = len(iterations.params)
    iterations = replace(
        iterations,
        params=found.params,
        states=[after, keep, *iterations.states],
        same=[*iterations.same, (condition, keep)],
        more=[counting],
        differ={2 + part: axes for part, axes in iterations.differ.items()},
    )
    holds: Expression = node.call("identity", alias[condition])
    if _limited(node):
        within = node.call("<", alias[number], scalar_of(node, 0))
        holds = node.call("logical_and", alias[condition], within)
    start = scalar_of(node, 1) if node.has(1) else node.literal(True)
    begin = [node.literal(0), start, *(node.input(i) for i in range(2, node.count))]
    expr = iterations.holding(begin, test, [Step((test,), holds, node.operation)])
    names = padded(node.outputs, len(types))
    write_loop(node, expr, ["", "", *names[:count]], names[count:], [*scalars, *types])


def _limited(node: Node) -> bool:
    """Whether the number of iterations has a limit that a run could reach."""
    known = node.element(0)
    return node.has(0) and not (isinstance(known, int) and known >= NO_LIMIT)


# --- Scan ------------------------------------------------------------------------------------


@rule("Scan")
def scan(node: Node) -> None:
    if 0 < node.importer.opset < 9:
        raise Unsupported("Scan over a batch, as it was before opset 9")
    inputs = node.attribute("num_scan_inputs", 0)
    count = node.count - inputs
    if inputs < 1 or count < 0:
        raise Unsupported(f"Scan over {inputs} of {node.count} inputs")
    axes = _padded_with(node.attribute("scan_input_axes"), inputs)
    rows, times = rows_of(node, range(count, node.count), axes)

    def infer(states: Sequence[Type]) -> Subgraph:
        return subgraph(node, "body", [*states, *rows])

    settled_ = settled(node, types_of(node, range(count)), infer, 0)
    found, states = settled_.body, settled_.last(node)
    if len(found.params) != node.count:
        raise Unsupported("Scan whose body takes another number of inputs")
    outputs = found.types[count:]
    out_axes = _padded_with(node.attribute("scan_output_axes"), len(outputs))
    ends = [stacked(node, row, times, at) for row, at in zip(outputs, out_axes, strict=True)]
    define(node, [*states, *settled_.after(node, ends)])
    if not node.importer.writes:
        return
    _scanned(node, found, states, axes, [stacked(node, row, times) for row in outputs], out_axes)


def _padded_with(given: Any, count: int) -> list[int]:
    """Axes, or directions, one for each; 0 if nothing is said."""
    found = given if isinstance(given, list) else []
    return [int(item) for item in [*found, *[0] * count][:count]]


def _scanned(
    node: Node,
    found: Subgraph,
    states: Sequence[Type],
    axes: Sequence[int],
    firsts: Sequence[Type],
    out_axes: Sequence[int],
) -> None:
    """A loop over the rows of the inputs, moved to the front or turned round where that is said."""
    count, given = len(states), []
    directions = _padded_with(node.attribute("scan_input_directions"), len(axes))
    for i, (axis, backwards) in enumerate(zip(axes, directions, strict=True)):
        expr = _moved(node, node.input(count + i), node.rank(count + i), axis, 0)
        given.append(node.call("reverse", expr) if expr is not None and backwards else expr)
    params, made, rows = found.params[:count], found.outputs[:count], found.outputs[count:]
    same = same_types(node, range(count), params, made)
    iterations = Iterations(node, found, params, made, rows, same)
    sure = [expr for expr in given if expr is not None]
    if len(sure) < len(given):
        return
    expr = iterations.over([node.input(i) for i in range(count)], found.params[count:], sure)
    names = padded(node.outputs, count + len(rows))
    directions = _padded_with(node.attribute("scan_output_directions"), len(rows))
    turned: list[Step] = []
    for i, (type_, axis, backwards) in enumerate(zip(firsts, out_axes, directions, strict=True)):
        name, rank = names[count + i], ranked(node, type_)
        if not name or (axis == 0 and not backwards):
            continue
        first = hidden(node, f"{name}⟨as they come⟩", name, type_)
        row: Expression = node.tensor(first)
        row = node.call("reverse", row) if backwards else row
        moved = _moved(node, row, None if rank is None else len(rank.shape), 0, axis)
        turned.append(Step((name,), moved, node.operation))
        names[count + i] = first
    write_loop(node, expr, names[:count], names[count:], [*states, *firsts])
    node.importer.steps += turned


def _moved(
    node: Node, x: Expression, rank: int | None, source: int, target: int
) -> Expression | None:
    """A tensor with one axis moved; None if its rank is not known and matters."""
    if source == target:
        return x
    if rank is None:
        return None
    source, target = source % rank, target % rank
    order = [axis for axis in range(rank) if axis != source]
    order.insert(target, source)
    return x if source == target else node.call("transpose", x, perm=order)
