"""Operators that are written between or before their operands, or with a word."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import axon
from tests.run.support import BACKENDS, close, on_both, plain

X = numpy.array([[7.5, -7.5, 0.0], [3.0, -3.0, 1.25]], numpy.float32)
Y = numpy.array([2.0, -2.0, 0.5], numpy.float32)
K = numpy.array([[7, -7, 5], [3, -3, 0]], numpy.int64)
J = numpy.array([2, -2, 0], numpy.int64)
P = numpy.array([[True], [False]])
Q = numpy.array([True, False, True])


def divided(x: Any, y: Any, by: Any) -> Any:
    """Integers divided by zero give zero."""
    return numpy.where(y == 0, 0, by(x, numpy.where(y == 0, 1, y)))


@pytest.mark.parametrize(
    ("body", "args", "expected"),
    [
        ("x // y", (X, Y), numpy.floor(X / Y)),
        ("x // y", (K, J), divided(K, J, numpy.floor_divide)),
        ("x % y", (X, Y), X - Y * numpy.floor(X / Y)),
        ("x % y", (K, J), divided(K, J, numpy.remainder)),
        ("x // y * y + x % y == x", (X, Y), numpy.full((2, 3), True)),
        ("x ** 2 + y", (X, Y), X * X + Y),
        ("-x ** 2 - y", (X, Y), -(X * X) - Y),
        ("2 ** x * y", (X, Y), 2**X * Y),
        ("y ** 2 ** 3 + 0 * x", (X, Y), Y**8 + 0 * X),
        ("x ** 3 + 0 * y", (K, J), K**3),
        ("x and y", (P, Q), P & Q),
        ("x or y", (P, Q), P | Q),
        ("not x and y", (P, Q), ~P & Q),
        ("not (x and y) == (not x or not y)", (P, Q), numpy.full((2, 3), True)),
        ("x == y or y", (P, Q), (P == Q) | Q),
        ("x > 0 and y > 0", (X, Y), (X > 0) & (Y > 0)),
        ("x |> exp |> sum(axis=1) |> fn (z) { z * 2 }", (X, Y), numpy.exp(X).sum(axis=1) * 2),
        ("x - y |> maximum(y)", (X, Y), numpy.maximum(X - Y, Y)),
    ],
    ids=str,
)
def test_values(body: str, args: tuple[Any, ...], expected: Any) -> None:
    elem = expected.dtype if expected.dtype == bool else args[0].dtype
    close(plain(on_both(f"f = fn (x, y) {{ {body} }};", *args)), expected.astype(elem))


def test_words_as_functions() -> None:
    every = on_both("f = fn (x) { reduce(and, true, x), reduce(or, false, x), map(not, x) };", P)
    close(plain(every), (numpy.array([False]), numpy.array([True]), ~P))
    close(plain(on_both("f = fn (x) { scan(**, 1, x) };", numpy.array([2, 3, 0]))), [1, 1, 1])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("sign", ["//", "%"])
def test_a_size_divided_by_zero(sign: str, backend: str) -> None:
    net = axon.compile(f"f = fn (x : f32 [n], y : f32 [m]) {{ n {sign} m }};", backend=backend)
    assert int(net.f(X[0], Y[:2])) == 1
    with pytest.raises(axon.ArgumentError, match="divided by m"):
        net.f(X[0], Y[:0])
