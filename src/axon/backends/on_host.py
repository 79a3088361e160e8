"""One operator of a program, by NumPy: one that makes sizes of values in each row. A library that
compiles for sizes would compile for each of them, one row after another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy

from axon.backends.home import converted
from axon.backends.ragged_host import host, put
from axon.graph.graph import Call, Extern, Function, Graph, Node
from axon.graph.sizes import operands_of


class OnHost:
    """The graph of an operator, of some values and of sizes; `compiled` makes code of it."""

    def __init__(self, graph: Graph, compiled: Callable[[Graph], Callable[..., Any]]) -> None:
        self.graph = graph
        self.compiled = compiled

    @cached_property
    def function(self) -> Callable[..., Any]:
        return self.compiled(self.graph)

    def __call__(self, xp: Any, values: Sequence[Any], sizes: Sequence[Any]) -> Any:
        with numpy.errstate(all="ignore"):
            made = self.function(*[converted(value, _hosted) for value in values], *sizes)
        return converted(made, lambda array: put(xp.library, array))


def _hosted(value: Any) -> Any:
    return host(value) if hasattr(value, "dtype") else value


def calls_caller(node: Node) -> bool:
    """Whether an operator of the caller is called, which may want arrays of its own library."""
    if isinstance(node, Extern):
        return True
    inside = [n for o in operands_of(node) if isinstance(o, Function) for n in o.nodes]
    if isinstance(node, Call):
        inside += node.graph.nodes
    return any(map(calls_caller, inside))
