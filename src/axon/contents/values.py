"""The elements of a small tensor, as far as they are known."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from axon.types.type import Tensor

MOST_CONTENTS = 2048
MOST_FLOATS = 8
"""Floats of one tensor that are looked at: scales, bounds."""
FOLLOWED = frozenset({"f32", "f64", "u8", "i8", "i32", "i64", "bool"})
"""Element types of constants whose elements are looked at."""


@dataclass(frozen=True, slots=True)
class Contents:
    """The elements of a tensor, in row-major order: numbers, dimensions, sizes in floating point,
    or None where an element is not known. The element type is empty for a number that has the type
    of what stands beside it.
    """

    elem: str
    shape: tuple[int, ...]
    items: tuple[Any, ...]

    @property
    def type(self) -> Tensor:
        return Tensor(self.elem, self.shape)

    def as_elem(self, elem: Any) -> Contents:
        """The same of the element type that a tensor has, if that is known."""
        if elem == self.elem or not isinstance(elem, str):
            return self
        return replace(self, elem=str(elem))


def scalar(item: Any, elem: str = "") -> Contents:
    """The contents of a tensor with one element and no dimensions."""
    return Contents(elem, (), (item,))


def vector(items: Any, elem: str = "") -> Contents:
    """The contents of a tensor with one dimension."""
    found = tuple(items)
    return Contents(elem, (len(found),), found)


def is_small(contents: Contents) -> bool:
    """Few elements that a run could have: what is doubled or squared again and again grows
    without end.
    """
    items = contents.items
    if len(items) > MOST_CONTENTS:
        return False
    if len(items) > MOST_FLOATS and isinstance(items[0], float):
        return False
    return all(not isinstance(item, int) or item.bit_length() <= 64 for item in items)


def is_followed(elem: str | None, sizes: tuple[int, ...]) -> bool:
    """Whether the elements of a constant are of interest: they are few, and may be sizes."""
    if elem not in FOLLOWED:
        return False
    most = MOST_FLOATS if elem in ("f32", "f64") else MOST_CONTENTS
    return math.prod(sizes) <= most
