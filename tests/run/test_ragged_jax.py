"""`jax.grad` and `jax.jit` of programs on ragged tensors."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy
import pytest

import axon
from axon.backends import bounded
from axon.backends.ragged_bucket import InBucket
from tests.run import test_all_rows as at_once
from tests.run.all_rows import alike, given, outcome, row_by_row, rows
from tests.run.support import assert_jax, plain

jax: Any = pytest.importorskip("jax")

ANY = [
    "softmax(r, axis=0)",
    "layer_norm(r @ w)",
    "prod(r, axis=0)",
    "softmax(r @ transpose(r)) @ (r @ w)",
    "causal_attention(r, r, r @ w)",
    "cumsum(r)",
    "sort(r, axis=0)",
    "fold(zeros([3]), fn (h, e) { tanh(project(h, w) + e) }, r)",
    "map(fn (e) { softmax(e) * sum(r) }, r)",
    "concat(r[1:], reverse(r))",
    "gather(r, argsort(sum(r, axis=1)))",
    "expand_dims(softmax(sum(r @ w, axis=1)), axis=1) * r",
]
"""What rows without elements have, too."""

SOME = ["mean(r, axis=0)", "max(r, axis=0)", "gather(r, [0, 0])", "r[0] * r"]

WITH_EMPTY = [(4, 0, 1, 7), (0, 1, 1, 0, 3)]

WITHOUT = [(4, 1, 7), (1,)]

CASES = [(body, lengths) for body in ANY for lengths in WITH_EMPTY]
CASES += [(body, lengths) for body in SOME for lengths in WITHOUT]
CASES += [(body, (1,)) for body in ANY[:3]]


def program(body: str) -> Any:
    text = f"f = fn (x : f32 [n,*,3], w : f32 [3,3]) {{ map(fn (r) {{ {body} }}, x) }};"
    return axon.compile(text, backend="jax").f.jax


def arguments(lengths: tuple[int, ...] = (4, 1, 7)) -> tuple[axon.Ragged, Any]:
    random = numpy.random.default_rng(0)
    offsets = numpy.concatenate([[0], numpy.cumsum(lengths)])
    values = random.normal(size=(offsets[-1], 3)).astype(numpy.float32)
    w = random.normal(size=(3, 3)).astype(numpy.float32)
    return axon.Ragged.from_packed(jax.numpy.asarray(values), offsets), w


@pytest.mark.parametrize(("body", "lengths"), CASES)
def test_gradients_are_those_of_the_rows(body: str, lengths: tuple[int, ...]) -> None:
    function = program(body)

    def loss(x: axon.Ragged, w: Any) -> Any:
        made = function(x, w)
        parts = made.rows if isinstance(made, axon.Ragged) else [made]
        return sum((part * part).sum() for part in parts)

    args = arguments(lengths)
    gradient = jax.jit(jax.grad(loss, argnums=(0, 1)))
    found = gradient(*args)
    with row_by_row():
        expected = jax.grad(loss, argnums=(0, 1))(*args)
    assert isinstance(found[0], axon.Ragged)
    close(found[0].values, expected[0].values)
    close(found[1], expected[1])


@pytest.mark.parametrize("body", ["cumsum(r)", "softmax(r @ transpose(r)) @ (r @ w)"])
def test_gradients_are_differences_of_values(body: str) -> None:
    """Of NumPy's, in f64."""
    text = f"f = fn (x : f64 [n,*,3], w : f64 [3,3]) {{ map(fn (r) {{ {body} }}, x) }};"
    net = axon.compile(text)
    offsets = numpy.array([0, 3, 3, 4, 9])
    random = numpy.random.default_rng(1)
    values, w = random.normal(size=(9, 3)), random.normal(size=(3, 3))

    def loss(v: Any) -> float:
        made = net.f(axon.Ragged.from_packed(v, offsets), w)
        return float((made.values * made.values).sum())

    with jax.enable_x64(True):
        function = net.on("jax").f.jax
        gradient = jax.grad(lambda x: (function(x, w).values ** 2).sum())
        found = gradient(axon.Ragged.from_packed(jax.numpy.asarray(values), offsets)).values
    for place in numpy.ndindex(values.shape):
        step = numpy.zeros_like(values)
        step[place] = 1e-5
        difference = (loss(values + step) - loss(values - step)) / 2e-5
        numpy.testing.assert_allclose(found[place], difference, rtol=1e-5, atol=1e-5)


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
    "cumsum(r)",
    "sort(r, axis=0)",
    "argsort(r, axis=0)",
    "gather(r, argsort(sum(r, axis=1)))",
    "reverse(r)",
    "fold(zeros([3]), fn (h, e) { tanh(project(h, w) + e) }, r)",
    "loop(zeros([3]), fn (h, e) { g = tanh(h + e); g, g * 2f }, r)",
]
"""What is compiled for buckets of rows and of elements, and nothing else."""

