"""Graphs that are made for sizes of records: those that change are open again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import axon
from axon.driver import graph
from axon.run.settled import MOST_KINDS, Settled

LLAMA = Path(__file__).resolve().parents[2] / "examples" / "models" / "llama.axon"
WEIGHTS = """{a | lm_head : {b | weight : f32 [11,16]}, model : {c | layers : {d |
  mlp : {e | up_proj : {f | weight : f32 [2,20,16]}},
  self_attn : {g | q_proj : {h | weight : f32 [2,16,16]}, k_proj : {i | weight : f32 [2,8,16]},
    o_proj : {k | weight : f32 [2,16,16]}}
}, embed_tokens : {j | weight : f32 [11,16]}}}"""


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The graphs that are made."""
    found: list[object] = []

    def noted(*args: Any) -> Any:
        found.append(args)
        return graph(*args)

    monkeypatch.setattr("axon.run.executables.graph", noted)
    return found


def cached(n: int, s: int, h: int) -> dict[str, Any]:
    random = np.random.default_rng(s)
    return {name: random.normal(size=(2, 1, n, s, h)).astype("f4") for name in "kv"}


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_a_cache_that_grows_has_one_graph(backend: str, made: list[object]) -> None:
    f = axon.load(LLAMA, backend=backend).llama
    p = f.init(0, params="p", like={"p": WEIGHTS})
    cache, counts = cached(2, 0, 4), []
    for step in range(6):
        _, cache = f(p, np.array([[step]]), cache)
        cache = {name: np.asarray(part) for name, part in cache.items()}
        assert cache["k"].shape == (2, 1, 2, step + 1, 4)
        counts.append(len(made))
    assert counts[0] < counts[1] == counts[5]


def test_sizes_that_decide_others_stay_numbers(made: list[object]) -> None:
    """Two caches of other heads beside the same weights, in turns; both grow."""
    f = axon.load(LLAMA).llama
    p = f.init(0, params="p", like={"p": WEIGHTS})
    for s in range(4):
        for n, h in ((2, 4), (1, 8), (4, 2)):
            words, cache = np.array([[s, 1]]), cached(n, s, h)
            alone = axon.load(LLAMA).llama  # has seen no other sizes
            expected = alone(p, words, cache)[0]
            close(f(p, words, cache)[0], expected)
    made.clear()
    for s, (n, h) in zip((8, 9, 10), ((2, 4), (1, 8), (4, 2)), strict=True):
        f(p, np.array([[1, 3, 2]]), cached(n, s, h))
    assert not made


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_a_call_that_is_wrong_is_refused_whatever_is_open() -> None:
    f = axon.load(LLAMA).llama
    p = f.init(0, params="p", like={"p": WEIGHTS})
    for s in (0, 1, 2):
        f(p, np.array([[1]]), cached(2, s, 4))
    wrong = {"k": cached(2, 3, 4)["k"], "v": cached(2, 4, 4)["v"]}
    with pytest.raises(axon.ArgumentError, match="3"):
        f(p, np.array([[1]]), wrong)
    with pytest.raises(axon.ArgumentError):
        f(p, np.array([[1]]), cached(2, 3, 6))


def test_of_sizes_that_never_fit_few_are_tried() -> None:
    settled, tried = Settled(), list[frozenset[int]]()

    def fits(places: frozenset[int]) -> bool:
        tried.append(places)
        return False

    for size in range(100):
        assert not settled.open_places([3, size], fits)
    assert len(tried) == MOST_KINDS - 1
