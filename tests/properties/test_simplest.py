"""Conditions in their simplest form hold for the same sizes, and sizes keep their values there."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from axon.inference.generalise.implied import follows
from axon.inference.generalise.simplest import simplest
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.show import Names, Show
from axon.types.type import AtLeast, Broadcast, DimBroadcast, DimEq, Relation, Shape, Tensor
from axon.types.variables import DimVar, ShapeVar
from tests.budget import ALL

N, M = DimVar("n", user=True), DimVar("m", user=True)
R, S, T = (ShapeVar(name) for name in "rst")
SIZES = [dict(zip((N, M), pair, strict=True)) for pair in product(range(14), repeat=2)]


def compound(inner: st.SearchStrategy[Dim]) -> st.SearchStrategy[Dim]:
    number = st.integers(-4, 4)
    return st.one_of(
        st.builds(dims.add, inner, inner),
        st.builds(dims.add, inner, number),
        st.builds(dims.sub, inner, inner),
        st.builds(dims.scale, st.sampled_from((-2, -1, 2, 3)), inner),
        st.builds(dims.floordiv, inner, st.integers(1, 4)),
        st.builds(dims.maximum, inner, st.one_of(inner, number)),
        st.builds(dims.minimum, inner, st.one_of(inner, number)),
    )


leaves: st.SearchStrategy[Dim] = st.one_of(st.sampled_from((N, M)), st.integers(0, 4))
some_dims = st.recursive(leaves, compound, max_leaves=4)
conditions = st.one_of(
    st.builds(DimEq, some_dims, some_dims),
    st.builds(AtLeast, some_dims, st.just(False)),
    st.tuples(some_dims, some_dims).map(lambda pair: DimBroadcast(pair[0], pair)),
    st.builds(
        lambda size, k: DimBroadcast(dims.maximum(size, k), (dims.maximum(size, k), size)),
        st.sampled_from((N, M)),
        st.integers(0, 3),
    ),
    st.builds(lambda size, k: DimEq(dims.maximum(size, k), size), some_dims, st.integers(0, 4)),
    st.builds(
        lambda size, k, factor: DimEq(dims.mul(factor, dims.mod(size, k)), 0),
        st.sampled_from((N, M, dims.floordiv(N, 2), dims.add(N, 1))),
        st.integers(1, 6),
        st.sampled_from((1, M, dims.add(M, 1))),
    ),
)


def holds(relation: Relation, sizes: dict[DimVar, int]) -> bool:
    """By the definition of each relation."""

    def at(dim: Dim) -> int:
        value = dims.evaluate(dim, sizes)
        assert value is not None
        return value

    match relation:
        case DimEq(left, right):
            return at(left) == at(right)
        case AtLeast(dim, _):
            return at(dim) >= 0
        case DimBroadcast(result, parts):
            others = {at(part) for part in parts} - {1}
            return others == {at(result)} if others else at(result) == 1
        case _:
            raise AssertionError(relation)


@ALL
@given(st.lists(conditions, min_size=1, max_size=4), some_dims)
def test_the_same_sizes(relations: list[Relation], size: Dim) -> None:
    type_, simpler = simplest(Tensor("f32", (size,)), relations)
    assert isinstance(type_, Tensor)
    (made,) = type_.shape
    assert not isinstance(made, tuple)
    for sizes in SIZES:
        before = all(holds(relation, sizes) for relation in relations)
        assert before == all(holds(relation, sizes) for relation in simpler), (simpler, sizes)
        if before:
            assert dims.evaluate(size, sizes) == dims.evaluate(made, sizes), (made, sizes)  # type: ignore[arg-type]


@ALL
@given(conditions, st.lists(conditions, max_size=3))
def test_what_follows(relation: Relation, others: list[Relation]) -> None:
    if follows(relation, others):
        for sizes in SIZES:
            assert holds(relation, sizes) or not all(holds(each, sizes) for each in others)


def shown(*relations: Relation) -> list[str]:
    show = Show(Names(given={N: "n", M: "m"}))
    return [show.relation(each) for each in simplest(Tensor("f32", ()), list(relations))[1]]


NO = False


@pytest.mark.parametrize(
    ("relations", "texts"),
    [
        ([DimEq(dims.maximum(N, 2), N)], ["n >= 2"]),
        ([DimEq(dims.minimum(N, M), N)], ["m >= n"]),
        ([DimEq(dims.maximum(N, M, 3), N)], ["n >= m", "n >= 3"]),
        ([DimEq(dims.floordiv(dims.add(N, 1), 2), N)], ["n <= 1"]),
        ([DimEq(dims.floordiv(N, 2), 8)], ["n/2 = 8"]),
        ([AtLeast(dims.sub(dims.floordiv(N, 2), 3), NO)], ["n >= 6"]),
        ([AtLeast(dims.sub(3, dims.floordiv(N, 2)), NO)], ["n <= 7"]),
        ([AtLeast(dims.sub(M, dims.maximum(N, 2)), NO)], ["m >= n", "m >= 2"]),
        ([AtLeast(dims.sub(dims.maximum(N, 2), 5), NO)], ["n >= 5"]),
        ([AtLeast(dims.sub(dims.scale(2, N), 3), NO)], ["n >= 2"]),
        ([DimBroadcast(0, (0, N))], ["n <= 1"]),
        ([DimBroadcast(8, (8, N))], ["8 = broadcast(8, n)"]),
        ([DimBroadcast(dims.maximum(N, 2), (dims.maximum(N, 2), N))], ["n >= 1"]),
        ([DimBroadcast(N, (N, dims.maximum(N, 1)))], []),
        ([DimBroadcast(N, (N, dims.maximum(N, 1), M))], ["n = broadcast(n, m)"]),
        ([AtLeast(dims.sub(dims.maximum(N, M), 3), NO)], ["max(n,m) >= 3"]),
        ([AtLeast(dims.sub(N, 1), NO), AtLeast(dims.sub(N, 2), NO)], ["n >= 2"]),
        (
            [
                AtLeast(dims.sub(dims.mul(N, M), 1), NO),
                AtLeast(dims.sub(N, 1), NO),
                AtLeast(dims.sub(M, 1), NO),
            ],
            ["n >= 1", "m >= 1"],
        ),
        (
            [DimEq(N, dims.scale(2, M)), DimEq(dims.mod(N, 2), 0), AtLeast(dims.sub(N, M), NO)],
            ["n = 2*m"],
        ),
        ([DimEq(dims.mod(N, 4), 0), DimEq(dims.mod(N, 6), 0)], ["n mod 12 = 0"]),
        (
            [DimEq(dims.mod(N, 2), 0), DimEq(dims.mod(dims.floordiv(N, 2), 2), 0)],
            ["n mod 4 = 0"],
        ),
        (
            [DimEq(dims.mul(M, dims.mod(N, 4)), 0), DimEq(dims.mul(M, dims.mod(N, 2)), 0)],
            ["m*(n mod 4) = 0"],
        ),
        (
            [DimEq(dims.mul(M, dims.mod(N, 4)), 0), AtLeast(dims.sub(M, 1), NO)],
            ["n mod 4 = 0", "m >= 1"],
        ),
    ],
)
def test_simplest(relations: list[Relation], texts: list[str]) -> None:
    assert sorted(shown(*relations)) == sorted(texts)


@pytest.mark.parametrize(
    ("parts", "kept"),
    [
        ([(S, 1), (S, N), (T,)], [(S, N), (T,)]),
        ([(S, N), (1,), (T,)], [(S, N), (T,)]),
        ([(S, N), (M, 1)], [(S, N), (M, 1)]),
        ([(S, 1), (T, N)], [(S, 1), (T, N)]),
        ([(1, N), (S,)], [(1, N), (S,)]),
        ([(N,), (1, 1), (T,)], [(N,), (1, 1), (T,)]),
        ([(S,), (1,), (T,)], [(S,), (1,), (T,)]),
    ],
)
def test_parts_with_ones(parts: list[Shape], kept: list[Shape]) -> None:
    before: list[Relation] = [Broadcast((R,), tuple(parts))]
    assert simplest(Tensor("f32", (R,)), before)[1] == [Broadcast((R,), tuple(kept))]


def test_a_check_of_the_run_stays() -> None:
    made = DimVar("k", runtime=True)
    relations: list[Relation] = [DimEq(dims.maximum(made, 2), made)]
    assert simplest(Tensor("f32", ()), relations)[1] == relations
