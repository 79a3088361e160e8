"""Train the language model of chars.axon: Axon says what is computed and makes the weights, JAX
differentiates and compiles, optax takes the steps.

python examples/train.py                     the documentation of Axon, about a minute
python examples/train.py --text book.txt     another text
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np
import optax

import axon

HERE = Path(__file__).resolve().parent
PLACES, BATCH = 64, 32


def read(path: str | None) -> tuple[Any, str]:
    """A text as numbers of its characters, and the characters."""
    files = [Path(path)] if path else sorted((HERE.parent / "docs").glob("*.md"))
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    chars, numbers = np.unique(list(text), return_inverse=True)
    return numbers.astype(np.int32), "".join(chars)


def bigram_loss(train: Any, held_out: Any, chars: int) -> float:
    """The cross entropy, in nats, of guessing by the frequencies of pairs of characters."""
    counts = np.ones((chars, chars))
    np.add.at(counts, (train[:-1], train[1:]), 1)
    chances = counts / counts.sum(axis=1, keepdims=True)
    return float(-np.log(chances[held_out[:-1], held_out[1:]]).mean())


def batches(random: np.random.Generator, text: Any) -> Iterator[Any]:
    """Pieces of a text, one character longer than the places of the model."""
    while True:
        starts = random.integers(0, len(text) - PLACES, BATCH)
        yield text[starts[:, None] + np.arange(PLACES + 1)]


def bar(done: int, all_: int, loss: float) -> None:
    """How far it is: one line that is written again and again, on a terminal only."""
    if sys.stderr.isatty():
        filled = 40 * done // all_
        end = "\n" if done == all_ else ""
        line = f"\r{'█' * filled}{'·' * (40 - filled)} {done}/{all_}  loss {loss:.3f}"
        print(line, end=end, file=sys.stderr, flush=True)


def curve(losses: list[float], baseline: float, width: int = 64, height: int = 12) -> str:
    """The losses as a picture of characters, with a line for the baseline."""
    parts = [part.mean() for part in np.array_split(np.array(losses), min(width, len(losses)))]
    low, high = min(*parts, baseline), max(*parts, baseline)

    def row(loss: float) -> int:
        return round((high - loss) / (high - low or 1) * (height - 1))

    lines = []
    for i in range(height):
        empty = "─" if i == row(baseline) else " "
        marks = "".join("●" if row(part) == i else empty for part in parts)
        label = high - i * (high - low) / (height - 1)
        lines.append(f"{label:6.2f} ┤{marks}{' bigrams' if i == row(baseline) else ''}")
    return "\n".join(lines)


def train(
    steps: int, rate: float, width: int, layers: int, seed: int, path: str | None
) -> tuple[float, float]:
    """The losses on a part of the text that was not trained on: of the model, and of bigrams."""
    text, chars = read(path)
    known, held_out = np.split(text, [len(text) * 9 // 10])
    baseline = bigram_loss(known, held_out, len(chars))

    net = axon.load(HERE / "chars.axon")
    sizes = {"v": len(chars), "n": PLACES, "d": width, "l": layers, "f": 4 * width}
    print(net.loss.parameters(**sizes))
    weights = net.loss.init(seed, **sizes)

    schedule = optax.warmup_cosine_decay_schedule(0, rate, steps // 10 + 1, steps + 1)
    optimizer = optax.adamw(schedule)
    state = optimizer.init(weights)
    loss_of = net.loss.jax

    @jax.jit
    def step(weights: Any, state: Any, batch: Any) -> Any:
        loss, slope = jax.value_and_grad(loss_of)(weights, batch)
        updates, state = optimizer.update(slope, state, weights)
        return optax.apply_updates(weights, updates), state, loss

    losses: list[float] = []
    for batch, _ in zip(batches(np.random.default_rng(seed), known), range(steps), strict=False):
        weights, state, loss = step(weights, state, batch)
        losses.append(float(loss))
        bar(len(losses), steps, losses[-1])
    print(curve(losses, baseline))

    pieces = batches(np.random.default_rng(seed + 1), held_out)
    of_batch = jax.jit(loss_of)
    return float(np.mean([of_batch(weights, next(pieces)) for _ in range(10)])), baseline


def main() -> None:
    parser = argparse.ArgumentParser(description="Train a language model of characters.")
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--rate", type=float, default=3e-3, help="the largest step")
    parser.add_argument("--width", type=int, default=64, help="features, a multiple of 8")
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--text", help="a file with the text; the documentation if not given")
    given = parser.parse_args()
    loss, baseline = train(
        given.steps, given.rate, given.width, given.layers, given.seed, given.text
    )
    print(f"loss on text that was not seen: {loss:.3f} nats; bigrams {baseline:.3f}")


if __name__ == "__main__":
    main()
