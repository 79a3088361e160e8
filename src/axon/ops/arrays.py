"""The array namespace that the operators' meanings are written against.

It is NumPy's: `xp.matmul`, `xp.sum(x, axis=…)`, `xp.where`, whatever NumPy and `jax.numpy` both
have and agree on. Functions that differ, or are missing, are declared here; each backend implements
them. Arrays are never changed in place, and no result may depend on which backend computes it.
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

    def astype(self, x: Array, dtype: Any) -> Array:
        """The elements converted; the array itself where they are of that type."""

    def kind(self, dtype: Any) -> str:
        """What the elements are: `b`ool, `i`nteger, `u`nsigned, or another letter for floats."""

    @property
    def word(self) -> Any:
        """The dtype in which words of 32 bits are computed: it may have room for more."""

    def integer(self, x: Array) -> Any:
        """A scalar as a size, to compute others with: of a row it may differ from row to row."""

    def low32(self, x: Array) -> Array:
        """The lower 32 bits of words."""

    def wide_matmul(self, x: Array, y: Array) -> Array:
        """A product of matrices in which half-precision floats are added up in f32, which the
        result has. Where one of them is of half precision, a backend may round the other to it.
        """

    def stop_gradient(self, x: Array) -> Array:
        """The same array, constant in derivatives."""

    def erf(self, x: Array) -> Array:
        """The error function."""

    def sliced(self, x: Array, index: tuple[Any, ...]) -> Array:
        """`x[index]` for slices that may go backwards."""

    def put(self, x: Array, index: tuple[Any, ...], values: Array, mode: str) -> Array:
        """A copy of `x` in which the elements that NumPy's `x[index]` selects are combined with
        values.

        `mode` is set, add, mul, min or max; in all but `set` a repeated index counts repeatedly.
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
        """Slide filters `[k, c/groups]@window` over `[n, c]@spatial`, without flipping them.

        `spread` is the distance of the input's elements, with zeros in the gaps (1: none).
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
        `size`. Padding is neutral.
        """

    def map(
        self,
        function: Callable[..., Value],
        *rows: Array,
        like: Callable[[], Value] | None = None,
    ) -> Value:
        """The function on corresponding rows of some arrays, the results stacked.

        `like` returns the result for zero rows; without it the function may be tried on zeros.
        """

    def loop(
        self,
        state: Value,
        function: Callable[..., tuple[Value, Value]],
        *rows: Array,
        like: Callable[[], Value] | None = None,
    ) -> tuple[Value, Value]:
        """The function on the state and each row in order; the last state, and the outputs stacked.

        `like` returns the outputs for zero rows; without it the function may be tried on zeros.
        """

    def cond(
        self, condition: Array, then: Callable[[], Value], otherwise: Callable[[], Value]
    ) -> Value:
        """The result of one of two functions; the other is not called, though it may be traced."""

    def iterate(
        self,
        state: Value,
        condition: Callable[[Value], Array],
        function: Callable[[Value], Value],
    ) -> Value:
        """Apply the function to the state repeatedly while the condition holds."""

    def collect(
        self,
        state: Value,
        condition: Callable[[Value], Array],
        function: Callable[[Value], tuple[Value, Value]],
    ) -> tuple[Value, Value]:
        """The same with a function that has an output: the last state, and the outputs stacked."""


def wide(xp: Arrays, x: Array) -> Array:
    """Half-precision floats as f32, to be rounded once at the end of a computation; others
    unchanged.
    """
    if x.dtype.itemsize != 2 or xp.kind(x.dtype) in "iu":  # asked first: it is cheap
        return x
    return xp.astype(x, xp.element("f32"))


def to_integers(xp: Arrays, x: Array, dtype: Any) -> Array:
    """Floats as integers, truncated. Those out of range are clamped, and NaN is 0: the array
    libraries differ here.
    """
    least, most = int(xp.iinfo(dtype).min), int(xp.iinfo(dtype).max)
    low, high = x <= float(least), x >= float(most + 1)
    inside = xp.astype(xp.where(low | high | (x != x), xp.zeros_like(x), x), dtype)
    inside = xp.where(low, xp.asarray(least, dtype=dtype), inside)
    return xp.where(high, xp.asarray(most, dtype=dtype), inside)


def is_integer(xp: Arrays, x: Array) -> bool:
    """Are the elements integers, with or without a sign?"""
    return xp.kind(x.dtype) in "iu"


Meaning = Callable[..., Value]
"""What an operator does: the namespace, the arguments, then the attributes by name.

A tensor comes as an array, a size as an `int`, a shape as a tuple of them, a function as a callable
on such values, and an attribute as the rule declares it (a size as an `int`).
"""
