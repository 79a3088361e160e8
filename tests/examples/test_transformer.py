"""examples/transformer.axon: its layers against NumPy, and its cache against no cache."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

import axon
from tests.examples import reference
from tests.examples.common import Arrays, both, close, program, wide

HEADS = 8


def stacked(make: Arrays, layers: int, d: int, inner: int, hidden: int) -> tuple[Any, ...]:
    """The weights of all layers."""
    return (
        make.positive(layers, d),
        make(layers, d, 3 * inner),
        make(layers, inner, d),
        make.positive(layers, d),
        make(layers, d, hidden),
        make(layers, hidden, d),
    )


def one_by_one(x: Any, mask: Any, heads: int, layers: tuple[Any, ...], g: Any) -> tuple[Any, Any]:
    """The layers in NumPy: the result, and what each of them gives."""
    each = np.zeros((len(layers[0]), *x.shape))
    for i in range(len(layers[0])):
        x = reference.layer(x, mask, heads, tuple(w[i] for w in layers))
        each[i] = x
    return reference.layer_norm(x, g), each


def lower(b: int, n: int) -> Any:
    return np.broadcast_to(np.tril(np.ones((n, n), bool)), (b, n, n))


@both
@pytest.mark.parametrize(
    ("b", "n", "d", "k", "f", "count"), [(2, 4, 6, 2, 5, 3), (1, 1, 2, 1, 1, 1), (2, 3, 4, 1, 3, 0)]
)
def test_encoder(backend: str, b: int, n: int, d: int, k: int, f: int, count: int) -> None:
    make = Arrays(b, n, d, count)
    x, layers, g = make(b, n, d), stacked(make, count, d, HEADS * k, f), make.positive(d)
    present = make.random.integers(0, 2, (b, n)).astype(bool)
    present[:, 0] = True
    mask = np.broadcast_to(present[:, None], (b, n, n))
    expected = one_by_one(wide(x), mask, HEADS, wide(layers), wide(g))
    close(program("transformer", backend).encoder(x, present, layers, g), expected)


@both
@pytest.mark.parametrize(
    ("b", "m", "d", "h", "k", "count"), [(2, 5, 6, 3, 2, 2), (1, 1, 2, 1, 1, 1), (2, 3, 4, 2, 1, 0)]
)
def test_decoder(backend: str, b: int, m: int, d: int, h: int, k: int, count: int) -> None:
    """With an empty cache, it is a stack of causal layers."""
    make = Arrays(b, m, d, count)
    x, layers, g = make(b, m, d), stacked(make, count, d, h * k, 5), make.positive(d)
    y, cache = program("transformer", backend).decoder(x, make(count, 2, b, h, 0, k), layers, g)
    expected, _ = one_by_one(wide(x), lower(b, m), h, wide(layers), wide(g))
    close(y, expected)
    assert cache.shape == (count, 2, b, h, m, k)


def small_model(make: Arrays) -> tuple[Any, ...]:
    """11 tokens, 5 places, 6 features, 2 layers of 3 heads of size 2: what follows the cache."""
    return make(11, 6), make(5, 6), stacked(make, 2, 6, 6, 5), make.positive(6)


@both
@pytest.mark.parametrize("parts", [[1] * 5, [2, 1, 2], [0, 5]])
def test_with_a_cache_as_without(backend: str, parts: list[int]) -> None:
    """Token by token, or several at once: the scores are those of the whole."""
    make = Arrays(7)
    model = program("transformer", backend).language_model
    rest = small_model(make)
    tokens = make.random.integers(0, 11, (2, 5))
    empty = make(2, 2, 2, 3, 0, 2)
    whole, filled = model(tokens, empty, *rest)

    cache, scores, done = empty, [], 0
    for part in parts:
        y, cache = model(tokens[:, done : done + part], cache, *rest)
        scores.append(np.asarray(y))
        done += part
        assert cache.shape == (2, 2, 2, 3, done, 2)
    close(np.concatenate(scores, axis=1), np.asarray(whole), 1e-5)
    close(cache, np.asarray(filled), 1e-5)


@both
@pytest.mark.parametrize("element", [np.int32, np.int64])
def test_language_model(backend: str, element: Any) -> None:
    make = Arrays(8)
    table, places, layers, g = rest = small_model(make)
    tokens = make.random.integers(0, 11, (2, 5)).astype(element)
    scores, _ = program("transformer", backend).language_model(
        tokens, make(2, 2, 2, 3, 0, 2), *rest
    )
    x = wide(table)[tokens] + wide(places)[:5]
    y, _ = one_by_one(x, lower(2, 5), 3, wide(layers), wide(g))
    close(scores, y @ wide(table).T)


@both
def test_no_more_tokens_than_places(backend: str) -> None:
    make = Arrays(9)
    tokens, cache = np.zeros((2, 3), np.int64), make(2, 2, 2, 3, 3, 2)
    with pytest.raises(axon.ArgumentError, match=r"p >= m \+ n"):
        program("transformer", backend).language_model(tokens, cache, *small_model(make))


def test_gradient() -> None:
    """Every weight of the decoder has an influence, and none of the slopes is nan."""
    make = Arrays(10)
    x, cache, layers, g = make(2, 4, 6), make(2, 2, 2, 3, 0, 2), stacked(make, 2, 6, 6, 5), make(6)

    def loss(layers: Any) -> Any:
        return (program("transformer").decoder.jax(x, cache, layers, g)[0] ** 2).sum()

    slopes = jax.jit(jax.grad(loss))(layers)
    for slope, weight in zip(slopes, layers, strict=True):
        assert slope.shape == weight.shape
        assert np.isfinite(slope).all() and np.abs(slope).max() > 0
