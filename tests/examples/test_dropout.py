"""examples/dropout.axon: the network against NumPy, and steps of training that go down."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import axon
from tests import threefry
from tests.examples.common import Arrays, both, close, program


@both
def test_the_network(backend: str) -> None:
    make = Arrays(5)
    layers, last, x = make(3, 4, 4), make(4, 2), make(6, 4)
    keys = np.stack(threefry.words((0, 9), 3), axis=-1).tolist()
    y = x
    for w, key in zip(layers, keys, strict=True):
        y = threefry.dropout(tuple(key), np.maximum(y @ w, 0), 0.2)
    net = program("dropout", backend)
    close(net.network(layers, last, x, axon.random_key(9)), y @ last)
    close(net.trained(layers, last, x), x_through(layers, x) @ last)


def x_through(layers: Any, x: Any) -> Any:
    for w in layers:
        x = np.maximum(x @ w, 0)
    return x


@both
def test_rows_and_labels_are_shuffled_together(backend: str) -> None:
    net = program("dropout", backend)
    x, label = np.arange(20, dtype=np.float32).reshape(10, 2), np.arange(10)
    rows, labels = net.shuffled(x, label, axon.random_key(1))
    assert sorted(np.asarray(labels).tolist()) == list(range(10)) != np.asarray(labels).tolist()
    np.testing.assert_array_equal(rows, x[np.asarray(labels)])


def test_it_learns() -> None:
    jax = pytest.importorskip("jax")
    net = program("dropout", "numpy")
    weights = net.initial(axon.random_key(0), 2, 16, 2)
    x = np.random.default_rng(0).normal(size=(256, 16)).astype(np.float32)
    label = (x[:, 0] + x[:, 1] > 0).astype(np.int64)
    slope = jax.jit(jax.value_and_grad(net.loss.jax))
    losses = []
    for step in range(150):
        loss, down = slope(weights, x, label, axon.random_key(step))
        weights = jax.tree.map(lambda w, g: w - 0.1 * g, weights, down)
        losses.append(float(loss))
    assert np.mean(losses[-20:]) < 0.6 * np.mean(losses[:5])
    right = np.argmax(net.trained(*map(np.asarray, weights), x), axis=1) == label
    assert right.mean() > 0.9
