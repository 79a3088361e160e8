"""`if c { a } else { b }`: only the branch that is taken is computed."""

from __future__ import annotations

from typing import Any

import jax
import numpy
import pytest

import axon
from tests.run.support import BACKENDS, close, floats, on_both, plain

X, Y = floats(3), floats(5)


@pytest.mark.parametrize("c", [True, False])
@pytest.mark.parametrize(
    ("body", "then", "otherwise"),
    [
        ("if c { x } else { -x }", X, -X),
        ("if c { z = x * 2; z + 1 } else { x }", X * 2 + 1, X),
        ("if c { x } else { y }", X, Y),
        ("if c { x[1:] } else { concat(x, y) }", X[1:], numpy.concatenate([X, Y])),
        ("(if c { x } else { y })[0]", X[0], Y[0]),
        ("if c { x } else { y } |> sum", X.sum(), Y.sum()),
        ("if c { x, 1.0 } else { x * 2, 0 }", (X, numpy.float32(1)), (X * 2, numpy.float32(0))),
        ("if c { n } else { m }", numpy.int64(3), numpy.int64(5)),
        ("if c { 1.5 } else { n }", numpy.float32(1.5), numpy.float32(3)),
        ("z = if c { x } else { y }; z * 2 + z", X * 3, Y * 3),
        ("if not c { y } else if n == 4 { y } else { x }", X, Y),
        ("map(fn (r) { if c and r > 0 { r } else { 0 } }, x)", numpy.maximum(X, 0), 0 * X),
        ("range(if c { 2 } else { 3 })", numpy.arange(2), numpy.arange(3)),
        ("if c { x, y } else { y, x }", (X, Y), (Y, X)),
        ("p = if c { { a = x } } else { { a = if n == 4 { x } else { y } } }; p.a", X, Y),
        (
            "p = if c { { b = n, type = x } } else { { b = m, type = y } }; p.type * p.b",
            X * 3,
            Y * 5,
        ),
    ],
)
def test_values(body: str, then: Any, otherwise: Any, c: bool) -> None:
    program = f"f = fn (c : bool, x : f32 [n], y : f32 [m]) {{ {body} }};"
    close(plain(on_both(program, numpy.bool_(c), X, Y)), then if c else otherwise)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_other_branch_is_not_computed(backend: str) -> None:
    program = "op f : f32 s -> f32 s;\nop g : f32 s -> f32 s;\n"
    program += "h = fn (c, x) { if c { f(x) } else { g(x) } };"
    net = axon.compile(program, backend=backend)
    seen: list[str] = []

    def noting(name: str) -> Any:
        def implementation(x: Any) -> Any:
            seen.append(name)
            return x

        return implementation

    net.implement("f", noting("f"))
    net.implement("g", noting("g"))
    if backend == "numpy":
        net.h(numpy.bool_(True), X)
        assert seen == ["f"]
        net.h(numpy.bool_(False), X)
        assert seen == ["f", "g"]
    close(plain(net.h(numpy.bool_(False), X)), X)


def test_gradients_through_the_branch_that_is_taken() -> None:
    net = axon.compile(
        "f = fn (x) { if sum(x) > 0 { sum(x * x) } else { sum(x) } };", backend="jax"
    )
    slope = jax.grad(net.f.jax)
    close(numpy.asarray(slope(numpy.ones(2, "f"))), numpy.full(2, 2, "f"))
    close(numpy.asarray(slope(-numpy.ones(2, "f"))), numpy.ones(2, "f"))


def test_sizes_that_the_branches_share() -> None:
    net = axon.compile("f = fn (c, x : f32 [n,4], y : f32 [m,4]) { if c { x } else { y } };")
    assert net.f.signature == "(bool, f32 [n,4], f32 [m,4]) -> f32 [?a,4] where ?a = either(n, m)"
    program = "f = fn (c, x : f32 [n], y : f32 [n]) { if c { x[1:] } else { y[:-1] } };"
    assert axon.compile(program).f.signature == "(bool, f32 [n], f32 [n]) -> f32 [max(n-1,0)]"


