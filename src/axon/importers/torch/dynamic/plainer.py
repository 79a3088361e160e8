"""Conditions in a plainer form: `min(n, 12) = n` is `n <= 12`, and `n mod 8 = 0` a multiple."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from axon.types import dim as dims
from axon.types.atoms import Max, Min
from axon.types.dim import Dim
from axon.types.show import multiple_of_mod
from axon.types.type import AtLeast, DimBroadcast, DimEq, Relation, relation_variables
from axon.types.variables import DimVar, ShapeVar


def conditions_on(
    own: Collection[DimVar | ShapeVar], relations: Iterable[Relation]
) -> dict[Relation, Relation]:
    """The relations that are about these variables alone, each in its plainer form. What is the
    broadcast of some of them is about those.
    """
    mine = set(own)
    found: dict[Relation, Relation] = {}
    broadcasts: dict[Dim, tuple[Dim, ...]] = {}
    for relation in relations:
        match relation:
            case DimBroadcast(DimVar() as result, parts) if result not in mine:
                every = tuple(each for part in parts for each in broadcasts.get(part, (part,)))
                if mine.issuperset(relation_variables(DimBroadcast(1, every))):
                    broadcasts[result] = tuple(dict.fromkeys(every))
                    found[relation] = DimBroadcast(result, broadcasts[result])
            case _:
                variables = relation_variables(relation)
                if variables and mine.issuperset(variables):
                    found[relation] = plainer(relation)
    return found


def plainer(relation: Relation) -> Relation:
    """A condition that holds for the same sizes, and says more to people."""
    if not isinstance(relation, DimEq):
        return relation
    terms = dims.terms_of(dims.sub(relation.left, relation.right))
    for mono, coefficient in terms.items():
        if len(mono) != 1 or abs(coefficient) != 1 or not isinstance(mono[0], Min | Max):
            continue
        extremum = mono[0]
        rest = {m: -c * coefficient for m, c in terms.items() if m != mono}
        chosen = dims.from_terms(rest)  # what the extremum is
        others = [each for each in extremum.args if each != chosen]
        if len(others) == 1 and len(extremum.args) == 2:
            larger, smaller = others[0], chosen
            if isinstance(extremum, Max):
                larger, smaller = smaller, larger
            return AtLeast(dims.sub(larger, smaller), silent=False)
    return relation


def multiple_of(relation: Relation, var: DimVar) -> int | None:
    """The number that a condition asks a size to be a multiple of, if that is all it asks."""
    if not isinstance(relation, DimEq):
        return None
    found = multiple_of_mod(dims.sub(relation.left, relation.right))
    if found is None:
        return None
    factor, top, bottom = found
    is_number = isinstance(bottom, int) and isinstance(factor, int)
    return int(bottom) if top == var and is_number and isinstance(bottom, int) else None


def bound(dim: Dim, var: DimVar) -> tuple[int, int] | None:
    """`a` and `b` of `a*var + b`, if the dimension is that."""
    terms = dict(dims.terms_of(dim))
    offset = terms.pop((), 0)
    scale = terms.pop((var,), 0)
    return (scale, offset) if scale and not terms else None
