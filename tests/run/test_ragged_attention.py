"""Attention in rows on NumPy: one kernel for all rows, with the values of the rows one by one."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy
import pytest

import axon
from axon.backends import numpy_attention
from axon.backends.numpy_arrays import NumpyArrays
from tests.run.all_rows import alike, outcome, row_by_row, watched

HEADS = """
heads = fn (r : t [n,d]) { split_heads(expand_dims(r, axis=0), heads=2) };
head = fn (r : t [n,d]) { split_heads(expand_dims(r[:, :2], axis=0), heads=1) };
merged = fn (y : t [1,h,n,k]) { squeeze(merge_heads(y), axis=0) };
"""

FUSED = """
    softmax(r @ transpose(r) / sqrt(4)) @ (r @ w)
    softmax(2f * (r @ transpose(q)) / sqrt(4)) @ q
    attention(r, q, q @ w)
    causal_attention(r, r @ w, r)
    merged(dot_product_attention(heads(r), heads(q @ w), heads(q)))
    merged(dot_product_attention(heads(r), heads(r), heads(r), causal=true, scale=0.3))
    merged(dot_product_attention(heads(r), head(q), head(q), groups=2))
    squeeze(attention(heads(r), heads(r @ w), heads(r)), axis=0)
""".strip().splitlines()

OTHERS = """
    r @ transpose(r)
    softmax(tanh(r @ transpose(q)) * 2f) @ q
    softmax(r @ transpose(r), axis=0) @ r
    softmax(tril(r @ transpose(r))) @ r
    masked_attention(r, r, r, (r @ transpose(r)) > -5f)
""".strip().splitlines()
"""They look at the scores."""

LENGTHS = [
    ((3, 8, 1, 4, 4), (2, 5, 1, 7, 7)),
    ((2, 0, 3, 5), (1, 4, 3, 2)),
    ((1,), (6,)),
    ((0, 300, 2), (0, 9, 300)),
]


def function(body: str, elem: str = "f32") -> Any:
    head = f"fn (x : {elem} [b,*,4], y : {elem} [b,*,4], w : {elem} [4,4])"
    body = body if elem == "f32" else body.replace("2f * ", "")
    return axon.compile(f"{HEADS} f = {head} {{ map(fn (r, q) {{ {body} }}, x, y) }};").f


def given(lengths: tuple[int, ...], dtype: Any = numpy.float32, odd: float | None = None) -> Any:
    random = numpy.random.default_rng(sum(lengths))
    values = random.normal(size=(sum(lengths), 4)).astype(dtype)
    if odd is not None and len(values):
        values[random.integers(len(values)), 1] = odd
    return axon.Ragged.from_packed(values, numpy.cumsum([0, *lengths]))


@pytest.fixture
def kernels(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each call of the kernel whether it did it."""
    seen: list[bool] = []

    def called(*args: Any, **named: Any) -> Any:
        made = numpy_attention.attention_of_rows(*args, **named)
        seen.append(made is not None)
        return made

    monkeypatch.setattr(NumpyArrays, "attention_of_rows", called)
    return seen


@pytest.mark.parametrize("near", [1, 40, 1 << 17])
@pytest.mark.parametrize("body", FUSED)
def test_attention_is_one_kernel(
    body: str, near: int, kernels: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numpy_attention, "NEAR", near)
    monkeypatch.setattr(numpy_attention, "LEAST", 3)
    f, w = function(body), numpy.random.default_rng(0).normal(size=(4, 4)).astype(numpy.float32)
    for pair in LENGTHS:
        kernels.clear()
        args = (*map(given, pair), w)
        with watched() as looping:
            found = outcome(f, *args)
        assert kernels == [True] and not looping
        with row_by_row():
            expected = outcome(f, *args)
        assert found[1] == expected[1]
        assert alike(found[0], expected[0], rtol=1e-4, atol=1e-5), (body, pair)


@pytest.mark.parametrize("odd", [numpy.nan, numpy.inf, -numpy.inf, 1e30])
@pytest.mark.parametrize("body", FUSED)
def test_rows_do_not_meet(body: str, odd: float) -> None:
    f, w = function(body), numpy.random.default_rng(0).normal(size=(4, 4)).astype(numpy.float32)
    args = (given((3, 8, 4, 4), odd=odd), given((2, 5, 4, 4), odd=odd), w)
    found = outcome(f, *args)
    with row_by_row():
        expected = outcome(f, *args)
    assert alike(found[0], expected[0], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("body", [*OTHERS, *FUSED])
@pytest.mark.parametrize("elem", ["f32", "f16", "f64"])
def test_what_the_kernel_is_not_for(body: str, elem: str) -> None:
    """Scores that are looked at, half precision, and rows of queries without keys."""
    dtype = {"f32": numpy.float32, "f16": numpy.float16, "f64": numpy.float64}[elem]
    f, w = function(body, elem), numpy.eye(4, dtype=dtype)
    for pair in (*LENGTHS, ((2, 3), (0, 3))):
        args = (given(pair[0], dtype), given(pair[1], dtype), w)
        found = outcome(f, *args)
        with row_by_row():
            expected = outcome(f, *args)
        if isinstance(expected, str):
            assert found == expected
            continue
        close = 1e-2 if elem == "f16" else 1e-4
        assert found[1] == expected[1]
        assert alike(found[0], expected[0], rtol=close, atol=close), (body, pair)


def test_scores_of_a_long_row_are_never_all_there() -> None:
    f = function(FUSED[0])
    x = given((3, 6000, 2))
    tracemalloc.start()
    try:
        f(x, x, numpy.eye(4, dtype=numpy.float32))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 6000 * 6000 * 4 / 10