ROUGHLY = [
    ("concat(r, r * 2f)", 5),
    ("concat(r, w)", 5),
    ("r[1:]", 5),
    ("pad(r, pad=[[1,2],[0,0]])", 6),
    ("softmax(r @ transpose(r) / sqrt(3)) @ (r @ w)", 12),
    ("causal_attention(r, r, r @ w)", 12),
]
"""And for buckets of the sizes of what is made on the way."""


def stream(body: str, lengths: Callable[[Any], Any]) -> Any:
    text = f"f = fn (x : f32 [n,*,3], w : f32 [3,3]) {{ map(fn (r) {{ {body} }}, x) }};"
    net, expected = axon.compile(text, backend="jax"), axon.compile(text)
    random = numpy.random.default_rng(0)
    w = random.normal(size=(3, 3)).astype(numpy.float32)
    for _ in range(12):
        offsets = numpy.concatenate([[0], numpy.cumsum(lengths(random))]).astype(int)
        values = random.normal(size=(offsets[-1], 3)).astype(numpy.float32)
        x = axon.Ragged.from_packed(values, offsets)
        made = net.f(x, w)
        assert_jax(made)
        assert alike(plain(made), plain(expected.f(x, w)), rtol=2e-4, atol=2e-5)
    assert not net.f.row_loops
    return net.f


@pytest.mark.parametrize("body", STREAMED)
def test_a_stream_of_batches_is_compiled_a_few_times(body: str) -> None:
    """Batches of eight rows of any sizes, none of them too, have NumPy's values."""
    function = stream(body, lambda random: random.integers(0, 12, 8))
    assert function.compilations <= (4 if "fold" in body or "loop" in body else 2)


@pytest.mark.parametrize(("body", "most"), ROUGHLY)
def test_what_is_made_on_the_way_has_buckets_too(body: str, most: int) -> None:
    function = stream(body, lambda random: random.integers(0, 40, 20))
    assert function.compilations <= most


def test_batches_of_other_numbers_of_rows() -> None:
    function = stream(
        "softmax(r, axis=0)", lambda random: random.integers(0, 4, random.integers(57, 65))
    )
    assert function.compilations <= 3


@pytest.mark.parametrize("group", at_once.BODIES)
def test_all_rows_at_once(group: str) -> None:
    """What NumPy computes for all rows, JAX does, or with rows padded to a few sizes."""
    kind, lines = at_once.BODIES[group]
    bodies = [line.strip() for line in lines.strip().splitlines()]
    text = at_once.program(kind, bodies, "map(fn (r) {{ {} }}, x)")
    net, expected = axon.compile(text, backend="jax"), axon.compile(text)
    for i, body in enumerate(bodies):
        function = getattr(net, f"f{i}")
        for lengths in ((3, 8, 4, 4), (2, 0, 3, 5, 1, 7)):
            args = (rows(kind, lengths), *given())
            known = outcome(getattr(expected, f"f{i}"), *args)
            if isinstance(known, str):
                continue
            assert alike(plain(function(*args)), known[0], rtol=1e-3, atol=1e-4), (body, lengths)
            if 0 not in lengths:
                assert not function.row_loops, body


@pytest.mark.parametrize(("kind", "body"), at_once.DIRECT)
def test_operators_on_ragged_tensors(kind: str, body: str) -> None:
    text = at_once.program(kind, [body], "{}")
    net, expected = axon.compile(text, backend="jax"), axon.compile(text)
    for lengths in ((3, 8, 4, 4), (2, 0, 3, 5, 1, 7)):
        args = (rows(kind, lengths), *given())
        found, known = net.f0(*args), expected.f0(*args)
        assert alike(plain(found), plain(known), rtol=1e-3, atol=1e-4), lengths
    assert not net.f0.row_loops


