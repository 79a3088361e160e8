"""Packed rows at the front of a longer array, as a program that was compiled for a bucket of sizes
makes them and takes them. They are cut out when somebody looks at them: from one such program to
the next they stay as they are, on the device.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy

from axon.backends.ragged import Ragged, Row, Varying
from axon.backends.ragged_host import host, put
from axon.backends.row_facts import Offsets, RowFacts
from axon.ops.arrays import Array


class InBucket(Ragged):
    """`whole` has the values, and something behind them."""

    __slots__ = ("_cut", "whole")
    whole: Array
    _cut: Array | None

    def __init__(
        self,
        values: Array,
        offsets: Offsets,
        varying: Varying | None = None,
        like: Row | None = None,
        facts: RowFacts | None = None,
    ) -> None:
        object.__setattr__(self, "whole", values)
        object.__setattr__(self, "_cut", None)
        object.__setattr__(self, "offsets", offsets)
        object.__setattr__(self, "varying", varying)
        object.__setattr__(self, "like", like)
        object.__setattr__(self, "facts", RowFacts() if facts is None else facts)

    @property
    def values(self) -> Array:
        if self._cut is None:
            assert self.offsets is not None
            object.__setattr__(self, "_cut", front(self.whole, int(self.offsets[-1])))
        return self._cut

    @property
    def stored(self) -> Array:
        return self.whole

    def __reduce__(self) -> Any:
        return Ragged, (self.values, self.offsets, self.varying, self.like)


def front(array: Array, count: int) -> Array:
    """The first elements. On a device that is a copy there, elsewhere no copy."""
    if len(array) == count:
        return array
    if isinstance(array, numpy.ndarray):
        return array[:count]
    jax = sys.modules["jax"]
    with jax.enable_x64(True):
        if _on_device(array):
            return jax.lax.slice_in_dim(array, 0, count)
        return put(jax.numpy, host(array)[:count])


def filled(array: Array, size: int, fill: Any = 0) -> Array:
    """With so many elements along the first dimension: behind those there are, others."""
    count = len(array)
    if count >= size:
        return front(array, size)
    if _on_device(array):
        around = [(0, size - count, 0)] + [(0, 0, 0)] * (array.ndim - 1)
        return sys.modules["jax"].lax.pad(array, numpy.asarray(fill, array.dtype), around)
    seen = host(array)
    whole = numpy.empty((size, *seen.shape[1:]), seen.dtype)
    whole[:count] = seen
    whole[count:] = fill
    return whole


def _on_device(array: Array) -> bool:
    """Whether the host would have to copy it. (Each size is compiled for, of what it need not.)"""
    if isinstance(array, numpy.ndarray):
        return False
    return any(device.platform != "cpu" for device in array.devices())
