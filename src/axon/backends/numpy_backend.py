"""Programs on NumPy: at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from axon.backends.code import Externs, Watcher, compile_graph
from axon.backends.numpy_arrays import ARRAYS
from axon.graph.graph import Graph


class NumpyBackend:
    name = "numpy"

    @property
    def compilations(self) -> int:
        """NumPy compiles nothing."""
        return 0

    def prepare(
        self, graph: Graph, externs: Externs, watcher: Watcher | None = None
    ) -> Callable[..., Any]:
        function, _ = compile_graph(graph, ARRAYS, externs, watcher)
        ignore = numpy.errstate(all="ignore")
        return ignore(function)

    def traceable(self, graph: Graph, externs: Externs) -> Callable[..., Any]:
        return self.prepare(graph, externs)
