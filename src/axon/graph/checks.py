"""Run-time checks stand right behind what makes the sizes that they speak of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from axon.graph.graph import Apply, Check, Function, Node, Value
from axon.graph.sizes import SizeVar, operands_of, provided, readable, relation_needs
from axon.solver.constraints import Guard
from axon.types.type import Broadcast, DimBroadcast
from axon.types.variables import DimVar, ShapeVar


@dataclass(slots=True)
class _Waiting:
    """A check that is not made yet. A broadcast whose result some operator makes is looked at
    twice: whether its parts fit, before that operator runs, and then what it made. `parts` are the
    sizes that the first look needs.
    """

    guard: Guard
    needs: set[SizeVar]
    parts: set[SizeVar] | None = None


def place_checks(
    params: tuple[Value, ...], nodes: Iterable[Node], checks: list[Guard]
) -> tuple[Node, ...]:
    """The nodes with the checks among them. One on sizes of a function that is called elsewhere is
    not made here: the function has its own.
    """
    nodes = tuple(nodes)
    made = {v for p in params for v, _ in readable(p)}.union(*map(_made, nodes))
    waiting = []
    for guard in checks:
        entry = _Waiting(guard, relation_needs(guard.relation, made))
        early = _of_parts(guard)
        if early is not None:
            entry.parts = relation_needs(early.relation)
        waiting.append(entry)
    return _place(params, nodes, waiting, set())


def _of_parts(guard: Guard) -> Guard | None:
    """That the parts of a broadcast fit each other, whatever it gives."""
    match guard.relation:
        case Broadcast(_, parts):
            return replace(guard, relation=Broadcast((ShapeVar("", runtime=True),), parts))
        case DimBroadcast(_, sizes):
            return replace(guard, relation=DimBroadcast(DimVar("", runtime=True), sizes))
        case _:
            return None


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
    waiting: list[_Waiting],
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


def _ready(waiting: list[_Waiting], known: set[SizeVar]) -> list[Check]:
    """The checks that can be made now."""
    found: list[Guard] = []
    for entry in list(waiting):
        if entry.needs <= known:
            found.append(entry.guard)
            waiting.remove(entry)
        elif entry.parts is not None and entry.parts <= known:
            early = _of_parts(entry.guard)
            assert early is not None
            found.append(early)
            entry.parts = None
    return [Check(guard.relation, guard.origin, guard.depth) for guard in found]
