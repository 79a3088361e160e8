"""What a backend is told of a run of layers (see `graph/layer_runs.py`), so as to compute it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from axon.graph.layer_runs import State
from axon.types.type import Tuple, Type

Structure = int | tuple["Structure", ...]
"""A tuple of tuples, with the number of each leaf."""


@dataclass(frozen=True, slots=True)
class Layers:
    """A run of calls of one function. `same` are the leaves of the operands that are the same in
    each call, `wanted` the leaves of the result that are used, for each call of which any is.
    """

    root: str
    """The definition that it is in, or that calls what it is in."""
    called: str
    lines: tuple[int, int]
    operands: Structure
    result: Structure
    state: State
    same: frozenset[int]
    wanted: tuple[tuple[int, frozenset[int]], ...]


class Stacks(Protocol):
    """How a backend computes the calls of a run."""

    def run(self, layers: Layers) -> Callable[..., tuple[Any, ...]]:
        """A function of the called one and the leaves of its operands in each call, that gives the
        results of those calls that have requested results.
        """


def structure(type_: Type) -> Structure:
    """The leaves of a type, numbered in their order."""
    at = 0

    def numbered(type_: Type) -> Structure:
        nonlocal at
        if isinstance(type_, Tuple):
            return tuple([numbered(item) for item in type_.items])
        at += 1
        return at - 1

    return numbered(type_)


def count(whole: Structure) -> int:
    return 1 if isinstance(whole, int) else sum(map(count, whole))
