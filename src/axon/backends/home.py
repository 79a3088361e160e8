"""Results in the library that the arguments were of."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from axon.backends.ragged import Ragged
from axon.ops.arrays import Arrays


def converted(value: Any, change: Callable[[Any], Any]) -> Any:
    """A result with each array in it changed."""
    if isinstance(value, tuple):
        return tuple(converted(item, change) for item in value)
    if isinstance(value, dict):
        return {name: converted(item, change) for name, item in value.items()}
    return value.each_array(change) if isinstance(value, Ragged) else change(value)


def to_torch(array: Any) -> Any:
    """A tensor with the memory of an array of NumPy or JAX, if that may be written to."""
    array = numpy.asarray(array)
    torch: Any = sys.modules["torch"]
    if array.dtype.name == "bfloat16":
        return torch.tensor(array.view(numpy.int16)).view(torch.bfloat16)
    if not array.flags.writeable or not array.flags.c_contiguous:
        array = numpy.array(array)
    return torch.from_dlpack(array)


class Home:
    """What a backend on NumPy or JAX does with arguments and results."""

    arrays: Arrays
    native: frozenset[str]
    sharding: Any = None

    def placing(self, arrays: Sequence[Any]) -> Callable[[Any], Any] | None:
        return None

    def stacked_layers(self, name: str) -> tuple[str, ...]:
        return ()

    def returned(self, result: Any, library: str | None, args: Sequence[Any]) -> Any:
        if library in self.native or library is None:
            return result
        if library == "torch":
            from axon.backends.nested import nested

            return nested(converted(result, to_torch), args)
        return converted(result, sys.modules["jax.numpy"].asarray)

    def failure(self, problem: Exception) -> str | None:
        found: str | None = self.arrays.failure(problem)
        return found
