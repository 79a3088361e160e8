"""Compiled for PyTorch, a program is compiled once for all sizes that its signature leaves open;
sizes of 0 and 1 are cases of their own. A second compilation would be an error here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import axon
from axon.backends.torch_sdpa import opened

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:.*:UserWarning")

MODELS = Path(__file__).resolve().parents[1] / "examples" / "models"


@pytest.fixture(autouse=True)
def _one_compilation() -> Iterator[None]:
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    torch.manual_seed(0)
    with torch._dynamo.config.patch(error_on_recompile=True):
        yield
    counters = torch._dynamo.utils.counters
    assert not counters["graph_break"]
    assert not any("limit" in reason for reason in counters["unimplemented"])


def stream(count: int = 60, most: tuple[int, int] = (17, 40)) -> list[tuple[int, int]]:
    """Sizes that no two calls have in common; the first are equal by chance."""
    random = np.random.default_rng(0)
    found = {(5, 5): None}
    while len(found) < count:
        found[int(random.integers(2, most[0])), int(random.integers(2, most[1]))] = None
    return list(found)


def both(text: str) -> tuple[axon.Program, axon.Program]:
    return (
        axon.compile(text, backend="torch", compiled=True),
        axon.compile(text, backend="torch"),
    )


def model(name: str) -> tuple[Any, Any]:
    path = MODELS / f"{name}.axon"
    compiled = axon.load(path, backend="torch", compiled=True)
    return compiled[name], axon.load(path, backend="torch")[name]


def close(found: Any, expected: Any, within: float = 1e-4) -> None:
    torch.testing.assert_close(found, expected, rtol=within, atol=within)


def tensors(tree: Any, grad: bool = False) -> Any:
    if isinstance(tree, dict):
        return {name: tensors(part, grad) for name, part in tree.items()}
    return torch.tensor(np.asarray(tree)).requires_grad_(grad)


def leaves(tree: Any) -> Iterator[Any]:
    if isinstance(tree, dict):
        for part in tree.values():
            yield from leaves(part)
    else:
        yield tree


PROGRAMS = {
    "pointwise": "f = fn (x : f32 [b,s,d], g : f32 [d], c : f32 [s,1]) {"
    " layer_norm(gelu(x + c), g) * x + mean(x, axis=1, keep=true) };",
    "products": "f = fn (x : f32 [b,s,d], g : f32 [d], c : f32 [s,1]) {"
    " softmax(x @ transpose(x) * g[0], axis=1) @ x + c };",
    "shapes": "f = fn (x : f32 [b,s,d], g : f32 [d], c : f32 [s,1]) {"
    " y = reshape(x, [b * s, d]) * g; concat(reshape(y, [b, s, d]), x, axis=1) + sum(c) };",
    "attention": "f = fn (x : f32 [b,s,d], g : f32 [d], c : f32 [s,1]) {"
    " y = split_heads(x * g, heads=2); mask = reshape(c, [s]) > 0f;"
    " z = dot_product_attention(y, y, y, mask) + dot_product_attention(y, y, y, causal=true);"
    " merge_heads(z) };",
    "sizes as numbers": "f = fn (x : f32 [b,s,d], g : f32 [d], c : f32 [s,1]) {"
    " cumsum(x, axis=1) / cast(range(1, s + 1), to=f32)[:, None] * g / sqrt(b) + c };",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_stream_of_sizes_is_compiled_once(name: str) -> None:
    net, eager = both(PROGRAMS[name])
    for b, s in stream():
        args = torch.randn(b, s, 6), torch.randn(6), torch.randn(s, 1)
        close(net.f(*args), eager.f(*args), 1e-3)
    assert net.f.compilations == 1


def test_a_size_of_one_on_the_way_is_a_case() -> None:
    """Where it could be stretched."""
    net, eager = both("f = fn (x : f32 [b,s], c : f32 [s]) { x[:, 1:] + c[1:] };")
    with torch._dynamo.config.patch(error_on_recompile=False):
        for b, s in [*stream(), (3, 2), (4, 2)]:
            x, c = torch.randn(b, s), torch.randn(s)
            close(net.f(x, c), eager.f(x, c))
    assert net.f.compilations == 2


def test_sizes_that_broadcast() -> None:
    """Which of them is 1 is a case; which sizes are equal is none."""
    net, eager = both("f = fn (x : f32 [a,b], y : f32 [c,d]) { x * y + x };")
    for b, s in stream(20):
        pairs = [((b, s), (b, s)), ((b, s), (1, s)), ((b, 1), (1, s)), ((1, 1), (b, s))]
        for one, other in pairs:
            x, y = torch.randn(one), torch.randn(other)
            close(net.f(x, y), eager.f(x, y))
    assert net.f.compilations == 4


def test_no_elements_and_one_are_cases() -> None:
    net, eager = both("f = fn (x : f32 [b,s]) { softmax(x) + sum(x, axis=0) };")
    for _ in range(2):
        for b in (0, 1, 2, 3):
            for s in (1, 2, 5):
                x = torch.randn(b, s)
                close(net.f(x), eager.f(x))
    assert net.f.compilations == 6


GPT2 = """{a | transformer : {b | wte : {c | weight : f32 [11,12]},
  wpe : {d | weight : f32 [64,12]}, h : {e | mlp : {g | c_fc : {i | bias : f32 [2,20]}}}}}"""


def gpt2_weights(grad: bool = False) -> Any:
    weights = axon.load(MODELS / "gpt2.axon").gpt2.init(0, params="p", like={"p": GPT2})
    return tensors(weights, grad)


def test_gpt2_with_its_weights_in_a_record() -> None:
    net, eager = model("gpt2")
    p = gpt2_weights()
    for b, s in stream():
        tokens = torch.randint(0, 11, (b, s))
        close(net(p, tokens, 4), eager(p, tokens, 4))
    assert net.compilations == 1


def test_gradients_of_gpt2() -> None:
    """One compilation of the forward and the backward pass."""
    net, eager = model("gpt2")
    p = gpt2_weights(grad=True)
    for number, (b, s) in enumerate(stream(20)):
        tokens = torch.randint(0, 11, (b, s))
        found = torch.autograd.grad(net(p, tokens, 4).square().sum(), list(leaves(p)))
        if number % 5 == 0:
            expected = torch.autograd.grad(eager(p, tokens, 4).square().sum(), list(leaves(p)))
            for mine, other in zip(found, expected, strict=True):
                close(mine, other, 2e-3)
    assert net.compilations == 1


LLAMA = {
    "p": """{a | lm_head : {b | weight : f32 [11,16]}, model : {c | layers : {d |
      mlp : {e | up_proj : {f | weight : f32 [2,20,16]}},
      self_attn : {g | q_proj : {h | weight : f32 [2,16,16]}, k_proj : {i | weight : f32 [2,8,16]}}
    }, embed_tokens : {j | weight : f32 [11,16]}}}""",
    "cache": "{ k : f32 [2,1,2,1,4], v : f32 [2,1,2,1,4] }",
}


def cached(b: int, s: int) -> Any:
    return {name: torch.randn(2, b, 2, s, 4) for name in ("k", "v")}


def test_llama_with_any_number_of_tokens() -> None:
    """The sizes of its cache decide those of the heads: they are sizes of records, and fixed."""
    net, eager = model("llama")
    p = tensors(axon.load(MODELS / "llama.axon").llama.init(0, params="p", like=LLAMA))
    for count in (5, 2, 3, 9, 17):
        args = p, torch.randint(0, 11, (2, count)), cached(2, 5)
        found, cache = net(*args)
        expected, other = eager(*args)
        close(found, expected)
        close(cache["k"], other["k"])
    assert net.compilations == 1


def test_a_cache_that_grows() -> None:
    """The first call settles all sizes of the cache; the second finds that its length changes."""
    net, eager = model("llama")
    p = tensors(axon.load(MODELS / "llama.axon").llama.init(0, params="p", like=LLAMA))
    cache = cached(2, 5)
    with torch._dynamo.config.patch(error_on_recompile=False):
        for _ in range(8):
            tokens = torch.randint(0, 11, (2, 2))
            expected, _ = eager(p, tokens, cache)
            found, cache = net(p, tokens, cache)
            close(found, expected)
    assert cache["k"].shape == (2, 2, 2, 21, 4)
    assert net.compilations == 2


@pytest.mark.parametrize("kind", ["bool", "added"])
def test_a_mask_in_which_no_query_is_closed(kind: str) -> None:
    """What PyTorch's attention is given on a GPU, whose kernels differ for rows that are closed."""
    open_ = torch.rand(2, 1, 3, 5) > 0.5
    open_[..., 2] = True
    open_[0, 0, 1] = False
    mask = open_ if kind == "bool" else torch.zeros(open_.shape).masked_fill(~open_, -torch.inf)
    found, some = opened(mask)
    assert some.shape == (2, 1, 3, 1)
    assert torch.equal(some[..., 0], open_.any(-1))
    assert torch.equal(found[some.expand_as(found)], mask[some.expand_as(mask)])
    rest = found[~some.expand_as(found)]
    assert (rest.all() if kind == "bool" else not rest.any()) and rest.numel() == 5
