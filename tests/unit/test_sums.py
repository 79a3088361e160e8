"""Sums of sizes, and inequalities between them."""

from __future__ import annotations

from itertools import permutations

import pytest

from axon.solver.rules import new_store
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.type import AtLeast, DimEq, Relation
from axon.types.variables import DimVar

A, B, C = (DimVar(name) for name in "abc")


def total(a: int, b: int, constant: int = 0) -> Dim:
    """a*A + b*B + constant."""
    return dims.add(dims.combine(dims.scale(a, A), b, B), constant)


def test_a_sum_below_zero_is_the_conflict_itself() -> None:
    store = new_store(levels=False)
    store.post(DimEq(total(1, 1, 3), 0))
    (conflict,) = store.conflicts
    assert conflict.kind == "negative" and conflict.constraint.relation == DimEq(total(1, 1, 3), 0)


@pytest.mark.parametrize(
    ("relation", "values"),
    [
        (DimEq(total(3, 2), 5), (1, 1)),
        (DimEq(total(2, 5), 4), (2, 0)),
        # there are too many ways to try them, and a term that is too large all the same
        (DimEq(total(1001, 2), 1000), (0, 500)),
        (DimEq(total(1, 5), 4), (4, 0)),
        (DimEq(total(3, 2), 1), None),
        (DimEq(total(3, 5), 7), None),
        (DimEq(total(2, 3), 12), (A, B)),
    ],
)
def test_what_a_sum_says_of_its_terms(relation: Relation, values: tuple[Dim, Dim] | None) -> None:
    store = new_store(levels=False)
    store.post(relation)
    assert bool(store.conflicts) == (values is None)
    if values is not None:
        assert (store.dim(A), store.dim(B)) == values


TOGETHER: dict[str, tuple[tuple[Relation, ...], tuple[Dim, Dim] | None]] = {
    # n >= 2 from 2n >= 3, and n <= 1
    "rounded": ((AtLeast(total(2, 0, -3), False), AtLeast(total(-1, 0, 1), False)), None),
    "both are zero": ((AtLeast(total(1, 0, -2), False), AtLeast(total(-1, 0, 2), False)), (2, B)),
    "a multiple": ((AtLeast(total(-3, 0, 7), False), AtLeast(total(2, 0, -5), False)), None),
    "nothing is left": ((AtLeast(total(-2, -3, 1), False),), (0, 0)),
    "just enough is left": ((AtLeast(total(-1, -3, 1), False),), (A, 0)),
    # 3a = 4b - 2 and a - 2b + 1 >= 0 leave nothing for b, and then nothing for a
    "with an equation": ((DimEq(total(3, -4, 2), 0), AtLeast(total(1, -2, 1), False)), None),
    "what does not exclude": ((DimEq(total(3, -4, 2), 0), AtLeast(total(1, 0, -1), False)), (A, B)),
}


@pytest.mark.parametrize("name", TOGETHER)
def test_inequalities_together(name: str) -> None:
    relations, values = TOGETHER[name]
    for order in permutations(relations):
        store = new_store(levels=False)
        for relation in order:
            store.post(relation)
        assert bool(store.conflicts) == (values is None)
        if values is not None:
            assert (store.dim(A), store.dim(B)) == values
