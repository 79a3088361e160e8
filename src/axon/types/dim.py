"""Dimensions, as the other modules use them: construction, arithmetic, inspection.

See `poly.py` for the normal form.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable

from axon.types.atoms import FloorDiv, Max, Min, Size, Vast, weight
from axon.types.extremum import added_up, maximum, minimum
from axon.types.floordiv import floordiv, mod
from axon.types.poly import (
    Atom,
    Dim,
    Mono,
    Poly,
    add,
    combine,
    divide,
    from_terms,
    is_vast,
    lone_atom,
    mul,
    of_atom,
    of_size,
    product,
    scale,
    shared_factor,
    sub,
    terms_of,
    total,
    without_factor,
)
from axon.types.sign import is_nonnegative, is_not_one
from axon.types.variables import DimVar, ShapeVar

__all__ = [
    "Atom",
    "Dim",
    "FloorDiv",
    "Lookup",
    "Max",
    "Min",
    "Mono",
    "Poly",
    "Size",
    "Vast",
    "add",
    "added_up",
    "combine",
    "divide",
    "evaluate",
    "floordiv",
    "from_terms",
    "is_nonnegative",
    "is_not_one",
    "is_vast",
    "lone_atom",
    "maximum",
    "minimum",
    "mod",
    "mul",
    "occurs_elsewhere",
    "of_atom",
    "of_size",
    "product",
    "replace_atom",
    "scale",
    "shared_factor",
    "sub",
    "substitute",
    "terms_of",
    "total",
    "variables",
    "weight",
    "without_factor",
]


def variables(dim: Dim) -> tuple[DimVar | ShapeVar, ...]:
    """Every variable in the dimension, inside atoms too, possibly with repetitions."""
    if isinstance(dim, DimVar):
        return (dim,)
    if isinstance(dim, int):
        return ()
    if dim.free is None:
        found: list[DimVar | ShapeVar] = []
        for mono in dim.terms:
            for atom in mono:
                if isinstance(atom, DimVar):
                    found.append(atom)
                else:
                    found.extend(_free(atom))
        dim.free = tuple(found)
    return dim.free


def _free(atom: FloorDiv | Min | Max | Size | Vast) -> tuple[DimVar | ShapeVar, ...]:
    """The variables inside an atom, computed once."""
    if atom.free is None:
        found: dict[DimVar | ShapeVar, None] = {}
        for arg in atom.args:
            if isinstance(arg, ShapeVar):
                found[arg] = None
            else:
                found.update(dict.fromkeys(variables(arg)))
        atom.free = tuple(found)
    return atom.free


def occurs_elsewhere(var: DimVar, mono: Mono, monos: Iterable[Mono]) -> bool:
    """Whether a variable is in a monomial other than this one, inside atoms too."""
    return any(
        var in m or any(not isinstance(a, DimVar) and var in _free(a) for a in m)
        for m in monos
        if m is not mono and m != mono
    )


Lookup = Callable[[DimVar], Dim]


def substitute(dim: Dim, lookup: Lookup, size: Callable[[ShapeVar], Dim]) -> Dim:
    """The dimension with its variables replaced, in normal form again."""
    if isinstance(dim, int):
        return dim
    if isinstance(dim, DimVar):
        return lookup(dim)
    result: dict[Mono, int] = {}
    changed = False
    for mono, coefficient in dim.terms.items():
        if len(mono) == 1 and isinstance(mono[0], DimVar):  # the common case
            image = lookup(mono[0])
            if image is mono[0]:
                result[mono] = result.get(mono, 0) + coefficient
            elif isinstance(image, int):
                changed = True
                result[()] = result.get((), 0) + coefficient * image
            else:
                changed = True
                for m, c in terms_of(image).items():
                    result[m] = result.get(m, 0) + coefficient * c
            continue
        images = [replace_atom(a, lookup, size) for a in mono]
        if all(_is_atom(i, a) for i, a in zip(images, mono, strict=True)):
            result[mono] = result.get(mono, 0) + coefficient
            continue
        changed = True
        for m, c in terms_of(product(images)).items():
            result[m] = result.get(m, 0) + coefficient * c
    return from_terms(result) if changed else dim


def _is_atom(image: Dim, atom: Atom) -> bool:
    return image is atom or lone_atom(image) is atom


def replace_atom(atom: Atom, lookup: Lookup, size: Callable[[ShapeVar], Dim]) -> Dim:
    if isinstance(atom, DimVar):
        return lookup(atom)
    if isinstance(atom, Size):
        return size(atom.args[0])
    if isinstance(atom, Vast) or all(isinstance(v, DimVar) and lookup(v) is v for v in _free(atom)):
        return of_atom(atom)
    parts = [substitute(part, lookup, size) for part in atom.args]
    if all(map(operator.is_, parts, atom.args)):  # unchanged, it is in normal form
        return of_atom(atom)
    match atom:
        case FloorDiv():
            return floordiv(parts[0], parts[1])
        case Min():
            return minimum(*parts)
        case Max():
            return maximum(*parts)


def evaluate(dim: Dim, values: dict[DimVar, int]) -> int | None:
    """The value of the dimension, or None where it divides by zero or a variable has no value."""
    if isinstance(dim, int):
        return dim
    if isinstance(dim, DimVar):
        return values.get(dim)
    total = 0
    for mono, coefficient in dim.terms.items():
        for atom in mono:
            value = _evaluate_atom(atom, values)
            if value is None:
                return None
            coefficient *= value
        total += coefficient
    return total


def _evaluate_atom(atom: Atom, values: dict[DimVar, int]) -> int | None:
    if isinstance(atom, DimVar):
        return values.get(atom)
    if isinstance(atom, Size | Vast):
        return None
    parts = [evaluate(part, values) for part in atom.args]
    if any(part is None for part in parts):
        return None
    numbers = [part for part in parts if part is not None]
    if isinstance(atom, FloorDiv):
        return numbers[0] // numbers[1] if numbers[1] else None
    return min(numbers) if isinstance(atom, Min) else max(numbers)
