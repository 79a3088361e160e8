"""Checking and running from several threads at once."""

from __future__ import annotations

import gc
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import numpy

import axon
from axon import check_text
from axon.workspace import workspace

ROOT = Path(__file__).resolve().parents[2]
THREADS = 6
PROGRAM = """
norm = fn (x, g) { x / (sum(abs(x), axis=-1, keep=true) + 1.0) * g };
attention = fn (Q, K, V) { matmul(softmax(matmul(Q, transpose(K))), V) };
pooled = fn (x : f32 [n,*]) { map(fn (row) { sum(row) }, x) };
few = fn (x) { y = unique(x); y + y };
"""


def described(text: str) -> list[str]:
    checked = check_text(text)
    return [s.line(classes=True) for s in checked.signatures] + [
        d.message for d in checked.diagnostics
    ]


def test_checking() -> None:
    paths = sorted((ROOT / "tests" / "golden").rglob("*.axon"))[:160]
    texts = [path.read_text(encoding="utf-8") for path in paths]
    alone = [described(text) for text in texts]
    limit, collecting = sys.getrecursionlimit(), gc.isenabled()
    with ThreadPoolExecutor(THREADS) as pool:
        together = list(pool.map(described, texts * 2))
    assert together == alone * 2
    assert (sys.getrecursionlimit(), gc.isenabled()) == (limit, collecting)


def test_calling() -> None:
    """Functions that nobody has called before, at several ranks and sizes, by all threads."""
    program = axon.compile(PROGRAM)
    start = Barrier(THREADS)

    def work(number: int) -> None:
        start.wait()
        for size in (number + 1, 3, 7):
            x = numpy.arange(size * 4, dtype=numpy.float32).reshape(size, 4)
            sums = numpy.abs(x).sum(axis=-1, keepdims=True) + 1
            numpy.testing.assert_allclose(program.norm(x, numpy.float32(2)), x / sums * 2, 1e-5)
            assert program.attention(x, x, x).shape == (size, 4)
            assert program.attention(x[None], x[None], x[None]).shape == (1, size, 4)
            rows = [[1.0] * n for n in range(size)]
            assert program.pooled(rows).tolist() == list(range(size))
            assert program.few(x[0] // 2).tolist() == (2 * numpy.unique(x[0] // 2)).tolist()

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(work, range(THREADS)))


def test_workspaces_that_overlap() -> None:
    """The first to leave does not take away what the other one needs, and the last puts it back."""
    limit, collecting = sys.getrecursionlimit(), gc.isenabled()
    first, second = workspace(), workspace()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert sys.getrecursionlimit() > limit and not gc.isenabled()
    second.__exit__(None, None, None)
    assert (sys.getrecursionlimit(), gc.isenabled()) == (limit, collecting)


def test_calls_in_buckets_are_counted() -> None:
    net = axon.compile("f = fn (x : f32 [n]) { x * 2f };").on("jax", buckets="auto")
    start = Barrier(THREADS)

    def work(number: int) -> None:
        start.wait()
        for k in range(20):
            x = numpy.ones(3 + (7 * k + number) % 29, numpy.float32)
            assert net.f(x).shape == x.shape

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(work, range(THREADS)))
    assert (net.f.report().calls, net.f.report().exact) == (20 * THREADS, 0)
