"""Attention that a program writes out, beside the same without its one kernel, on a GPU.

    python benchmarks/attention.py [--rounds 20] [--small]

The functions of `std/attention.axon` and the operator, in bf16, forwards and with gradients, on JAX
and on PyTorch: 8 x 12 heads of 64 features, 1,024 positions. The sides take turns; medians in
milliseconds. It needs `src` of this repository, JAX and PyTorch.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

import jax
import jax.numpy as jnp
import numpy as np
import torch

import axon
from axon.backends import jax_meanings
from axon.backends.jax_arrays import JaxArrays
from axon.backends.torch_arrays import TorchArrays

PROGRAM = """
import "std/attention.axon" as att;
plain = fn (q : bf16 [b,h,n,d], k, v) { att.attention(q, k, v) };
causal = fn (q : bf16 [b,h,n,d], k, v) { att.causal_attention(q, k, v) };
masked = fn (q : bf16 [b,h,n,d], k, v, m) { att.masked_attention(q, k, v, m) };
operator_masked = fn (q : bf16 [b,h,n,d], k, v, m) { dot_product_attention(q, k, v, m) };
grouped = fn (q : bf16 [b,h,n,d], k, v) {
  dot_product_attention(q, k[:, :GROUPED], v[:, :GROUPED], groups=4, causal=true)
};
"""

Side = Callable[[], Any]


def in_turns(sides: dict[str, Side], wait: Callable[[Any], Any], rounds: int) -> dict[str, float]:
    for side in sides.values():
        wait(side())
        wait(side())
    times: dict[str, list[float]] = {name: [] for name in sides}
    names = list(sides)
    for number in range(rounds):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            began = time.perf_counter()
            for _ in range(5):
                made = sides[name]()
            wait(made)
            times[name].append((time.perf_counter() - began) * 200)
    return {name: statistics.median(each) for name, each in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--small", action="store_true")
    options = parser.parse_args()
    b, h, n, d = (1, 4, 64, 16) if options.small else (8, 12, 1024, 64)
    text = PROGRAM.replace("GROUPED", str(h // 4))
    random = np.random.default_rng(0)
    arrays = [random.normal(size=(b, h, n, d)).astype("f4") for _ in range(3)]
    mask = random.random((n, n)) > 0.5
    mask[:, 0] = True
    print(f"{'':<36}{'fused':>8}{'not':>8}   ratio  differs")
    with (
        mock.patch.object(jax_meanings, "has_cudnn", return_value=False),
        mock.patch.object(JaxArrays, "fusions", return_value=()),
    ):
        usual = sides_on_jax(text, arrays, mask)
    report("JAX", sides_on_jax(text, arrays, mask), usual, jax.block_until_ready, options.rounds)

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    def ready(made: Any) -> Any:
        if device.type == "cuda":
            torch.cuda.synchronize()
        return made

    with mock.patch.object(TorchArrays, "fusions", return_value=()):
        usual = sides_on_torch(text, arrays, mask, device)
    fused = sides_on_torch(text, arrays, mask, device)
    report("PyTorch", fused, usual, ready, options.rounds)


def report(
    library: str,
    fused: dict[str, Side],
    usual: dict[str, Side],
    wait: Callable[[Any], Any],
    rounds: int,
) -> None:
    for name in fused:
        away = difference(wait(fused[name]()), wait(usual[name]()))
        found = in_turns({"fused": fused[name], "not": usual[name]}, wait, rounds)
        one, other = found["fused"], found["not"]
        print(
            f"{library + ', ' + name:<36}{one:8.3f}{other:8.3f}   {one / other:.3f}  {away:.1e}",
            flush=True,
        )


def difference(one: Any, other: Any) -> float:
    pairs = zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True)
    return max(float(abs(_wide(a) - _wide(b)).max()) for a, b in pairs)


def _wide(x: Any) -> Any:
    return x.detach().float().cpu().numpy() if isinstance(x, torch.Tensor) else np.asarray(x, "f4")


def sides_on_jax(text: str, arrays: list[Any], mask: Any) -> dict[str, Side]:
    """Compiled at once, while what a side shall do is as it shall be."""
    net = axon.compile(text, backend="jax")
    given = [jnp.asarray(x, jnp.bfloat16) for x in arrays]
    sides: dict[str, Side] = {}
    for name in NAMES:
        rest = [jnp.asarray(mask)] if "masked" in name else []
        function = net[name].jax

        def total(q: Any, k: Any, v: Any, *rest: Any, function: Any = function) -> Any:
            return (function(q, k, v, *rest).astype(jnp.float32) ** 2).sum()

        forward = jax.jit(function).lower(*given, *rest).compile()
        backward = jax.jit(jax.grad(total, argnums=(0, 1, 2))).lower(*given, *rest).compile()
        sides[name] = bound(forward, [*given, *rest])
        sides[f"{name}, gradients"] = bound(backward, [*given, *rest])
    return sides


def bound(function: Callable[..., Any], args: list[Any]) -> Side:
    return lambda: function(*args)


def sides_on_torch(text: str, arrays: list[Any], mask: Any, device: Any) -> dict[str, Side]:
    net = axon.compile(text, backend="torch")
    given = [torch.tensor(x, dtype=torch.bfloat16, device=device) for x in arrays]
    sides: dict[str, Side] = {}
    for name in NAMES:
        rest = [torch.tensor(mask, device=device)] if "masked" in name else []
        function = net[name]
        function(*given, *rest)
        leaves = [x.clone().requires_grad_() for x in given]

        def backward(
            function: Any = function, leaves: list[Any] = leaves, rest: list[Any] = rest
        ) -> Any:
            return torch.autograd.grad(function(*leaves, *rest).float().square().sum(), leaves)

        sides[name] = bound(function, [*given, *rest])
        sides[f"{name}, gradients"] = backward
    return sides


NAMES = ("plain", "causal", "masked", "operator_masked", "grouped")

if __name__ == "__main__":
    main()
