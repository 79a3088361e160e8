"""Train the network of spirals.axon: Axon says what is computed, JAX differentiates and compiles.

python examples/spirals.py            a few seconds
python examples/spirals.py --steps 300 --every 50
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import axon

SOURCE = Path(__file__).with_name("spirals.axon")
Weights = tuple[Any, ...]


def spirals(random: np.random.Generator, count: int) -> tuple[Any, Any]:
    """Points near two spirals, and which of the two each is near."""
    which = random.integers(0, 2, count)
    along = np.sqrt(random.uniform(0.02, 1, count))
    angle = 3 * np.pi * along + np.pi * which
    points = np.stack([along * np.cos(angle), along * np.sin(angle)], axis=1)
    points += random.normal(0, 0.015, points.shape)
    return points.astype(np.float32), which.astype(np.float32)


def initial(random: np.random.Generator, *sizes: int) -> Weights:
    """A matrix and a bias for each layer."""
    weights: list[Any] = []
    for before, after in pairwise(sizes):
        weights.append(random.normal(0, (2 / before) ** 0.5, (before, after)).astype(np.float32))
        weights.append(np.zeros(after, np.float32))
    return tuple(weights)


def adam(
    loss: Callable[..., Any], rate: float, keep: float = 0.9, keep_squares: float = 0.999
) -> Callable[..., Any]:
    """A compiled step down the slope of a loss: (weights, state, …) -> (weights, state, loss)."""

    @jax.jit
    def step(weights: Weights, state: Any, *batch: Any) -> Any:
        value, slope = jax.value_and_grad(loss)(weights, *batch)
        count, mean, square = state
        count = count + 1
        mean = jax.tree.map(lambda m, g: keep * m + (1 - keep) * g, mean, slope)
        square = jax.tree.map(
            lambda s, g: keep_squares * s + (1 - keep_squares) * g * g, square, slope
        )

        def moved(w: Any, m: Any, s: Any) -> Any:
            m, s = m / (1 - keep**count), s / (1 - keep_squares**count)
            return w - rate * m / (jnp.sqrt(s) + 1e-8)

        return jax.tree.map(moved, weights, mean, square), (count, mean, square), value

    return step


def train(steps: int, every: int, seed: int = 0) -> float:
    """The accuracy on points that were not trained on."""
    net = axon.load(SOURCE)
    random = np.random.default_rng(seed)
    weights = initial(random, 2, 64, 64, 1)
    zero = jax.tree.map(jnp.zeros_like, weights)
    state = (jnp.float32(0), zero, zero)
    step = adam(net.loss.jax, rate=3e-3)
    for i in range(1, steps + 1):
        weights, state, loss = step(weights, state, *spirals(random, 512))
        if i % every == 0 or i == 1:
            print(f"step {i:5}   loss {loss:.4f}")
    return float(net.on("jax").accuracy(weights, *spirals(random, 4096)))


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the network of spirals.axon.")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--every", type=int, default=100, help="how often to print the loss")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    accuracy = train(arguments.steps, arguments.every, arguments.seed)
    print(f"accuracy on new points: {accuracy:.1%}")


if __name__ == "__main__":
    main()
