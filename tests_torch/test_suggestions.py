"""What messages propose in the place of a call of PyTorch computes the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

import axon

PARAMETERS = (
    "x : f32 [4,6], y : f32 [4,6], w : f32 [6,3], v : f32 [6], z : f32 [2,3,8,8], "
    "k : f32 [5,3,3,3], m : bool [4,6], i : i64 [4], j : i64 [4,2], q : f32 [2,3,5,4]"
)

CALLS = """
torch.zeros(4, 6) + x
torch.full((4, 6), 3.0) + x
torch.ones_like(x)
torch.full_like(x, 3.0)
torch.arange(4)
torch.arange(1, 4)
torch.arange(0, 6, 2)
torch.eye(3)
torch.where(m, x, y)
torch.tril(x)
torch.triu(x, diagonal=1)
torch.norm(x, dim=-1)
x.norm(dim=0)
F.normalize(x, dim=-1)
F.normalize(x)
torch.gather(x, 1, j)
x.gather(1, j)
x.expand(3, 4, 6)
x.repeat(2, 1)
x.squeeze(0)
x.unsqueeze(1)
x.unsqueeze(-1)
z.flatten(1)
torch.flatten(z, start_dim=1)
torch.flatten(z, start_dim=2)
z.flatten()
x.chunk(2, dim=-1)[0]
x.argmax(-1)
x.argmax(dim=0)
x.pow(2)
x.exp()
x.amax(1)
x.softmax(-1)
F.log_softmax(x, dim=0)
x.matmul(w)
x.mm(w)
torch.stack([x, y], dim=0)
torch.cat([x, y], dim=1)
torch.cat((x, y))
torch.cumsum(x, 0)
x.cumsum(dim=1)
q.transpose(-2, -1)
q.transpose(1, 2)
x.t()
x.permute(1, 0)
torch.permute(q, (0, 2, 1, 3))
F.gelu(x)
F.gelu(x, approximate="tanh")
F.silu(x)
F.leaky_relu(x)
F.leaky_relu(x, 0.2)
F.leaky_relu(x, negative_slope=0.3)
F.elu(x)
F.softplus(x)
F.mish(x)
F.relu(x)
F.mse_loss(x, y)
F.l1_loss(x, y)
F.cross_entropy(x, i)
F.nll_loss(x, i)
F.layer_norm(x, [6])
F.layer_norm(x, [6], v, v)
F.layer_norm(x, [6], weight=v, bias=v)
F.layer_norm(z, [8, 8])
F.embedding(i, x)
F.linear(x, y)
F.linear(x, y, v[:4])
F.conv2d(z, k)
F.conv2d(z, k, padding=1)
F.conv2d(z, k, stride=2, padding=1)
F.conv2d(z, k, v[:5], 2, 1)
F.max_pool2d(z, 2)
F.max_pool2d(z, 3, 2, 1)
F.max_pool2d(z, kernel_size=2, stride=1)
F.max_pool2d(z, (2, 4))
F.avg_pool2d(z, 2)
F.avg_pool2d(z, 3, padding=1)
F.avg_pool2d(z, 3, 1, 1)
F.adaptive_avg_pool2d(z, 1)
F.adaptive_avg_pool2d(z, (2, 4))
F.interpolate(z, scale_factor=2)
F.interpolate(z, scale_factor=2, mode="bilinear")
F.scaled_dot_product_attention(q, q, q)
F.scaled_dot_product_attention(q, q, q, is_causal=True)
torch.clamp(x, -1, 1)
torch.clamp(x, min=0)
x.clamp(min=-0.5, max=0.5)
torch.topk(x, 2)[0]
x.topk(2, dim=0)[0]
x.masked_fill(m, -5.0)
torch.sum(x, dim=1, keepdim=True)
x.sum(-1)
x.sum(dim=[0, 1])
x.sum()
torch.mean(x)
x.mean(1, keepdim=True)
x.var(dim=-1, unbiased=False)
x.var(dim=-1, correction=1)
x.var(dim=-1, unbiased=True)
x.flip(0)
torch.roll(x, 1, 0)
torch.roll(x, 2, dims=1)
x.float()
i.float()
x.long()
x.to(torch.float16)
x.type(torch.float64)
x.view(-1)
x.view(2, -1)
x.reshape(-1, 3)
x.view(x.shape[0], -1)
x.view(x.size(0), 3, 2)
x.add(y)
x.mul(y)
x.sub(y)
x.div(y)
x.eq(y)
x.gt(0)
x.le(y)
torch.logical_and(m, m)
torch.argsort(x)
x.index_select(0, i)
torch.index_select(x, 1, i)
x.repeat_interleave(2, dim=0)
torch.outer(v, v)
torch.rsqrt(x * x)
torch.sigmoid(x)
x.abs()
torch.logsumexp(x, dim=1)
torch.prod(x, dim=1)
torch.maximum(x, y)
torch.bmm(q[0], q[0].transpose(1, 2))
torch.detach(x)
x.detach()
x.contiguous()
F.one_hot(i, num_classes=6)
F.one_hot(i, 6)
x.any()
m.any()
m.all(dim=1)
x.numel()
torch.std(x)
""".strip().splitlines()


def arguments() -> dict[str, Any]:
    random = np.random.default_rng(0)

    def floats(*shape: int) -> Any:
        return random.normal(size=shape).astype("f4")

    return {
        "x": floats(4, 6),
        "y": floats(4, 6),
        "w": floats(6, 3),
        "v": floats(6),
        "z": floats(2, 3, 8, 8),
        "k": floats(5, 3, 3, 3),
        "m": floats(4, 6) > 0,
        "i": np.array([3, 0, 2, 1]),
        "j": np.array([[0, 5], [1, 4], [2, 2], [3, 0]]),
        "q": floats(2, 3, 5, 4),
    }


def with_fix(text: str) -> str | None:
    """The program with the first proposal; None if none is made."""
    for each in axon.check_text(text).diagnostics:
        if each.fix is not None:
            at = each.fix.span
            return text[: at.start] + each.fix.replacement + text[at.end :]
    return None


def proposed(expression: str) -> str | None:
    """The program in which every call has become one of Axon; None if that does not come about."""
    text: str | None = f"f = fn ({PARAMETERS}) {{ {expression} }};"
    for _ in range(4):
        assert text is not None
        if axon.check_text(text).ok:
            return text
        text = with_fix(text)
        if text is None:
            return None
    return None


@pytest.mark.parametrize("expression", CALLS)
def test_a_proposal_computes_the_same(expression: str) -> None:
    text = proposed(expression)
    if text is None:
        return
    given = arguments()
    tensors = {name: torch.from_numpy(value) for name, value in given.items()}
    expected = eval(expression, {"torch": torch, "F": functional, **tensors})
    found = axon.compile(text).f(**given)
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-3, atol=1e-4)


def test_most_calls_have_a_proposal() -> None:
    assert sum(proposed(each) is not None for each in CALLS) > 0.9 * len(CALLS)
