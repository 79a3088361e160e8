"""Division of polynomials without rest."""

from __future__ import annotations

import random

import pytest

from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.quotient import exact_quotient
from axon.types.variables import DimVar

N, M, K = (DimVar(name) for name in "nmk")


def some(numbers: random.Random) -> Dim:
    """A polynomial of a few terms, quotients among its atoms."""
    atoms: list[Dim] = [1, N, M, K, dims.floordiv(N, 2), dims.maximum(M, 3), dims.mul(N, K)]
    found: Dim = 0
    for _ in range(numbers.randint(1, 4)):
        term = dims.mul(numbers.choice(atoms), numbers.choice(atoms))
        found = dims.add(found, dims.scale(numbers.choice((-3, -1, 1, 2, 5)), term))
    return found


@pytest.mark.parametrize("seed", range(200))
def test_a_product_divided_by_a_factor_is_the_other(seed: int) -> None:
    numbers = random.Random(seed)
    a, b = some(numbers), some(numbers)
    if b != 0:
        assert exact_quotient(dims.mul(a, b), b) == a


@pytest.mark.parametrize(
    ("top", "bottom"),
    [(N, 2), (N, M), (dims.add(N, 1), N), (N, 0), (dims.mul(N, N), dims.add(N, 1)), (7, N)],
)
def test_what_leaves_a_rest_has_no_quotient(top: Dim, bottom: Dim) -> None:
    assert exact_quotient(top, bottom) is None
