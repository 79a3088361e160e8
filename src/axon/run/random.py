"""Keys of random numbers, made in Python."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy

from axon.backends.numpy_arrays import ARRAYS
from axon.ops.families import random


def random_key(seed: int) -> Any:
    """The key of a seed, as NumPy's array: what `random_key(seed)` is in a program.

    >>> random_key(7)
    array([0, 7], dtype=uint32)
    """
    number = index(seed)
    if not -(1 << 63) <= number < 1 << 64:
        raise ValueError("a seed is an integer from -2**63 up to 2**64 - 1")
    assert random.random_key.meaning is not None
    element = numpy.int64 if number < 1 << 63 else numpy.uint64
    return random.random_key.meaning(ARRAYS, numpy.asarray(number, element))
