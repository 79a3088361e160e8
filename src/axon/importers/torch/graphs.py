"""Graphs inside nodes: what they take beside their state they take from around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from axon.importers.operations import Graph, Operand, Operation, closed_over


def with_graphs(operation: Operation) -> Operation:
    """The operation with names for its arguments, if it has graphs that Axon knows of: `then` and
    `else`; `condition` and `body`, with a state; or `body`, with the rows that it goes through.
    """
    given = list(operation.attributes.values())
    match operation.operator, given:
        case "cond", [Operand() | bool() as test, Graph() as then, Graph() as else_, *rest]:
            names = _names(operation, rest)
            return operation.changed(
                attributes={
                    "test": test,
                    "then": closed_over(then, 0, names),
                    "else": closed_over(else_, 0, names),
                }
            )
        case "while_loop", [Graph() as condition, Graph() as body, tuple() as state, *rest]:
            names, count = _names(operation, rest), len(state)
            return operation.changed(
                attributes={
                    "condition": closed_over(condition, count, names),
                    "body": closed_over(body, count, names),
                    "state": state,
                }
            )
        case "scan", [Graph() as body, tuple() as state, tuple() as rows, *rest]:
            count = len(state) + len(rows)
            inner = closed_over(body, count, _names(operation, rest))
            return operation.changed(attributes={"body": inner, "state": state, "rows": rows})
        case "map_impl" | "map", [Graph() as body, tuple() as rows, *rest]:
            inner = closed_over(body, len(rows), _names(operation, rest))
            return operation.changed(attributes={"body": inner, "state": (), "rows": rows})
        case _:
            return operation


def _names(operation: Operation, given: Sequence[Any]) -> list[str]:
    """The tensors among arguments, in their order."""
    found = []
    for value in given:
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, Operand):
                found.append(operation.inputs[each.index])
    return found
