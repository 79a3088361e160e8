"""Parameters with defaults, and arguments by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import pytest

import axon
from tests.run.support import BACKENDS

SOURCE = """
f = fn (x, k = 2, b = 1f) { x * k + b };
g = f;
parts = fn (x : f32 [n], k = 3) { reshape(x, [k, n/k]) };
act = fn (x : f32 [n], act = relu, scale = 2) { act(x) * scale };
many = fn (x : f32 [n]) {
  act(x), act(x, tanh), act(x, scale=3), act(scale=1, act=fn (y) { -y }, x=x)
};
inner = fn (x : f32 [n], c : f32) {
  h = fn (y, s = c * 2f) { y * s };
  h(x), h(s=1f, y=x), map(h, x)
};
"""


def close(found: Any, wanted: Any) -> None:
    numpy.testing.assert_allclose(numpy.asarray(found), wanted, rtol=1e-6)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ["f", "g"])
def test_from_python(name: str, backend: str) -> None:
    f = getattr(axon.compile(SOURCE, backend=backend), name)
    x = numpy.array([1, 2], numpy.float32)
    close(f(x), x * 2 + 1)
    close(f(x, 3), x * 3 + 1)
    close(f(x, b=5.0), x * 2 + 5)
    close(f(b=0.0, x=x, k=7), x * 7)
    close(f(x, 3, 4.0), x * 3 + 4)


@pytest.mark.parametrize("backend", BACKENDS)
def test_in_programs(backend: str) -> None:
    net = axon.compile(SOURCE, backend=backend)
    x = numpy.array([-1, 2], numpy.float32)
    relu = numpy.maximum(x, 0)
    wanted = relu * 2, numpy.tanh(x) * 2, relu * 3, -x
    for found, each in zip(net.many(x), wanted, strict=True):
        close(found, each)
    for found, each in zip(net.inner(x, 5.0), (x * 10, x, x * 10), strict=True):
        close(found, each)


def test_a_default_may_be_a_size() -> None:
    net = axon.compile(SOURCE)
    assert net.parts(numpy.ones(6, numpy.float32)).shape == (3, 2)
    assert net.parts(numpy.ones(6, numpy.float32), k=2).shape == (2, 3)


def test_gradients() -> None:
    jax = pytest.importorskip("jax")
    net = axon.compile(SOURCE + "loss = fn (x : f32 [n], k = 2f) { sum(x * k) };")
    x = numpy.ones(3, numpy.float32)
    close(jax.grad(net.loss.jax)(x), [2, 2, 2])
    close(jax.grad(lambda x: net.loss.jax(x, k=5.0))(x), [5, 5, 5])


@pytest.mark.parametrize(
    ("args", "named", "text"),
    [
        ((), {}, "`x` is missing"),
        ((1.0,), {"c": 1}, "no argument `c`: its arguments are x, k, b"),
        ((1.0, 2, 3.0, 4), {}, "takes 3 arguments, 4 are given"),
        ((1.0, 2), {"k": 3}, "`k` is given twice"),
    ],
)
def test_what_does_not_fit(args: tuple[Any, ...], named: dict[str, Any], text: str) -> None:
    with pytest.raises(axon.AxonError, match=text):
        axon.compile(SOURCE).f(*args, **named)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("body", "factor"),
    [
        ("g = f; g(x)", 2),
        ("g = f; g(x, k=3)", 3),
        ("g = f; h = g; h(k=4, x=x) + h(x)", 6),
        ("g = f; map(g, x)", 2),
        ("f = fn (y, s = 5) { y * s }; g = f; g(x) + g(x, s=1)", 6),
    ],
)
def test_another_name_in_a_body(body: str, factor: int, backend: str) -> None:
    program = f"f = fn (x, k = 2) {{ x * k }}; main = fn (x) {{ {body} }};"
    x = numpy.array([1, 2], numpy.float32)
    close(axon.compile(program, backend=backend).main(x), x * factor)


ALIASES = {
    "g(x, axis=0)": "softmax(x, axis=0)",
    "again(x, axis=0)": "softmax(x, axis=0)",
    "g(x)": "softmax(x)",
    "map(g, x)": "map(softmax, x)",
    "join(x, x, x, axis=1)": "concat(x, x, x, axis=1)",
    "h = softmax; h(x, axis=0)": "softmax(x, axis=0)",
    "h = softmax; k = fn (y) { h(y, axis=0) }; k(x)": "softmax(x, axis=0)",
    "h = softmax; map(fn (y) { h(y, axis=0) }, x)": "map(fn (y) { softmax(y, axis=0) }, x)",
    "fold2(max, -inf, x, axis=-1, keep=true)": "reduce(max, -inf, x, axis=-1, keep=true)",
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("body", ALIASES)
def test_another_name_for_an_operator_has_its_attributes(body: str, backend: str) -> None:
    names = "g = softmax; again = g; join = concat; fold2 = reduce;"
    x = numpy.array([[1, 2, 3], [2, 0, 5]], numpy.float32)
    found, wanted = (
        axon.compile(f"{names} f = fn (x : f32 [n,m]) {{ {each} }};", backend=backend).f
        for each in (body, ALIASES[body])
    )
    assert str(found.signature) == str(wanted.signature)
    close(found(x), numpy.asarray(wanted(x)))


def test_another_name_for_an_operator_in_another_file(tmp_path: Path) -> None:
    (tmp_path / "names.axon").write_text("g = softmax;", "utf-8")
    program = 'import "names.axon" as names; f = fn (x : f32 [n,m]) { names.g(x, axis=0) };'
    (tmp_path / "f.axon").write_text(program, "utf-8")
    close(axon.load(tmp_path / "f.axon").f([[1, 1, 1], [1, 1, 1]]), numpy.full((2, 3), 0.5))


def test_what_another_name_for_an_operator_has_not() -> None:
    with pytest.raises(axon.ProgramError, match="softmax has no attribute `axes`"):
        axon.compile("g = softmax; f = fn (x : f32 [n,m]) { g(x, axes=0) };")
    with pytest.raises(axon.ProgramError, match="softmax takes 1 argument, 2 are given"):
        axon.compile("g = softmax; f = fn (x : f32 [n,m]) { g(x, x) };")


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_default_has_a_type_for_each_call(backend: str) -> None:
    program = "h = fn (y, k = 1.5) { y + k }; g = fn (a : f16 [n], b : f32 [n]) { h(a), h(b) };"
    a, b = numpy.ones(2, numpy.float16), numpy.ones(2, numpy.float32)
    found = axon.compile(program, backend=backend).g(a, b)
    assert [each.dtype for each in found] == [numpy.float16, numpy.float32]
