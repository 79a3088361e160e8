"""Expressions for what only a run knows: scalars that are inputs, sizes that are tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from axon.importers.expressions import Expression
from axon.importers.node import Node
from axon.types import dim as dims


def scalar_of(node: Node, index: int) -> Expression:
    """The one element of an input, whatever its rank is."""
    x = node.input(index)
    return x if node.rank(index) == 0 else node.call("reshape", x, node.shape_literal(()))


def sizes_of(node: Node, x: Expression, rank: int) -> list[Expression]:
    """The sizes of a tensor, as a run finds them."""
    return [node.call("size", x, axis=i) for i in range(rank)]


def merged(node: Node, x: Expression, shape: Any, axis: int) -> Expression:
    """A tensor of this shape, in which an axis and the next one become one."""
    flat = (*shape[:axis], dims.mul(shape[axis], shape[axis + 1]), *shape[axis + 2 :])
    sizes = sizes_of(node, x, len(shape))
    sizes[axis : axis + 2] = [node.call("*", sizes[axis], sizes[axis + 1])]
    return node.call("reshape", x, node.shape_literal(flat, node.list_of(sizes)))


def cut_to(node: Node, x: Expression, index: int, like: int, axes: Sequence[int]) -> Expression:
    """What an input has within the sizes of another one, along some axes."""
    mine, other = node.shape(index), node.shape(like)
    assert mine is not None and other is not None
    for axis in axes:
        if mine[axis] == other[axis]:
            continue
        size: Expression = node.call("size", node.input(like), axis=axis)
        if isinstance(other[axis], int):
            size = node.literal(other[axis])
        x = node.call("slice", x, stop=size, axis=axis)
    return x
