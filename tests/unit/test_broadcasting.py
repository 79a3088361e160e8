"""What different sizes broadcast to, tried on numbers."""

from __future__ import annotations

from itertools import combinations, product

import pytest

from axon.solver.broadcasting import _broadcast_sizes
from axon.solver.rules import new_store
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.type import AtLeast, DimBroadcast, DimEq, Relation
from axon.types.variables import DimVar

N, M = DimVar("n"), DimVar("m")
SIZES: dict[str, Dim] = {
    "n": N,
    "m": M,
    "min(n,64)": dims.minimum(N, 64),
    "min(n,1)": dims.minimum(N, 1),
    "min(m,1)": dims.minimum(M, 1),
    "min(n,m)": dims.minimum(N, M),
    "max(n,1)": dims.maximum(N, 1),
    "max(n,2)": dims.maximum(N, 2),
    "n - max(n,64) + 64": dims.sub(dims.add(N, 64), dims.maximum(N, 64)),
    "2*n - 1": dims.sub(dims.scale(2, N), 1),
    "2*n": dims.scale(2, N),
    "n + 1": dims.add(N, 1),
    "n/2": dims.floordiv(N, 2),
    "(n+7)/8": (EIGHTH := dims.floordiv(dims.add(N, 7), 8)),
    "min((n+7)/8,1)": dims.minimum(EIGHTH, 1),
    "max((n+7)/8,1)": dims.maximum(EIGHTH, 1),
    "n*m": dims.mul(N, M),
    "3": 3,
}
SOLVED = {
    ("n", "min(n,64)"): "n",
    ("n", "max(n,1)"): "n",
    ("min(n,64)", "max(n,1)"): "min(n,64)",
    ("n", "min(n,1)"): "n",
    ("n", "n - max(n,64) + 64"): "n",
    ("(n+7)/8", "min((n+7)/8,1)"): "(n+7)/8",
    ("(n+7)/8", "max((n+7)/8,1)"): "(n+7)/8",
}


@pytest.mark.parametrize(("one", "other"), list(combinations(SIZES, 2)))
def test_the_whole_is_the_result_wherever_there_is_one(one: str, other: str) -> None:
    whole = _broadcast_sizes([SIZES[one], SIZES[other]])
    if whole is None:
        assert (one, other) not in SOLVED
        return
    for n, m in product((0, 1, 2, 3, 8, 15, 64, 65), repeat=2):
        values = [dims.evaluate(SIZES[name], {N: n, M: m}) for name in (one, other)]
        assert None not in values
        sizes = {value for value in values if value != 1}
        if len(sizes) < 2 and all(value is not None and value >= 0 for value in values):
            assert dims.evaluate(whole, {N: n, M: m}) == (sizes.pop() if sizes else 1)


@pytest.mark.parametrize("pair", SOLVED)
def test_what_never_decides_leaves_the_other(pair: tuple[str, str]) -> None:
    assert _broadcast_sizes([SIZES[name] for name in pair]) == SIZES[SOLVED[pair]]
    assert _broadcast_sizes([SIZES[name] for name in pair[::-1]]) == SIZES[SOLVED[pair]]


# --- conditions ------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [N, EIGHTH])
def test_a_table_of_so_many_rows_is_a_bound(size: Dim) -> None:
    store, result = new_store(levels=False), DimVar("")
    store.post(DimBroadcast(result, (size, dims.minimum(size, 64))))
    assert store.dim(result) == size
    (left,) = store.waiting
    assert left.relation == AtLeast(dims.sub(64, size), silent=False)
    store.post(DimEq(N, 1000))
    assert store.conflicts


@pytest.mark.parametrize("part", ["min(n,1)", "max(n,1)"])
def test_what_always_fits_leaves_nothing(part: str) -> None:
    store, result = new_store(levels=False), DimVar("")
    store.post(DimBroadcast(result, (SIZES[part], N)))
    assert store.dim(result) == N and not store.waiting


@pytest.mark.parametrize("late", [False, True])
def test_a_bound_decides_a_broadcast(late: bool) -> None:
    """A mask of 64 rows, from `n` to `n + m`, beside `m`: known once `n + m <= 64` is."""
    store, result = new_store(levels=False), DimVar("")
    rows = dims.maximum(dims.minimum(dims.sub(64, N), M), 0)
    relations: list[Relation] = [
        DimBroadcast(result, (rows, M)),
        AtLeast(dims.sub(64, dims.add(N, M)), silent=False),
    ]
    for relation in relations if late else relations[::-1]:
        store.post(relation)
    assert store.dim(result) == M
    assert [type(each.relation) for each in store.waiting] == [AtLeast]
