"""An array namespace in which functions are called with values, row by row.

A function that makes sizes of the run cannot be traced: what it is given must be there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from axon.ops.arrays import Array, Arrays, Value


class Stepwise:
    """`xp`, but for the functions that call functions. What has no rows calls none."""

    vectorised = None  # rows are not taken together

    def __init__(self, xp: Arrays) -> None:
        self.xp = xp

    def __getattr__(self, name: str) -> Any:
        return getattr(self.xp, name)

    def map(self, function: Callable[..., Value], *rows: Array) -> Value:
        return self._stack([function(*each) for each in zip(*rows, strict=True)])

    def loop(
        self, state: Value, function: Callable[..., tuple[Value, Value]], *rows: Array
    ) -> tuple[Value, Value]:
        outputs = []
        for each in zip(*rows, strict=True):
            state, output = function(state, *each)
            outputs.append(output)
        return state, self._stack(outputs)

    def _stack(self, rows: Sequence[Value]) -> Value:
        if isinstance(rows[0], tuple):
            return tuple(self._stack(part) for part in zip(*rows, strict=True))
        return self.xp.stack(rows)
