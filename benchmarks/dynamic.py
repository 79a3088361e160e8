"""A stream of 60 calls with 60 different sizes, batches of 1 to 16 and lengths of 16 to 512: four
transformer layers of 1,024 features in f32.

    python benchmarks/dynamic.py [--small] [--framework jax|torch] [--buckets pow2] [--rounds 20]

PyTorch as it is, by `torch.compile(dynamic=True)`, and Axon compiled for it; JAX with buckets and
masks written by hand, and Axon with the same buckets derived from the types: a few batch sizes and
multiples in length, or powers of two of both (`--buckets pow2`). The first pass compiles. Then all
sides take turns, pass by pass, and the one that begins changes: medians are compared. Each
framework has a process of its own. It needs `src` of this repository, NumPy, and the framework;
`--small`, and where there is no GPU, it is a toy.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

import numpy as np

import axon

PROGRAM = """
type Linear(i, o) = { weight : f32 [i,o], bias : f32 [o] };
type Norm(d) = { weight : f32 [d], bias : f32 [d] };
type Layer(d, f) = {
  ln_1 : Norm(d), qkv : Linear(d, 3*d), out : Linear(d, d),
  ln_2 : Norm(d), up : Linear(d, f), down : Linear(f, d),
};

linear = fn (p : Linear(i, o), x : f32 [b,s,i]) { project(x, p.weight) + p.bias };
norm = fn (p : Norm(d), x : f32 [b,s,d]) { layer_norm(x, p.weight, p.bias) };

