"""Ragged tensors on a GPU: Axon on PyTorch and on JAX beside a loop over the rows and PyTorch's
nested tensors, the sides taking turns.

    python benchmarks/ragged_device.py [--device cuda] [--rounds N] [--seconds S] [--only NAME]
    python benchmarks/ragged_device.py --check

The work and the rows are those of `ragged.py`; attention also with gradients, in half precision and
causal. Each figure is a median in milliseconds of wall-clock time, the device's work included; `-`
is what a library does not do. Results are compared before anything is timed. A side that takes long
has fewer turns, and what would start after so many seconds is left out. With `--check` nothing is
timed: values and gradients on the device are compared with those on the processor in f64.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from ragged import PROGRAM, VECTORS, WIDTH, lengths_of

import axon

MORE = """
causal = fn (x : f32 [n,*,d], w : f32 [d,d]) { map(fn (r) { causal_attention(r, r, r @ w) }, x) };
half = fn (x : bf16 [n,*,d], w : bf16 [d,d]) { map(fn (r) { attention(r, r, r @ w) }, x) };
"""

NAMES = (
    "mean_pool", "max_pool", "softmax_", "normalise", "cumsum_", "sort_", "weight", "attention",
    "causal", "half",
)  # fmt: skip

TURN = 0.5
"""A side gets no more turns when it has taken so many seconds in all."""

KINDS = ("2,000 rows", "100,000 short rows", "skewed rows")

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


def medians(sides: dict[str, Side], rounds: int, wait: Callable[[], None]) -> dict[str, float]:
    times: dict[str, list[float]] = {name: [] for name in sides}
    for function in sides.values():
        function()
    for _ in range(rounds):
        for name, function in sides.items():
            if sum(times[name]) > TURN and len(times[name]) > 2:
                continue
            wait()
            start = time.perf_counter()
            made = function()
            getattr(getattr(made, "values", made), "block_until_ready", wait)()
            times[name].append(time.perf_counter() - start)
    return {name: 1e3 * statistics.median(found) for name, found in times.items()}


def works(function: Side) -> bool:
    try:
        function()
    except Exception as problem:
        print("   ", str(problem).splitlines()[0][:100])
        return False
    return True


def on_jax(net: Any, name: str, values: Any, offsets: Any, w: Any) -> Side | None:
    try:
        import jax
    except ImportError:
        return None
    if name == "half":
        return None
    put = jax.device_put
    x = axon.Ragged.from_packed(put(values.cpu().numpy()), offsets)
    args = (x,) if name in VECTORS else (x, put(w.cpu().numpy()))
    return lambda: getattr(net, name)(*args)


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--seconds", type=float, default=80)
    parser.add_argument("--only", default="")
    parser.add_argument("--kind", default="")
    parser.add_argument("--no-jax", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.check:
        raise SystemExit(bool(check(torch.device(options.device))))
    begin = time.perf_counter()
    device = torch.device(options.device)
    if device.type == "cpu":
        torch.set_num_threads(1)
    wait = torch.cuda.synchronize if device.type == "cuda" else lambda: None
    net = axon.compile(MORE + PROGRAM, backend="torch")
    other = None if options.no_jax else axon.compile(MORE + PROGRAM, backend="jax")
    weight = torch.tensor(np.random.default_rng(1).normal(size=(WIDTH, WIDTH)), device=device)
    for kind in KINDS:
        if options.kind not in kind:
            continue
        lengths = lengths_of(kind)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        ends = torch.tensor(offsets, device=device)
        spans = list(pairwise(offsets.tolist()))
        print(f"{kind}: {offsets[-1]:,} elements, the longest row has {lengths.max():,}")
        print(f"{'':12}{'Axon':>9}{'gradient':>10}{'JAX':>9}{'loop':>9}{'nested':>9}")
        random = np.random.default_rng(2)
        vectors = torch.tensor(random.normal(size=offsets[-1]), device=device)
        matrices = torch.tensor(random.normal(size=(offsets[-1], WIDTH)), device=device)
        for name in NAMES:
            if options.only not in name or time.perf_counter() - begin > options.seconds:
                continue
            dtype = torch.bfloat16 if name == "half" else torch.float32
            values = (vectors if name in VECTORS else matrices).to(dtype)
            w = weight.to(dtype)
            x = axon.Ragged.from_packed(values, offsets)
            args = (x,) if name in VECTORS else (x, w)
            function = getattr(net, name)
            rows = ROWS[name]

            def loop(rows: Any = rows, values: Any = values, w: Any = w, ends: Any = spans) -> Any:
                return [rows(values[a:b], w) for a, b in ends]

            made, expected = function(*args), loop()
            found = made.values if isinstance(made, axon.Ragged) else made
            wanted = torch.cat(expected) if isinstance(made, axon.Ragged) else torch.stack(expected)
            close = 3e-2 if name == "half" else 2e-4
            torch.testing.assert_close(found, wanted, rtol=close, atol=close)
            sides: dict[str, Side] = {"axon": lambda f=function, args=args: f(*args)}
            if isinstance(made, axon.Ragged):
                call = (lambda x, w, f=function: f(x)) if name in VECTORS else function
                sides["gradient"] = with_gradient(call, values, offsets, w)
            side = on_jax(other, name, values, offsets, w) if other is not None else None
            if side is not None and works(side):
                sides["jax"] = side
            if len(lengths) <= 2000:
                sides["loop"] = loop
            side = nested(name, values, ends, w)
            if side is not None and works(side):
                sides["nested"] = side
            got = medians(sides, options.rounds, wait)
            columns = (("axon", 9), ("gradient", 10), ("jax", 9), ("loop", 9), ("nested", 9))
            shown = [f"{got[s]:{n}.2f}" if s in got else f"{'-':>{n}}" for s, n in columns]
            print(f"{name:12}{''.join(shown)}", *function.row_loops, flush=True)


if __name__ == "__main__":
    main()
