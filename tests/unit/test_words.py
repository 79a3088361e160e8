"""Words that wait, whatever comes first."""

from __future__ import annotations

from itertools import permutations

import pytest

from axon.solver.rules import new_store
from axon.types.type import Broadcast, DimEq, Relation, ShapeEq
from axon.types.variables import DimVar, ShapeVar

A, B, C, D, N = (DimVar(name) for name in "abcdn")
P, Q, R, S, T = (ShapeVar(name) for name in "pqrst")

CONTRADICTIONS: dict[str, tuple[Relation, ...]] = {
    # the sizes are a permutation of each other only once s and t are known to be equal
    "sums": (ShapeEq((S, A), (B, T)), ShapeEq((S,), (T,)), DimEq(A, 2), DimEq(B, 3)),
    # the sums are equal, the sizes are not
    "numbers": (ShapeEq((S, A, 4), (2, B, S)), DimEq(A, N), DimEq(N, 1), DimEq(B, 3)),
}

# What q@p is has to be put in where it is a piece of another word.
PIECES: dict[str, tuple[Relation, ...]] = {
    "of an equation": (
        ShapeEq((2, Q, P), (S, 2)),
        ShapeEq((1,), (S,)),
        ShapeEq((R, S), (3, S, 2)),
    ),
    "of a broadcast": (ShapeEq((Q, P), (3,)), Broadcast((T,), ((S, Q, P), (2,)))),
    "that is all of a part": (ShapeEq((Q, P), (3,)), Broadcast((T,), ((Q, P), (2,)))),
}


@pytest.mark.parametrize("name", PIECES)
def test_a_piece_that_is_known(name: str) -> None:
    for order in permutations(PIECES[name]):
        store = new_store(levels=False)
        for relation in order:
            store.post(relation)
        assert store.conflicts


def test_ranks_that_turn_out_equal() -> None:
    """r@s = s@r with ranks that another equation makes equal, so that r is s."""
    relations = (ShapeEq((R, S), (S, R)), ShapeEq((3, R), (S, 2)))
    for order in permutations(relations):
        store = new_store(levels=False)
        for relation in order:
            store.post(relation)
        assert store.conflicts


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_sizes_around_a_shape_that_are_no_permutation(name: str) -> None:
    for order in permutations(CONTRADICTIONS[name]):
        store = new_store(levels=False)
        for relation in order:
            store.post(relation)
        assert store.conflicts
