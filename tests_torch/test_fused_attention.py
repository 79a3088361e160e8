"""Attention that a program writes out is PyTorch's one kernel, with the values, the derivatives and
the derivatives of these that the program has without it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

import axon

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:.*:UserWarning")

STD = 'import "std/attention.axon" as att;\n'

FUSED = {
    "paper": ("fn (Q, K, V) { matmul(softmax(matmul(Q, transpose(K))), V) }", "123"),
    "std": ("fn (Q, K, V) { att.attention(Q, K, V) }", "0123"),
    "std causal": ("fn (Q : t s@[n,d], K, V) { att.causal_attention(Q, K, V[..., :3]) }", "0123"),
    "masked": ("fn (Q, K, V) { att.masked_attention(Q, K, V, Q[0] @ transpose(K[0]) > 0) }", "1"),
    "infix": (
        "fn (Q : f32 [b,m,d], K : f32 [b,n,d], V : f32 [b,n,e]) "
        "{ s = Q @ transpose(K, perm=[0,2,1]) * 0.3; softmax(s, axis=2) @ V }",
        "1",
    ),
    "places": (
        "fn (Q : f32 [b,n,d], K : f32 [b,n,d], V : f32 [b,n,e]) { s = Q @ transpose(K) / sqrt(d);"
        " softmax(where(range(n)[:, None] >= range(n), s, -inf)) @ V }",
        "1",
    ),
    "added": (
        "fn (Q : f32 [b,h,m,d], K : f32 [b,h,n,d], V : f32 [b,h,n,e]) {"
        " bias = abs(Q @ transpose(K)); softmax(bias + Q @ transpose(K)) @ V }",
        "2",
    ),
    "factor": ("fn (Q, K, V) { matmul(softmax(sum(V) * matmul(Q, transpose(K))), V) }", "12"),
    "keys the other way": (
        "fn (Q : f32 [b,m,d], K : f32 [b,n,d], V) { k = exp(transpose(K)) - 1;"
        " matmul(softmax(matmul(Q, k) / sqrt(size(Q, axis=-1))), V) }",
        "1",
    ),
    "one mask for each": (
        "fn (Q : f32 [a,b,c,m,d], K : f32 [a,b,c,n,d], V : f32 [a,b,c,n,e]) {"
        " s = matmul(Q, transpose(K));"
        " matmul(softmax(where(V[..., 0][..., None, :] > -1, s, -inf)), V) }",
        "3",
    ),
}

CASES = [(name, int(rank)) for name, (_, ranks) in FUSED.items() for rank in ranks]

NOT_FUSED = [
    "fn (Q, K, V) { s = softmax(matmul(Q, transpose(K))); matmul(s, V), s }",
    "fn (Q, K, V) { matmul(softmax(matmul(Q, transpose(K)), axis=1), V) }",
    "fn (Q : f32 [b,n,d], K : f32 [b,n,d], V) { s = matmul(Q, transpose(K));"
    " matmul(softmax(where(range(n)[:, None] > range(n) - 1, s, -1e9)), V) }",
    "fn (Q, K, V) { matmul(relu(matmul(Q, transpose(K))), V) }",
    "fn (Q, K, V) { s = matmul(Q, transpose(K)); matmul(softmax(s * s), V) }",
    "fn (Q, K, V) { matmul(softmax(matmul(Q, transpose(K)) / inf), V) }",
    "fn (Q : f32 [b,n,d], K : f32 [b,n,d], V) { softmax(Q @ transpose(K)) @ V[0] }",
]


@pytest.fixture
def fused(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each call of the kernel was causal."""
    found: list[bool] = []
    usual = functional.scaled_dot_product_attention

    def noted(*args: Any, **named: Any) -> Any:
        found.append(named.get("is_causal", False))
        return usual(*args, **named)

    monkeypatch.setattr(functional, "scaled_dot_product_attention", noted)
    return found


def operands(rank: int, dtype: Any = torch.float32, n: int = 5) -> list[Any]:
    torch.manual_seed(rank)
    batch = (2, 3, 2)[:rank]
    sizes = [(n, 4), (n, 4), (n, 4)]
    return [torch.randn(*batch, *size, dtype=dtype) for size in sizes]


@pytest.mark.parametrize(("name", "rank"), CASES)
def test_the_values_are_those_of_the_program(name: str, rank: int, fused: list[bool]) -> None:
    text = f"{STD}f = {FUSED[name][0]};"
    given = operands(rank)
    found = axon.compile(text, backend="torch").f(*given)
    assert fused == [name in ("std causal", "places")]
    expected = axon.compile(text).f(*[x.numpy() for x in given])
    np.testing.assert_allclose(found.numpy(), expected, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("text", NOT_FUSED)
def test_what_is_something_else_is_left_alone(text: str, fused: list[bool]) -> None:
    given = operands(1)
    found = axon.compile(f"f = {text};", backend="torch").f(*given)
    expected = axon.compile(f"f = {text};").f(*[x.numpy() for x in given])
    pairs = zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]
    for one, other in pairs:
        np.testing.assert_allclose(one.numpy(), other, rtol=2e-5, atol=2e-5)
    assert not fused


