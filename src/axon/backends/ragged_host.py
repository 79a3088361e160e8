"""Arrays of NumPy, JAX or PyTorch, cut and joined.

XLA compiles a slice or a concatenation once for each size, and rows come in all sizes: that would
cost more than the copy. So JAX's rows are cut and joined by NumPy and handed back. Traced arrays
have no value yet and stay with JAX. PyTorch compiles nothing here, and its tensors stay where they
are.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy

from axon.ops.arrays import Array

_PLAIN = (numpy.ndarray, numpy.generic, bool, int, float)


def is_tensor(array: Any) -> bool:
    """Is it PyTorch's?"""
    torch: Any = sys.modules.get("torch")
    return torch is not None and isinstance(array, torch.Tensor)


def namespace(*arrays: Array) -> Any:
    """`jax.numpy` if one of the arrays is JAX's, PyTorch's namespace for a tensor, else `numpy`."""
    for array in arrays:
        if not isinstance(array, _PLAIN):
            if is_tensor(array):
                return sys.modules["axon.backends.torch_arrays"].arrays_on(array.device)
            if "jax.numpy" not in sys.modules or not hasattr(array, "dtype"):
                raise TypeError(f"an array of NumPy, JAX or PyTorch was expected, not {array!r}")
            return sys.modules["jax.numpy"]
    return numpy


def host(array: Array) -> Array:
    """NumPy's view of an array; a traced array, or a tensor, itself."""
    if isinstance(array, _PLAIN):
        return numpy.asarray(array)
    if is_tensor(array) or isinstance(array, sys.modules["jax"].core.Tracer):
        return array
    return numpy.asarray(array)


def put(xp: Any, array: Array) -> Array:
    """An array in the namespace `xp`.

    `jnp.asarray` would compile a copy for each size. `device_put` does not, but it may share the
    memory: what can still be written to is copied first.
    """
    if xp is numpy:
        return host(array)
    if not isinstance(array, _PLAIN):
        return array
    if hasattr(xp, "device"):
        return xp.asarray(array)
    array = numpy.asarray(array)
    return sys.modules["jax"].device_put(array.copy() if array.flags.writeable else array)


def zeros(xp: Any, shape: Sequence[int], dtype: Any) -> Array:
    """An array of zeros in the namespace `xp`."""
    if hasattr(xp, "device"):
        return xp.blank(shape, dtype)
    return put(xp, numpy.zeros(shape, dtype))


def cut(array: Array, start: int, stop: int) -> Array:
    """`array[start:stop]`; a view if it is NumPy's."""
    return put(namespace(array), host(array)[start:stop])


def join(how: str, arrays: Sequence[Array], axis: int = 0) -> Array:
    """NumPy's `concatenate` or `stack`, with the result where the arrays were."""
    parts = [host(array) for array in arrays]
    return put(namespace(*arrays), getattr(namespace(*parts), how)(parts, axis=axis))
