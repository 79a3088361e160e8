"""From relations between dimensions to a question: can these hold together?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from axon.prove.formula import Clause, Poly, is_constant, polys_of
from axon.types import dim as dims
from axon.types.dim import Atom, Dim, FloorDiv, Max, Min, Size, Vast
from axon.types.type import AtLeast, DimBroadcast, DimEq, Relation
from axon.types.variables import DimVar, ShapeVar

# Larger questions are not asked.
MOST_ATOMS = 200
MOST_TERMS = 2000
MOST_BITS = 256
HIGHEST_DEGREE = 8
DEEPEST = 60

Condition = DimEq | AtLeast


class TooHard(Exception):
    """The prover does not try: the expression is too large, or states nothing definite."""


@dataclass(slots=True)
class Table:
    """The atoms of one question, each once."""

    atoms: list[list[Any]] = field(default_factory=list)
    variables: dict[int, DimVar | ShapeVar] = field(default_factory=dict)
    _places: dict[Atom, int] = field(default_factory=dict)
    _terms: int = 0

    # --- dimensions ---

    def poly(self, dim: Dim, depth: int = 0) -> Poly:
        if depth > DEEPEST:
            raise TooHard
        terms = dims.terms_of(dim)
        self._terms += len(terms)
        if self._terms > MOST_TERMS:
            raise TooHard
        found: Poly = []
        for mono, coefficient in terms.items():
            if coefficient.bit_length() > MOST_BITS or len(mono) > HIGHEST_DEGREE:
                raise TooHard
            found.append([coefficient, [self._atom(atom, depth + 1) for atom in mono]])
        return found

    def _atom(self, atom: Atom, depth: int) -> int:
        place = self._places.get(atom)
        if place is not None:
            return place
        entry: list[Any]
        match atom:
            case DimVar() | Size():
                entry = ["var"]
            case FloorDiv(args=(top, bottom)):
                if isinstance(bottom, int) and bottom < 1:
                    raise TooHard
                entry = ["div", self.poly(top, depth), self.poly(bottom, depth)]
            case Min(args=parts) | Max(args=parts):
                word = "min" if isinstance(atom, Min) else "max"
                entry = [word, [self.poly(part, depth) for part in parts]]
            case Vast():
                raise TooHard
        if len(self.atoms) >= MOST_ATOMS:
            raise TooHard
        place = self._places[atom] = len(self.atoms)
        self.atoms.append(entry)
        if isinstance(atom, DimVar):
            self.variables[place] = atom
        elif isinstance(atom, Size):
            self.variables[place] = atom.args[0]
        return place

    # --- relations ---

    def holds(self, relation: Relation) -> list[Clause]:
        """The relation, as far as it is about dimensions: shapes are left out."""
        match relation:
            case DimEq(left, right):
                return [[["=", self.poly(dims.sub(left, right))]]]
            case AtLeast(dim, _):
                return [[[">=", self.poly(dim)]]]
            case DimBroadcast(result, parts):
                equal = [["=", self.poly(dims.sub(part, result))] for part in parts]
                one = [["=", self.poly(dims.sub(part, 1))] for part in parts]
                some: Clause = [["=", self.poly(dims.sub(result, 1))], *equal]
                return [some, *([a, b] for a, b in zip(equal, one, strict=True))]
            case _:
                return []

    def fails(self, condition: Condition) -> list[Clause]:
        """The opposite of the condition."""
        match condition:
            case DimEq(left, right):
                dim = dims.sub(left, right)
                return [[[">=", self.poly(dims.sub(dim, 1))], [">=", self._below(dim)]]]
            case AtLeast(dim, _):
                return [[[">=", self._below(dim)]]]

    def _below(self, dim: Dim) -> Poly:
        """`dim < 0`, as `-dim - 1 >= 0`."""
        return self.poly(dims.sub(dims.scale(-1, dim), 1))

    def divisors(self, among: Iterable[int] | None = None) -> list[Clause]:
        """That divisors are at least 1: everywhere, or in some of the atoms."""
        places = range(len(self.atoms)) if among is None else among
        bottoms = [self.atoms[at][2] for at in places if self.atoms[at][0] == "div"]
        return [[[">=", [*bottom, [-1, []]]]] for bottom in bottoms if not is_constant(bottom)]

    def atoms_of(self, condition: Condition) -> set[int]:
        """The atoms that a condition is composed of, recursively."""
        dim = condition.dim if isinstance(condition, AtLeast) else None
        if dim is None:
            assert isinstance(condition, DimEq)
            dim = dims.sub(condition.left, condition.right)
        todo = [atom for _, mono in self.poly(dim) for atom in mono]
        found: set[int] = set()
        while todo:
            at = todo.pop()
            if at not in found:
                found.add(at)
                todo.extend(
                    atom for poly in polys_of(self.atoms[at]) for _, m in poly for atom in m
                )
        return found


@dataclass(frozen=True, slots=True)
class Question:
    """`exact` is false where a variable is more than a number: the size of a shape, a rank."""

    atoms: list[list[Any]]
    clauses: list[Clause]
    variables: Mapping[int, DimVar | ShapeVar]
    exact: bool


def can_hold(relations: Sequence[Relation]) -> Question:
    """Can all of these hold, with all divisors at least 1?"""
    table = Table()
    clauses = _known(table, relations)
    return _question(table, [*clauses, *table.divisors()])


def can_fail(condition: Condition, assumptions: Sequence[Relation]) -> Question:
    """Can the condition fail where the assumptions hold?

    The divisors of the condition are at least 1, or it would have no meaning. A divisor of only an
    assumption is arbitrary: the condition may be just that it is at least 1.
    """
    table = Table()
    clauses = table.fails(condition)
    own = table.divisors(table.atoms_of(condition))
    clauses += _known(table, assumptions)
    return _question(table, [*clauses, *own])


def _known(table: Table, relations: Sequence[Relation]) -> list[Clause]:
    return [clause for relation in relations for clause in table.holds(relation)]


def _question(table: Table, clauses: list[Clause]) -> Question:
    exact = all(isinstance(var, DimVar) and var.rank_of is None for var in table.variables.values())
    return Question(table.atoms, clauses, table.variables, exact)
