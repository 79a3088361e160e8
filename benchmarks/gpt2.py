"""GPT-2 in bf16, from `examples/models/gpt2.axon` and written by hand: what do a forward pass and a
step of training (forward, backward, AdamW) take?

    python benchmarks/gpt2.py [--small] [--framework jax|torch] [--rounds 20] [--only NAME]

124M parameters and 8 x 1,024 tokens; `--small`, and where there is no GPU, a toy of it. Each
framework has a process of its own. On JAX the hand-written model is plain `jax.numpy` with
`jax.nn.dot_product_attention`, its layers scanned or unrolled, with each attention that the device
has; on PyTorch it is a module with SDPA, eager and compiled. The best of them counts. All sides
take turns, the one that begins changes, and medians are compared. It needs `src` of this
repository, NumPy, and the framework.

The floating-point operations are those of the products, `24*d*d + 4*s*d` for a token and layer and
`2*d*v` for its scores, three times as many for a step of training; the peak is that of an H200 in
dense bf16.
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
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

import numpy as np

import axon

MODEL = Path(__file__).resolve().parents[1] / "examples" / "models" / "gpt2.axon"
PEAK = 989e12
RATE, DECAY, FIRST, SECOND, TINY = 1e-4, 0.01, 0.9, 0.999, 1e-8

Call = Callable[[], Any]


@dataclass(frozen=True)
class Size:
    layers: int
    width: int
    heads: int
    words: int
    places: int
    batch: int
    length: int

    @property
    def tokens(self) -> int:
        return self.batch * self.length

    @property
    def operations(self) -> int:
        """Of a forward pass."""
        d = self.width
        layer = 24 * d * d + 4 * self.length * d
        return self.tokens * (self.layers * layer + 2 * d * self.words)


LARGE = Size(12, 768, 12, 50257, 1024, 8, 1024)
SMALL = Size(3, 96, 4, 500, 128, 2, 128)


def weights(size: Size) -> Any:
    """Random weights of NumPy in f32, under the names of the checkpoint; layers are stacked."""
    random = np.random.default_rng(0)
    layers, d = size.layers, size.width

    def matrix(*shape: int) -> Any:
        return random.normal(0, 0.02, shape).astype(np.float32)

    def norm(*shape: int) -> Any:
        return {"weight": np.ones(shape, np.float32), "bias": matrix(*shape)}

    def dense(i: int, o: int) -> Any:
        return {"weight": matrix(layers, i, o), "bias": matrix(layers, o)}

    blocks = {
        "ln_1": norm(layers, d),
        "attn": {"c_attn": dense(d, 3 * d), "c_proj": dense(d, d)},
        "ln_2": norm(layers, d),
        "mlp": {"c_fc": dense(d, 4 * d), "c_proj": dense(4 * d, d)},
    }
    return {
        "transformer": {
            "wte": {"weight": matrix(size.words, d)},
            "wpe": {"weight": matrix(size.places, d)},
            "h": blocks,
            "ln_f": norm(d),
        }
    }


def text(size: Size) -> Any:
    random = np.random.default_rng(1)
    return random.integers(0, size.words, (size.batch, size.length + 1))


def mapped(tree: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(tree, dict):
        return {name: mapped(part, change) for name, part in tree.items()}
    return change(tree)


# --- measuring -------------------------------------------------------------------------------


def say(line: str) -> None:
    print(line, flush=True)


def first_calls(sides: dict[str, Call], wait: Callable[[Any], Any]) -> dict[str, Any]:
    """The results of the first calls, which compile."""
    found = {}
    for name, call in sides.items():
        began = time.perf_counter()
        found[name] = call()
        wait(found[name])
        say(f"    {name:<34} the first call takes {time.perf_counter() - began:8.2f} s")
    return found


def medians(sides: dict[str, Call], wait: Callable[[Any], Any], rounds: int) -> dict[str, float]:
    """The median time of each. They take turns, and each begins in turn."""
    names = list(sides)
    times: dict[str, list[float]] = {name: [] for name in names}
    for name in 3 * names:
        wait(sides[name]())
    for number in range(rounds):
        at = number % len(names)
        for name in names[at:] + names[:at]:
            began = time.perf_counter()
            wait(sides[name]())
            times[name].append(time.perf_counter() - began)
    return {name: statistics.median(found) for name, found in times.items()}


def report(
    what: str, size: Size, sides: dict[str, Call], wait: Callable[[Any], Any], rounds: int
) -> None:
    """The sides of Axon beside the best of the others of their kind."""
    found = medians(sides, wait, rounds)
    others = {name: taken for name, taken in found.items() if not name.startswith("Axon")}
    factor = 3 if what == "training" else 1
    for name, taken in found.items():
        ratio = ""
        if name.startswith("Axon") and others:
            eager = "eager" in name
            peers = {n: t for n, t in others.items() if not eager or "eager" in n}
            best = min(peers, key=lambda n: peers[n])
            ratio = f"   {taken / peers[best]:.3f} x {best}"
        share = 100 * factor * size.operations / taken / PEAK
        say(
            f"  {what:<9}{name:<36}{1e3 * taken:9.3f} ms{size.tokens / taken:12.0f} tokens/s"
            f"{share:7.1f}% of peak{ratio}"
        )


def differ(what: str, results: dict[str, Any]) -> None:
    """How far the results are from those of the first side, in units of its largest."""
    name, expected = next(iter(results.items()))
    most = max(float(np.abs(expected).max()), 1e-30)
    for other, given in results.items():
        if other != name:
            away = float(np.abs(given - expected).max()) / most
            say(f"  {what}: {other} differs from {name} by {away:.1e} of the largest")


# --- JAX -------------------------------------------------------------------------------------


def on_jax(size: Size, rounds: int, only: str) -> None:
    import jax
    import jax.numpy as jnp

    device = jax.devices()[0]
    size = size if device.platform == "gpu" else SMALL
    say(f"JAX {jax.__version__} on {device.device_kind}, bf16, {size.batch} x {size.length}")

    def norm(p: Any, x: Any) -> Any:
        y = x.astype(jnp.float32)
        y = y - y.mean(-1, keepdims=True)
        y = y * jax.lax.rsqrt((y * y).mean(-1, keepdims=True) + 1e-5)
        return y.astype(x.dtype) * p["weight"] + p["bias"]

    def dense(p: Any, x: Any) -> Any:
        return x @ p["weight"] + p["bias"]

    def block(p: Any, x: Any, implementation: str) -> Any:
        b, s, d = x.shape
        parts = jnp.split(dense(p["attn"]["c_attn"], norm(p["ln_1"], x)), 3, axis=-1)
        q, k, v = (y.reshape(b, s, size.heads, d // size.heads) for y in parts)
        y = jax.nn.dot_product_attention(q, k, v, is_causal=True, implementation=implementation)
        x = x + dense(p["attn"]["c_proj"], y.reshape(b, s, d))
        inner = jax.nn.gelu(dense(p["mlp"]["c_fc"], norm(p["ln_2"], x)), approximate=True)
        return x + dense(p["mlp"]["c_proj"], inner)

    def by_hand(p: Any, tokens: Any, implementation: str) -> Any:
        p = p["transformer"]
        x = p["wte"]["weight"][tokens] + p["wpe"]["weight"][: tokens.shape[1]]
        if isinstance(p["h"], list):
            for layer in p["h"]:
                x = block(layer, x, implementation)
        else:
            x, _ = jax.lax.scan(lambda x, p: (block(p, x, implementation), None), x, p["h"])
        return norm(p["ln_f"], x) @ p["wte"]["weight"].T

    def trained(forward: Callable[..., Any]) -> Callable[..., Any]:
        """A step of AdamW; the state is given away."""

        def loss(p: Any, tokens: Any, wanted: Any) -> Any:
            scores = jax.nn.log_softmax(forward(p, tokens).astype(jnp.float32))
            return -jnp.take_along_axis(scores, wanted[..., None], -1).mean()

        def step(p: Any, m: Any, v: Any, at: Any, tokens: Any, wanted: Any) -> Any:
            value, grads = jax.value_and_grad(loss)(p, tokens, wanted)
            at = at + 1
            m = jax.tree.map(lambda m, g: FIRST * m + (1 - FIRST) * g, m, grads)
            v = jax.tree.map(lambda v, g: SECOND * v + (1 - SECOND) * g * g, v, grads)

            def moved(p: Any, m: Any, v: Any) -> Any:
                m, v, q = (x.astype(jnp.float32) for x in (m, v, p))
                m, v = m / (1 - FIRST**at), v / (1 - SECOND**at)
                return (q - RATE * (m / (jnp.sqrt(v) + TINY) + DECAY * q)).astype(p.dtype)

            return jax.tree.map(moved, p, m, v), m, v, at, value

        return jax.jit(step, donate_argnums=(0, 1, 2))

    net = axon.load(MODEL, backend="jax")
    stacked = mapped(weights(size), lambda x: jnp.asarray(x, jnp.bfloat16))
    apart = {"transformer": {**stacked["transformer"]}}
    apart["transformer"]["h"] = [
        mapped(stacked["transformer"]["h"], lambda x, i=i: x[i]) for i in range(size.layers)
    ]
    words = text(size)
    tokens, wanted = (jnp.asarray(x, jnp.int32) for x in (words[:, :-1], words[:, 1:]))
    long = np.asarray(words[:, :-1])  # i64, as the program declares them
    with jax.enable_x64(True):
        long = jax.device_put(jnp.asarray(long, jnp.int64))
    heads = size.heads

    kinds: dict[str, tuple[Callable[..., Any], Any, Any]] = {
        "Axon": (lambda p, t: net.gpt2.jax(p, t, heads), stacked, long)
    }
    for implementation in ["cudnn", "xla"] if device.platform == "gpu" else ["xla"]:
        for name, p in (("scan", stacked), ("unrolled", apart)):
            if (implementation, name) != ("xla", "unrolled") or device.platform != "gpu":
                forward = partial(by_hand, implementation=implementation)
                kinds[f"by hand, {name}, {implementation}"] = forward, p, tokens
    kinds = {name: kind for name, kind in kinds.items() if only in name or name == "Axon"}

    sides: dict[str, Call] = {}
    for name, (forward, p, given) in kinds.items():
        call: Any = jax.jit(forward)
        if name == "Axon":  # as it is called, with its checks
            sides[name] = lambda p=p, given=given: net.gpt2(p, given, heads)  # type: ignore[misc]
        else:
            sides[name] = lambda call=call, p=p, given=given: call(p, given)  # type: ignore[misc]
    results = first_calls(sides, jax.block_until_ready)
    differ("scores", {n: np.asarray(r[:1], np.float32) for n, r in results.items()})
    del results
    report("forward", size, sides, jax.block_until_ready, rounds)

    class Training:
        """The state of one side, which each call moves on."""

        def __init__(self, forward: Callable[..., Any], p: Any, given: Any) -> None:
            p = jax.tree.map(jnp.copy, p)
            zeros = jax.tree.map(jnp.zeros_like, p)
            self.step = trained(forward)
            self.state = (p, zeros, jax.tree.map(jnp.copy, zeros), jnp.zeros((), jnp.float32))
            self.given = given

        def __call__(self) -> Any:
            *state, value = self.step(*self.state, self.given, wanted)
            self.state = tuple(state)  # type: ignore[assignment]
            return value, self.state[0]

    steps: dict[str, Call] = {name: Training(*kind) for name, kind in kinds.items()}
    results = first_calls(steps, jax.block_until_ready)
    differ("loss", {n: np.asarray(r[0], np.float32) for n, r in results.items()})
    del results
    report("training", size, steps, jax.block_until_ready, rounds)


# --- PyTorch ---------------------------------------------------------------------------------


def on_torch(size: Size, rounds: int, only: str) -> None:
    import torch
    from torch import nn
    from torch.nn import functional

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    size = size if device.type == "cuda" else SMALL
    where = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
    say(f"PyTorch {torch.__version__} on {where}, bf16, {size.batch} x {size.length}")
    d, heads = size.width, size.heads

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.ln_1, self.ln_2 = nn.LayerNorm(d), nn.LayerNorm(d)
            self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
            self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

        def forward(self, x: Any) -> Any:
            b, s, _ = x.shape
            parts = self.qkv(self.ln_1(x)).split(d, dim=-1)
            q, k, v = (y.view(b, s, heads, d // heads).transpose(1, 2) for y in parts)
            y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(y.transpose(1, 2).reshape(b, s, d))
            return x + self.down(functional.gelu(self.up(self.ln_2(x)), approximate="tanh"))

    class ByHand(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.wte, self.wpe = nn.Embedding(size.words, d), nn.Embedding(size.places, d)
            self.h = nn.ModuleList(Block() for _ in range(size.layers))
            self.ln_f = nn.LayerNorm(d)

        def forward(self, tokens: Any) -> Any:
            x = self.wte(tokens) + self.wpe.weight[: tokens.shape[1]]
            for block in self.h:
                x = block(x)
            return functional.linear(self.ln_f(x), self.wte.weight)

    found = mapped(weights(size), torch.from_numpy)

    def by_hand() -> Any:
        made, p = ByHand(), found["transformer"]
        state = {"wte.weight": p["wte"]["weight"], "wpe.weight": p["wpe"]["weight"]}
        state |= {f"ln_f.{name}": x for name, x in p["ln_f"].items()}
        for i in range(size.layers):
            layer, at = mapped(p["h"], lambda x, i=i: x[i]), f"h.{i}"
            denses = {
                "qkv": layer["attn"]["c_attn"], "out": layer["attn"]["c_proj"],
                "up": layer["mlp"]["c_fc"], "down": layer["mlp"]["c_proj"],
            }  # fmt: skip
            for name, each in denses.items():
                state[f"{at}.{name}.weight"] = each["weight"].T
                state[f"{at}.{name}.bias"] = each["bias"]
            for name in ("ln_1", "ln_2"):
                state |= {f"{at}.{name}.{part}": x for part, x in layer[name].items()}
        made.load_state_dict(state)
        return made.to(device, torch.bfloat16)

    def ours(compiled: bool) -> Any:
        net = axon.load(MODEL, backend="torch", compiled=compiled)
        p = mapped(found, lambda x: x.to(device, torch.bfloat16, copy=True))
        module = net.gpt2.module(p, params="p")
        return module, lambda tokens: module(tokens, heads)

    words = torch.from_numpy(text(size)).to(device)
    tokens, wanted = words[:, :-1].contiguous(), words[:, 1:].contiguous()

    def wait(_: Any) -> None:
        if device.type == "cuda":
            torch.cuda.synchronize()

    kinds: dict[str, tuple[Any, Callable[..., Any]]] = {}
    for name, compiled in (("Axon, compiled", True), ("Axon, eager", False)):
        kinds[name] = ours(compiled)
    for name, compiled in (("by hand, compiled", True), ("by hand, eager", False)):
        module = by_hand()
        kinds[name] = module, torch.compile(module) if compiled else module
    kinds = {name: kind for name, kind in kinds.items() if only in name}

    def forward(call: Callable[..., Any]) -> Any:
        with torch.no_grad():
            return call(tokens)

    sides: dict[str, Call] = {n: partial(forward, call) for n, (_, call) in kinds.items()}
    results = first_calls(sides, wait)
    differ("scores", {n: r[:1].float().cpu().numpy() for n, r in results.items()})
    del results
    report("forward", size, sides, wait, rounds)

    def step(module: Any, call: Callable[..., Any], optimizer: Any) -> Any:
        optimizer.zero_grad(set_to_none=True)
        scores = call(tokens).view(-1, size.words)
        loss = functional.cross_entropy(scores.float(), wanted.view(-1))
        loss.backward()
        optimizer.step()
        return loss

    steps: dict[str, Call] = {}
    for name, (module, call) in kinds.items():
        moved = torch.optim.AdamW(
            module.parameters(), RATE, (FIRST, SECOND), TINY, DECAY, fused=True
        )
        steps[name] = partial(step, module, call, moved)
    results = first_calls(steps, wait)
    differ("loss", {n: r.detach().cpu().numpy() for n, r in results.items()})
    del results
    report("training", size, steps, wait, rounds)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--framework", choices=["jax", "torch"])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--only", default="", help="only the sides with this in their names")
    options = parser.parse_args()
    size = SMALL if options.small else LARGE
    if options.framework is not None:
        run = on_jax if options.framework == "jax" else on_torch
        run(size, options.rounds, options.only)
        return 0
    failed = 0
    for framework in ("jax", "torch"):
        given = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", **os.environ}
        command = [sys.executable, __file__, *sys.argv[1:], "--framework", framework]
        failed += bool(subprocess.run(command, env=given).returncode)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
