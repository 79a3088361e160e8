"""What does it cost to run a program? Ratios to the same thing written by hand, in one run.

    python benchmarks/running.py [--large]

A transformer block on JAX (time of a call, and of the first call, which compiles) and on NumPy; the
binding and the checks of a call; a stream of calls with varying lengths; `axon run` from the shell.
Both sides take turns, and the least of several rounds counts. `--large` is for an accelerator.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import axon

BLOCK = """
block = fn (
  x : t [b,n,d], heads : dim h, g1 : t [d], b1 : t [d], Wqkv : t [d,3*d], Wo : t [d,d],
  g2 : t [d], b2 : t [d], W1 : t [d,f], W2 : t [f,d]
) {
  split_heads = fn (y : t [b,n,d]) { transpose(reshape(y, [b, n, h, d / h]), perm=[0,2,1,3]) };
  q, k, v = split(project(layer_norm(x, g1, b1), Wqkv), parts=3, axis=-1);
  Q = split_heads(q);
  K = split_heads(k);
  V = split_heads(v);
  scores = matmul(Q, transpose(K)) / sqrt(d / h);
  y = transpose(matmul(softmax(scores), V), perm=[0,2,1,3]);
  x' = x + project(reshape(y, [b, n, d]), Wo);
  x' + project(gelu(project(layer_norm(x', g2, b2), W1), approximate="tanh"), W2)
};
attention = fn (Q : t [m,d], K, V) { matmul(softmax(matmul(Q, transpose(K)) / sqrt(d)), V) };
"""


def by_hand(xp: Any) -> Callable[..., Any]:
    """The block as one writes it."""

    def norm(x: Any, g: Any, b: Any) -> Any:
        centred = x - x.mean(-1, keepdims=True)
        variance = (centred * centred).mean(-1, keepdims=True)
        return centred / xp.sqrt(variance + np.float32(1e-5)) * g + b

    def softmax(x: Any) -> Any:
        powers = xp.exp(x - x.max(-1, keepdims=True))
        return powers / powers.sum(-1, keepdims=True)

    def gelu(x: Any) -> Any:
        inner = np.float32(0.7978845608028654) * (x + np.float32(0.044715) * x * x * x)
        return np.float32(0.5) * x * (np.float32(1) + xp.tanh(inner))

    def block(x, heads, g1, b1, wqkv, wo, g2, b2, w1, w2):  # type: ignore[no-untyped-def]
        b, n, d = x.shape
        q, k, v = xp.split(norm(x, g1, b1) @ wqkv, 3, axis=-1)
        q, k, v = (y.reshape(b, n, heads, d // heads).transpose(0, 2, 1, 3) for y in (q, k, v))
        scores = q @ k.swapaxes(-1, -2) / np.float32(np.sqrt(d / heads))
        y = (softmax(scores) @ v).transpose(0, 2, 1, 3).reshape(b, n, d)
        x = x + y @ wo
        return x + gelu(norm(x, g2, b2) @ w1) @ w2

    return block


def inputs(b: int, n: int, d: int, heads: int) -> list[Any]:
    random = np.random.default_rng(0)

    def array(*shape: int) -> Any:
        return (random.normal(size=shape) / np.sqrt(shape[-1])).astype(np.float32)

    ones, zeros = np.ones(d, np.float32), np.zeros(d, np.float32)
    return [
        array(b, n, d), heads, ones, zeros, array(d, 3 * d), array(d, d), ones, zeros,
        array(d, 4 * d), array(4 * d, d),
    ]  # fmt: skip


def alternate(
    first: Callable[[], Any], second: Callable[[], Any], rounds: int
) -> tuple[float, float]:
    """The least time of each, taking turns."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for each, found in zip((first, second), times, strict=True):
            began = time.perf_counter()
            each()
            found.append(time.perf_counter() - began)
    return min(times[0]), min(times[1])


def line(what: str, ours: float, other: float, limit: float, unit: str = "ms") -> bool:
    scale = 1e3 if unit == "ms" else 1e6
    ratio = ours / other
    verdict = "" if ratio <= limit else "   TOO SLOW"
    print(
        f"{what:<34}{scale * ours:>10.2f} {unit}{scale * other:>12.2f} {unit}"
        f"{ratio:>9.2f}x   (to be <= {limit}){verdict}"
    )
    return ratio <= limit


