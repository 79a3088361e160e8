"""Atoms with arguments: what a dimension contains besides sums, products and variables.

Equal arguments make the same object, so `is` is equality. The table behind this must not keep atoms
alive, so it holds weak references; that is why this module is not compiled (`hatch_build.py`): a
compiled object cannot be referenced weakly.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from axon.types.variables import DimVar, ShapeVar

if TYPE_CHECKING:
    from axon.types.poly import Dim


class Node:
    """An atom with arguments. `free` are the variables in it, computed on demand; `weight` is the
    number of atoms with arguments that it is written with, itself included.
    """

    __slots__ = ("__weakref__", "args", "free", "id", "nonnegative", "weight")

    def __init__(self, args: tuple[Dim | ShapeVar, ...]) -> None:
        self.args = args
        self.free: tuple[DimVar | ShapeVar, ...] | None = None
        self.nonnegative: bool | None = None
        self.weight = 1 + sum(map(weight, args))
        self.id = next(_node_ids)

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self.args}"


def weight(dim: Dim | ShapeVar) -> int:
    """The number of atoms with arguments that a dimension is written with."""
    if isinstance(dim, int | DimVar | ShapeVar):
        return 0
    total = 0
    for mono in dim.terms:
        for atom in mono:
            if not isinstance(atom, DimVar):
                total += atom.weight
    return total


class FloorDiv(Node):
    """`numerator / divisor`, rounded down; the divisor is at least one."""

    __slots__ = ()
    args: tuple[Dim, Dim]


class Min(Node):
    __slots__ = ()
    args: tuple[Dim, ...]


class Max(Node):
    __slots__ = ()
    args: tuple[Dim, ...]


class Size(Node):
    """The number of elements of a shape variable."""

    __slots__ = ()
    args: tuple[ShapeVar]


class Vast(Node):
    """A size that became too large to keep; equal to no other."""

    __slots__ = ()
    args: tuple[()]


# Compound atoms count from far above any variable, so that atoms have one order.
_node_ids = count(1 << 60)
_nodes: WeakValueDictionary[tuple[object, ...], Node] = WeakValueDictionary()


def make_atom(kind: type[Node], args: tuple[Dim | ShapeVar, ...]) -> FloorDiv | Min | Max | Size:
    key = (kind, args)
    node = _nodes.get(key)
    if node is None:
        node = _nodes[key] = kind(args)
    assert isinstance(node, FloorDiv | Min | Max | Size)
    return node
