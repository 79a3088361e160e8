"""Sizes that are computed, in a function of rows: in each row its own (see `rowwise`, for one)."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy

from axon.backends import rowwise
from axon.backends.segments.frames import MOST, TOO_LARGE, Counts, NotFlat
from axon.backends.segments.rows import Rows, by_row, innermost, on_host


def count(tensor: Any) -> Any:
    """The number of elements of a tensor."""
    return prod(tensor.shape) if by_row(tensor) else rowwise.count(tensor)


def measure(array: Any, least: int, more: bool) -> tuple[Any, ...]:
    """The numbers in an array, as sizes."""
    if isinstance(array, Counts):
        return (array,)
    if not by_row(array):
        return rowwise.measure(array, least, more)
    if not isinstance(array, Rows) or array.segments is not None:
        raise NotFlat("shapes of several ranks are computed")
    if hasattr(array.frame.arrays.xp, "compiled"):
        raise NotFlat("sizes are computed in each row")
    numbers = on_host(array.values).reshape(array.frame.count, -1)
    count = numbers.shape[1]
    if (numbers < 0).any() or count < least or (count > least and not more):
        raise NotFlat("what is computed is no size")
    if (numbers > MOST).any():
        raise NotFlat(TOO_LARGE)
    return tuple(_size(array, column) for column in numbers.astype(numpy.int64).T)


def _size(array: Rows, numbers: Any) -> Any:
    same = len(numbers) and (numbers == numbers[0]).all()
    return int(numbers[0]) if same else Counts(array.frame, numbers)


def agree(found: Any, known: Any) -> None:
    """A size, or a part of a shape, that is computed must equal the known one."""
    frame = innermost([found, known])
    if frame is None:
        rowwise.agree(found, known)
        return
    left, right = (x if isinstance(x, tuple) else (x,) for x in (found, known))
    numbers = [
        [x.into(frame).numbers if isinstance(x, Counts) else x for x in part]
        for part in (left, right)
    ]
    equal = [numpy.all(a == b) for a, b in zip(*numbers, strict=False)]
    if len(left) != len(right) or not all(equal):
        raise NotFlat("a size is computed to be another one")
