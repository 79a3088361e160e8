"""Dimensions with some of their atoms replaced."""

from __future__ import annotations

from collections.abc import Mapping

from axon.types import dim as dims
from axon.types.dim import Atom, Dim, FloorDiv, Max, Min, Poly
from axon.types.variables import DimVar


def with_atoms(dim: Dim, values: Mapping[Atom, Dim]) -> Dim:
    """The dimension with values for atoms that have arguments, inside other atoms too."""
    if not isinstance(dim, Poly) or not values or dims.weight(dim) == 0:
        return dim
    total: Dim = 0
    for mono, coefficient in dim.terms.items():
        product = dims.product(_value(atom, values) for atom in mono)
        total = dims.combine(total, coefficient, product)
    return total


def _value(atom: Atom, values: Mapping[Atom, Dim]) -> Dim:
    if atom in values:
        return values[atom]
    match atom:
        case DimVar():
            return atom
        case FloorDiv(args=(top, bottom)):
            return dims.floordiv(with_atoms(top, values), with_atoms(bottom, values))
        case Min(args=parts):
            return dims.minimum(*(with_atoms(part, values) for part in parts))
        case Max(args=parts):
            return dims.maximum(*(with_atoms(part, values) for part in parts))
        case _:
            return dims.of_atom(atom)