def test_results_stay_where_they_are() -> None:
    """From one call to the next nothing is cut out of its bucket, nor filled up again."""
    net = axon.compile(
        "f = fn (x : f32 [n,*]) { map(fn (r) { cumsum(r) }, x) };"
        "g = fn (x : f32 [n,*]) { softmax(map(fn (r) { sort(r) }, x) * 2f) };",
        backend="jax",
    )
    x = rows("vectors", (3, 8, 4, 4))
    expected = net.on("numpy")
    first = net.f(x)
    second = net.g(first)
    assert isinstance(first, InBucket) and first._cut is None
    assert isinstance(second, InBucket) and second._cut is None
    assert second.values.shape == (19,)
    assert alike(plain(second), plain(expected.g(expected.f(x))))


def test_a_result_in_a_bucket_is_a_ragged_tensor() -> None:
    net = axon.compile("f = fn (x : i64 [n,*]) { map(fn (r) { cumsum(r) }, x) };", backend="jax")
    x = rows("numbers", (3, 0, 4))
    made, known = net.f(x), net.on("numpy").f(x)
    assert made.shape == (3, None) and made.levels == known.levels and str(made.dtype) == "int64"
    for same in (pickle.loads(pickle.dumps(made)), copy.copy(made), replace(made, like=None)):
        assert same.to_list() == known.to_list()
    leaves, tree = jax.tree.flatten(made)
    assert [leaf.shape for leaf in leaves] == [(7,)]
    assert jax.tree.unflatten(tree, leaves).to_list() == known.to_list()
    assert made.take([2, 0]).to_list() == known.take([2, 0]).to_list()
    assert repr(made) == repr(known)


def test_rows_of_rows() -> None:
    deep = axon.Ragged.from_rows(
        [rows("vectors", (1, 2)), rows("vectors", (0, 3, 2)), rows("vectors", (4,))]
    )
    net = axon.compile(
        "f = fn (x : f32 [n,*,*]) { map(fn (d) { map(fn (s) { softmax(s) }, d) }, x) };"
        "g = fn (x : f32 [n,*,*]) { map(fn (d) { sum(map(fn (s) { sum(s) }, d)) }, x) };",
        backend="jax",
    )
    expected = net.on("numpy")
    for name in ("f", "g"):
        found, known = getattr(net, name)(deep), getattr(expected, name)(deep)
        assert alike(plain(found), plain(known))
        assert not getattr(net, name).row_loops


def test_what_goes_row_by_row_is_reported() -> None:
    text = "op own : f32 [k] -> f32 [k]; f = fn (x : f32 [n,*]) { map(own, x) };"
    net = axon.compile(text, backend="jax", ops={"own": lambda r: r + 1})
    net.f(rows("vectors", (2, 3, 1)))
    assert net.f.row_loops == (
        "line 1: map: `own` is a caller's operator; rows of equal size go together,"
        " and each size is compiled for",
    )


def test_a_row_without_what_is_asked_for_is_an_error() -> None:
    """A program that was compiled for rows that have elements is not run on others."""
    net = axon.compile(
        "f = fn (x : f32 [n,*]) { map(fn (r) { argmax(r) }, x) };"
        "g = fn (x : f32 [n,*]) { map(fn (r) { r[2] }, x) };"
        "h = fn (x : f32 [n,*], y : f32 [n,*]) { map(fn (r, s) { dot(r, s) }, x, y) };",
        backend="jax",
    )
    long = rows("vectors", (3, 4))
    assert net.f(long).shape == net.g(long).shape == net.h(long, long).shape == (2,)
    for name, args in (("f", [(3, 0)]), ("g", [(3, 2)]), ("h", [(3, 4), (4, 3)])):
        with pytest.raises(axon.RunError):
            getattr(net, name)(*(rows("vectors", lengths) for lengths in args))


def test_what_is_too_large_goes_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "f = fn (x : f32 [n,*,3]) { map(fn (r) { softmax(r @ transpose(r)) @ r }, x) };"
    x = rows("matrices", (30, 2, 9, 1, 17, 5))
    known = axon.compile(text).f(x)
    monkeypatch.setattr(bounded, "AT_ONCE", 1 << 12)
    net = axon.compile(text, backend="jax")
    assert alike(plain(net.f(x)), plain(known))
    assert not net.f.row_loops and net.f.compilations > 1


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
