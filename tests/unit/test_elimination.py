"""Linear integer systems: what elimination says is checked by enumeration."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from axon.solver.elimination import _solvable
from axon.solver.rules import new_store
from axon.types import dim as dims
from axon.types.dim import Dim, Mono
from axon.types.type import DimEq
from axon.types.variables import DimVar

VARIABLES = tuple(DimVar(name) for name in "abc")
COEFFICIENTS = st.sampled_from([0, 2, 3, 4, 6, -2, -3, -4, 9])
EQUATION = st.tuples(COEFFICIENTS, COEFFICIENTS, COEFFICIENTS, st.integers(-9, 9))


@settings(max_examples=500, derandomize=True, deadline=None)
@given(st.lists(EQUATION, min_size=1, max_size=3))
def test_what_is_called_unsolvable_has_no_solution(system: list[tuple[int, ...]]) -> None:
    rows: list[dict[Mono, int]] = []
    for *coefficients, constant in system:
        row: dict[Mono, int] = {(v,): c for v, c in zip(VARIABLES, coefficients, strict=True) if c}
        rows.append(row | {(): constant} if constant else row)
    found = any(
        all(a * x + b * y + c * z + d == 0 for a, b, c, d in system)
        for x, y, z in product(range(-8, 9), repeat=3)
    )
    assert not found or _solvable(rows)


def test_a_system_that_only_divisibility_refutes() -> None:
    """2a + 2b + 5c = 11 makes c odd, 4b + 3c = 10 makes it even. The rows that elimination makes of
    them, 4a + 7c = 12 the only new one, have solutions.
    """
    a, b, c = (DimVar(name) for name in "abc")
    store = new_store()
    store.post(DimEq(_sum((2, a), (2, b), (5, c)), 11))
    assert not store.conflicts
    store.post(DimEq(_sum((4, b), (3, c)), 10))
    assert store.conflicts


def test_rows_that_differ_by_a_number_have_no_solution() -> None:
    a, b, _ = VARIABLES
    assert not _solvable([{(a,): 2, (b,): 3, (): 1}, {(a,): 2, (b,): 3, (): 2}])


def test_a_square_system_is_solved() -> None:
    a, b, c = (DimVar(name) for name in "abc")
    store = new_store()
    store.post(DimEq(_sum((2, a), (3, b), (5, c)), 2 * 4 + 3 * 7 + 5 * 1))
    store.post(DimEq(_sum((3, a), (2, b), (7, c)), 3 * 4 + 2 * 7 + 7 * 1))
    store.post(DimEq(_sum((4, a), (9, b), (2, c)), 4 * 4 + 9 * 7 + 2 * 1))
    assert [store.dim(v) for v in (a, b, c)] == [4, 7, 1]


def _sum(*terms: tuple[int, Dim]) -> Dim:
    total: Dim = 0
    for factor, dim in terms:
        total = dims.combine(total, factor, dim)
    return total
