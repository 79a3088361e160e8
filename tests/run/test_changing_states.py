"""States whose size changes in each iteration: what they become, and what is checked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import axon
from tests.run import support

BACKENDS = pytest.mark.parametrize("backend", support.BACKENDS)


def floats(count: int) -> Any:
    return np.arange(count, dtype=np.float32)


@BACKENDS
def test_a_state_grows_and_is_read(backend: str) -> None:
    program = axon.compile(
        "f = fn (h : f32 [k], x : f32 [n]) {"
        "  fold(h, fn (h, y) { concat(h, expand_dims(y + max(h), axis=0)) }, x, differ=0)"
        "};",
        backend=backend,
    )
    np.testing.assert_array_equal(program.f(floats(2), floats(3)), [0, 1, 1, 2, 4])
    np.testing.assert_array_equal(program.f(floats(2), floats(0)), [0, 1])


@BACKENDS
def test_the_rows_of_each_iteration_may_differ(backend: str) -> None:
    program = axon.compile(
        "f = fn (h : f32 [k], x : f32 [n]) {"
        "  loop(h, fn (h, y) { concat(h, h), h + y }, x, differ=0)"
        "};",
        backend=backend,
    )
    last, rows = program.f(floats(1), floats(3))
    assert last.shape == (8,)
    assert [len(row) for row in rows] == [1, 2, 4]


@BACKENDS
@pytest.mark.parametrize("size", ["3", "q"])
def test_what_an_iteration_asks_of_the_size_is_checked_there(backend: str, size: str) -> None:
    program = axon.compile(
        f"f = fn (h : f32 [k], x : f32 [n], w : f32 [{size}]) {{"
        "  fold(h, fn (h, y) { concat(h, expand_dims(dot(h, w), axis=0)) }, x, differ=0)"
        "};",
        backend=backend,
    )
    np.testing.assert_array_equal(program.f(floats(3), floats(1), floats(3)), [0, 1, 2, 5])
    with pytest.raises(axon.RunError, match="a check failed"):
        program.f(floats(3), floats(2), floats(3))


@BACKENDS
def test_a_size_made_inside_is_compared_with_one_from_outside(backend: str) -> None:
    """Also where the function could read that one off a value of its own."""
    program = axon.compile(
        "f = fn (x : f32 [n,m], w : f32 [q]) { map(fn (r) { dot(compress(r, r > 0.5), w) }, x) };",
        backend=backend,
    )
    x = np.array([[0, 1, 2], [3, 0, 4]], np.float32)
    np.testing.assert_array_equal(program.f(x, np.ones(2, np.float32)), [3, 7])
    with pytest.raises(axon.RunError, match="a check failed"):
        program.f(x, np.ones(3, np.float32))
