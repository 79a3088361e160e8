"""Sizes in generated code: expressions over the names of those that have been read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from axon.graph.sizes import SizeVar
from axon.types.dim import Atom, Dim, FloorDiv, Max, Min, Size, Vast
from axon.types.type import Shape
from axon.types.variables import DimVar, ShapeVar, owner

Read = Mapping[SizeVar, str]
"""The names of the sizes that have been read."""


class Undetermined(Exception):
    """A size is needed that no value has: the graph must be made at other types."""


def write_dim(dim: Dim, read: Read) -> str:
    """A dimension as an expression over integers."""
    if isinstance(dim, int):
        return str(dim)
    if isinstance(dim, DimVar):
        return _variable(dim, read)
    terms = []
    for mono, coefficient in dim.terms.items():
        factors = [str(coefficient)] if coefficient != 1 or not mono else []
        terms.append("*".join([*factors, *(_atom(atom, read) for atom in mono)]))
    return f"({' + '.join(terms)})"


def write_shape(shape: Shape, read: Read) -> str:
    """A shape as a tuple of integers."""
    return write_tuple(
        [
            f"*{_name(item, read)}" if isinstance(item, ShapeVar) else write_dim(item, read)
            for item in shape
        ]
    )


def write_tuple(parts: Sequence[str]) -> str:
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


def _variable(var: DimVar, read: Read) -> str:
    known = read.get(owner(var))
    if known is None:
        raise Undetermined(var.name)
    return known if var.rank_of is None else f"len({known})"


def _name(var: ShapeVar, read: Read) -> str:
    known = read.get(var)
    if known is None:
        raise Undetermined(var.name)
    return known


def _atom(atom: Atom, read: Read) -> str:
    match atom:
        case DimVar():
            return _variable(atom, read)
        case FloorDiv(args=(top, bottom)):
            return f"({write_dim(top, read)} // {write_dim(bottom, read)})"
        case Min(args=parts):
            return f"min({', '.join(write_dim(p, read) for p in parts)})"
        case Max(args=parts):
            return f"max({', '.join(write_dim(p, read) for p in parts)})"
        case Size(args=(shape,)):
            return f"prod({_name(shape, read)})"
        case Vast():
            raise Undetermined("a size that is too large")