def test_the_order_of_lines_does_not_matter() -> None:
    lines = ["z = if c { x } else { y };", "w = max(x, y);"]
    found = {
        axon.compile(f"f = fn (c, x : f32 [n], y) {{ {' '.join(order)} z + w }};").f.signature
        for order in (lines, lines[::-1])
    }
    assert found == {"(bool, f32 [n], f32 [n]) -> f32 [n]"}


EITHER = """
pick = fn (c, x : f32 [n], y : f32 [m]) { if c { x } else { y } };
same = fn (c, x : f32 [n], w : f32 [n]) { pick(c, x, w) + w };
third = fn (c, d, x : f32 [n], y : f32 [m], z : f32 [k]) { if c { x } else { pick(d, y, z) } };
known = fn (c, d, x : f32 [n]) { third(c, d, x, x + 1f, x + 2f) * x };
"""


@pytest.mark.parametrize("backend", BACKENDS)
def test_either_size(backend: str) -> None:
    net = axon.compile(EITHER, backend=backend)
    x, y = numpy.ones(3, numpy.float32), numpy.ones(4, numpy.float32) * 2
    assert net.pick(True, x, y).shape == (3,)
    assert net.pick(False, x, y).shape == (4,)
    assert net.third(False, False, x, y, y[:2]).shape == (2,)
    numpy.testing.assert_array_equal(net.same(False, x, x * 3), x * 6)
    numpy.testing.assert_array_equal(net.known(False, False, x), x * 3)
    numpy.testing.assert_array_equal(net.known(True, False, x), x)


@pytest.mark.parametrize(
    ("program", "signature"),
    [
        (
            "f = fn (c, x : f32 [n]) { if c { { a = x } } else { { a = x[1:] } } };",
            "(bool, f32 [n]) -> { a : f32 [?a] } where ?a = either(n, max(n-1,0))",
        ),
        (
            "g = fn (c, x, y : f32 [m]) { if c { { a = (x, y) } } else { { a = (y, y) } } };"
            "f = fn (c, x : f32 [n]) { g(c, x, x) };",
            "(bool, f32 [n]) -> { a : (f32 [n], f32 [n]) }",
        ),
        (
            "f = fn (c, x : f32 [n,d], y : f32 [m]) { if c { x[0], y } else { y, y[1:] } };",
            "(bool, f32 [n,d], f32 [m]) -> (f32 [?a], f32 [?b])"
            " where n >= 1, ?a = either(d, m), ?b = either(m, max(m-1,0))",
        ),
        (
            "f = fn (c, p) { if c { p } else { { p | w = p.w[1:] } } };",
            "(bool, { c | w : t [a]@b }) -> { c | w : t [?d]@b } where ?d = either(a, max(a-1,0))",
        ),
        (
            "f = fn (c, x) { if c { x } else { x[:, 1:] } };",
            "(bool, t [a,b]@c) -> t [a,?d]@c where ?d = either(b, max(b-1,0))",
        ),
    ],
)
def test_sizes_in_structures(program: str, signature: str) -> None:
    assert axon.compile(program).f.signature == signature


@pytest.mark.parametrize("c", [True, False])
def test_an_open_record(c: bool) -> None:
    program = "f = fn (c, p) { if c { p } else { { p | w = p.w[1:] } } };"
    for backend in BACKENDS:
        found = axon.compile(program, backend=backend).f(c, {"w": X, "other": Y})
        close(plain(found["w"]), X if c else X[1:])
        close(plain(found["other"]), Y)


@pytest.mark.parametrize("body", ["relu", "{ f = relu }", "x, fn (y) { y }"])
def test_a_branch_gives_no_function(body: str) -> None:
    with pytest.raises(axon.AxonError, match="a branch cannot give a function"):
        axon.compile(f"f = fn (c : bool, x : f32 [n]) {{ if c {{ {body} }} else {{ {body} }} }};")


def test_a_function_that_is_a_state() -> None:
    net = axon.compile("f = fn (x : f32 [n]) { g = fold(relu, fn (f, _) { f }, x); g(x) };")
    with pytest.raises(axon.AxonError, match="a function returned by an operator cannot be called"):
        net.f(X)
