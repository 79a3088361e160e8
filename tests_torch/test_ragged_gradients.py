"""Gradients of functions of rows: for all rows at once what they are row by row."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import axon
from tests.run.all_rows import row_by_row, watched

torch: Any = pytest.importorskip("torch")

BODIES = """
    mean(r, axis=0)
    max(r, axis=0)
    softmax(r, axis=0)
    layer_norm(r @ w)
    softmax(r @ transpose(r)) @ (r @ w)
    cumsum(r)
    sort(r, axis=0)
    fold(zeros([3]), fn (h, e) { tanh(project(h, w) + e) }, r)
    map(fn (e) { softmax(e) * sum(r) }, r)
    concat(r[1:], reverse(r))
    logsumexp(r, axis=0)
    where(r > 0f, r, 0f)
    expand_dims(softmax(sum(r @ w, axis=1)), axis=1) * r
    einsum(r, w, equation="ij,jk->ik")
    prod(r, axis=0)
    map(fn (e) { e * sum(r) }, w)
    r + r // (r * r + 1f)
    batch_norm(r, w[0], w[1], w[2], w[0] * w[0] + 1f)
    slice_by(r @ w, [cast(r[0,0], to=i64)], [cast(r[0,1] * 3f, to=i64)], axes=0)
    pad_by(r @ w, [cast(abs(r[0,0]) * 2f, to=i64), 1], sum(r), axis=0)
    pad_by(r @ w, [cast(abs(r[0,0]) * 2f, to=i64), 1], axis=0, mode="edge")
    rescale(r @ w, [where(r[0,0] > 0f, 0.5, 2f), 1.5], mode="linear")
    sum(join_axes(r @ w, [cast(r[0,0] > 0f, to=i64)]), axis=-1)
    s, o = iterate(sum(r), fn (s) { abs(s) > 0.1 }, fn (s) { s / 2f, s * r[0] }, outputs=1); o * s
    cond(sum(r) > 0f, fn () { r @ transpose(r) }, fn () { w * 2f }, differ=[0,1])
    roi_align((r @ w)[None, None], [[0f,0f,2f,3f]], [0], size=[2,2])
""".strip().splitlines()


def gradients(function: Any, x: Any, w: Any, offsets: Any) -> tuple[Any, Any]:
    values = torch.tensor(x, requires_grad=True)
    weight = torch.tensor(w, requires_grad=True)
    made = function(axon.Ragged.from_packed(values, offsets), weight)
    total = sum((part * part).sum() for part in (made.rows if hasattr(made, "rows") else [made]))
    (total + 0 * weight.sum()).backward()
    return values.grad.numpy(), weight.grad.numpy()


def test_gradients_are_those_of_the_rows() -> None:
    random = numpy.random.default_rng(0)
    offsets = numpy.array([0, 4, 5, 12, 16])
    x, w = (random.normal(size=size).astype(numpy.float32) for size in ((16, 3), (3, 3)))
    head = "fn (x : f32 [n,*,3], w : f32 [3,3])"
    text = "\n".join(
        f"f{i} = {head} {{ map(fn (r) {{ {body} }}, x) }};" for i, body in enumerate(BODIES)
    )
    with watched() as looping:
        net = axon.compile(text, backend="torch")
        for i, body in enumerate(BODIES):
            found = gradients(getattr(net, f"f{i}"), x, w, offsets)
            with row_by_row():
                expected = gradients(getattr(net, f"f{i}"), x, w, offsets)
            for a, b in zip(found, expected, strict=True):
                numpy.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-4, err_msg=body)
    assert not looping
