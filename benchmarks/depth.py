"""Does compilation for JAX grow with the number of layers? A transformer layer in f32, called one
after another in a program or folded over stacked weights, and the same by hand.

    python benchmarks/depth.py [--small] [--depths 1 12 24 48] [--rounds 20]

For each depth: seconds of tracing, of lowering and of XLA, and the median time of a call; the sides
take turns. `apart` repeats the text of the layer, as a program without functions would; `scan,
stacked inside` stacks the weights in the compiled program, and `a call each` is no program, but a
call of a compiled layer after the other.
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

import numpy as np

import axon

LAYER = """
type Layer(d, f) = { up : f32 [d,f], down : f32 [f,d], scale : f32 [d], qkv : f32 [d,3*d] };

layer = fn (p : Layer(d, f), x : f32 [b,s,d]) : f32 [b,s,d] {
  q, k, v = split(project(layer_norm(x, p.scale), p.qkv), parts=3, axis=-1);
  apart = fn (y : f32 [b,s,d]) { split_heads(y, heads=4) };
  y = x + merge_heads(dot_product_attention(apart(q), apart(k), apart(v), causal=true));
  y + project(gelu(project(layer_norm(y, p.scale), p.up), approximate="tanh"), p.down)
};
"""


def in_line(depth: int) -> str:
    params = ", ".join(f"p{i}" for i in range(depth))
    lines = "".join(f"  x{i + 1} = layer(p{i}, x{i});\n" for i in range(depth))
    return f"{LAYER}\nnet = fn ({params}, x0) {{\n{lines}  x{depth}\n}};"


FOLDED = f"{LAYER}\nnet = fn (p, x) {{ fold(x, fn (x, p) {{ layer(p, x) }}, p) }};"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--depths", type=int, nargs="*", default=[1, 12, 24, 48])
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    try:
        import jax
        import jax.numpy as jnp
    except ImportError:
        print("this benchmark needs JAX: pip install 'axon-shapes[jax]'")
        return 0
    device = jax.devices()[0]
    small = options.small or device.platform != "gpu"
    d, b, s = (64, 2, 64) if small else (1024, 8, 512)
    print(f"JAX {jax.__version__} on {device.device_kind}, f32, x [{b},{s},{d}]", flush=True)
    random = np.random.default_rng(0)

    def weights() -> Any:
        shapes = {"up": (d, 4 * d), "down": (4 * d, d), "scale": (d,), "qkv": (d, 3 * d)}
        made = {n: random.normal(size=k) / np.sqrt(k[0]) for n, k in shapes.items()}
        return {name: jnp.asarray(each, jnp.float32) for name, each in made.items()}

    layer = axon.compile(LAYER, backend="jax").layer.jax
    compiled: Any = jax.jit(lambda p, x: layer(p, x))
    x = jnp.asarray(random.normal(size=(b, s, d)), jnp.float32)
    for depth in options.depths:
        ps = [weights() for _ in range(depth)]
        stacked = jax.tree.map(lambda *each: jnp.stack(each), *ps)
        line = axon.compile(in_line(depth), backend="jax").net
        fold = axon.compile(FOLDED, backend="jax").net

        def apart(ps: Any, x: Any) -> Any:
            for p in ps:
                x = layer(p, x)
            return x

        def each(ps: Any, x: Any) -> Any:
            for p in ps:
                x = compiled(p, x)
            return x

        def inside(ps: Any, x: Any) -> Any:
            p = jax.tree.map(lambda *each: jnp.stack(each), *ps)
            return jax.lax.scan(lambda x, p: (layer(p, x), None), x, p)[0]

        traced: dict[str, tuple[Any, tuple[Any, ...]]] = {
            "apart": (apart, (ps, x)),
            "Axon, in a line": (line.jax, (*ps, x)),
            "Axon, folded": (fold.jax, (stacked, x)),
            "scan, stacked inside": (inside, (ps, x)),
        }
        sides: dict[str, Callable[[], Any]] = {}
        spent: dict[str, str] = {}
        for name, (function, args) in traced.items():
            began = time.perf_counter()
            trace: Any = jax.jit(lambda *args, f=function: f(*args)).trace(*args)
            middle = time.perf_counter()
            lowered = trace.lower()
            late = time.perf_counter()
            program = lowered.compile()
            times = (middle - began, late - middle, time.perf_counter() - late)
            spent[name] = "trace {:6.2f} s  lower {:6.2f} s  XLA {:7.2f} s".format(*times)
            sides[name] = lambda p=program, a=args: p(*a)  # type: ignore[misc]
        sides["a call each"] = lambda ps=ps: each(ps, x)  # type: ignore[misc]
        found: dict[str, list[float]] = {name: [] for name in sides}
        names = list(sides)
        expected = np.asarray(sides["apart"]())
        for name in names:
            np.testing.assert_allclose(sides[name](), expected, rtol=2e-2, atol=2e-2)
        for number in range(options.rounds):
            at = number % len(names)
            for name in names[at:] + names[:at]:
                began = time.perf_counter()
                jax.block_until_ready(sides[name]())
                found[name].append(time.perf_counter() - began)
        base = statistics.median(found["apart"])
        for name in names:
            taken = statistics.median(found[name])
            what = spent.get(name, "").ljust(52)
            print(
                f"  depth {depth:2}  {name:<22}{what}call {1e3 * taken:9.3f} ms"
                f"{taken / base:7.3f} x",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
