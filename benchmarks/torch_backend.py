"""What does a program cost on PyTorch? Ratios to the same model written by hand, in one run.

    python benchmarks/torch_backend.py [--large] [--device cuda] [--rounds 60]

Two blocks of GPT-2 (12 heads; with --large 16 heads of 64, 1024 features, 8 sequences of 1024) as a
module of PyTorch and as an Axon program, with the same weights: forward without gradients, and a
step of training (forward and backward), each operator by operator and compiled. Both sides take
turns, the one that begins changes, and medians are compared. It needs torch, NumPy and `src` of
this repository alone.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

try:
    import torch
except ImportError:
    print("this benchmark needs PyTorch: pip install 'axon-shapes[torch]'")
    sys.exit(0)

from torch import nn
from torch.nn import functional

import axon

PROGRAM = """
type Linear(i, o) = { weight : t [o,i], bias : t [o] };
type Norm(d) = { weight : t [d], bias : t [d] };

linear = fn (p : Linear(i, o), x : t [b,s,i]) { project(x, transpose(p.weight)) + p.bias };
norm = fn (p : Norm(d), x : t [b,s,d]) { layer_norm(x, p.weight, p.bias) };

attention = fn (p, x : t [b,s,d], heads : dim h) : t [b,s,d] {
  q, k, v = split(linear(p.qkv, x), parts=3, axis=-1);
  apart = fn (y : t [b,s,d]) { transpose(reshape(y, [b, s, h, d / h]), perm=[0,2,1,3]) };
  y = dot_product_attention(apart(q), apart(k), apart(v), causal=true);
  linear(p.out, reshape(transpose(y, perm=[0,2,1,3]), [b, s, d]))
};
block = fn (p, x : t [b,s,d], heads : dim h) : t [b,s,d] {
  y = x + attention(p.attention, norm(p.before, x), heads);
  y + linear(p.down, gelu(linear(p.up, norm(p.behind, y)), approximate="tanh"))
};
blocks = fn (p, x : t [b,s,d], heads : dim h) { block(p.second, block(p.first, x, heads), heads) };
"""

LIMIT = 1.03


class Attention(nn.Module):
    def __init__(self, d: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x: Any) -> Any:
        b, s, d = x.shape
        shape = (b, s, self.heads, d // self.heads)
        q, k, v = (y.view(shape).transpose(1, 2) for y in self.qkv(x).split(d, dim=-1))
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(b, s, d))


class Block(nn.Module):
    def __init__(self, d: int, heads: int) -> None:
        super().__init__()
        self.before, self.behind = nn.LayerNorm(d), nn.LayerNorm(d)
        self.attention = Attention(d, heads)
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x: Any) -> Any:
        y = x + self.attention(self.before(x))
        return y + self.down(functional.gelu(self.up(self.behind(y)), approximate="tanh"))


class Blocks(nn.Module):
    def __init__(self, d: int, heads: int) -> None:
        super().__init__()
        self.first, self.second = Block(d, heads), Block(d, heads)

    def forward(self, x: Any) -> Any:
        return self.second(self.first(x))


def record(module: nn.Module) -> dict[str, Any]:
    """The weights of a module as a record."""
    own = dict(module.named_parameters(recurse=False))
    return {**own, **{name: record(child) for name, child in module.named_children()}}


def alternate(
    ours: Callable[[], Any], other: Callable[[], Any], rounds: int, wait: Callable[[], None]
) -> tuple[float, float, float]:
    """The median of each, and of the ratios of neighbours; each side begins in turn."""
    times: dict[Callable[[], Any], list[float]] = {ours: [], other: []}
    for _ in range(5):
        ours(), other()
    for number in range(rounds):
        for each in (ours, other) if number % 2 else (other, ours):
            wait()
            began = time.perf_counter()
            each()
            wait()
            times[each].append(time.perf_counter() - began)
    ratios = [a / b for a, b in zip(times[ours], times[other], strict=True)]
    return *(statistics.median(times[each]) for each in (ours, other)), statistics.median(ratios)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16", "float16"])
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--eager-only", action="store_true")
    options = parser.parse_args()
    b, s, d, heads = (8, 1024, 1024, 16) if options.large else (2, 128, 192, 12)
    device, dtype = torch.device(options.device), getattr(torch, options.dtype)
    wait = torch.cuda.synchronize if device.type == "cuda" else lambda: None
    torch.manual_seed(0)
    hand = Blocks(d, heads).to(device, dtype)
    x = torch.randn(b, s, d, device=device, dtype=dtype)
    net = axon.compile(PROGRAM, backend="torch")
    where = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
    print(f"PyTorch {torch.__version__} on {where}, {options.dtype}, x [{b},{s},{d}]")
    slow = 0
    for compiled in (False,) if options.eager_only else (False, True):
        ours = net.on("torch", compiled=compiled).blocks.module(record(hand), params="p")
        other = torch.compile(hand) if compiled else hand

        def run(model: Any, heads: Any = None) -> Any:
            with torch.no_grad():
                return model(x, *heads) if heads else model(x)

        def step(model: Any, heads: Any = None) -> Any:
            hand.zero_grad(set_to_none=True)
            (model(x, *heads) if heads else model(x)).sum().backward()

        within = 1e-4 if dtype == torch.float32 else 5e-2
        torch.testing.assert_close(run(ours, (heads,)), run(other), rtol=within, atol=within)
        for what, function in (("forward", run), ("forward and backward", step)):
            mine, theirs, ratio = alternate(
                lambda f=function, m=ours: f(m, (heads,)),  # type: ignore[misc]
                lambda f=function, m=other: f(m),  # type: ignore[misc]
                options.rounds,
                wait,
            )
            kind = "compiled" if compiled else "eager"
            verdict = "" if ratio <= LIMIT else f"   above {LIMIT}"
            slow += ratio > LIMIT
            print(
                f"{kind:<9} {what:<21} {1e3 * mine:9.3f} ms  by hand {1e3 * theirs:9.3f} ms"
                f"  {ratio:6.3f} x{verdict}",
                flush=True,
            )
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
