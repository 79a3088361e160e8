"""Ragged tensors on a GPU: Axon on PyTorch and on JAX beside a loop over the rows and PyTorch's
nested tensors, the sides taking turns.

    python benchmarks/ragged_device.py [--device cuda] [--rounds N] [--seconds S] [--only NAME]
    python benchmarks/ragged_device.py --device cpu --small
    python benchmarks/ragged_device.py --check

The work and the rows are those of `ragged.py`; attention also in half precision and causal. Each
figure is a median in milliseconds of wall-clock time, the device's work included; `-` is what a
library does not do, or what there was no time for. `first` is the first call on JAX, compilation
included, in seconds. Gradients are those of all elements; on JAX `jax.jit` of `jax.grad`. Results
are compared before anything is timed, of many rows those of some.

A side that takes long has fewer turns; each has a share of the seconds, and what would start after
them is left out. With `--small` there are few rows. With `--check` nothing is timed: values and
gradients on the device are compared with those on the processor in f64.
"""

from __future__ import annotations

import argparse
import logging
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from ragged import PROGRAM, VECTORS, WIDTH, lengths_of

import axon

MORE = """
causal = fn (x : f32 [n,*,d], w : f32 [d,d]) { map(fn (r) { causal_attention(r, r, r @ w) }, x) };
half = fn (x : bf16 [n,*,d], w : bf16 [d,d]) { map(fn (r) { attention(r, r, r @ w) }, x) };
"""

NAMES = (
    "attention", "softmax_", "mean_pool", "causal", "half", "cumsum_", "sort_", "weight",
    "normalise", "max_pool",
)  # fmt: skip
"""What one wants to know first stands first, in case that the time is up."""

TURN = 0.4
"""A side gets no more turns when it has taken so many seconds in all."""

KINDS = ("2,000 rows", "skewed rows", "100,000 short rows")

SHARES = {
    "axon": 1.0,
    "gradient": 0.3,
    "jax": 0.35,
    "jax gradient": 0.25,
    "loop": 0.15,
    "nested": 0.2,
}
"""Of the seconds which part a side may take in all; compilations count."""

COLUMNS = (
    ("axon", 9), ("gradient", 10), ("jax", 9), ("first", 7), ("jax gradient", 14), ("loop", 9),
    ("nested", 9),
)  # fmt: skip

COMPARED = 300
"""How many rows are compared with the loop."""

CHECKED = """
    attention(r, r, r @ w)
    causal_attention(r, r, r @ w)
    softmax(r @ transpose(r) * 0.5) @ r
    softmax(tanh(r @ transpose(r))) @ r
    softmax(r @ transpose(r), axis=0) @ r
    transpose(r) @ softmax(r @ transpose(r))
    logsumexp(r @ transpose(r), axis=1)
    max(r @ transpose(r), axis=0)
    sum(triu(r @ transpose(r)), axis=1)
    softmax(r, axis=0)
    layer_norm(r @ w)
    mean(r, axis=0)
    max(r, axis=0)
    cumsum(r)
    sort(r, axis=0)
    argmax(r, axis=0)
    merged(dot_product_attention(heads(r), heads(r @ w), heads(r)))
    merged(dot_product_attention(heads(r), heads(r), heads(r), causal=true))
    merged(dot_product_attention(heads(r), head(r), head(r), groups=2))
    merged(dot_product_attention(heads(r), heads(r), heads(r), softcap=2.0, before=3))
""".strip().splitlines()

HEADS = """
heads = fn (r : t [n,d]) { split_heads(expand_dims(r, axis=0), heads=2) };
head = fn (r : t [n,d]) { split_heads(expand_dims(r[:, :4], axis=0), heads=1) };
merged = fn (y : t [1,h,n,k]) { squeeze(merge_heads(y), axis=0) };
"""

LENGTHS = ((40, 2, 0, 9, 130, 1, 17), (3, 3, 3), (1,), (300,))

CLOSE = {"f32": 1e-4, "f16": 4e-2, "bf16": 0.3}

Side = Callable[[], Any]


def attention(r: Any, w: Any, causal: bool = False) -> Any:
    scores = r @ r.T / WIDTH**0.5
    if causal:
        scores = scores.masked_fill(~torch.ones_like(scores, dtype=torch.bool).tril(), -torch.inf)
    return torch.softmax(scores, -1) @ (r @ w)


ROWS: dict[str, Callable[..., Any]] = {
    "mean_pool": lambda r, w: r.mean(0),
    "max_pool": lambda r, w: r.amax(0),
    "softmax_": lambda r, w: torch.softmax(r, 0),
    "normalise": lambda r, w: torch.nn.functional.layer_norm(r, r.shape),
    "cumsum_": lambda r, w: r.cumsum(0),
    "sort_": lambda r, w: r.sort().values,
    "weight": lambda r, w: r @ w,
    "attention": attention,
    "causal": lambda r, w: attention(r, w, True),
    "half": attention,
}


