"""The code for functions of rows on a library that compiles for sizes, besides what is compiled for
all rows at once: rows are padded, or go to the host.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from axon.backends.on_host import OnHost, calls_caller
from axon.backends.operator_rows import OperatorRows, Used
from axon.backends.row_buckets import RowFunction
from axon.backends.size_code import SizeCode
from axon.graph.graph import Apply, Function, Graph, Value
from axon.graph.row_graph import NoRowGraph, of_size, row_graph
from axon.graph.sizes import SizeVar, needed, needed_inside, values_in
from axon.ops.traits import Calls

Compile = Callable[[Graph], Callable[..., Any]]
"""Makes code of a graph that stands alone."""


@dataclass(frozen=True, slots=True)
class RowCode:
    """`alone` makes code of a graph for the library, `hosted` for NumPy."""

    alone: Compile
    hosted: Compile

    def function(
        self, function: Function, values: Sequence[Value], sizes: Sequence[SizeVar]
    ) -> RowFunction:
        """A function as rows are padded for it."""
        return RowFunction(function, values, sizes, self.alone)

    def operator(self, node: Apply, used: Callable[[Function], Used]) -> OperatorRows | None:
        """An operator as rows are padded for it."""
        if node.operator.traits.calls is not None:
            return None
        functions = [(i, o) for i, o in enumerate(node.operands) if isinstance(o, Function)]
        return OperatorRows(node, {i: used(o) for i, o in functions}, self.alone)

    def on_host(self, body: SizeCode, node: Apply, used: Callable[[Function], Used]) -> str | None:
        """An operator whose function of rows computes sizes from their values: on the host, all of
        it. Other operators are none of these.
        """
        if node.operator.traits.calls is not Calls.EACH_ROW or calls_caller(node):
            return None
        function = node.operands[0]
        if not isinstance(function, Function) or not _computes_sizes(function, used(function)):
            return None
        values = dict.fromkeys(v for o in node.operands for v in values_in(o) if v in body.values)
        inside = needed(node).union(*map(needed_inside, node.operands))
        sizes = [var for var in body.sizes if var in inside]
        params = (*values, *map(of_size, sizes))
        graph = Graph(node.operator.name, params, (node,), node.result, (), body.levels)
        do = body.names.constant(OnHost(graph, self.hosted), "on_host")
        given = "".join(f"{body.values[v]}, " for v in values)
        known = "".join(f"{body.sizes[v]}, " for v in sizes)
        return f"{do}(xp, ({given}), ({known}))"


def _computes_sizes(function: Function, used: Used) -> bool:
    try:
        row_graph(function, *used)
    except NoRowGraph as problem:
        return problem.computed
    return False
