"""`jax.grad` and `jax.jit` of programs on ragged tensors."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import axon
from tests.run.all_rows import alike, row_by_row
from tests.run.support import assert_jax, plain

jax: Any = pytest.importorskip("jax")

BODIES = [
    "mean(r, axis=0)",
    "max(r, axis=0)",
    "prod(r, axis=0)",
    "softmax(r, axis=0)",
    "layer_norm(r @ w)",
    "softmax(r @ transpose(r)) @ (r @ w)",
    "cumsum(r)",
    "sort(r, axis=0)",
    "fold(zeros([3]), fn (h, e) { tanh(project(h, w) + e) }, r)",
    "map(fn (e) { softmax(e) * sum(r) }, r)",
    "concat(r[1:], reverse(r))",
    "expand_dims(softmax(sum(r @ w, axis=1)), axis=1) * r",
]


def program(body: str) -> Any:
    text = f"f = fn (x : f32 [n,*,3], w : f32 [3,3]) {{ map(fn (r) {{ {body} }}, x) }};"
    return axon.compile(text, backend="jax").f.jax


def arguments() -> tuple[axon.Ragged, Any]:
    random = numpy.random.default_rng(0)
    values = random.normal(size=(12, 3)).astype(numpy.float32)
    w = random.normal(size=(3, 3)).astype(numpy.float32)
    return axon.Ragged.from_packed(jax.numpy.asarray(values), [0, 4, 5, 12]), w


@pytest.mark.parametrize("body", BODIES)
def test_gradients_are_those_of_the_rows(body: str) -> None:
    function = program(body)

    def loss(x: axon.Ragged, w: Any) -> Any:
        made = function(x, w)
        parts = made.rows if isinstance(made, axon.Ragged) else [made]
        return sum((part * part).sum() for part in parts)

    args = arguments()
    gradient = jax.jit(jax.grad(loss, argnums=(0, 1)))
    found = gradient(*args)
    with row_by_row():
        expected = jax.grad(loss, argnums=(0, 1))(*args)
    assert isinstance(found[0], axon.Ragged)
    close(found[0].values, expected[0].values)
    close(found[1], expected[1])


def close(found: Any, expected: Any) -> None:
    numpy.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-4)


def test_what_is_compiled_once() -> None:
    """The same sizes of rows are compiled for once, with any values."""
    traced = 0
    function = program("softmax(r, axis=0)")

    def counted(x: axon.Ragged, w: Any) -> Any:
        nonlocal traced
        traced += 1
        return function(x, w)

    x, w = arguments()
    compiled = jax.jit(counted)
    for factor in (1, 2, 3):
        made = compiled(x.map_values(lambda v, f=factor: v * f), w)
        close(made.values, function(x.map_values(lambda v, f=factor: v * f), w).values)
    assert traced == 1


def test_sizes_that_depend_on_values_are_not_traced() -> None:
    function = program("compress(r, sum(r, axis=1) > 0f)")
    with pytest.raises(axon.ArgumentError, match="depend on values"):
        jax.jit(function)(*arguments())


STREAMED = [
    "mean(r, axis=0)",
    "softmax(r, axis=0)",
    "layer_norm(relu(r @ w))",
    "max(r @ w, axis=0)",
    "expand_dims(softmax(sum(r @ w, axis=1)), axis=1) * r",
    "map(fn (e) { e * sum(r) }, r)",
    "r * 2f, sum(r)",
]


@pytest.mark.parametrize("body", STREAMED)
def test_a_stream_of_batches_is_compiled_a_few_times(body: str) -> None:
    """Batches of eight rows of any sizes, none of them too, have NumPy's values."""
    text = f"f = fn (x : f32 [n,*,3], w : f32 [3,3]) {{ map(fn (r) {{ {body} }}, x) }};"
    net, expected = axon.compile(text, backend="jax"), axon.compile(text)
    random = numpy.random.default_rng(0)
    w = random.normal(size=(3, 3)).astype(numpy.float32)
    for _ in range(12):
        lengths = random.integers(0, 12, 8)
        offsets = numpy.concatenate([[0], numpy.cumsum(lengths)])
        values = random.normal(size=(offsets[-1], 3)).astype(numpy.float32)
        x = axon.Ragged.from_packed(values, offsets)
        made = net.f(x, w)
        assert_jax(made)
        assert alike(plain(made), plain(expected.f(x, w)), rtol=2e-4, atol=2e-5)
    assert net.f.compilations <= 2


def test_elements_of_no_row_go_nowhere() -> None:
    """What fills a bucket up is in no row, and a NaN of one row in no other."""
    net = axon.compile(
        "f = fn (x : f32 [n,*]) { map(fn (r) { min(r), max(r), sum(r), prod(r * 0f + 2f) }, x) };",
        backend="jax",
    )
    x = axon.Ragged.from_packed(numpy.array([5, 7, numpy.nan, 6], numpy.float32), [0, 2, 3, 4])
    found = [numpy.asarray(each).tolist() for each in net.f(x)]
    assert [row[0] for row in found] == [5, 7, 12, 4]
    assert [row[2] for row in found] == [6, 6, 6, 2]
    assert all(numpy.isnan(row[1]) for row in found)
