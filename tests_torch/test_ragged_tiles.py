"""Matrices of rows in tiles, as on a GPU: values and gradients are those of the rows one by one.
Attention is one kernel.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy
import pytest

import axon
from tests.run.all_rows import row_by_row, watched

torch: Any = pytest.importorskip("torch")

from axon.backends.segments import mapping  # noqa: E402
from axon.backends.torch_arrays import TorchArrays  # noqa: E402

HEADS = """
heads = fn (r : t [n,d]) { split_heads(expand_dims(r, axis=0), heads=2) };
head = fn (r : t [n,d]) { split_heads(expand_dims(r[:, :2], axis=0), heads=1) };
merged = fn (y : t [1,h,n,k]) { squeeze(merge_heads(y), axis=0) };
"""

FUSED = """
    softmax(r @ transpose(r) / sqrt(4)) @ (r @ w)
    attention(r, r @ w, r)
    causal_attention(r, r @ w, r)
    softmax(2f * (r @ transpose(r)) / sqrt(4)) @ r
    merged(dot_product_attention(heads(r), heads(r @ w), heads(r)))
    merged(dot_product_attention(heads(r), heads(r), heads(r), causal=true, scale=0.3))
    merged(dot_product_attention(heads(r), head(r), head(r), groups=2))
    squeeze(attention(heads(r), heads(r @ w), heads(r)), axis=0)
""".strip().splitlines()

TILED = """
    softmax(r @ transpose(r), axis=0) @ r
    transpose(r) @ softmax(r @ transpose(r), axis=0)
    softmax(tanh(r @ transpose(r)) * 2f) @ r
    softmax((r @ transpose(r)) @ r)
    softmax(r @ transpose(r) + expand_dims(sum(r, axis=1), axis=0)) @ r
    (r @ transpose(r)) @ r, sum(r @ transpose(r))
    sum(r @ transpose(r), axis=0), mean(r @ transpose(r), axis=1)
    min(exp(r @ transpose(r)), axis=0)
    logsumexp(r @ transpose(r), axis=1)
    sum(where(r @ transpose(r) > 0f, 1f, r @ transpose(r)), axis=1)
    sum(where(any(r @ transpose(r) > 2f, axis=1), 1f, 0f), axis=0)
    sum(where(all(r @ transpose(r) > -9f, axis=0), 1f, sum(r, axis=1)), axis=0)
    sum(abs(expand_dims(sum(r, axis=1), axis=1) - expand_dims(sum(r, axis=1), axis=0)), axis=1)
    sum(triu(r @ transpose(r)), axis=1), sum(tril(r @ transpose(r), k=-1), axis=0)
    sum(r @ transpose(r) + transpose((r @ w) @ transpose(r)), axis=1)
    sum(tanh((r @ w) @ transpose(r)) * transpose((r @ w) @ transpose(r)), axis=0)
    softmax(tril(r @ transpose(r))) @ r
    merged(dot_product_attention(heads(r), heads(r), heads(r), softcap=2.0, before=3))
    masked_attention(r, r, r, (r @ transpose(r)) > -5f)
""".strip().splitlines()

OTHERS = """
    r @ transpose(r)
    (r @ transpose(r)) @ (r @ transpose(r)) @ r
    argmax(r @ transpose(r), axis=1)
    sum((r @ transpose(r))[1:], axis=0)