@pytest.mark.parametrize("size", [0, 1])
def test_no_keys_and_one(size: int) -> None:
    text = f"{STD}f = {FUSED['std causal'][0]};"
    given = operands(2, n=size)
    found = axon.compile(text, backend="torch").f(*given)
    np.testing.assert_allclose(found, axon.compile(text).f(*[x.numpy() for x in given]), rtol=1e-5)


def test_a_query_that_no_key_is_open_to_is_no_number() -> None:
    """As a softmax of nothing but minus infinity is."""
    text = f"{STD}f = fn (Q, K, V, m) {{ att.masked_attention(Q, K, V, m) }};"
    q, k, v = operands(2)
    mask = torch.ones(5, 5, dtype=torch.bool)
    mask[3] = False
    found = axon.compile(text, backend="torch").f(q, k, v, mask)
    assert found[:, :, 3].isnan().all() and not found[:, :, [0, 1, 2, 4]].isnan().any()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_other_floats(dtype: Any, fused: list[bool]) -> None:
    given = operands(2, dtype)
    found = axon.compile(f"{STD}f = {FUSED['std causal'][0]};", backend="torch").f(*given)
    assert fused == [True] and found.dtype == dtype
    expected = by_hand(*(x.double() for x in given))
    within = {torch.float64: 1e-12, torch.float16: 4e-3, torch.bfloat16: 3e-2}[dtype]
    torch.testing.assert_close(found.double(), expected, rtol=within, atol=within)


def by_hand(q: Any, k: Any, v: Any) -> Any:
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    lower = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
    return torch.softmax(scores.masked_fill(~lower, -math.inf), -1) @ v[..., :3]


WRITTEN = f"{STD}f = {FUSED['std causal'][0]};"
OPERATOR = """f = fn (Q, K, V) {
  dot_product_attention(Q, K, V[..., :3], causal=true)
};"""


@pytest.mark.parametrize("text", [WRITTEN, OPERATOR])
def test_derivatives_of_derivatives(text: str, fused: list[bool]) -> None:
    given = [x.requires_grad_() for x in operands(2, torch.float64)]
    found = []
    for function in (axon.compile(text, backend="torch").f, by_hand):
        first = torch.autograd.grad(function(*given).square().sum(), given, create_graph=True)
        second = torch.autograd.grad(sum(x.square().sum() for x in first), given)
        found.append((*first, *second))
    assert fused == [True]
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("text", [WRITTEN, OPERATOR])
def test_derivatives_along_a_direction_and_transforms(text: str) -> None:
    f = axon.compile(text, backend="torch").f
    q, k, v = operands(2, torch.float64)
    for transform in (
        lambda f: torch.func.jvp(f, (q, k, v), (k, v, q))[1],
        lambda f: torch.func.grad(lambda q: f(q, k, v).square().sum())(q),
        lambda f: torch.vmap(f)(*(x[None] for x in (q, k, v))),
    ):
        torch.testing.assert_close(transform(f), transform(by_hand))
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(q, k)
        tangent = torch.autograd.forward_ad.unpack_dual(f(dual, k, v)).tangent
    torch.testing.assert_close(tangent, torch.func.jvp(lambda q: by_hand(q, k, v), (q,), (k,))[1])


def test_gradients_twice_and_of_some() -> None:
    f = axon.compile(WRITTEN, backend="torch").f
    q, k, v = operands(2)
    k.requires_grad_()
    made = f(q, k, v).square().sum()
    made.backward(retain_graph=True)
    made.backward()
    (expected,) = torch.autograd.grad(by_hand(q, k, v).square().sum(), [k])
    torch.testing.assert_close(k.grad, 2 * expected)


def test_compiled_it_is_one_kernel_and_one_compilation() -> None:
    f = axon.compile(WRITTEN, backend="torch", compiled=True).f
    for n in (5, 9, 12):
        given = [x.requires_grad_() for x in operands(2, n=n)]
        found = f(*given)
        torch.testing.assert_close(found, by_hand(*given), rtol=1e-4, atol=1e-4)
        found.sum().backward()
    assert f.compilations == 1


def test_on_rows_of_a_batch_and_ragged_ones() -> None:
    text = f"{STD}f = fn (x) {{ map(fn (r) {{ att.attention(r, r, r) }}, x) }};"
    x = operands(1)[0]
    expected = torch.stack([torch.softmax(r @ r.T / 2, -1) @ r for r in x])
    torch.testing.assert_close(axon.compile(text, backend="torch").f(x), expected)
    ragged = f"{STD}f = fn (x : f32 [n,*,d]) {{ map(fn (r) {{ att.attention(r, r, r) }}, x) }};"
    rows = [x[0], x[1][:2]]
    found = axon.compile(ragged, backend="torch").f(
        torch.nested.nested_tensor(rows, layout=torch.jagged)
    )
    for one, r in zip(found.unbind(), rows, strict=True):
        torch.testing.assert_close(one, torch.softmax(r @ r.T / 2, -1) @ r)
