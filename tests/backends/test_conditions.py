"""What values decide: cond and iterate, and loops with several outputs, on both backends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import axon
from tests.run.support import BACKENDS


def compiled(text: str, backend: str) -> Any:
    return axon.compile(text, backend=backend)


def flat(value: Any) -> list[Any]:
    if isinstance(value, tuple):
        return [part for item in value for part in flat(item)]
    return [np.asarray(value)]


@pytest.mark.parametrize("backend", BACKENDS)
def test_only_one_of_two_functions_gives_the_result(backend: str) -> None:
    program = compiled(
        "f = fn (x : f32 [n]) { cond(sum(x) > 0.0, fn () { x, 1 }, fn () { -x, 0 }) };", backend
    )
    for sign in (1, -1):
        x = sign * np.array([1, 2, 3], np.float32)
        value, number = program.f(x)
        np.testing.assert_array_equal(value, [1, 2, 3])
        assert int(number) == (sign > 0)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_other_function_is_not_called(backend: str) -> None:
    text = "op f : f32 [n] -> f32 [n]; op g : f32 [n] -> f32 [n];"
    text += "h = fn (c : bool, x : f32 [n]) { cond(c, fn () { f(x) }, fn () { g(x) }, differ=0) };"
    program = compiled(text, backend)
    called = []

    def noted(name: str, x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        called.append(name)
        return x

    program.implement("f", lambda x: noted("f", x))
    program.implement("g", lambda x: noted("g", x))
    program.h(np.array(True), np.ones(3, np.float32))
    assert called == ["f"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_branches_may_differ_in_size(backend: str) -> None:
    call = "cond(c, fn () { concat(x, x) }, fn () { x }, differ=0)"
    text = f"f = fn (c : bool, x : f32 [n,2]) {{ {call} }};"
    program = compiled(text, backend)
    x = np.ones((3, 2), np.float32)
    assert program.f(np.array(True), x).shape == (6, 2)
    assert program.f(np.array(False), x).shape == (3, 2)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_condition_for_each_row(backend: str) -> None:
    text = (
        "f = fn (x) { map(fn (row) { cond(sum(row) > 0.0, fn () { row }, fn () { -row }) }, x) };"
    )
    x = np.array([[1, 2], [-3, 1], [0, -1]], np.float32)
    np.testing.assert_array_equal(
        compiled(text, backend).f(x), np.where(x.sum(1, keepdims=True) > 0, x, -x)
    )


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_state_goes_on_while_a_condition_holds(backend: str) -> None:
    text = """
    collatz = fn (n : i64) {
      odd = fn (k) { k - k / 2 * 2 == 1 };
      _, steps = iterate(
        (n, 0),
        fn (s) { k, _ = s; k > 1 },
        fn (s) { k, c = s; cond(odd(k), fn () { 3 * k + 1 }, fn () { k / 2 }), c + 1 }
      );
      steps
    };"""
    program = compiled(text, backend)
    assert [int(program.collatz(np.array(n))) for n in (1, 6, 7, 27)] == [0, 8, 16, 111]


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_outputs_of_a_loop_that_ends(backend: str) -> None:
    text = """
    f = fn (x : f32 [n], least : f32) {
      iterate(x, fn (x) { max(x) > least }, fn (x) { x / 2.0, (x, max(x)) }, outputs=2)
    };"""
    x = np.array([8, 2, 1], np.float32)
    for least, iterations in ((1.5, 3), (100.0, 0)):
        found = flat(compiled(text, backend).f(x, np.array(least, np.float32)))
        powers = 2.0 ** np.arange(iterations)
        np.testing.assert_array_equal(found[0], x / 2.0**iterations)
        np.testing.assert_array_equal(found[1], x / powers[:, None])
        np.testing.assert_array_equal(found[2], 8 / powers)


@pytest.mark.parametrize("backend", BACKENDS)
def test_several_outputs_and_several_rows(backend: str) -> None:
    text = """
    f = fn (h : f32 [2], x : f32 [n,2], y : f32 [n]) {
      a = loop(h, fn (h, r, s) { h + r, (h * s, s) }, x, y, outputs=2);
      b = fold((h, 0), fn (state, r, s) { h, c = state; h * s + r, c + 1 }, x, y);
      a, b
    };"""
    h, x, y = np.ones(2, np.float32), np.arange(6, dtype=np.float32).reshape(3, 2), np.arange(3.0)
    y = y.astype(np.float32)
    last, rows, same, folded, count = flat(compiled(text, backend).f(h, x, y))
    before = np.concatenate([h[None], h + np.cumsum(x, axis=0)])
    np.testing.assert_array_equal(last, before[-1])
    np.testing.assert_array_equal(rows, before[:-1] * y[:, None])
    np.testing.assert_array_equal(same, y)
    expected = h
    for r, s in zip(x, y, strict=True):
        expected = expected * s + r
    np.testing.assert_array_equal(folded, expected)
    assert count == 3


def test_what_makes_no_sense_is_told() -> None:
    for call, text in [
        ("loop(x, fn (s, r) { s, r }, x, outputs=0)", "a loop without output is a fold"),
        ("iterate(x, fn (s) { true }, fn (s) { s }, outputs=-1)", "from 0 to"),
        ("cond(x, fn () { x }, fn () { x })", ""),
        ("cond(true, fn () { x }, fn () { sum(x) })", ""),
    ]:
        found = axon.check_text(f"f = fn (x : f32 [4]) {{ {call} }};", "f").diagnostics
        assert any(text in d.message for d in found), call


@pytest.mark.parametrize("backend", BACKENDS)
def test_states_that_are_tuples_beside_sizes_of_the_run(backend: str) -> None:
    text = """
    f = fn (x : f32 [n], k : i64) {
      loop(
        (x, 0),
        fn (s : (f32 [n], i64), i : i64) {
          v, c = s;
          w = fold(v, fn (v : f32 [n], j : i64) { v + 1.0 }, arange(0, i, 1));
          (w, c + i), sum(w)
        },
        arange(0, k, 1)
      )
    };"""
    found = flat(compiled(text, backend).f(np.zeros(2, np.float32), np.array(4)))
    np.testing.assert_array_equal(found[0], [6, 6])
    assert found[1] == 6
    np.testing.assert_array_equal(found[2], [0, 2, 6, 12])
