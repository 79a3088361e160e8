"""The array namespace that the operators' meanings are written against.

It is NumPy's: `xp.matmul`, `xp.sum(x, axis=…)`, `xp.where`, what NumPy and `jax.numpy` both have
and agree on. What they do differently, or do not have, is named here; each backend brings its own.
Arrays are never changed in place, and no result may depend on which backend computes it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

Array = Any
"""An array of some backend."""

Value = Any
"""An array, or a tuple of values."""

Pairs = tuple[tuple[int, int], ...]


class Arrays(Protocol):
    def __getattr__(self, name: str) -> Any:
        """NumPy's function of that name."""

    def element(self, name: str) -> Any:
        """The dtype that is called `f32`, `i64`, `bool`, …"""

    def erf(self, x: Array) -> Array:
        """The error function."""

    def put(self, x: Array, index: tuple[Any, ...], values: Array, mode: str) -> Array:
        """A copy of `x` where what NumPy's `x[index]` selects is combined with values.

        `mode` is set, add, mul, min or max; in all but `set` an index that comes twice counts
        twice.
        """

    def conv(
        self,
        x: Array,
        filters: Array,
        *,
        stride: tuple[int, ...],
        pad: Pairs,
        dilation: tuple[int, ...],
        groups: int,
        spread: tuple[int, ...],
    ) -> Array:
        """Slide filters `[k, c/groups]@window` over `[n, c]@spatial`, without turning them.

        `spread` puts so many steps between the elements of the input, zeros in the gaps (1: none).
        """

    def windows(
        self,
        kind: str,
        x: Array,
        *,
        size: tuple[int, ...],
        stride: tuple[int, ...],
        pad: Pairs,
        dilation: tuple[int, ...],
    ) -> Array:
        """The `max` or the `sum` over each window of the last dimensions, one for each entry of
        `size`. What pads counts for nothing.
        """

    def map(
        self,
        function: Callable[..., Value],
        *rows: Array,
        like: Callable[[], Value] | None = None,
    ) -> Value:
        """The function on each row of some arrays, side by side, stacked.

        `like` gives the result for no rows; without it the function may be tried on zeros.
        """

    def loop(
        self,
        state: Value,
        function: Callable[..., tuple[Value, Value]],
        *rows: Array,
        like: Callable[[], Value] | None = None,
    ) -> tuple[Value, Value]:
        """The function on the state and each row in turn; the last state, and the outputs stacked.

        `like` gives the outputs of no rows; without it the function may be tried on zeros.
        """

    def cond(
        self, condition: Array, then: Callable[[], Value], otherwise: Callable[[], Value]
    ) -> Value:
        """What one of two functions gives; the other is not called, though it may be traced."""

    def iterate(
        self,
        state: Value,
        condition: Callable[[Value], Array],
        function: Callable[[Value], Value],
    ) -> Value:
        """The function on the state again and again while the condition holds of it."""

    def collect(
        self,
        state: Value,
        condition: Callable[[Value], Array],
        function: Callable[[Value], tuple[Value, Value]],
    ) -> tuple[Value, Value]:
        """The same of a function with an output: the last state, and the outputs stacked."""


def wide(x: Array) -> Array:
    """Half-precision floats as f32, to compute with and to round once at the end; others as they
    are."""
    if x.dtype.itemsize != 2 or x.dtype.kind in "iu":  # asked first: it is cheap, a name is not
        return x
    return x.astype("float32")


def whole(xp: Arrays, x: Array, dtype: Any) -> Array:
    """Floats as integers, cut off behind the point. Those that do not fit are brought in, and NaN
    is 0: each array library has its own way with them.
    """
    least, most = int(xp.iinfo(dtype).min), int(xp.iinfo(dtype).max)
    low, high = x <= float(least), x >= float(most + 1)
    inside = xp.where(low | high | (x != x), xp.zeros_like(x), x).astype(dtype)
    inside = xp.where(low, xp.asarray(least, dtype=dtype), inside)
    return xp.where(high, xp.asarray(most, dtype=dtype), inside)


def is_integer(x: Array) -> bool:
    """Are the elements integers, with or without a sign?"""
    return x.dtype.kind in ("i", "u")


Meaning = Callable[..., Value]
"""What an operator does: the namespace, the arguments, then the attributes by name.

A tensor comes as an array, a size as an `int`, a shape as a tuple of them, a function as a callable
on such values, and an attribute as the rule declares it (a size as an `int`).
"""
