"""Laws that mutants showed to be unchecked: the smallest case of each (`scripts/mutate.py`)."""

from __future__ import annotations

from axon.solver.rules import new_store
from axon.types import dim as dims
from axon.types.poly import is_vast
from axon.types.type import DimEq
from axon.types.variables import DimVar

A, B, C = DimVar("a"), DimVar("b"), DimVar("c")


def test_coefficients_do_not_grow_without_bound() -> None:
    large = dims.mul(2**5000, A)
    assert is_vast(dims.mul(dims.mul(large, large), A))


def test_a_product_is_divided_only_if_its_coefficient_is() -> None:
    """3ab / 2b is not a."""
    half = dims.floordiv(dims.mul(3, dims.mul(A, B)), dims.mul(2, B))
    for a in range(5):
        assert dims.evaluate(half, {A: a, B: 2}) == 3 * a // 2


def test_a_quotient_of_a_difference_may_be_negative() -> None:
    assert not dims.is_nonnegative(dims.floordiv(dims.sub(A, B), C))


def test_rounding_down_loses() -> None:
    """2*(a/2) is not a."""
    assert not dims.is_nonnegative(dims.sub(dims.mul(2, dims.floordiv(A, 2)), A))


def test_a_minimum_of_a_negated_minimum_is_in_normal_form() -> None:
    """min(a, a*a - min(a,b)): nothing that is pulled out leaves a minimum to be flattened."""
    dim = dims.minimum(A, dims.sub(dims.mul(A, A), dims.minimum(A, B)))
    assert dims.substitute(dim, lambda v: v, dims.of_size) == dim


def test_a_minimum_is_a_size_only_if_all_parts_are() -> None:
    quotient = dims.floordiv(dims.sub(A, B), C)
    assert not dims.is_nonnegative(dims.minimum(quotient, A))
    assert not dims.is_nonnegative(dims.minimum(A, quotient))


def test_a_sum_that_is_too_small_conflicts_whatever_its_variable_stands_for() -> None:
    """n + 5 = 3, where n has become k/2 - 2*m."""
    store = new_store(levels=False)
    store.post(DimEq(dims.floordiv(A, 2), dims.add(dims.mul(2, B), C)))
    store.post(DimEq(dims.add(C, 5), 3))
    assert store.conflicts
