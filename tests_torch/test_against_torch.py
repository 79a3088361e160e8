"""The examples against PyTorch's own modules. Needs torch, and is run by `make torch`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional

import axon

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@pytest.fixture(autouse=True)
def _same_numbers() -> Any:
    torch.manual_seed(0)
    with torch.no_grad():
        yield


def program(name: str) -> axon.Program:
    return axon.load(EXAMPLES / f"{name}.axon")


def close(given: Any, expected: torch.Tensor) -> None:
    assert isinstance(given, torch.Tensor)  # tensors in, tensors out
    torch.testing.assert_close(given, expected, rtol=1e-4, atol=1e-5)


def turned(weight: torch.Tensor) -> torch.Tensor:
    """PyTorch multiplies by the transpose."""
    return weight.T.contiguous()


# --- recurrent ------------------------------------------------------------------------------------


def weights(module: Any, direction: str = "", layer: int = 0) -> tuple[torch.Tensor, ...]:
    """W, R and the two biases."""
    names = ["weight_ih", "weight_hh", "bias_ih", "bias_hh"]
    w, r, b1, b2 = (getattr(module, f"{name}_l{layer}{direction}") for name in names)
    return turned(w), turned(r), b1, b2


@pytest.mark.parametrize(("n", "b", "i", "h"), [(5, 2, 3, 4), (1, 1, 1, 1)])
def test_lstm(n: int, b: int, i: int, h: int) -> None:
    module = nn.LSTM(i, h)
    xs, state = torch.randn(n, b, i), (torch.randn(b, h), torch.randn(b, h))
    w, r, b1, b2 = weights(module)
    (hidden, memory), outputs = program("recurrent").lstm(xs, state, w, r, b1 + b2)
    expected, (h_n, c_n) = module(xs, (state[0][None], state[1][None]))
    close(outputs, expected)
    close(hidden, h_n[0])
    close(memory, c_n[0])


@pytest.mark.parametrize(("n", "b", "i", "h"), [(5, 2, 3, 4), (1, 1, 1, 1)])
def test_gru(n: int, b: int, i: int, h: int) -> None:
    module = nn.GRU(i, h)
    xs, state = torch.randn(n, b, i), torch.randn(b, h)
    last, outputs = program("recurrent").gru(xs, state, *weights(module))
    expected, h_n = module(xs, state[None])
    close(outputs, expected)
    close(last, h_n[0])


def test_bidirectional_lstm() -> None:
    module = nn.LSTM(3, 4, bidirectional=True)
    xs, h, c = torch.randn(5, 2, 3), torch.randn(2, 2, 4), torch.randn(2, 2, 4)
    w, r, b1, b2 = weights(module)
    w2, r2, b3, b4 = weights(module, "_reverse")
    given = program("recurrent").bidirectional_lstm(
        xs, (h[0], c[0]), w, r, b1 + b2, (h[1], c[1]), w2, r2, b3 + b4
    )
    close(given, module(xs, (h, c))[0])


# --- attention ------------------------------------------------------------------------------------


@pytest.mark.parametrize("causal", [True, False])
def test_multi_head_attention(causal: bool) -> None:
    b, n, d, heads = 2, 5, 12, 4
    module = nn.MultiheadAttention(d, heads, bias=False, batch_first=True)
    x = torch.randn(b, n, d)
    mask = torch.rand(b, n, n) < 0.5
    mask[..., 0] = True
    if causal:
        mask = torch.ones(n, n).tril().bool().expand(b, n, n)
    wq, wk, wv = (turned(w) for w in module.in_proj_weight.chunk(3))
    w = wq, wk, wv, turned(module.out_proj.weight)
    hidden = mask.logical_not().repeat_interleave(heads, dim=0)
    expected, _ = module(x, x, x, attn_mask=hidden, need_weights=False)
    net = program("multihead")
    close(net.self_attention(x, mask, *w), expected)
    if causal:
        close(net.causal_attention(x, *w), expected)


def test_cross_attention() -> None:
    module = nn.MultiheadAttention(8, 4, bias=False, kdim=6, vdim=6, batch_first=True)
    x, y = torch.randn(2, 3, 8), torch.randn(2, 5, 6)
    w = (module.q_proj_weight, module.k_proj_weight, module.v_proj_weight, module.out_proj.weight)
    expected, _ = module(x, y, y, need_weights=False)
    everything = torch.ones(2, 3, 5, dtype=torch.bool)
    close(program("multihead").cross_attention(x, y, everything, *map(turned, w)), expected)


def test_transformer_encoder() -> None:
    b, n, d, f, layers = 2, 5, 16, 20, 3
    module = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(
            d, 8, f, 0.0, "gelu", batch_first=True, norm_first=True, bias=False
        ),
        layers,
        norm=nn.LayerNorm(d, bias=False),
        enable_nested_tensor=False,
    )
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.5)
    module.train()  # the plain way through the layers, not the fused one; there is no dropout

    def stacked(name: str) -> torch.Tensor:
        found = [layer.get_parameter(name) for layer in module.layers]
        return torch.stack([turned(w) if w.ndim == 2 else w for w in found])

    names = [
        "norm1.weight",
        "self_attn.in_proj_weight",
        "self_attn.out_proj.weight",
        "norm2.weight",
        "linear1.weight",
        "linear2.weight",
    ]
    x = torch.randn(b, n, d)
    present = torch.tensor([[True] * n, [True] * 3 + [False] * (n - 3)])
    assert module.norm is not None
    last = module.norm.get_parameter("weight")
    given, _ = program("transformer").encoder(x, present, tuple(map(stacked, names)), last)
    close(given, module(x, src_key_padding_mask=present.logical_not()))


# --- images ---------------------------------------------------------------------------------------


def norm(channels: int) -> tuple[torch.Tensor, ...]:
    scale, bias, mean = torch.randn(3, channels)
    return scale, bias, mean, torch.rand(channels) + 0.5


def normed(x: torch.Tensor, parameters: tuple[torch.Tensor, ...]) -> torch.Tensor:
    scale, bias, mean, variance = parameters
    return functional.batch_norm(x, mean, variance, scale, bias)


@pytest.mark.parametrize(("h", "w"), [(9, 8), (1, 3)])
def test_resnet_blocks(h: int, w: int) -> None:
    x, n1, n2, n3 = torch.randn(2, 3, h, w), norm(4), norm(4), norm(4)
    f1, f2, f3 = torch.randn(4, 3, 3, 3), torch.randn(4, 4, 3, 3), torch.randn(4, 3, 1, 1)
    net = program("resnet")
    y = functional.relu(normed(functional.conv2d(x, f1, stride=2, padding=1), n1))
    small = normed(functional.conv2d(x, f3, stride=2), n3)
    down = functional.relu(small + normed(functional.conv2d(y, f2, padding=1), n2))
    close(net.down_block(x, f1, n1, f2, n2, f3, n3), down)

    z = functional.relu(normed(functional.conv2d(down, f2, padding=1), n1))
    same = functional.relu(down + normed(functional.conv2d(z, f2, padding=1), n2))
    close(net.block(down, f2, n1, f2, n2), same)


def test_unet() -> None:
    def double(c: int, k: int) -> nn.Sequential:
        first, second = nn.Conv2d(c, k, 3, padding=1), nn.Conv2d(k, k, 3, padding=1)
        return nn.Sequential(first, nn.ReLU(), second, nn.ReLU())

    image = torch.randn(2, 3, 8, 12)
    parts = double(3, 4), double(4, 6), double(6, 8), double(14, 6), double(10, 4)
    head = nn.Conv2d(4, 5, 1)
    enter, down1, down2, up1, up2 = parts
    pool, rise = nn.MaxPool2d(2), nn.Upsample(scale_factor=2)
    large = enter(image)
    medium = down1(pool(large))
    small = down2(pool(medium))
    medium = up1(torch.cat([medium, rise(small)], dim=1))
    large = up2(torch.cat([large, rise(medium)], dim=1))

    given = program("unet").unet(
        image, tuple(tuple(part.parameters()) for part in parts), head.weight, head.bias
    )
    close(given, head(large))
