"""A stream of ragged batches on JAX, of functions of rows that are padded: 200 rows of 1 to 60
elements in each batch. How much is compiled, and how long all of it takes.

    python benchmarks/ragged_stream.py [--batches 20] [--rows 200]
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import jax
import numpy

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

import axon

VECTORS, MATRICES = "x : f32 [n,*]", "x : f32 [n,*,8]"

CASES = {
    "lstm": (
        f"{MATRICES}, w : f32 [1,64,8], u : f32 [1,64,16]",
        "a, b, c = lstm(expand_dims(r, axis=1), w, u); b",
    ),
    "random numbers": (f"{VECTORS}, k : u32 [2]", "r + normal(k, shape(r))"),
    "an identity": (VECTORS, "sum(eye(size(r, axis=0)) * expand_dims(r, axis=0), axis=1)"),
    "a matrix of each row": (VECTORS, "outer(r, r)"),
    "attention": (
        MATRICES,
        "q = expand_dims(r, axis=[0,1]); dot_product_attention(q, q, q)[0, 0]",
    ),
    "another shape": (MATRICES, "reshape(r, [4 * size(r, axis=0), 2])"),
    "what is chosen": (VECTORS, "compress(r, r > 0f)"),
}


def others(params: str) -> list[Any]:
    random = numpy.random.default_rng(1)
    shapes = {"w": (1, 64, 8), "u": (1, 64, 16)}
    made: list[Any] = [
        random.normal(size=shape).astype(numpy.float32)
        for name, shape in shapes.items()
        if f"{name} :" in params
    ]
    return [*made, numpy.array([1, 2], numpy.uint32)] if "k :" in params else made


def batch(params: str, rows: int, random: Any) -> axon.Ragged:
    lengths = random.integers(1, 61, rows)
    inner = (8,) if params.startswith(MATRICES) else ()
    values = random.normal(size=(int(lengths.sum()), *inner)).astype(numpy.float32)
    return axon.Ragged.from_packed(values, numpy.concatenate([[0], numpy.cumsum(lengths)]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--batches", type=int, default=20)
    parser.add_argument("--rows", type=int, default=200)
    given = parser.parse_args()
    for name, (params, body) in CASES.items():
        net = axon.compile(f"f = fn ({params}) {{ map(fn (r) {{ {body} }}, x) }};", backend="jax")
        random, seconds = numpy.random.default_rng(0), 0.0
        for _ in range(given.batches):
            args = (batch(params, given.rows, random), *others(params))
            start = time.perf_counter()
            jax.block_until_ready(jax.tree.leaves(net.f(*args)))
            seconds += time.perf_counter() - start
        print(f"{name:22s} {net.f.compilations:4d} compilations {seconds:8.2f} s", flush=True)


if __name__ == "__main__":
    main()
