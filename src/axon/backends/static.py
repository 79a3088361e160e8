"""Whether the sizes in a graph are known before it runs: only then it is compiled as one unit. And
which graphs it calls more than once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from axon.graph.graph import Apply, Call, Check, Extern, Function, Graph, Measure, Node
from axon.types.type import type_variables
from axon.types.variables import DimVar, ShapeVar


def is_static(graph: Graph) -> bool:
    """Whether every size follows from those of the arguments."""
    for node in _nodes(graph):
        match node:
            case Measure() | Check():
                return False
            case _:
                if any(
                    isinstance(v, DimVar | ShapeVar) and v.runtime
                    for v in type_variables(node.result.type)
                ):
                    return False
    return not any(
        isinstance(v, DimVar | ShapeVar) and v.runtime
        for p in graph.params
        for v in type_variables(p.type)
    )


def repeated(graph: Graph) -> frozenset[Graph]:
    """The graphs that are called from several places, apart from those in which something of the
    caller's is called: that may differ each time.
    """
    calls = Counter(node.graph for node in _nodes(graph) if isinstance(node, Call))
    return frozenset(
        called
        for called, count in calls.items()
        if count > 1 and not any(isinstance(node, Extern) for node in _nodes(called))
    )


def _nodes(graph: Graph, seen: set[Graph] | None = None) -> Iterator[Node]:
    """Every node, those of functions and of called graphs too."""
    seen = set() if seen is None else seen
    if graph in seen:
        return
    seen.add(graph)
    todo = list(graph.nodes)
    while todo:
        node = todo.pop()
        yield node
        if isinstance(node, Call):
            yield from _nodes(node.graph, seen)
        elif isinstance(node, Apply):
            todo.extend(n for o in node.operands if isinstance(o, Function) for n in o.nodes)