def nested(name: str, values: Any, offsets: Any, w: Any) -> Side | None:
    """What nested tensors with the jagged layout do."""
    jagged = torch.nested.nested_tensor_from_jagged
    match name:
        case "softmax_":
            wide = jagged(values[:, None], offsets)
            return lambda: torch.softmax(wide, dim=1)
        case "mean_pool" | "max_pool" | "weight":
            x = jagged(values, offsets)
            return {
                "mean_pool": lambda: torch.mean(x, dim=1),
                "max_pool": lambda: torch.amax(x, dim=1),
                "weight": lambda: x @ w,
            }[name]
        case "attention" | "causal" | "half":
            head = jagged(values[:, None, :], offsets)

            def run() -> Any:
                other = jagged((values @ w)[:, None, :], offsets)
                q, k, v = (each.transpose(1, 2) for each in (head, head, other))
                return torch.nn.functional.scaled_dot_product_attention(
                    q, k, v, is_causal=name == "causal"
                )

            return run
    return None


def with_gradient(function: Callable[..., Any], values: Any, offsets: Any, w: Any) -> Side:
    leaf = values.detach().requires_grad_()

    def run() -> Any:
        leaf.grad = None
        made = function(axon.Ragged.from_packed(leaf, offsets), w)
        made.values.square().sum().backward()
        return leaf.grad

    return run


class Clock:
    """Who has taken how many of the seconds."""

    def __init__(self, seconds: float) -> None:
        self.begin = time.perf_counter()
        self.seconds = seconds
        self.taken = dict.fromkeys(SHARES, 0.0)

    def over(self) -> bool:
        return time.perf_counter() - self.begin > self.seconds

    def may(self, name: str) -> bool:
        return not self.over() and self.taken[name] < SHARES[name] * self.seconds

    def time(self, name: str, function: Side) -> float:
        start = time.perf_counter()
        ready(function())
        found = time.perf_counter() - start
        self.taken[name] += found
        return found


def ready(made: Any) -> None:
    """Wait for a result."""
    values = getattr(made, "values", made)
    if hasattr(values, "block_until_ready"):
        values.block_until_ready()
    elif torch.cuda.is_available():
        torch.cuda.synchronize()


def medians(sides: dict[str, Side], rounds: int, clock: Clock) -> dict[str, float]:
    """In milliseconds; and the first call on JAX, in seconds."""
    times: dict[str, list[float]] = {}
    found: dict[str, float] = {}
    for name, function in sides.items():
        if not clock.may(name):
            continue
        try:
            first = clock.time(name, function)
        except Exception as problem:
            print(f"    {name}: {str(problem).splitlines()[0][:100]}")
            continue
        times[name] = []
        if name == "jax":
            found["first"] = first
    for _ in range(rounds):
        for name, each in times.items():
            if (sum(each) < TURN or len(each) < 3) and (not each or clock.may(name)):
                each.append(clock.time(name, sides[name]))
    return found | {name: 1e3 * statistics.median(each) for name, each in times.items()}


def on_jax(net: Any, name: str, values: Any, offsets: Any, w: Any) -> dict[str, Side]:
    import jax

    elem = jax.numpy.bfloat16 if name == "half" else jax.numpy.float32
    put = [
        jax.device_put(jax.numpy.asarray(each.float().cpu().numpy(), elem)) for each in (values, w)
    ]
    x = axon.Ragged.from_packed(put[0], offsets)
    rest = () if name in VECTORS else (put[1],)
    sides: dict[str, Side] = {"jax": lambda: getattr(net, name)(x, *rest)}
    if not name.endswith("_pool"):
        function = getattr(net, name).jax

        def loss(x: Any, *rest: Any) -> Any:
            return jax.numpy.square(function(x, *rest).values.astype("float32")).sum()

        gradient = jax.jit(jax.grad(loss))
        sides["jax gradient"] = lambda: gradient(x, *rest)
    return sides


def outcome(function: Any, values: Any, offsets: Any, w: Any) -> list[Any]:
    """A result and its gradients, in f64 on the processor."""
    leaves = [x.detach().clone().requires_grad_() for x in (values, w)]
    made = function(axon.Ragged.from_packed(leaves[0], offsets), leaves[1])
    rows = made.rows if isinstance(made, axon.Ragged) else [made]
    found = torch.cat([row.reshape(-1) for row in rows])
    if found.is_floating_point():
        found.double().square().sum().backward()
    parts = [found.detach(), *(x.grad for x in leaves if x.grad is not None)]
    return [part.double().cpu() for part in parts]