def on_jax(size: tuple[int, int, int, int], rounds: int) -> bool:
    import jax
    import jax.numpy as jnp

    net = axon.compile(BLOCK, backend="jax")
    arrays = [jnp.asarray(a) if isinstance(a, np.ndarray) else a for a in inputs(*size)]
    hand = jax.jit(by_hand(jnp), static_argnums=1)
    hand(*arrays).block_until_ready()  # JAX itself warms up
    ours_first: list[float] = []
    hand_first: list[float] = []
    b, n, d, heads = size
    lengths = iter(range(n + 8, n + 80, 8))  # nobody has compiled for any of them, not in part
    for _ in range(4):
        fresh = axon.compile(BLOCK, backend="jax")  # its graph is made anew as well
        for function, found in ((fresh.block, ours_first), (hand, hand_first)):
            longer = [
                jnp.asarray(a) if isinstance(a, np.ndarray) else a
                for a in inputs(b, next(lengths), d, heads)
            ]
            began = time.perf_counter()
            function(*longer).block_until_ready()
            found.append(time.perf_counter() - began)
    fine = line("JAX, first call of a size", min(ours_first), min(hand_first), 1.2)
    result, expected = net.block(*arrays), hand(*arrays)
    np.testing.assert_allclose(result, expected, rtol=2e-3, atol=2e-3)
    ours, other = alternate(
        lambda: net.block(*arrays).block_until_ready(),
        lambda: hand(*arrays).block_until_ready(),
        rounds,
    )
    return line("JAX, transformer block", ours, other, 1.05) and fine


def on_numpy(size: tuple[int, int, int, int], rounds: int) -> bool:
    net = axon.compile(BLOCK)
    arrays, hand = inputs(*size), by_hand(np)
    np.testing.assert_allclose(net.block(*arrays), hand(*arrays), rtol=2e-3, atol=2e-3)
    ours, other = alternate(lambda: net.block(*arrays), lambda: hand(*arrays), rounds)
    return line("NumPy, transformer block", ours, other, 1.15)


def binding() -> bool:
    """A call of attention, less what its graph takes."""
    net = axon.compile(BLOCK)
    random = np.random.default_rng(0)
    q, k, v = (random.normal(size=(8, 64)).astype(np.float32) for _ in range(3))
    net.attention(q, k, v)
    ((graph, inner),) = net.attention._executables.graphs.values()
    count = 2000

    def many(function: Callable[..., Any]) -> float:
        began = time.perf_counter()
        for _ in range(count):
            function(q, k, v)
        return (time.perf_counter() - began) / count

    seen = min(many(net.attention) for _ in range(7)) - min(many(inner) for _ in range(7))
    from axon.run.bind import bind

    began = time.perf_counter()
    for _ in range(count):
        bind(graph, (q, k, v))
    new = (time.perf_counter() - began) / count
    print(f"{'binding and checks, sizes seen':<34}{1e6 * seen:>10.2f} us   (to be <= 30)")
    print(f"{'binding and checks, new sizes':<34}{1e6 * new:>10.2f} us   (to be <= 30)")
    return seen <= 30e-6 and new <= 30e-6


def stream() -> bool:
    """200 calls of varying length: how often is something compiled?"""
    net = axon.compile(BLOCK, backend="jax")
    random = np.random.default_rng(0)
    lengths = random.integers(1, 17, 200)
    for n in lengths:
        x = random.normal(size=(int(n), 8)).astype(np.float32)
        net.attention(x, x, x)
    distinct, compiled = len(set(lengths.tolist())), net.attention.compilations
    print(f"{'200 calls, JAX':<34}{distinct:>10} lengths{compiled:>6} compilations")
    return bool(compiled <= distinct)


def from_the_shell() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "net.axon"
        path.write_text(BLOCK)
        command = [sys.executable, "-m", "axon", "run", str(path), "attention"]
        command += ["Q=rand[8,64]", "K=rand[8,64]", "V=rand[8,64]"]
        taken = []
        for _ in range(5):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, check=True, capture_output=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            taken.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    least = statistics.median(taken)
    print(f"{'axon run, NumPy, all of it':<34}{least:>10.2f} s of CPU   (to be <= 1)")
    return least <= 1


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--large", action="store_true")
    options = parser.parse_args()
    size = (8, 512, 1024, 16) if options.large else (4, 128, 256, 8)
    rounds = 200 if options.large else 60
    print(f"{'':<34}{'ours':>13}{'by hand':>15}")
    fine = [on_jax(size, rounds)]
    if not options.large:
        fine += [on_numpy(size, 30), binding(), stream(), from_the_shell()]
    return 0 if all(fine) else 1


if __name__ == "__main__":
    raise SystemExit(main())
