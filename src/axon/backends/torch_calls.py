"""Functions of rows, of a state, and of a condition on PyTorch, step by step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from axon.ops.arrays import Array, Value


class TorchCalls:
    """A part of the namespace."""

    def map(
        self,
        function: Callable[..., Value],
        *rows: Array,
        like: Callable[[], Value] | None = None,
    ) -> Value:
        if not len(rows[0]):
            return like() if like else _none(function(*_zeros(rows)))
        if len(rows[0]) > 1:
            try:
                return torch.vmap(function)(*rows)
            except (RuntimeError, NotImplementedError):
                pass  # a function that looks at values, or that cannot be batched
        return _stack([function(*each) for each in zip(*map(_unbind, rows), strict=True)])

    def loop(
        self,
        state: Value,
        function: Callable[..., tuple[Value, Value]],
        *rows: Array,
        like: Callable[[], Value] | None = None,
    ) -> tuple[Value, Value]:
        if not len(rows[0]):
            return state, like() if like else _none(function(state, *_zeros(rows))[1])
        outputs = []
        for each in zip(*map(_unbind, rows), strict=True):
            state, output = function(state, *each)
            outputs.append(output)
        return state, _stack(outputs)

    def cond(
        self, condition: Array, then: Callable[[], Value], otherwise: Callable[[], Value]
    ) -> Value:
        return then() if condition else otherwise()

    def iterate(
        self,
        state: Value,
        condition: Callable[[Value], Array],
        function: Callable[[Value], Value],
    ) -> Value:
        while condition(state):
            state = function(state)
        return state

    def collect(
        self,
        state: Value,
        condition: Callable[[Value], Array],
        function: Callable[[Value], tuple[Value, Value]],
    ) -> tuple[Value, Value]:
        outputs = []
        first = state
        while condition(state):
            state, output = function(state)
            outputs.append(output)
        return state, _stack(outputs) if outputs else _none(function(first)[1])


def _unbind(x: Array) -> Sequence[Array]:
    rows: Sequence[Array] = x.unbind(0)
    return rows


def _stack(values: list[Any]) -> Value:
    if isinstance(values[0], tuple):
        return tuple(_stack(list(part)) for part in zip(*values, strict=True))
    return torch.stack(values)


def _zeros(rows: Sequence[Array]) -> list[Array]:
    """A row of each tensor, to try a function on."""
    return [x.new_zeros(x.shape[1:]) for x in rows]


def _none(value: Value) -> Value:
    """A tensor of zero rows of that shape."""
    if isinstance(value, tuple):
        return tuple(_none(part) for part in value)
    return value.new_zeros((0, *value.shape))
