"""examples/recurrent.axon against loops in NumPy."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

import axon
from tests.examples import reference
from tests.examples.common import Arrays, both, close, program, wide

# steps, the batch, inputs, hidden
SIZES = [(5, (), 3, 4), (1, (2,), 3, 1), (4, (2, 3), 1, 2), (0, (2,), 3, 4), (3, (0,), 2, 2)]
sizes = pytest.mark.parametrize(("n", "s", "i", "h"), SIZES)


def lstm_arguments(make: Arrays, s: tuple[int, ...], i: int, h: int) -> tuple[Any, ...]:
    return (make(*s, h), make(*s, h)), make(i, 4 * h), make(h, 4 * h), make(4 * h)


def gru_arguments(make: Arrays, s: tuple[int, ...], i: int, h: int) -> tuple[Any, ...]:
    return make(*s, h), make(i, 3 * h), make(h, 3 * h), make(3 * h), make(3 * h)


@both
@sizes
def test_lstm(backend: str, n: int, s: tuple[int, ...], i: int, h: int) -> None:
    make = Arrays(n, i, h)
    xs, rest = make(n, *s, i), lstm_arguments(make, s, i, h)
    close(program("recurrent", backend).lstm(xs, *rest), reference.lstm(wide(xs), *wide(rest)))


@both
@sizes
def test_gru(backend: str, n: int, s: tuple[int, ...], i: int, h: int) -> None:
    make = Arrays(n, i, h)
    xs, rest = make(n, *s, i), gru_arguments(make, s, i, h)
    close(program("recurrent", backend).gru(xs, *rest), reference.gru(wide(xs), *wide(rest)))


@both
@sizes
def test_bidirectional_lstm(backend: str, n: int, s: tuple[int, ...], i: int, h: int) -> None:
    make = Arrays(n, i, h)
    xs = make(n, *s, i)
    there, back = lstm_arguments(make, s, i, h), lstm_arguments(make, s, i, h + 1)
    _, forwards = reference.lstm(wide(xs), *wide(there))
    _, backwards = reference.lstm(wide(xs)[::-1], *wide(back))
    expected = np.concatenate([forwards, backwards[::-1]], axis=-1)
    close(program("recurrent", backend).bidirectional_lstm(xs, *there, *back), expected)


@both
@pytest.mark.parametrize(("n", "s", "h"), [(4, (2,), 3), (2, (), 1), (0, (1,), 2)])
def test_residual_gru(backend: str, n: int, s: tuple[int, ...], h: int) -> None:
    make = Arrays(n, h)
    xs = make(n, *s, h)
    first, second = gru_arguments(make, s, h, h), gru_arguments(make, s, h, h)
    middle = wide(xs) + reference.gru(wide(xs), *wide(first))[1]
    expected = middle + reference.gru(middle, *wide(second))[1]
    close(program("recurrent", backend).residual_gru(xs, *first, *second), expected)


@both
def test_a_cell_is_a_function_too(backend: str) -> None:
    make = Arrays(1)
    state, w, r, b = lstm_arguments(make, (2,), 3, 4)
    y = make(2, 3)
    next_state, output = program("recurrent", backend).lstm_cell(state, y, w, r, b)
    expected, outputs = reference.lstm(wide(y)[None], wide(state), *wide((w, r, b)))
    close((next_state, output), (expected, outputs[0]))


def test_gradient_through_the_loop() -> None:
    """The slope that JAX finds is the one that a small step shows."""
    make = Arrays(2)
    xs, (state, w, r, b) = make(4, 2, 3), lstm_arguments(make, (2,), 3, 2)
    lstm = program("recurrent").lstm.jax

    def loss(r: Any) -> Any:
        return lstm(xs, state, w, r, b)[1].sum()

    def exact(r: Any) -> Any:
        return reference.lstm(wide(xs), wide(state), wide(w), r, wide(b))[1].sum()

    slope = jax.jit(jax.grad(loss))(r)
    for place in np.ndindex(*r.shape):
        step = np.zeros(r.shape)
        step[place] = 1e-5
        assert slope[place] == pytest.approx(
            (exact(wide(r) + step) - exact(wide(r) - step)) / 2e-5, rel=1e-3, abs=1e-4
        )


def test_weights_that_do_not_fit() -> None:
    make = Arrays(3)
    state, w, _, b = lstm_arguments(make, (2,), 3, 4)
    with pytest.raises(axon.ArgumentError, match="lstm cannot be called with"):
        program("recurrent").lstm(make(5, 2, 3), state, w, make(4, 15), b)
