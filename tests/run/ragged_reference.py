"""Ragged tensors as nested lists of NumPy's arrays, and what operators do to them.

This knows nothing of how Axon stores or computes ragged tensors. A tensor is a `Nested`: its leaves
are arrays, in a tree of lists. An operator along an axis is applied to every leaf, or to lists of
them, by recursion over the tree.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy

Tree = Any
"""An array, or a list of trees: the rows along the first dimension."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A shape such as `[n,*,3,*]`, and whether a size may differ from row to row of a row."""

    dims: tuple[str, ...]
    nested: bool

    @property
    def text(self) -> str:
        return ",".join(self.dims)

    @property
    def first(self) -> int:
        """The first axis that varies."""
        return self.dims.index("*")

    @property
    def last(self) -> int:
        return len(self.dims) - 1 - self.dims[::-1].index("*")

    def depth(self) -> int:
        """How deep lists go: what is behind that is an array."""
        return self.last if self.nested else 1


SIZES = {"n": 3, "a": 2, "b": 2, "3": 3, "2": 2}

PATTERNS = [
    Pattern(dims, nested)
    for dims, nested in [
        (("n", "*"), False),
        (("n", "*", "3"), False),
        (("n", "3", "*"), False),
        (("n", "3", "*"), True),
        (("n", "*", "*"), False),
        (("n", "*", "*"), True),
        (("a", "b", "*"), True),
        (("n", "*", "3", "*"), False),
        (("n", "*", "3", "*"), True),
        (("a", "b", "*", "2"), True),
    ]
]


def made(pattern: Pattern, count: int, chance: random.Random, most: int = 3) -> Tree:
    """A tensor of that shape with so many rows, and sizes from 0 up."""
    numbers = numpy.random.default_rng(chance.randrange(1 << 30))

    def size(dim: str) -> int:
        return chance.randint(0, most) if dim == "*" else SIZES[dim]

    def tree(axis: int) -> Tree:
        if axis == pattern.depth():
            shape = [size(dim) for dim in pattern.dims[axis:]]
            return numbers.uniform(-2, 2, shape).astype(numpy.float32)
        rows = count if axis == 0 else size(pattern.dims[axis])
        return [tree(axis + 1) for _ in range(rows)]

    return tree(0)


def plain(value: Any) -> Any:
    """Nested lists of numbers."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    return numpy.asarray(value).tolist()


def depth(value: Tree) -> int:
    """How deep the lists of a tree go."""
    return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0


# --- what operators do ---------------------------------------------------------------------------


def each(function: Callable[..., Any], *trees: Tree) -> Tree:
    """A function of the leaves."""
    if any(isinstance(tree, list) for tree in trees):
        count = next(len(tree) for tree in trees if isinstance(tree, list))
        rows = [list(tree) if depth(tree) or numpy.ndim(tree) else [tree] * count for tree in trees]
        return [each(function, *row) for row in zip(*rows, strict=True)]
    return function(*trees)


def leaves(tree: Tree) -> Iterator[Any]:
    if isinstance(tree, list):
        for row in tree:
            yield from leaves(row)
    else:
        yield tree


def expand(tree: Tree, axis: int) -> Tree:
    if axis == 0:
        return [tree]
    if isinstance(tree, list):
        return [expand(row, axis - 1) for row in tree]
    return numpy.expand_dims(tree, axis)


def stack(trees: list[Tree], axis: int) -> Tree:
    if axis == 0:
        return list(trees)
    if isinstance(trees[0], list):
        return [stack(list(rows), axis - 1) for rows in zip(*trees, strict=True)]
    return numpy.stack(trees, axis)


def concat(trees: list[Tree], axis: int) -> Tree:
    if isinstance(trees[0], list):
        if axis == 0:
            return [row for tree in trees for row in tree]
        return [concat(list(rows), axis - 1) for rows in zip(*trees, strict=True)]
    return numpy.concatenate(trees, axis)


def evened(tree: Tree, top: bool = True) -> Tree:
    """The same with arrays in place of lists whose rows are even by chance."""
    if not isinstance(tree, list):
        return tree
    rows = [evened(row, False) for row in tree]
    alike = not any(isinstance(row, list) or row.shape != rows[0].shape for row in rows)
    return rows if top or not rows or not alike else numpy.stack(rows)


def is_matrix(tree: Tree) -> bool:
    """Whether the rows are vectors."""
    return isinstance(tree, list) and all(
        not isinstance(row, list) and row.ndim == 1 for row in tree
    )


def each_matrix(function: Callable[[Any], Any], tree: Tree) -> Tree:
    """A function of the last two dimensions, which keeps what it does not see."""
    if is_matrix(tree):
        width = max(map(len, tree), default=0)
        seen = function(numpy.ones((len(tree), width), numpy.float32))
        return [row * seen[i, : len(row)] for i, row in enumerate(tree)]
    if isinstance(tree, list):
        return [each_matrix(function, row) for row in tree]
    return function(tree)
