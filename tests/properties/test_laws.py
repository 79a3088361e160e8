"""Laws that mutants showed to be unchecked: the smallest case of each (`scripts/mutate.py`)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest

from axon.solver.rules import new_store
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.poly import is_vast
from axon.types.type import AtLeast, Broadcast, DimBroadcast, DimEq, ShapeEq
from axon.types.variables import DimVar, ShapeVar

A, B, C = DimVar("a"), DimVar("b"), DimVar("c")
P, Q, S, T = (ShapeVar(name) for name in "pqst")


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


def test_a_sum_is_below_zero_only_if_its_terms_are_sizes() -> None:
    """(a - b)/c + 1 = 0 holds for a = 0, b = 1, c = 1."""
    store = new_store(levels=False)
    store.post(DimEq(dims.add(dims.floordiv(dims.sub(A, B), C), 1), 0))
    for var, value in ((A, 0), (B, 1), (C, 1)):
        store.post(DimEq(var, value))
    assert not store.conflicts


def test_the_part_that_can_be_an_extremum_is_it() -> None:
    """min(a, 5) = 3 makes a 3, and max(b, 2) = 3 makes b 3."""
    store = new_store(levels=False)
    store.post(DimEq(dims.minimum(A, 5), 3))
    store.post(DimEq(dims.maximum(B, 2), 3))
    assert [store.dim(v) for v in (A, B)] == [3, 3]


def test_an_equation_that_is_woken_is_not_read_by_what_it_lent() -> None:
    """a*b = 2c + 1 is more than 11 = 11 when c is 5."""
    store = new_store(levels=False)
    store.post(DimEq(dims.mul(A, B), dims.add(dims.mul(2, C), 1)))
    store.post(DimEq(C, 5))
    store.post(DimEq(A, 11))
    assert store.dim(B) == 1


def test_a_long_sum_that_is_reviewed_is_not_read_by_what_it_lent() -> None:
    """3a + 2(… 30 sizes) = 5 is more than 5 = 5."""
    store = new_store(levels=False)
    many = [DimVar() for _ in range(30)]
    total = dims.mul(3, A)
    for var in many:
        total = dims.combine(total, 2, var)
    store.post(DimEq(total, 5))
    store.review()
    for var in many:
        store.post(DimEq(var, 0))
    store.review()
    assert store.conflicts


def test_two_inequalities_make_an_equation() -> None:
    """a >= b and b >= a."""
    store = new_store(levels=False)
    store.post(AtLeast(dims.sub(A, B), silent=False))
    store.post(AtLeast(dims.sub(B, A), silent=False))
    assert store.dim(A) == store.dim(B)


def test_two_inequalities_with_room_between_them_hold() -> None:
    """a >= b and b + 1 >= a."""
    store = new_store(levels=False)
    store.post(AtLeast(dims.sub(A, B), silent=False))
    store.post(AtLeast(dims.sub(dims.add(B, 1), A), silent=False))
    assert not store.conflicts


def test_what_is_around_a_shape_in_its_own_value_is_empty() -> None:
    """s = p@s"""
    store = new_store(levels=False)
    store.post(ShapeEq((S,), (P, S)))
    assert store.word((P,)) == ()


def test_what_is_left_over_is_empty_by_the_rule_of_the_paper() -> None:
    """s@[a]@t = [b]: no ranks have to be counted."""
    rules: list[str] = []
    store = new_store(lambda rule, _: rules.append(rule), levels=False)
    store.post(ShapeEq((S, A, T), (B,)))
    assert [store.word((v,)) for v in (S, T)] == [(), ()]
    assert "empty shapes" in rules
    assert "rank" not in rules


def test_shapes_of_equal_rank_that_face_each_other_are_equal() -> None:
    """p@s = q@t, where p and q have the same rank."""
    store = new_store(levels=False)
    store.post(DimEq(P.rank, Q.rank))
    store.post(ShapeEq((P, S), (Q, T)))
    assert store.word((P, S)) == store.word((Q, T))


def test_the_sizes_around_a_shape_are_the_same() -> None:
    """s@[a] = [b]@s"""
    store = new_store(levels=False)
    store.post(ShapeEq((S, A), (B, S)))
    assert store.dim(A) == store.dim(B)


def test_what_equals_the_same_word_is_equal() -> None:
    """p@q = s@t and p@q = s@[a]"""
    store = new_store(levels=False)
    store.post(ShapeEq((P, Q), (S, T)))
    store.post(ShapeEq((P, Q), (S, A)))
    assert store.word((T,)) == store.word((A,))


def test_a_size_that_cannot_be_the_one_beside_it_is_1() -> None:
    """The broadcast of a and a + 2, which is not 1."""
    store = new_store(levels=False)
    store.post(DimBroadcast(B, (A, dims.add(A, 2))))
    assert [store.dim(v) for v in (A, B)] == [1, 3]


def test_no_part_of_a_broadcast_is_longer_than_the_result() -> None:
    """[a] is not the broadcast of s@[b,c] and t."""
    store = new_store(levels=False)
    store.post(Broadcast((A,), ((S, B, C), (T,))))
    assert store.conflicts


def test_some_part_of_a_broadcast_is_as_long_as_the_result() -> None:
    """[a,b] is the broadcast of [c] and s."""
    store = new_store(levels=False)
    store.post(Broadcast((A, B), ((C,), (S,))))
    assert len(store.word((S,))) == 2


@pytest.mark.parametrize("extra", range(4))
@pytest.mark.parametrize(("a", "b", "c"), list(product(range(1, 5), range(1, 4), range(2, 6))))
def test_what_is_above_a_multiple_is_too_little_to_count(
    a: int, b: int, c: int, extra: int
) -> None:
    """(a*(p/c) + b*p + e)/(a + b*c) is p/c, if e is small."""
    p = dims.add(A, 1)
    part = dims.floordiv(p, c)
    top = dims.add(dims.combine(dims.scale(a, part), b, p), extra)
    found = dims.floordiv(top, a + b * c)
    if b * (c - 1) + extra < a + b * c:
        assert found == part
    for n in range(60):
        expected = (a * ((n + 1) // c) + b * (n + 1) + extra) // (a + b * c)
        assert dims.evaluate(found, {A: n}) == expected


@pytest.mark.parametrize("bound", [1, 2, 3])
@pytest.mark.parametrize("cut", [dims.minimum, dims.maximum])
def test_a_size_beside_what_it_is_cut_to_decides(cut: Callable[..., Dim], bound: int) -> None:
    """broadcast(n, min(n,3)) is n and broadcast(n, max(n,1)) is n, wherever they fit."""
    if cut is dims.maximum and bound > 1:
        return
    store = new_store(levels=False)
    store.post(DimBroadcast(A, (B, cut(B, bound))))
    assert store.dim(A) == store.dim(B) and bool(store.waiting) == (bound > 1)
    for n in range(6):
        other = min(n, bound) if cut is dims.minimum else max(n, bound)
        fits = n == other or 1 in (n, other)
        if fits:
            assert (other if n == 1 else n) == n
        concrete = new_store(levels=False)
        concrete.post(DimBroadcast(A, (B, cut(B, bound))))
        concrete.post(DimEq(B, n))
        assert bool(concrete.conflicts) != fits
