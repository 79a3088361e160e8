"""A question: can these hold together? Relations between dimensions as a flat table of numbers.

    Poly    = [[coefficient, [atom, …]], …]        an atom is its place in the table of atoms
    Atom    = ["var"] | ["div", Poly, Poly] | ["min", [Poly, …]] | ["max", [Poly, …]]
    Literal = [">=", Poly] | ["=", Poly]           compared with 0
    Clause  = [Literal, …]                         one of them holds

Every clause of a question must hold, for integers >= 0. The table is flat, so that nothing that is
done with it recurses, and it is plain data, so that it can be sent to another process. An atom
stands behind those that it is made of.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Poly = list[Any]
Literal = list[Any]
Clause = list[Literal]


def is_constant(poly: Poly) -> bool:
    return not any(mono for _, mono in poly)


def polys_of(atom: list[Any]) -> list[Poly]:
    if atom[0] == "div":
        return [atom[1], atom[2]]
    return [] if atom[0] == "var" else list(atom[1])


def satisfied(atoms: list[list[Any]], clauses: list[Clause], values: Mapping[int, int]) -> bool:
    """Whether the clauses hold for these values; false where a divisor is below 1."""
    known: list[int] = []
    for at, atom in enumerate(atoms):
        match atom[0]:
            case "var":
                value = values[at]
            case "div":
                divisor = value_of(atom[2], known)
                if divisor < 1:
                    return False
                value = value_of(atom[1], known) // divisor
            case word:
                parts = [value_of(poly, known) for poly in atom[1]]
                value = min(parts) if word == "min" else max(parts)
        known.append(value)
    return all(any(_holds(literal, known) for literal in clause) for clause in clauses)


def _holds(literal: Literal, known: list[int]) -> bool:
    value = value_of(literal[1], known)
    return value >= 0 if literal[0] == ">=" else value == 0


def value_of(poly: Poly, known: list[int]) -> int:
    total = 0
    for coefficient, mono in poly:
        product: int = coefficient
        for atom in mono:
            product *= known[atom]
        total += product
    return total
