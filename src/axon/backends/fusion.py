"""Nodes of a graph that a backend computes together, by one kernel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from axon.graph.graph import Apply, Function, Graph, Operand, Value
from axon.graph.sizes import operands_of, values_in
from axon.ops import Operator
from axon.ops.arrays import Meaning


@dataclass(frozen=True, slots=True)
class Fusion:
    """What makes the result of the last of some nodes. The nodes before it, `inner`, are used for
    nothing else.
    """

    result: Value
    meaning: Meaning
    operands: tuple[Operand, ...]
    inner: frozenset[Value]


class Body:
    """What makes each value of a graph, and how often it is used."""

    def __init__(self, whole: Graph | Function) -> None:
        self.nodes = tuple(node for node in whole.nodes if isinstance(node, Apply))
        self.made: Mapping[Value, Apply] = {node.result: node for node in self.nodes}
        self.used = Counter(
            value for node in whole.nodes for o in operands_of(node) for value in values_in(o)
        )
        self.used.update(values_in(whole.result))

    def made_by(self, operand: Operand, *operators: Operator) -> Apply | None:
        """The node that makes an operand, if it is one of these operators."""
        node = self.made.get(operand) if isinstance(operand, Value) else None
        return node if node is not None and node.operator in operators else None

    def only(self, operand: Operand, *operators: Operator) -> Apply | None:
        """The same, if the operand is used nowhere else."""
        node = self.made_by(operand, *operators)
        return node if node is not None and self.used[node.result] == 1 else None

    def only_for(self, operand: Operand) -> frozenset[Value]:
        """The values that are made for an operand alone, it included."""
        if not isinstance(operand, Value) or operand not in self.made or self.used[operand] != 1:
            return frozenset()
        return frozenset({operand}).union(*map(self.only_for, self.made[operand].operands))
