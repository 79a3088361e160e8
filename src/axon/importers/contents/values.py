"""Elements and contents of tensors, as rules speak of them."""

from __future__ import annotations

import math
from typing import Any

import numpy

from axon.importers.operations import Constant

MOST_CONTENTS = 2048
MOST_FLOATS = 8
"""Floats of one tensor that are looked at: scales, bounds."""
MOST_RANK = 64
MOST_WRITTEN_OUT = 100_000
"""Nodes of functions, counted wherever the functions are called."""


FOLLOWED = frozenset({"f32", "f64", "u8", "i8", "i32", "i64", "bool"})
"""Element types of constants whose elements are looked at."""

Contents = Any
"""A NumPy array of objects: numbers, dimensions, or None where an element is not known."""


class Unsupported(Exception):
    """A node that has no rule: its results are not known, and the rest goes on."""


def is_small(contents: Contents) -> bool:
    """Few elements that a run could have: what is doubled or squared again and again grows
    without end.
    """
    if contents.size > MOST_CONTENTS:
        return False
    items = contents.ravel().tolist()
    if len(items) > MOST_FLOATS and isinstance(items[0], float):
        return False
    return all(not isinstance(item, int) or item.bit_length() <= 64 for item in items)


def contents_of(constant: Constant) -> Contents:
    """The elements of a constant, where they matter."""
    found = constant.array() if is_followed(constant) else None
    return None if found is None else found.astype(object)


def is_followed(constant: Constant) -> bool:
    """Whether the elements of a constant matter: they are few, and may be sizes."""
    if constant.elem not in FOLLOWED:
        return False
    most = MOST_FLOATS if constant.elem in ("f32", "f64") else MOST_CONTENTS
    return math.prod(constant.dims) <= most


def array(items: object) -> Contents:
    """Contents from a nested list."""
    return numpy.array(items, dtype=object)
