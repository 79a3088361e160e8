"""Removal of unused nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from axon.graph.graph import Apply, Check, Function, Measure, Node, Operand, Value
from axon.graph.sizes import (
    SizeVar,
    needed,
    operand_needs,
    operands_of,
    provided,
    readable,
    values_in,
)


def tidy(params: Sequence[Value], nodes: Sequence[Node], result: Operand) -> tuple[Node, ...]:
    """The nodes that the result, a check or a needed size depends on, in their order."""
    maker: dict[Value, int] = {}
    first: dict[SizeVar, int] = {}
    given = {v for p in params for v, _ in readable(p)}
    for at, node in enumerate(nodes):
        if not isinstance(node, Measure | Check):
            maker[node.result] = at
        for var in provided(node):
            first.setdefault(var, at)
    todo = [at for at, node in enumerate(nodes) if _checks(node)]
    for at, node in enumerate(nodes):
        if isinstance(node, Measure):
            new = {v for v in provided(node) if first[v] == at and v not in given}
            if len(new) < len(node.shape):
                todo.append(at)  # known sizes are compared with the array
    todo += [maker[v] for v in values_in(result) if v in maker]
    todo += [first[v] for v in operand_needs(result) - given if v in first]
    kept: set[int] = set()
    while todo:
        at = todo.pop()
        if at in kept:
            continue
        kept.add(at)
        node = nodes[at]
        for operand in operands_of(node):
            todo += [maker[v] for v in values_in(operand) if v in maker]
        todo += [first[v] for v in needed(node) - given if v in first]
    return tuple(_tidied(node) for at, node in enumerate(nodes) if at in kept)


def _checks(node: Node) -> bool:
    """Whether a node checks something, possibly inside a function that it calls."""
    return isinstance(node, Check) or (
        isinstance(node, Apply)
        and any(isinstance(o, Function) and any(map(_checks, o.nodes)) for o in node.operands)
    )


def _tidied(node: Node) -> Node:
    if isinstance(node, Apply) and any(isinstance(o, Function) for o in node.operands):
        operands = tuple(
            replace(o, nodes=tidy(o.params, o.nodes, o.result)) if isinstance(o, Function) else o
            for o in node.operands
        )
        return replace(node, operands=operands)
    return node
