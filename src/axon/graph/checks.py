"""Run-time checks stand right behind what makes the sizes that they speak of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from axon.graph.graph import Apply, Check, Function, Node, Value
from axon.graph.sizes import SizeVar, operands_of, provided, readable, relation_needs
from axon.solver.constraints import Guard


def place_checks(
    params: tuple[Value, ...], nodes: Iterable[Node], checks: list[Guard]
) -> tuple[Node, ...]:
    """The nodes with the checks among them. One on sizes of a function that is called elsewhere is
    not made here: the function has its own.
    """
    nodes = tuple(nodes)
    made = {v for p in params for v, _ in readable(p)}.union(*map(_made, nodes))
    waiting = [(guard, relation_needs(guard.relation, made)) for guard in checks]
    return _place(params, nodes, waiting, set())


def _made(node: Node) -> set[SizeVar]:
    """The sizes that a node makes, those in its functions too."""
    found = set(provided(node))
    for operand in operands_of(node):
        if isinstance(operand, Function):
            found |= {v for p in operand.params for v, _ in readable(p)}
            found = found.union(*map(_made, operand.nodes))
    return found


def _place(
    params: tuple[Value, ...],
    nodes: Iterable[Node],
    waiting: list[tuple[Guard, set[SizeVar]]],
    outer: set[SizeVar],
) -> tuple[Node, ...]:
    known = outer | {v for p in params for v, _ in readable(p)}
    result: list[Node] = [*_ready(waiting, known)]
    for node in nodes:
        if isinstance(node, Apply) and any(isinstance(o, Function) for o in node.operands):
            operands = tuple(
                replace(o, nodes=_place(o.params, o.nodes, waiting, known))
                if isinstance(o, Function)
                else o
                for o in node.operands
            )
            node = replace(node, operands=operands)
        result.append(node)
        known |= provided(node)
        result += _ready(waiting, known)
    return tuple(result)


def _ready(waiting: list[tuple[Guard, set[SizeVar]]], known: set[SizeVar]) -> list[Check]:
    """The checks that can be made now; they wait no longer."""
    found = [entry for entry in waiting if entry[1] <= known]
    for entry in found:
        waiting.remove(entry)
    return [Check(guard.relation, guard.origin, guard.depth) for guard, _ in found]