def check(device: Any) -> int:
    """Each function on the device, beside the same in f64 on the processor."""
    wrong = 0
    for elem, close in CLOSE.items():
        for number, body in enumerate(CHECKED):
            body = body.strip()
            text = "f = fn (x : {0} [n,*,8], w : {0} [8,8]) {{ map(fn (r) {{ {1} }}, x) }};"
            known = axon.compile(HEADS + text.format("f64", body), backend="torch").f
            function = axon.compile(HEADS + text.format(elem, body), backend="torch").f
            for lengths in LENGTHS:
                if 0 in lengths and ("max(" in body):
                    lengths = tuple(n for n in lengths if n)
                offsets = np.concatenate([[0], np.cumsum(lengths)])
                random = np.random.default_rng(number)
                dtype = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}[elem]
                values = torch.tensor(random.normal(size=(offsets[-1], 8))).to(dtype)
                w = torch.tensor(random.normal(size=(8, 8)) / 3).to(dtype)
                expected = outcome(known, values.double(), offsets, w.double())
                found = outcome(function, values.to(device), offsets, w.to(device))
                for a, b in zip(found, expected, strict=True):
                    a, b = a.nan_to_num(1e9), b.nan_to_num(1e9)
                    away = ((a - b).abs() / (1 + b.abs().amax())).max() if a.numel() else 0
                    if a.shape != b.shape or not away <= close:
                        wrong += 1
                        print(f"{elem} {body} {lengths}: {away}")
            if function.row_loops:
                print(elem, body, *function.row_loops)
    print("wrong:", wrong)
    return wrong


def compare(made: Any, expected: list[Any], close: float) -> None:
    """The first rows of a result, of PyTorch or of JAX, with those of the loop."""
    if isinstance(made, axon.Ragged):
        assert made.offsets is not None
        made, wanted = made.values[: int(made.offsets[len(expected)])], torch.cat(expected)
    else:
        made, wanted = made[: len(expected)], torch.stack(expected)
    if not isinstance(made, torch.Tensor):
        made = torch.tensor(np.asarray(made.astype("float32")), device=wanted.device)
    torch.testing.assert_close(made.float(), wanted.float(), rtol=close, atol=close)


def rows_of(kind: str, small: bool) -> Any:
    return lengths_of(kind)[:: 20 if small else 1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--seconds", type=float, default=160)
    parser.add_argument("--only", default="")
    parser.add_argument("--kind", default="")
    parser.add_argument("--no-jax", action="store_true")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", module="torch")
    warnings.filterwarnings("ignore", message=".*nested tensor.*")
    logging.getLogger("torch").setLevel(logging.ERROR)
    if options.check:
        raise SystemExit(bool(check(torch.device(options.device))))
    clock = Clock(options.seconds)
    device = torch.device(options.device)
    if device.type == "cpu":
        torch.set_num_threads(1)
    net = axon.compile(MORE + PROGRAM, backend="torch")
    other = None if options.no_jax else axon.compile(MORE + PROGRAM, backend="jax")
    weight = torch.tensor(np.random.default_rng(1).normal(size=(WIDTH, WIDTH)), device=device)
    for kind in KINDS:
        if options.kind not in kind or clock.over():
            continue
        lengths = rows_of(kind, options.small)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        ends = torch.tensor(offsets, device=device)
        spans = list(pairwise(offsets.tolist()))
        print(f"{kind}: {offsets[-1]:,} elements, the longest row has {lengths.max():,}")
        print(" " * 12 + "".join(f"{name:>{n}}" for name, n in COLUMNS))
        random = np.random.default_rng(2)
        vectors = torch.tensor(random.normal(size=offsets[-1]), device=device)
        matrices = torch.tensor(random.normal(size=(offsets[-1], WIDTH)), device=device)
        for name in NAMES:
            if options.only not in name or clock.over():
                continue
            dtype = torch.bfloat16 if name == "half" else torch.float32
            values = (vectors if name in VECTORS else matrices).to(dtype)
            w = weight.to(dtype)
            x = axon.Ragged.from_packed(values, offsets)
            args = (x,) if name in VECTORS else (x, w)
            function, rows = getattr(net, name), ROWS[name]

            def loop(rows: Any = rows, values: Any = values, w: Any = w, ends: Any = spans) -> Any:
                return [rows(values[a:b], w) for a, b in ends]

            made, expected = function(*args), loop(ends=spans[:COMPARED])
            close = 3e-2 if name == "half" else 2e-4
            compare(made, expected, close)
            sides: dict[str, Side] = {"axon": lambda f=function, args=args: f(*args)}
            if isinstance(made, axon.Ragged):
                call = (lambda x, w, f=function: f(x)) if name in VECTORS else function
                sides["gradient"] = with_gradient(call, values, offsets, w)
            if len(lengths) <= 2000:
                sides["loop"] = loop
            side = nested(name, values, ends, w)
            if side is not None:
                sides["nested"] = side
            if other is not None:
                sides |= on_jax(other, name, values, offsets, w)
            got = medians(sides, options.rounds, clock)
            if "jax" in got:  # whose products of f32 are those of TF32, unless one asks for more
                try:
                    compare(sides["jax"](), expected, 5e-2 if name == "half" else 2e-2)
                except AssertionError as problem:
                    print("    jax is wrong:", " ".join(str(problem).split())[:200])
            shown = [f"{got[s]:{n}.2f}" if s in got else f"{'-':>{n}}" for s, n in COLUMNS]
            loops = (
                [] if other is None else [f"JAX: {each}" for each in getattr(other, name).row_loops]
            )
            print(f"{name:12}{''.join(shown)}", *function.row_loops, *loops, flush=True)
    print(f"in {time.perf_counter() - clock.begin:.0f} s")


if __name__ == "__main__":
    main()
