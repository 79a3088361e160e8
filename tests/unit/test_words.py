"""Words that wait, whatever comes first."""

from __future__ import annotations

from itertools import permutations

import pytest

from axon.solver.rules import new_store
from axon.types.type import DimEq, Relation, ShapeEq
from axon.types.variables import DimVar, ShapeVar

A, B, C, D, N = (DimVar(name) for name in "abcdn")
S, T = ShapeVar("s"), ShapeVar("t")

CONTRADICTIONS: dict[str, tuple[Relation, ...]] = {
    # the sizes are a permutation of each other only once s and t are known to be equal
    "sums": (ShapeEq((S, A), (B, T)), ShapeEq((S,), (T,)), DimEq(A, 2), DimEq(B, 3)),
    # the sums are equal, the sizes are not
    "numbers": (ShapeEq((S, A, 4), (2, B, S)), DimEq(A, N), DimEq(N, 1), DimEq(B, 3)),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_sizes_around_a_shape_that_are_no_permutation(name: str) -> None:
    for order in permutations(CONTRADICTIONS[name]):
        store = new_store(levels=False)
        for relation in order:
            store.post(relation)
        assert store.conflicts
