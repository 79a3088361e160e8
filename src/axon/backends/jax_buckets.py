"""Arrays that are padded for a bucket, and cut out of it."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy

from axon.backends.buckets import standing


def lengthened(array: Any, shape: tuple[int, ...], fill: float) -> Any:
    """The array at the front of a larger one. On the host nothing is compiled for its shape."""
    if isinstance(array, jax.core.Tracer) or not _on_host(array):
        around = [(0, size - mine) for mine, size in zip(array.shape, shape, strict=True)]
        with jax.enable_x64(True):
            return jnp.pad(array, around, constant_values=standing(array.dtype, fill))
    given = numpy.asarray(array)
    if fill == 0:
        made = numpy.zeros(shape, given.dtype)
    else:
        made = numpy.full(shape, standing(given.dtype, fill), given.dtype)
    made[tuple([slice(size) for size in given.shape])] = given
    return made


def cut(array: Any, shape: tuple[int, ...]) -> Any:
    """The front of an array."""
    if isinstance(array, jax.core.Tracer) or not _on_host(array):
        return array[tuple([slice(size) for size in shape])]
    front = numpy.asarray(array)[tuple([slice(size) for size in shape])]
    with jax.enable_x64(True):
        return jnp.asarray(front)


def _on_host(array: Any) -> bool:
    if not isinstance(array, jax.Array):
        return True
    return all(device.platform == "cpu" for device in array.devices())
