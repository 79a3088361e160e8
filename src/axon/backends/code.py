"""A graph as a Python function: straight-line code over an array namespace, generated once.

Nothing is interpreted when it runs, so on NumPy it costs as much as a handwritten function, and JAX
traces it in the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from axon.backends.coder import Coder, Externs, Placed, Watcher
from axon.backends.flat_code import for_all_rows
from axon.backends.numpy_arrays import ARRAYS
from axon.backends.row_code import RowCode
from axon.backends.segments.steps import Step
from axon.backends.static import is_static, repeated
from axon.graph.graph import Graph
from axon.ops.arrays import Arrays
from axon.source import Span

PLACES = "__places__"
"""Under this name stand the places of the lines; nothing in a program gets a name like it."""

STEPS = "__steps__"
"""Under this name stand the operators that are applied to rows."""


def compile_graph(
    graph: Graph,
    arrays: Arrays,
    externs: Externs,
    watcher: Watcher | None = None,
    placed: Placed | None = None,
) -> tuple[Callable[..., Any], str]:
    """The function for a graph, and its text."""
    coder = Coder(arrays, externs, for_all_rows)
    if hasattr(arrays, "vectorised") and not arrays.by_segments:
        coder.rows = RowCode(
            lambda row: compile_graph(row, arrays, externs)[0], partial(_on_host, coder.steps)
        )
    if watcher is not None:
        coder.watched = graph
        coder.names.constant(watcher, "done", "done")
    if is_static(graph):
        coder.repeated, coder.root = repeated(graph), graph.name
    name = coder.graph(graph, placed)
    text = "\n".join(line.text for line in coder.lines) + "\n"
    space = coder.names.objects
    space[PLACES] = [line.span for line in coder.lines]
    space[STEPS] = coder.steps
    exec(compile(text, f"<{graph.name}>", "exec"), space)
    return space[name], text


def _on_host(steps: list[Step], graph: Graph) -> Callable[..., Any]:
    """The function for a graph on NumPy; what of it goes row by row is reported with the others."""
    function, _ = compile_graph(graph, ARRAYS, {})
    steps += function.__globals__[STEPS]
    return function


def looping(function: Callable[..., Any]) -> list[Step]:
    """The operators of a compiled graph that were applied row by row when it ran."""
    space = getattr(function, "__globals__", {})
    return [step for step in space.get(STEPS, ()) if step.loops]


def place_of(problem: BaseException) -> Span | None:
    """The span of the program where the run failed: the innermost line of generated code that an
    exception passed through. This costs nothing where nothing fails.
    """
    found, step = None, problem.__traceback__
    while step is not None:
        spans = step.tb_frame.f_globals.get(PLACES)
        if spans is not None:
            found = spans[step.tb_lineno - 1] or found
        step = step.tb_next
    return found
