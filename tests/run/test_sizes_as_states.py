"""Sizes as states, and rows of several sizes: each iteration may give another."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import axon
from axon.driver import check_text
from tests.run.support import BACKENDS, floats, on_both, plain

# --- sizes as states -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "type_", "expected"),
    [
        ("fold(n, fn (s, i) { s + i }, range(3))", "i64", 5),
        ("fold(n, fn (s : i64, _i) { s + 1 }, range(3))", "i64", 5),
        ("iterate(n, fn (s) { s < 10 }, fn (s) { s + 3 })", "t []", 11),
        ("cond(sum(x) < 0.0, fn () { n }, fn () { m })", "t []", 4),
        ("cond(sum(x) < 0.0, fn () { n }, fn () { 2.5 })", "t []", 2.5),
        ("fold(shape(x), fn (s, _i) { s * 2 }, range(3))", "t [2]", [16, 32]),
        ("fold((n, m), fn (s, i) { a, b = s; b, a + i }, range(3))", "(i64, i64)", (5, 4)),
        ("zeros([cond(sum(x) < 0.0, fn () { n }, fn () { m })])", "f32 [?a]", [0] * 4),
        ("identity(n)", "dim n", 2),
    ],
)
def test_a_size_as_a_state_is_a_number(body: str, type_: str, expected: Any) -> None:
    """Each iteration, or each branch, may give another."""
    program = f"f = fn (x : f32 [n,m]) {{ {body} }};"
    checked = check_text(program, "f.axon")
    assert not checked.diagnostics
    assert checked.signatures[0].signature == f"f32 [n,m] -> {type_}"
    found = plain(on_both(program, numpy.ones((2, 4), "f4")))
    for mine, true in zip(
        found if isinstance(found, tuple) else (found,),
        expected if isinstance(expected, tuple) else (expected,),
        strict=True,
    ):
        numpy.testing.assert_array_equal(mine, true)


def test_branches_that_give_shapes_of_two_ranks_do_not_fit() -> None:
    text = "f = fn (x : f32 [n,c], t : bool) { cond(t, fn () { shape(x) }, fn () { [n] }) };"
    assert [d.code for d in check_text(text, "f.axon").diagnostics] == ["AX101"]


# --- rows of several sizes ---------------------------------------------------------------------


def test_iterate_collects_rows_that_grow() -> None:
    program = """f = fn (x : f32 [n]) {
        iterate(x, fn (x) { sum(x) < 9.0 }, fn (x) { concat(x, ones([4])), x }, outputs=1, differ=0)
    };"""
    for backend in BACKENDS:
        state, rows = axon.compile(program, backend=backend).f(numpy.zeros(2, "f4"))
        assert numpy.shape(state) == (14,)
        assert [len(row) for row in rows] == [2, 6, 10]
        _, none = axon.compile(program, backend=backend).f(numpy.full(2, 9, "f4"))
        assert len(none) == 0


ROWS = "map(fn (i) { slice_by(x, zeros_like(i), i, axes=[0]) }, reshape(k, [3, 1]))"


def test_rows_of_one_size_are_measured() -> None:
    program = f"f = fn (x : f32 [n], k : i64 [3]) {{ measured({ROWS}, axis=1) }};"
    assert (
        check_text(program, "f.axon").signatures[0].signature == "(f32 [n], i64 [3]) -> f32 [3,?a]"
    )
    x = floats(5)
    for backend in BACKENDS:
        net = axon.compile(program, backend=backend)
        found = net.f(x, numpy.array([2, 2, 2]))
        assert not isinstance(found, axon.Ragged)
        numpy.testing.assert_array_equal(found, numpy.tile(x[:2], (3, 1)))
        with pytest.raises(axon.AxonError, match="rows of one size"):
            net.f(x, numpy.array([2, 3, 2]))
