"""Does compilation for JAX grow with the number of layers? A transformer layer in f32, called one
after another in a program, with and without `stack_layers`, or folded over stacked weights, and the
same by hand.

    python benchmarks/depth.py [--small] [--gradient] [--width 64] [--depths 1 12 24 48]

For each depth: seconds of tracing, of lowering and of XLA, and the median time of a call, in CPU
seconds where there is no GPU; the sides take turns. `apart` traces each layer anew, as a program
without functions would; `scan, stacked inside` stacks the weights in the compiled program, and
`a call each` is no program, but a call of a compiled layer after the other. With `--gradient` it is
the gradient by all weights.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
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


CLOSE = {"rtol": 2e-2, "atol": 2e-2}

FOLDED = f"{LAYER}\nnet = fn (p, x) {{ fold(x, fn (x, p) {{ layer(p, x) }}, p) }};"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--depths", type=int, nargs="*", default=[1, 12, 24, 48])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--width", type=int, help="features, a multiple of 4")
    parser.add_argument("--gradient", action="store_true", help="by the weights")
    options = parser.parse_args()
    try:
        import jax
        import jax.numpy as jnp
    except ImportError:
        print("this benchmark needs JAX: pip install 'axon-shapes[jax]'")
        return 0
    device = jax.devices()[0]
    small = options.small or device.platform != "gpu"
    clock = time.perf_counter if device.platform == "gpu" else time.process_time
    d, b, s = (64, 2, 64) if small else (1024, 8, 512)
    d = options.width or d
    print(f"JAX {jax.__version__} on {device.device_kind}, f32, x [{b},{s},{d}]", flush=True)
    random = np.random.default_rng(0)

    def weights() -> Any:
        shapes = {"up": (d, 4 * d), "down": (4 * d, d), "scale": (d,), "qkv": (d, 3 * d)}
        made = {n: random.normal(size=k) / np.sqrt(k[0]) for n, k in shapes.items()}
        return {name: jnp.asarray(each, jnp.float32) for name, each in made.items()}

    def gradient(function: Any) -> Any:
        return jax.grad(lambda ps, x: function(ps, x).sum())

    layer = axon.compile(LAYER, backend="jax").layer.jax
    compiled: Any = jax.jit(lambda p, x: layer(p, x))
    x = jnp.asarray(random.normal(size=(b, s, d)), jnp.float32)
    for depth in options.depths:
        ps = [weights() for _ in range(depth)]
        stacked = jax.tree.map(lambda *each: jnp.stack(each), *ps)
        program = axon.compile(in_line(depth), backend="jax")
        line, loop = program.net, program.on("jax", stack_layers=True).net
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
            "Axon, in a line": (lambda ps, x, f=line.jax: f(*ps, x), (ps, x)),
            "Axon, stack_layers": (lambda ps, x, f=loop.jax: f(*ps, x), (ps, x)),
            "Axon, folded": (fold.jax, (stacked, x)),
            "scan, stacked inside": (inside, (ps, x)),
        }
        sides: dict[str, Callable[[], Any]] = {}
        spent: dict[str, str] = {}
        for name, (function, args) in traced.items():
            if options.gradient:
                function = gradient(function)
            began = clock()
            trace: Any = jax.jit(lambda *args, f=function: f(*args)).trace(*args)
            middle = clock()
            lowered = trace.lower()
            late = clock()
            program = lowered.compile()
            times = (middle - began, late - middle, clock() - late)
            spent[name] = "trace {:6.2f} s  lower {:6.2f} s  XLA {:7.2f} s".format(*times)
            sides[name] = lambda p=program, a=args: p(*a)  # type: ignore[misc]
        if not options.gradient:
            sides["a call each"] = lambda ps=ps: each(ps, x)  # type: ignore[misc]
        found: dict[str, list[float]] = {name: [] for name in sides}
        names = list(sides)
        expected = sides["apart"]()
        for name in names:
            if name != "Axon, folded" or not options.gradient:
                jax.tree.map(partial(np.testing.assert_allclose, **CLOSE), sides[name](), expected)
        for number in range(options.rounds):
            at = number % len(names)
            for name in names[at:] + names[:at]:
                began = clock()
                jax.block_until_ready(sides[name]())
                found[name].append(clock() - began)
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
