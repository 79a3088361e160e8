"""The elements of a tensor under another shape, in the same order."""

from __future__ import annotations

from collections.abc import Sequence

from axon.graph.padding.sizes import Sizes
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.type import Shape
from axon.types.variables import ShapeVar


def stays_first(given: Shape, made: Shape, sizes: Sizes) -> bool:
    """Whether what is true still comes first if the padded array is given the other shape. The axes
    are grouped so that each group has as many elements on either side. Only the outermost axis of a
    group may be padded: what is behind it is true as a whole.
    """
    left = [sizes.dim(item) for item in given if not isinstance(item, ShapeVar)]
    right = [sizes.dim(item) for item in made if not isinstance(item, ShapeVar)]
    if len(left) < len(given) or len(right) < len(made):
        return False
    i = j = 0
    others = _products(right)
    for end, product in enumerate(_products(left)):
        if product in others[j:]:
            stop = others.index(product, j)
            groups = left[i:end], right[j:stop]
            if not all(_is_outermost(group, sizes) for group in groups):
                return False
            i, j = end, stop
    return _is_outermost(left[i:], sizes) and _is_outermost(right[j:], sizes)


def _is_outermost(group: Sequence[Dim], sizes: Sizes) -> bool:
    """Whether no axis of a group is padded but the first; those of size 1 do not count."""
    return not any(sizes.padded_in(dim) for dim in [dim for dim in group if dim != 1][1:])


def _products(items: Sequence[Dim]) -> list[Dim]:
    """The products of the first 0, 1, … sizes."""
    found: list[Dim] = [1]
    for item in items:
        found.append(dims.mul(found[-1], item))
    return found
