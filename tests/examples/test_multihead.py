"""examples/multihead.axon against one head and one query at a time."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

import axon
from tests.examples import reference
from tests.examples.common import Arrays, both, close, program, wide


def weights(make: Arrays, d: int, e: int, k: int, v: int, o: int) -> tuple[Any, ...]:
    return make(d, 4 * k), make(e, 4 * k), make(e, 4 * v), make(4 * v, o)


def some(make: Arrays, *shape: int) -> Any:
    """A mask that lets every query see something."""
    mask = make.random.integers(0, 2, shape).astype(bool)
    mask[..., :1] = True
    return mask


# sequences, queries, keys, features of both, sizes of the heads, of the result
@both
@pytest.mark.parametrize(
    "sizes",
    [
        (2, 3, 4, 5, 6, 2, 3, 7),
        (1, 1, 1, 1, 1, 1, 1, 1),
        (3, 0, 2, 4, 4, 1, 2, 3),
        (0, 2, 3, 4, 4, 2, 1, 5),
    ],
)
def test_cross_attention(backend: str, sizes: tuple[int, ...]) -> None:
    b, m, n, d, e, k, v, o = sizes
    make = Arrays(*sizes)
    x, y, mask, w = make(b, m, d), make(b, n, e), some(make, b, m, n), weights(make, d, e, k, v, o)
    expected = reference.multi_head(wide(x), wide(y), mask, 4, *wide(w))
    close(program("multihead", backend).cross_attention(x, y, mask, *w), expected)


@both
@pytest.mark.parametrize(("b", "n", "d", "k"), [(2, 5, 6, 2), (1, 1, 3, 1), (2, 0, 4, 1)])
def test_self_attention(backend: str, b: int, n: int, d: int, k: int) -> None:
    make = Arrays(b, n, d)
    x, mask, w = make(b, n, d), some(make, b, n, n), weights(make, d, d, k, k, d)
    expected = reference.multi_head(wide(x), wide(x), mask, 4, *wide(w))
    close(program("multihead", backend).self_attention(x, mask, *w), expected)


@both
@pytest.mark.parametrize(("b", "n", "d", "k"), [(2, 5, 6, 2), (1, 1, 3, 1)])
def test_causal_attention(backend: str, b: int, n: int, d: int, k: int) -> None:
    make = Arrays(b, n, d)
    x, w = make(b, n, d), weights(make, d, d, k, k + 1, d)
    mask = np.array([[[j <= i for j in range(n)] for i in range(n)]] * b)
    expected = reference.multi_head(wide(x), wide(x), mask, 4, *wide(w))
    close(program("multihead", backend).causal_attention(x, *w), expected)


def test_the_past_does_not_see_the_future() -> None:
    make = Arrays(1)
    x, w = make(1, 6, 4), weights(make, 4, 4, 2, 2, 4)

    def sums(x: Any) -> Any:
        return program("multihead").causal_attention.jax(x, *w).sum(axis=-1)

    slopes = jax.jit(jax.jacobian(sums))(x)
    influence = np.abs(slopes[0, :, 0]).sum(axis=-1)
    assert (np.triu(influence, 1) == 0).all() and (np.tril(influence).diagonal() > 0).all()


def test_heads_that_do_not_divide_the_features() -> None:
    make = Arrays(2)
    w = make(4, 6), make(4, 6), make(4, 6), make(6, 4)
    with pytest.raises(axon.ArgumentError, match="4"):
        program("multihead").causal_attention(make(1, 3, 4), *w)


@both
@pytest.mark.parametrize("heads", [1, 3, 6])
def test_the_heads_are_any_number(backend: str, heads: int) -> None:
    make = Arrays(heads)
    x, mask, w = (
        make(2, 3, 6),
        some(make, 2, 3, 3),
        (make(6, 6), make(6, 6), make(6, 6), make(6, 6)),
    )
    expected = reference.multi_head(wide(x), wide(x), mask, heads, *wide(w))
    close(program("multihead", backend).multi_head(x, x, mask, heads, *w), expected)


def test_the_heads_in_the_type() -> None:
    signature = (
        program("multihead").split_heads.specialize(x="f32 [b,n,64]", heads="dim 8").signature
    )
    assert signature == "(f32 [b,n,64], dim 8) -> f32 [b,8,n,8]"
