"""Programs on NumPy, run without compilation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from axon.backends.code import compile_graph, looping
from axon.backends.coder import Externs, Watcher
from axon.backends.home import Home
from axon.backends.numpy_arrays import ARRAYS
from axon.backends.options import DEFAULT, Options
from axon.backends.owned import owned
from axon.graph.graph import Graph


class NumpyBackend(Home):
    name = "numpy"
    arrays = ARRAYS
    native = frozenset({"numpy"})
    options: Options = DEFAULT

    @property
    def compilations(self) -> int:
        """NumPy compiles nothing."""
        return 0

    def prepare(
        self, graph: Graph, externs: Externs, watcher: Watcher | None = None
    ) -> Callable[..., Any]:
        function, _ = compile_graph(graph, ARRAYS, externs, watcher)

        def run(*args: Any) -> Any:
            with numpy.errstate(all="ignore"):
                result = function(*args)
            return owned(result if type(result) is numpy.ndarray else _arrays(result), args)

        run.looping = lambda: looping(function)  # type: ignore[attr-defined]
        return run

    def traceable(self, graph: Graph, externs: Externs) -> Callable[..., Any]:
        return self.prepare(graph, externs)


def _arrays(result: Any) -> Any:
    """NumPy returns its own scalars where an array has no dimensions."""
    if isinstance(result, tuple):
        return tuple(_arrays(item) for item in result)
    return numpy.asarray(result) if isinstance(result, numpy.generic) else result
