"""A quotient of sizes is rounded down where a size is expected, and divides where a number is
wanted, whether or not it is bound to a name first.
"""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import axon
from tests.run.support import BACKENDS, close, floats, plain

BOTH = [
    ("half = n / 2; range(half), 1.0 / half", lambda n, m: (n // 2, 1 / (n / 2))),
    ("range(n / 2), 1.0 / (n / 2)", lambda n, m: (n // 2, 1 / (n / 2))),
    ("k = n / m; range(k), 1.0 / k", lambda n, m: (n // m, m / n)),
    ("k = n / 2 + 1; range(k), 1.0 / k", lambda n, m: (n // 2 + 1, 1 / (n / 2 + 1))),
    ("k = 1 + n / m; range(k), 1.0 / k", lambda n, m: (1 + n // m, 1 / (1 + n / m))),
    ("k = n / 2 - m / 3; range(k), 1.0 * k", lambda n, m: (n // 2 - m // 3, n / 2 - m / 3)),
    ("k = 2 * (n / 2); range(k), 1.0 * k", lambda n, m: (2 * (n // 2), float(n))),
    ("k = n / 2 / 2; range(k), 1.0 * k", lambda n, m: (n // 2 // 2, n / 4)),
    ("k = (n + 1) / m; range(k), 1.0 * k", lambda n, m: ((n + 1) // m, (n + 1) / m)),
    ("k = n / 2; l = k * k; range(l), 1.0 * l", lambda n, m: ((n // 2) ** 2, (n / 2) ** 2)),
    ("k = m / 2; l = n / k; range(l), 1.0 * l", lambda n, m: (n // (m // 2), n / (m / 2))),
    ("k = (n + 1) * (m + 2); range(k), 1.0 * k", lambda n, m: ((n + 1) * (m + 2),) * 2),
    ("k = 7 / 2; range(k), 1.0 * k", lambda n, m: (3, 3.5)),
    ("k = 8 / 2; range(k), 1.0 * k", lambda n, m: (4, 4.0)),
    ("k, l = n / 2, m; range(k), 1.0 * k", lambda n, m: (n // 2, n / 2)),
    ("p = (n / 2, m); k, l = p; range(k), 1.0 * k", lambda n, m: (n // 2, n / 2)),
    ("h = fn () { n / 2 }; range(h()), 1.0 * h()", lambda n, m: (n // 2, n / 2)),
    ("h = fn (v) { v, 1f }; k, o = h(n / 2); range(k), o * k", lambda n, m: (n // 2, n / 2)),
    ("h = fn (j : f32 [a]) { a / 2 }; range(h(x)), 1.0 * h(x)", lambda n, m: (n // 2, n / 2)),
    ("h = fn (y) { k = n / 2; y * k }; range(n / 2), h(1f)", lambda n, m: (n // 2, n / 2)),
    ("k = size(x) / 2; range(k), 1.0 * k", lambda n, m: (n // 2, n / 2)),
    ("k = n / 2; l = k; range(l), sqrt(l)", lambda n, m: (n // 2, (n / 2) ** 0.5)),
    ("range(halved(x)), 1.0 * halved(x)", lambda n, m: (n // 2, n / 2)),
    ("k, o = both(n / 2); range(k), o * k", lambda n, m: (n // 2, n / 2)),
    ("used(n / 2)", lambda n, m: (n // 2,) * 2),  # a parameter that is a size
    ("used(n)", lambda n, m: (n, n)),
    ("a, b = used(m); range(n), number(m) + number(n)", lambda n, m: (n, m + n)),
    ("range(small), 1.0 * small", lambda n, m: (3, 3.5)),
    ("k = n // 2; range(k), 1.0 * k", lambda n, m: (n // 2,) * 2),
    ("k = n // m + 1; range(k), 1.0 * k", lambda n, m: (n // m + 1,) * 2),
    ("k = n / 2 // 2; range(k), 1.0 * k", lambda n, m: (n // 4,) * 2),
    ("k = n // (m / 2); range(k), 1.0 * k", lambda n, m: (n // (m // 2), n // (m / 2))),
    ("k = n % m; range(k), 1.0 * k", lambda n, m: (n % m,) * 2),
    ("k = n / 2 % 2; range(k), 1.0 * k", lambda n, m: (n // 2 % 2, n / 2 % 2)),
    ("k = m ** 2; range(k), 1.0 * k", lambda n, m: (m**2,) * 2),
    ("k = (n / 2) ** 2; range(k), 1.0 * k", lambda n, m: ((n // 2) ** 2, (n / 2) ** 2)),
    ("range(7 // 2 + 7 % 4), 1.0 * (-7 // 2)", lambda n, m: (6, -4)),
    ("zeros([n // 2 + n % 2]), 2.0 ** m", lambda n, m: (n // 2 + n % 2, 2.0**m)),
]  # fmt: skip

AROUND = "small = 7 / 2;\nhalved = fn (x : f32 [n]) { n / 2 };\n"
AROUND += "both = fn (v) { v, 1f };\nused = fn (v) { range(v), 1.0 * v };\n"
AROUND += "number = fn (v) { cast(v, to=f32) };\n"


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("body", "expected"), BOTH, ids=[body for body, _ in BOTH])
def test_a_size_and_a_number(body: str, expected: Any, backend: str) -> None:
    program = f"{AROUND}f = fn (x : f32 [n], y : f32 [m]) {{ {body} }};"
    net = axon.compile(program, backend=backend)
    assert "?" not in net.f.signature
    for n, m in ((7, 3), (8, 2), (9, 4)):
        size, number = net.f(floats(n), floats(m))
        assert plain(size).shape == (expected(n, m)[0],)
        close(plain(number), numpy.float32(expected(n, m)[1]))


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_element_type_that_the_context_asks_for(backend: str) -> None:
    net = axon.compile("f = fn (x : t [n]) { k = n / 2; x * k };", backend=backend)
    for elem in ("float32", "int64", "int32"):
        found = plain(net.f(numpy.ones(7, elem)))
        assert found.dtype == elem
        close(found, numpy.full(7, 3 if elem.startswith("int") else 3.5, elem))


@pytest.mark.parametrize("backend", BACKENDS)
def test_integers_round_each_quotient(backend: str) -> None:
    net = axon.compile("f = fn (x : i64 [n]) { k = n / 2 + n / 3; x * k };", backend=backend)
    assert plain(net.f(numpy.ones(5, int))).tolist() == [5 // 2 + 5 // 3] * 5


@pytest.mark.parametrize("backend", BACKENDS)
def test_heads(backend: str) -> None:
    program = """f = fn (x : f32 [s,d], w : f32 [h]) {
      hd = d / h;
      y = reshape(x, [s, h, hd]);
      y / sqrt(hd)
    };"""
    net = axon.compile(program, backend=backend)
    assert net.f.signature.startswith("(f32 [s,d], f32 [h]) -> f32 [s,h,d/h]")
    x = floats(2, 12)
    close(plain(net.f(x, floats(3))), x.reshape(2, 3, 4) / 2)


@pytest.mark.parametrize("backend", BACKENDS)
def test_inside_functions_that_operators_take(backend: str) -> None:
    program = "f = fn (x : f32 [b,n]) { k = n / 2; map(fn (r) { r * k + sum(ones([k])) }, x) };"
    x = floats(3, 5)
    close(plain(axon.compile(program, backend=backend).f(x)), x * 2.5 + 2)


@pytest.mark.parametrize("backend", BACKENDS)
def test_rows_of_different_sizes(backend: str) -> None:
    program = """f = fn (x : f32 [n,*]) {
      map(fn (r) { half = size(r) / 2; sum(r) / half + sum(ones([half])) }, x)
    };"""
    found = axon.compile(program, backend=backend).f([[1, 2, 3], [4.0, 5]])
    close(plain(found), numpy.array([6 / 1.5 + 1, 9 + 1], numpy.float32))


def test_a_divisor_that_is_zero() -> None:
    number = axon.compile("f = fn (x : f32 [n], y : f32 [m]) { k = n / m; 1.0 / k };")
    close(plain(number.f(floats(3), floats(0))), numpy.float32(0))
    size = axon.compile("f = fn (x : f32 [n], y : f32 [m]) { k = n / m; zeros([k]) };")
    with pytest.raises(axon.ArgumentError, match="m"):
        size.f(floats(3), floats(0))
    result = axon.compile("f = fn (x : f32 [n], y : f32 [m]) { n / m };")
    with pytest.raises(axon.RunError, match="divided by zero"):
        result.f(floats(3), floats(0))


def test_to_the_caller_it_is_a_size() -> None:
    net = axon.compile("f = fn (x : f32 [n]) { n / 2 };")
    assert net.f.signature == "f32 [n] -> dim (n/2)"
    assert int(net.f(floats(7))) == 3
