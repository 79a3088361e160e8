"""What rules know of the integers that they are given: sizes, axes, bounds."""

from __future__ import annotations

import math
from typing import Any

import numpy

from axon.importers.contents import arithmetic as contents
from axon.importers.contents import reals as floats
from axon.importers.contents.reals import Real
from axon.importers.contents.values import MOST_CONTENTS
from axon.importers.node import Node


def row(items: list[Any]) -> Any:
    """A vector of contents: NumPy must not look inside its elements."""
    result = numpy.empty(len(items), dtype=object)
    result[:] = items
    return result


def empty(shape: tuple[int, ...]) -> Any:
    """Contents of which nothing is known, if they are not too many."""
    if math.prod(max(n, 1) for n in shape) > MOST_CONTENTS or any(n < 0 for n in shape):
        return None
    return numpy.full(shape, None, dtype=object)


def length(node: Node, index: int) -> int | None:
    """How many elements a vector has, where that is a number."""
    word = node.shape(index)
    if word is None or len(word) != 1 or not isinstance(word[0], int):
        return None
    return word[0]


def integers(node: Node, index: int) -> list[int] | None:
    """The elements of an input, if all are known numbers; those of an empty one always are."""
    return [] if length(node, index) == 0 else node.ints(index)


def axes_of(node: Node, index: int) -> list[int] | None:
    """Axes, which are an attribute in old models and an input in new ones; None if they are not
    known, or not given.
    """
    if node.has(index):
        return integers(node, index)
    given: list[int] | None = node.attribute("axes")
    return given


def are_axes(axes: list[int], rank: int) -> bool:
    """Whether all of these are axes of a tensor of that rank, and no two of them the same."""
    inside = [axis % rank for axis in axes if -rank <= axis < rank]
    return len(set(inside)) == len(axes)


def size_of(node: Node, x: Real) -> Any:
    """A float as the integer that it is towards zero. That no rounding has changed it is taken for
    granted, and a run checks it.
    """
    wanted, known = floats.conditions(x), node.importer.limits
    if wanted is None or len(known) + len(wanted) > floats.MOST_LIMITS:
        return None
    for limit in wanted:
        if not floats.follows(limit, known):
            node.guard(limit)
            known.append(limit)
    return contents.towards_zero(x.top, x.bottom, node.importer.is_size)