""".strip().splitlines()
"""They make matrices that are not made in tiles."""

LENGTHS = ((4, 0, 1, 9, 33, 17, 5), (1,), (3, 3), (140, 2))


def program(body: str, elem: str = "f32") -> Any:
    text = f"f = fn (x : {elem} [n,*,4], w : {elem} [4,4]) {{ map(fn (r) {{ {body} }}, x) }};"
    return axon.compile(HEADS + text.replace("  ", ""), backend="torch").f


def outcome(function: Any, lengths: tuple[int, ...], change: Any = None) -> list[Any]:
    """The results and the gradients."""
    random = numpy.random.default_rng(lengths)
    offsets = numpy.concatenate([[0], numpy.cumsum(lengths)])
    values = torch.tensor(random.normal(size=(offsets[-1], 4)).astype(numpy.float32))
    if change is not None:
        change(values)
    values.requires_grad_()
    w = torch.tensor(random.normal(size=(4, 4)).astype(numpy.float32), requires_grad=True)
    made = function(axon.Ragged.from_packed(values, offsets), w)
    rows = [row for part in (made if isinstance(made, tuple) else [made])
            for row in (part.rows if isinstance(part, axon.Ragged) else [part])]  # fmt: skip
    floats = [row for row in rows if row.requires_grad]
    sum((row * row).sum() for row in floats).backward() if floats else None  # type: ignore[union-attr]
    grads = [x.grad if x.grad is not None else torch.zeros(1) for x in (values, w)]
    return [x.detach() for x in (*rows, *grads)]


def compared(body: str, lengths: tuple[int, ...], change: Any = None) -> None:
    function = program(body)
    found = outcome(function, lengths, change)
    with row_by_row():
        expected = outcome(function, lengths, change)
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(
            a, b, rtol=1e-3, atol=1e-3, equal_nan=True, msg=f"{body} of rows {lengths}"
        )


@pytest.fixture
def tiled(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """As on a GPU. Says of each call whether it was made in tiles to its end."""
    seen: list[bool] = []
    begin = mapping._called

    def called(function: Any, frame: Any, *rest: Any) -> Any:
        made = begin(function, frame, *rest)
        seen.append(bool(frame.tilings))
        return made

    monkeypatch.setattr(TorchArrays, "tiled", True)
    monkeypatch.setattr(mapping, "_called", called)
    return seen


@pytest.mark.parametrize("body", [*FUSED, *TILED])
def test_values_and_gradients_are_those_of_the_rows(body: str, tiled: list[bool]) -> None:
    with watched() as looping:
        for lengths in LENGTHS:
            compared(body, lengths)
    assert all(tiled) and not looping


@pytest.mark.parametrize("body", OTHERS)
def test_what_tiles_are_not_for(body: str, tiled: list[bool]) -> None:
    for lengths in LENGTHS:
        compared(body, tuple(n for n in lengths if n))
    assert not tiled[-1]


@pytest.mark.parametrize("body", [FUSED[0], FUSED[2], TILED[0], TILED[4]])
@pytest.mark.parametrize("number", [numpy.nan, numpy.inf, 1e30])
def test_rows_do_not_meet(body: str, number: float, tiled: list[bool]) -> None:
    """What is not finite in one row is in no other, nor in its gradients."""

    def change(values: Any) -> None:
        values[20] = number  # in a row of 33 elements that begins at 14

    compared(body, LENGTHS[0], change)
    assert all(tiled)


@pytest.mark.parametrize(("elem", "close"), [("f16", 2e-2), ("bf16", 1e-1), ("f64", 1e-9)])
def test_other_floats(elem: str, close: float, tiled: list[bool]) -> None:
    dtype = {"f16": torch.float16, "bf16": torch.bfloat16, "f64": torch.float64}[elem]
    offsets = numpy.array([0, 40, 40, 43, 44])
    values = torch.randn(44, 4, generator=torch.Generator().manual_seed(0)).to(dtype)
    w = torch.eye(4).to(dtype)
    for body in (FUSED[0], FUSED[2], TILED[0], TILED[8]):
        made = program(body, elem)(axon.Ragged.from_packed(values, offsets), w)
        exact = program(body, "f64")(axon.Ragged.from_packed(values.double(), offsets), w.double())
        assert made.dtype == dtype
        torch.testing.assert_close(made.values.double(), exact.values, rtol=close, atol=close)
    assert all(tiled)


def kernel(
    xp: Any, q: Any, k: Any, v: Any, down: Any, across: Any, *, causal: bool, scale: Any
) -> Any:
    """What the kernels of a GPU compute."""
    made = []
    for first, last, begin, end in zip(
        down.starts, down.offsets[1:], across.starts, across.offsets[1:], strict=True
    ):
        parts = (q[first:last], k[begin:end], v[begin:end])
        many = [x.reshape(len(x), prod(x.shape[1:-1]), x.shape[-1]).transpose(0, 1) for x in parts]
        found = torch.nn.functional.scaled_dot_product_attention(
            *many, is_causal=causal, scale=scale
        )
        made.append(found.transpose(0, 1).reshape(*parts[0].shape[:-1], v.shape[-1]))
    return torch.cat(made)


@pytest.mark.parametrize("body", FUSED)
def test_attention_is_one_kernel(
    body: str, tiled: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[bool] = []

    def counted(*args: Any, **named: Any) -> Any:
        calls.append(named["causal"])
        return kernel(*args, **named)

    monkeypatch.setattr(TorchArrays, "attention_of_rows", counted)
    for lengths in LENGTHS:
        compared(body, lengths)
    assert calls == ["causal" in body] * len(LENGTHS)


@pytest.mark.parametrize("body", TILED)
def test_other_functions_are_no_attention(
    body: str, tiled: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TorchArrays, "attention_of_rows", kernel)
    compared(body, (4, 1, 9))
