"""The conditions of a signature in their simplest form.

Each law is an equivalence of integers; `e`, `p`, `q` are dimensions, `k` is a number above zero:

    max(p, q) = p                        p >= q, and max(p, q) is p wherever it occurs
    p/k = e                              p <= k*e + k - 1 if p >= k*e anyway; p >= k*e if the other
    e >= max(p, q)                       e >= p, e >= q
    max(p, q) >= e                       p >= e, if q is always less than e
    p/k >= e                             p >= k*e
    e >= p/k                             k*e + k - 1 >= p
    0 = broadcast(0, q)                  q <= 1
    max(q,2) = broadcast(max(q,2), q)    q >= 1
    q = broadcast(q, max(q,1))           it always holds
    n mod 4 = 0, n mod 6 = 0             n mod 12 = 0
    b*(n mod 4) = 0                      n mod 4 = 0, where b >= 1
    r = broadcast(s@[1], s@[b], q)       r = broadcast(s@[b], q)

The same for `min`, turned around. A condition that follows from the others is left out. Conditions
on run-time sizes stay as they are: they are checks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import lcm

from axon.inference.generalise.implied import follows, without_implied_sizes
from axon.solver.constraints import NOWHERE, Constraint
from axon.solver.facts import Facts
from axon.solver.inequalities import tightened
from axon.types import dim as dims
from axon.types.dim import Atom, Dim, FloorDiv, Max, Min, Poly
from axon.types.replace import with_atoms
from axon.types.show import multiple_of_mod
from axon.types.type import (
    AtLeast,
    Broadcast,
    DimBroadcast,
    DimEq,
    Relation,
    Renaming,
    Shape,
    Type,
    relation_variables,
)
from axon.types.variables import ShapeVar

MOST_CONDITIONS = 40
MOST_ROUNDS = 4
MOST_BITS = 64
"""Of a common multiple."""
HEAVIEST = 8
"""A condition with more quotients, minima and maxima is left as it is."""


def simplest(type_: Type, relations: list[Relation]) -> tuple[Type, list[Relation]]:
    """An equivalent type with equivalent conditions."""
    if len(relations) > MOST_CONDITIONS:
        return type_, relations
    relations = [_without_ones(relation) for relation in relations]
    if not any(map(_may_be_simpler, relations)):
        return type_, relations
    for _ in range(MOST_ROUNDS):
        found: list[Relation] = []
        rewriting = _Rewriting({}, {}, {}, {})
        for relation in relations:
            step = _simpler(relation) if _is_condition(relation) else None
            found.extend((relation,) if step is None else step.relations)
            if step is not None and step.atom is not None:
                rewriting.atoms[step.atom] = step.value
        for relation in filter(_is_condition, found):
            if isinstance(relation, AtLeast):
                rewriting.facts.assume(relation.dim, Constraint(relation, NOWHERE))
        type_ = rewriting.type(type_)
        found = [rewriting.relation(relation) for relation in found]
        found = list(dict.fromkeys(relation for relation in found if not _holds(relation)))
        if found == relations:
            break
        relations = found
    return type_, without_implied_sizes(_with_remainders(relations), _is_condition)


def _without_ones(relation: Relation) -> Relation:
    """A broadcast without parts that another one contains."""
    if not isinstance(relation, Broadcast) or not any(1 in part for part in relation.parts):
        return relation
    kept = list(relation.parts)
    for part in relation.parts:
        if any(other is not part and _contains(other, part) for other in kept):
            kept.remove(part)
    return Broadcast(relation.result, tuple(kept)) if len(kept) > 1 else relation


def _contains(word: Shape, part: Shape) -> bool:
    """Whether each item of a part is 1, or is the same in the word, counted from the right."""
    pairs = zip(reversed(word), reversed(part), strict=False)
    return len(part) <= len(word) and all(
        b == a or (b == 1 and not isinstance(a, ShapeVar)) for a, b in pairs
    )


def _may_be_simpler(relation: Relation) -> bool:
    """A quick test: broadcasts of variables alone are as simple as they can be."""
    if isinstance(relation, DimBroadcast):
        return relation.result == 0 or any(dims.weight(part) for part in relation.parts)
    return isinstance(relation, DimEq | AtLeast) and _is_condition(relation)


def _is_condition(relation: Relation) -> bool:
    """Whether a relation is shown, is between sizes, and is about none of the run."""
    match relation:
        case DimEq(left, right):
            weight = dims.weight(left) + dims.weight(right)
        case AtLeast(dim, silent) if not silent:
            weight = dims.weight(dim)
        case DimBroadcast(dim, parts):
            weight = sum(map(dims.weight, (dim, *parts)))
        case _:
            return False
    return weight <= HEAVIEST and not any(var.runtime for var in relation_variables(relation))


def _holds(relation: Relation) -> bool:
    match relation:
        case DimEq(left, right):
            return left == right
        case AtLeast(dim, silent):
            return not silent and dims.is_nonnegative(dim)
        case DimBroadcast(dim, parts):
            return all(part == dim for part in parts)
        case _:
            return False


# --- laws --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Step:
    """Simpler conditions, and an atom that has another value under them."""

    relations: tuple[Relation, ...]
    atom: Atom | None = None
    value: Dim = 0


def _simpler(relation: Relation) -> _Step | None:
    match relation:
        case DimEq(left, right):
            return _simpler_equation(dims.sub(left, right))
        case AtLeast(dim, _):
            parts = tuple(_parts_of_inequality(dim))
            return None if parts == (dim,) else _Step(tuple(map(_at_least, parts)))
        case DimBroadcast(result, sizes):
            return _simpler_broadcast(result, sizes)
        case _:
            return None


def _at_least(dim: Dim) -> AtLeast:
    return AtLeast(dim, silent=False)


def _lone_atoms(dim: Dim) -> Iterator[tuple[FloorDiv | Min | Max, int, Dim]]:
    """The atoms with arguments that are terms of their own: coefficient, and the other terms."""
    for mono, coefficient in dims.terms_of(dim).items():
        atom = mono[0] if len(mono) == 1 else None
        if isinstance(atom, FloorDiv | Min | Max):
            rest = dims.combine(dim, -coefficient, dims.of_atom(atom))
            if not any(atom in each for each in dims.terms_of(rest)):
                yield atom, coefficient, rest


def _simpler_equation(dim: Dim) -> _Step | None:
    """`dim = 0`."""
    for atom, coefficient, rest in _lone_atoms(dim):
        if coefficient not in (1, -1):
            continue
        value = dims.scale(-coefficient, rest)  # the atom is equal to it
        match atom:
            case FloorDiv(args=(top, bottom)) if isinstance(bottom, int):
                high, low = _between(top, bottom, value)
                if dims.is_nonnegative(low) and _is_plain(high):
                    return _Step((_at_least(high),), atom, value)
                if dims.is_nonnegative(high) and _is_plain(low):
                    return _Step((_at_least(low),), atom, value)
            case Max(args=parts) | Min(args=parts) if value in parts:
                sign = 1 if isinstance(atom, Max) else -1
                gaps = [dims.scale(sign, dims.sub(value, part)) for part in parts if part != value]
                return _Step(tuple(map(_at_least, gaps)), atom, value)
            case _:
                pass
    return None


def _between(top: Dim, bottom: int, value: Dim) -> tuple[Dim, Dim]:
    """`top/bottom = value` as two dimensions that are not negative."""
    low = dims.combine(top, -bottom, value)
    return dims.sub(bottom - 1, low), low


def _parts_of_inequality(dim: Dim) -> Iterator[Dim]:
    """`dim >= 0` as simpler inequalities."""
    for atom, coefficient, rest in _lone_atoms(dim):
        match atom:
            case FloorDiv(args=(top, bottom)) if isinstance(bottom, int) and _is_plain(rest, top):
                if coefficient == 1:
                    yield from _parts_of_inequality(dims.combine(top, bottom, rest))
                    return
                if coefficient == -1:
                    yield from _parts_of_inequality(_between(top, bottom, rest)[0])
                    return
            case Max(args=parts) | Min(args=parts):
                each = [dims.combine(rest, coefficient, part) for part in parts]
                if isinstance(atom, Max) != (coefficient > 0):
                    for part in each:
                        yield from _parts_of_inequality(part)
                    return
                possible = [part for part in each if not dims.is_nonnegative(dims.sub(-1, part))]
                if len(possible) == 1:
                    yield from _parts_of_inequality(possible[0])
                    return
            case _:
                pass
    yield tightened(dim)


def _is_plain(*parts: Dim) -> bool:
    return all(dims.weight(part) == 0 for part in parts)


def _simpler_broadcast(result: Dim, sizes: tuple[Dim, ...]) -> _Step | None:
    """A result that is one of the parts: each of the others is 1 or equal to it."""
    if result not in sizes:
        return None
    kept: list[Dim] = [result]
    conditions: list[Relation] = []
    for size in sizes:
        if size in kept or size == dims.maximum(result, 1):
            continue
        if result == 0 and dims.is_nonnegative(size):
            conditions.append(_at_least(dims.sub(1, size)))
        elif result in (dims.maximum(size, 1), dims.maximum(size, 2)):
            conditions.append(_at_least(dims.sub(size, 1)))
        else:
            kept.append(size)
    if len(kept) == len(sizes):
        return None
    if len(kept) > 1:
        conditions.append(DimBroadcast(result, tuple(kept)))
    return _Step(tuple(conditions))


def _with_remainders(relations: list[Relation]) -> list[Relation]:
    """The conditions with one on remainders of each size: `n mod 4 = 0, n mod 6 = 0` is `n mod 12 =
    0`, and `b*(n mod 4) = 0` is `n mod 4 = 0` where `b >= 1`.
    """
    conditions = [relation for relation in relations if _is_condition(relation)]
    found: dict[tuple[Dim, Dim], int] = {}
    kept: list[Relation] = []
    for relation in relations:
        gap = dims.sub(relation.left, relation.right) if isinstance(relation, DimEq) else 0
        remainder = multiple_of_mod(gap) if _is_condition(relation) else None
        if remainder is None or not isinstance(remainder[2], int):
            kept.append(relation)
            continue
        factor, top, bottom = _of_larger(gap, conditions) or remainder
        assert isinstance(bottom, int)
        others = [other for other in conditions if other is not relation]
        if factor != 1 and follows(_at_least(dims.sub(factor, 1)), others):
            factor = 1
        joined = lcm(bottom, found.get((factor, top), 1))
        if joined.bit_length() > MOST_BITS:
            kept.append(relation)
        else:
            found[factor, top] = joined
    products = [dims.mul(factor, dims.mod(top, by)) for (factor, top), by in found.items()]
    return [*kept, *(DimEq(product, 0) for product in products)]


def _of_larger(gap: Dim, conditions: list[Relation]) -> tuple[Dim, Dim, Dim] | None:
    """`h mod 2 = 0` as `h mod 4 = 0`, where a condition says `h/2 = 2*(h/4)`; that one stays."""
    for relation in conditions:
        other = dims.sub(relation.left, relation.right) if isinstance(relation, DimEq) else 0
        if multiple_of_mod(other) is None:
            for atom, coefficient, rest in _lone_atoms(other):
                value: dict[Atom, Dim] = {atom: dims.scale(-coefficient, rest)}
                larger = with_atoms(gap, value) if coefficient in (1, -1) else gap
                remainder = multiple_of_mod(larger) if larger != gap else None
                if remainder is not None and isinstance(remainder[2], int):
                    return remainder
    return None


# --- what follows for other sizes --------------------------------------------------------------


@dataclass(slots=True)
class _Rewriting(Renaming):
    """Replaces atoms by the values that conditions give them."""

    atoms: dict[Atom, Dim] = field(default_factory=dict)
    facts: Facts = field(default_factory=Facts)

    def dim(self, dim: Dim) -> Dim:
        if not isinstance(dim, Poly):
            return dim
        return self.facts.clip(with_atoms(dim, self.atoms), lambda known: known)
