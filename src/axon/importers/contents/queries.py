"""What rules know of the integers that they are given: sizes, axes, bounds."""

from __future__ import annotations

from axon.importers.node import Node


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
