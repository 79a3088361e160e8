"""Buckets on a mesh of devices: what is padded is cut as its types say, and a size that is cut is
padded to what the devices divide.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from math import lcm
from typing import Any

from axon.backends.coder import Externs
from axon.graph.graph import Graph
from axon.graph.sharding import Placement, Rule, placement
from axon.inference.program import Definition
from axon.run.backend import OnMesh
from axon.run.sharding import rules
from axon.types import dim as dims
from axon.types.variables import DimVar


class OnDevices:
    """A backend on a mesh that compiles the padded graphs of one graph."""

    def __init__(
        self,
        backend: Any,
        sharding: OnMesh,
        definition: Definition,
        graph: Graph,
        exact: Placement,
    ) -> None:
        self.lengthened, self.cut, self.kept = backend.lengthened, backend.cut, backend.kept
        self._sharding = sharding
        self._definition, self._graph = definition, graph
        self._exact = exact

    @cached_property
    def rules(self) -> list[Rule]:
        return rules(self._definition, self._graph, self._sharding.shard)

    def parts(self, var: DimVar) -> int:
        """Into how many parts devices cut a size, or one that it is part of."""
        found = [self._sharding.parts(r) for r in self.rules if var in dims.variables(r.size)]
        return lcm(*found)

    def _placement(self, padded: Graph) -> Placement:
        """What is padded has the sizes of the graph as its types, and parameters are the same. The
        exact placement knows more of them, where sizes of the graph are numbers.
        """
        own = placement(padded, self.rules)
        values = {**self._exact.values, **own.values}
        return Placement(values, own.calls, (own.key, self._exact.key))

    def prepare(self, graph: Graph, externs: Externs) -> Callable[..., Any]:
        return self._sharding.prepare(graph, externs, self._placement(graph))

    def traced_once(self, graph: Graph, externs: Externs) -> Callable[..., Any]:
        return self._sharding.traced_once(graph, externs, self._placement(graph))
