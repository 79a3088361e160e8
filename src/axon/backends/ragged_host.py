"""Arrays of NumPy or JAX, cut and joined on the host.

XLA compiles a slice or a concatenation once for each size, and rows come in all sizes: that would
cost more than the copy. So JAX's rows are cut and joined by NumPy and handed back. Traced arrays
have no value yet and stay with JAX.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy

from axon.ops.arrays import Array

_PLAIN = (numpy.ndarray, numpy.generic, bool, int, float)


def namespace(*arrays: Array) -> Any:
    """`jax.numpy` if one of the arrays is JAX's, else `numpy`."""
    for array in arrays:
        if not isinstance(array, _PLAIN):
            if "jax.numpy" not in sys.modules or not hasattr(array, "dtype"):
                raise TypeError(f"an array of NumPy or JAX was expected, not {array!r}")
            return sys.modules["jax.numpy"]
    return numpy


def host(array: Array) -> Array:
    """NumPy's view of an array; a traced array itself."""
    if isinstance(array, _PLAIN) or not isinstance(array, sys.modules["jax"].core.Tracer):
        return numpy.asarray(array)
    return array


def put(xp: Any, array: Array) -> Array:
    """An array in the namespace `xp`.

    `jnp.asarray` would compile a copy for each size. `device_put` does not, but it may share the
    memory: what can still be written to is copied first.
    """
    if xp is numpy:
        return host(array)
    if not isinstance(array, _PLAIN):
        return array
    array = numpy.asarray(array)
    return sys.modules["jax"].device_put(array.copy() if array.flags.writeable else array)


def cut(array: Array, start: int, stop: int) -> Array:
    """`array[start:stop]`; a view if it is NumPy's."""
    return put(namespace(array), host(array)[start:stop])


def join(how: str, arrays: Sequence[Array], axis: int = 0) -> Array:
    """NumPy's `concatenate` or `stack`, with the result where the arrays were."""
    parts = [host(array) for array in arrays]
    return put(namespace(*arrays), getattr(namespace(*parts), how)(parts, axis=axis))
