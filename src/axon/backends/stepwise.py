"""An array namespace in which functions are called with values, row by row.

A function that makes run-time sizes cannot be traced: its arguments must have values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from axon.ops.arrays import Array, Arrays, Value


class Stepwise:
    """`xp`, except for the functions that call functions. Without rows no function is called."""

    vectorised = None  # rows are not batched

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