layer = fn (p : Layer(d, f), x : f32 [b,s,d]) : f32 [b,s,d] {
  q, k, v = split(linear(p.qkv, norm(p.ln_1, x)), parts=3, axis=-1);
  apart = fn (y : f32 [b,s,d]) { split_heads(y, heads=HEADS) };
  y = x + linear(p.out, merge_heads(dot_product_attention(apart(q), apart(k), apart(v))));
  y + linear(p.down, gelu(linear(p.up, norm(p.ln_2, y)), approximate="tanh"))
};
layers = fn (p : (Layer(d, f), Layer(d, f), Layer(d, f), Layer(d, f)), x : f32 [b,s,d]) {
  first, second, third, fourth = p;
  layer(fourth, layer(third, layer(second, layer(first, x))))
};
"""

COUNT = 60
POW2 = {"b": "pow2", "s": "pow2"}

Side = Callable[[Any], Any]
Buckets = dict[str, Any]


@dataclass(frozen=True)
class Size:
    width: int
    heads: int
    batch: int
    least: int
    length: int

    @property
    def buckets(self) -> Buckets:
        return {"b": [self.batch // 4, self.batch // 2, self.batch], "s": self.length // 4}


LARGE, SMALL = Size(1024, 16, 16, 16, 512), Size(32, 4, 16, 4, 32)


def bucket(size: int, policy: str | int | list[int]) -> int:
    """The bucket of a size, by hand."""
    if isinstance(policy, int):
        return -(-size // policy) * policy
    if isinstance(policy, list):
        return min(n for n in policy if n >= size)
    return int(1 << (size - 1).bit_length())


def program(size: Size) -> str:
    return PROGRAM.replace("HEADS", str(size.heads))


def stream(size: Size) -> list[Any]:
    """The inputs: no two of them have the same sizes."""
    random = np.random.default_rng(0)
    sizes = dict[tuple[int, int], None]()
    while len(sizes) < COUNT:
        b = random.integers(1, size.batch + 1)
        sizes[int(b), int(random.integers(size.least, size.length + 1))] = None
    return [random.normal(size=(*bs, size.width)).astype(np.float32) for bs in sizes]


def weights(size: Size) -> Any:
    random, d = np.random.default_rng(1), size.width

    def vector(n: int, around: float = 0.0) -> Any:
        return (around + 0.1 * random.normal(size=n)).astype(np.float32)

    def linear(i: int, o: int) -> Any:
        matrix = (random.normal(size=(i, o)) / np.sqrt(i)).astype(np.float32)
        return {"weight": matrix, "bias": vector(o)}

    def norm() -> Any:
        return {"weight": vector(d, 1.0), "bias": vector(d)}

    def layer() -> Any:
        return {
            "ln_1": norm(), "qkv": linear(d, 3 * d), "out": linear(d, d),
            "ln_2": norm(), "up": linear(d, 4 * d), "down": linear(4 * d, d),
        }  # fmt: skip

    return tuple(layer() for _ in range(4))


def mapped(tree: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(tree, tuple):
        return tuple(mapped(part, change) for part in tree)
    if isinstance(tree, dict):
        return {name: mapped(part, change) for name, part in tree.items()}
    return change(tree)


def say(line: str) -> None:
    print(line, flush=True)


def on_host(result: Any) -> Any:
    return np.asarray(result.cpu() if hasattr(result, "cpu") else result)


def measure(
    sides: dict[str, Side],
    counts: dict[str, Callable[[], int]],
    inputs: list[Any],
    wait: Callable[[Any], Any],
    rounds: int,
) -> None:
    names = list(sides)

    def passed(name: str) -> float:
        began = time.perf_counter()
        for x in inputs:
            result = sides[name](x)
        wait(result)
        return time.perf_counter() - began

    first = {}
    for name in names:
        first[name] = passed(name)
        count = counts[name]() if name in counts else 0
        say(f"  {name:<28} first pass {first[name]:9.2f} s   {count:3} compilations")
    expected = [on_host(sides[names[0]](x)) for x in (inputs[0], inputs[-1])]
    for name in names[1:]:
        given = [on_host(sides[name](x)) for x in (inputs[0], inputs[-1])]
        away = max(float(np.abs(a - b).max()) for a, b in zip(given, expected, strict=True))
        say(f"  {name:<28} differs from {names[0]} by at most {away:.1e}")
    times: dict[str, list[float]] = {name: [] for name in names}
    for number in range(rounds):
        at = number % len(names)
        for name in names[at:] + names[:at]:
            times[name].append(passed(name))
    for name in names:
        ratio = ""
        others = {n: statistics.median(times[n]) for n in names if not n.startswith("Axon")}
        if name.startswith("Axon"):
            best = min(others, key=lambda n: others[n])
            ratio = f"   {statistics.median(times[name]) / others[best]:.3f} x {best}"
        count = counts[name]() if name in counts else 0
        say(
            f"  {name:<28} later pass {statistics.median(times[name]):9.4f} s   {count:3} "
            f"compilations{ratio}"
        )


# --- PyTorch ---------------------------------------------------------------------------------


def on_torch(size: Size, rounds: int) -> None:
    import torch
    from torch.nn import functional

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    size = size if device.type == "cuda" else SMALL
    where = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
    say(f"PyTorch {torch.__version__} on {where}")
    p = mapped(weights(size), lambda x: torch.from_numpy(x).to(device))
    inputs = [torch.from_numpy(x).to(device) for x in stream(size)]
    d, heads = size.width, size.heads

    def linear(p: Any, x: Any) -> Any:
        return x @ p["weight"] + p["bias"]

    def norm(p: Any, x: Any) -> Any:
        return functional.layer_norm(x, (d,), p["weight"], p["bias"])

    def by_hand(x: Any) -> Any:
        b, s, _ = x.shape
        for layer in p:
            parts = linear(layer["qkv"], norm(layer["ln_1"], x)).split(d, dim=-1)
            q, k, v = (y.view(b, s, heads, d // heads).transpose(1, 2) for y in parts)
            y = functional.scaled_dot_product_attention(q, k, v)
            x = x + linear(layer["out"], y.transpose(1, 2).reshape(b, s, d))
            inner = functional.gelu(linear(layer["up"], norm(layer["ln_2"], x)), approximate="tanh")
            x = x + linear(layer["down"], inner)
        return x

    made = [0]

    def counting(module: Any, given: Any) -> Any:
        from torch._inductor.compile_fx import compile_fx

        made[0] += 1
        return compile_fx(module, given)

    compiled = torch.compile(by_hand, dynamic=True, backend=counting)
    net = axon.compile(program(size), backend="torch", compiled=True)
    sides: dict[str, Side] = {
        "by hand, eager": by_hand,
        "by hand, compiled": compiled,
        "Axon, compiled": net.layers.module(p, params="p"),
        "Axon, weights as arguments": lambda x: net.layers(p, x),
    }
    counts = {
        "by hand, compiled": lambda: made[0],
        "Axon, compiled": lambda: sides["Axon, compiled"]._function.compilations,  # type: ignore[attr-defined]
        "Axon, weights as arguments": lambda: net.layers.compilations,
    }

    def wait(_: Any) -> None:
        if device.type == "cuda":
            torch.cuda.synchronize()

    with torch.no_grad():
        measure(sides, counts, inputs, wait, rounds)


# --- JAX -------------------------------------------------------------------------------------


def on_jax(size: Size, rounds: int, buckets: Buckets | None) -> None:
    import jax
    import jax.numpy as jnp

    device = jax.devices()[0]
    size = size if device.platform == "gpu" else SMALL
    buckets = buckets or size.buckets
    say(f"JAX {jax.__version__} on {device.device_kind}, buckets {buckets}")
    p = mapped(weights(size), jnp.asarray)
    inputs = [jnp.asarray(x) for x in stream(size)]
    d, heads = size.width, size.heads
    traced = [0]

    def linear(p: Any, x: Any) -> Any:
        return x @ p["weight"] + p["bias"]

    def norm(p: Any, x: Any) -> Any:
        y = x - x.mean(-1, keepdims=True)
        return y * jax.lax.rsqrt((y * y).mean(-1, keepdims=True) + 1e-5) * p["weight"] + p["bias"]

    @jax.jit
    def padded(p: Any, x: Any, length: Any) -> Any:
        traced[0] += 1
        b, s, _ = x.shape
        for layer in p:
            parts = jnp.split(linear(layer["qkv"], norm(layer["ln_1"], x)), 3, axis=-1)
            q, k, v = (y.reshape(b, s, heads, d // heads) for y in parts)
            mask = (jnp.arange(s) < length)[None, None, None]
            y = jax.nn.dot_product_attention(q, k, v, mask=mask)
            x = x + linear(layer["out"], y.reshape(b, s, d))
            inner = jax.nn.gelu(linear(layer["up"], norm(layer["ln_2"], x)), approximate=True)
            x = x + linear(layer["down"], inner)
        return x

    def by_hand(x: Any) -> Any:
        """On the host the cheap way to pad and to cut is NumPy's; on a device it is JAX's."""
        b, s, _ = x.shape
        more = [(0, bucket(n, buckets[name]) - n) for name, n in (("b", b), ("s", s))]
        return padded(p, jnp.pad(x, [*more, (0, 0)]), s)[:b, :s]

    net = axon.compile(program(size), backend="jax")
    sides: dict[str, Side] = {"by hand, buckets": by_hand}
    counts: dict[str, Callable[[], int]] = {"by hand, buckets": lambda: traced[0]}
    bucketed = net.on("jax", buckets=buckets)
    sides["Axon, buckets"] = lambda x: bucketed.layers(p, x)
    counts["Axon, buckets"] = lambda: bucketed.layers.compilations
    measure(sides, counts, inputs, jax.block_until_ready, rounds)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--framework", choices=["jax", "torch"])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--buckets", choices=["pow2"], help="powers of two, on JAX")
    options = parser.parse_args()
    size = SMALL if options.small else LARGE
    if options.framework == "jax":
        on_jax(size, options.rounds, POW2 if options.buckets else None)
        return 0
    if options.framework == "torch":
        on_torch(size, options.rounds)
        return 0
    failed = 0
    for framework in ("torch", "jax"):
        given = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", **os.environ}
        command = [sys.executable, __file__, *sys.argv[1:], "--framework", framework]
        failed += bool(subprocess.run(command, env=given).returncode)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
