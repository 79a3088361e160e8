"""Ragged tensors: Axon beside a loop over the rows on NumPy, Awkward Array, and PyTorch's nested
tensors, in one process, the sides taking turns.

    python benchmarks/ragged.py [--rounds N] [--only NAME]

2,000 rows of up to 204 numbers; 100,000 rows of up to 4; and 2,000 rows of which a few are long.
Each figure is a median in milliseconds of CPU time; `-` is what a library does not do. Results are
compared before anything is timed.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable
from itertools import pairwise
from time import process_time as clock
from typing import Any

import numpy as np

import axon

WIDTH = 16

PROGRAM = """
mean_ = fn (x : f32 [n,*]) { map(fn (r) { mean(r) }, x) };
max_ = fn (x : f32 [n,*]) { map(fn (r) { max(r) }, x) };
mean_pool = fn (x : f32 [n,*,d], w : f32 [d,d]) { map(fn (r) { mean(r, axis=0) }, x) };
max_pool = fn (x : f32 [n,*,d], w : f32 [d,d]) { map(fn (r) { max(r, axis=0) }, x) };
softmax_ = fn (x : f32 [n,*]) { map(fn (r) { softmax(r) }, x) };
normalise = fn (x : f32 [n,*]) { map(fn (r) { layer_norm(r) }, x) };
cumsum_ = fn (x : f32 [n,*]) { map(fn (r) { cumsum(r) }, x) };
sort_ = fn (x : f32 [n,*]) { map(fn (r) { sort(r) }, x) };
weight = fn (x : f32 [n,*,d], w : f32 [d,d]) { map(fn (r) { r @ w }, x) };
attention = fn (x : f32 [n,*,d], w : f32 [d,d]) {
  map(fn (r) { softmax(r @ transpose(r) / sqrt(d)) @ (r @ w) }, x)
};
"""

Make = Callable[..., Any]


def softmax(x: Any) -> Any:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def layer_norm(r: Any) -> Any:
    away = r - r.mean()
    return away / np.sqrt((away * away).mean() + np.float32(1e-5))


ROWS: dict[str, Make] = {
    "mean_": lambda r, w: r.mean(),
    "max_": lambda r, w: r.max(),
    "mean_pool": lambda r, w: r.mean(0),
    "max_pool": lambda r, w: r.max(0),
    "softmax_": lambda r, w: softmax(r),
    "normalise": lambda r, w: layer_norm(r),
    "cumsum_": lambda r, w: np.cumsum(r),
    "sort_": lambda r, w: np.sort(r),
    "weight": lambda r, w: r @ w,
    "attention": lambda r, w: softmax(r @ r.T / np.float32(np.sqrt(WIDTH))) @ (r @ w),
}
"""What is done with a row; the loop over them is `by_rows`."""

SLOW = 5.0
"""Who takes so many seconds has one turn."""

VECTORS = ("mean_", "max_", "softmax_", "normalise", "cumsum_", "sort_")


def by_rows(name: str, values: Any, offsets: Any, w: Any) -> list[Any]:
    function = ROWS[name]
    ends = offsets.tolist()
    return [function(values[a:b], w) for a, b in pairwise(ends)]


def lengths_of(kind: str) -> Any:
    random = np.random.default_rng(0)
    match kind:
        case "2,000 rows":
            return random.integers(1, 205, 2000)
        case "100,000 short rows":
            return random.integers(1, 5, 100_000)
        case _:
            return np.minimum(1 + random.zipf(1.5, 2000), 2000)


def awkward_side(values: Any, offsets: Any) -> dict[str, Callable[[], Any]]:
    """What Awkward Array has operators for; a product of rows is none of it."""
    import awkward as ak

    content = ak.from_numpy(values, regulararray=True).layout
    x = ak.Array(ak.contents.ListOffsetArray(ak.index.Index64(offsets), content))

    def norm() -> Any:
        away = x - ak.mean(x, axis=1)
        return away / np.sqrt(ak.mean(away * away, axis=1) + np.float32(1e-5))

    def exponentials() -> Any:
        powers = np.exp(x - ak.max(x, axis=1))
        return powers / ak.sum(powers, axis=1)

    if values.ndim == 1:
        return {
            "mean_": lambda: ak.mean(x, axis=1),
            "max_": lambda: ak.max(x, axis=1),
            "softmax_": exponentials,
            "normalise": norm,
            "sort_": lambda: ak.sort(x, axis=1),
        }
    return {
        "mean_pool": lambda: ak.mean(x, axis=1),
        "max_pool": lambda: ak.max(x, axis=1),
    }


def torch_side(values: Any, offsets: Any, w: Any) -> dict[str, Callable[[], Any]]:
    """What nested tensors with the jagged layout do."""
    import torch

    places = torch.tensor(offsets)
    x = torch.nested.nested_tensor_from_jagged(torch.tensor(values), places)
    weight = torch.tensor(w)
    if values.ndim == 1:
        wide = torch.nested.nested_tensor_from_jagged(torch.tensor(values)[:, None], places)
        return {
            "mean_": lambda: torch.mean(wide, dim=1),
            "max_": lambda: torch.amax(wide, dim=1),
            "softmax_": lambda: torch.softmax(wide, dim=1),
        }
    head = torch.nested.nested_tensor_from_jagged(torch.tensor(values)[:, None, :], places)
    value = torch.nested.nested_tensor_from_jagged(torch.tensor(values @ w)[:, None, :], places)

    def attention() -> Any:
        q, k, v = (each.transpose(1, 2) for each in (head, head, value))
        return torch.nn.functional.scaled_dot_product_attention(q, k, v)

    return {
        "mean_pool": lambda: torch.mean(x, dim=1),
        "max_pool": lambda: torch.amax(x, dim=1),
        "weight": lambda: x @ weight,
        "attention": attention,
    }


def works(function: Callable[[], Any]) -> bool:
    try:
        function()
    except Exception as problem:
        print("   ", str(problem).splitlines()[0][:120])
        return False
    return True


def medians(sides: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """The sides in turn, round after round."""
    times: dict[str, list[float]] = {name: [] for name in sides}
    for turn in range(rounds):
        for name, function in sides.items():
            if turn and times[name][0] > SLOW:
                continue
            start = clock()
            function()
            times[name].append(clock() - start)
    return {name: 1e3 * statistics.median(found) for name, found in times.items()}


def agree(made: Any, expected: list[Any]) -> None:
    rows = made.rows if isinstance(made, axon.Ragged) else made
    for a, b in zip(rows, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    net = axon.compile(PROGRAM)
    w = np.random.default_rng(1).normal(size=(WIDTH, WIDTH)).astype(np.float32)
    for kind in ("2,000 rows", "100,000 short rows", "skewed rows"):
        lengths = lengths_of(kind)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        print(f"{kind}: {offsets[-1]:,} elements, the longest row has {lengths.max():,}")
        print(f"{'':12}{'Axon':>9}{'loop':>9}{'ratio':>8}{'Awkward':>9}{'nested':>9}")
        random = np.random.default_rng(2)
        vectors = random.normal(size=offsets[-1]).astype(np.float32)
        matrices = random.normal(size=(offsets[-1], WIDTH)).astype(np.float32)
        for name in ROWS:
            if options.only and options.only not in name:
                continue
            values = vectors if name in VECTORS else matrices
            x = axon.Ragged.from_packed(values, offsets)
            args = (x,) if name in VECTORS else (x, w)
            agree(getattr(net, name)(*args), by_rows(name, values, offsets, w))
            sides: dict[str, Callable[[], Any]] = {
                "axon": lambda name=name, args=args: getattr(net, name)(*args),
                "loop": lambda name=name, values=values, offsets=offsets: by_rows(
                    name, values, offsets, w
                ),
            }
            found = awkward_side(values, offsets).get(name)
            if found is not None and works(found):
                sides["awkward"] = found
            found = torch_side(values, offsets, w).get(name)
            if found is not None and works(found):
                sides["nested"] = found
            got = medians(sides, options.rounds)
            shown = [f"{got[s]:9.2f}" if s in got else f"{'-':>9}" for s in ("awkward", "nested")]
            ratio = got["loop"] / got["axon"]
            print(
                f"{name:12}{got['axon']:9.2f}{got['loop']:9.2f}{ratio:8.1f}{''.join(shown)}",
                flush=True,
            )


if __name__ == "__main__":
    main()
