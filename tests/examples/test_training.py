"""examples/spirals.py and train.py learn: short runs of them, and the networks against NumPy."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.examples.common import EXAMPLES, Arrays, both, close, program, wide


def output(example: str, *arguments: str) -> str:
    command = [sys.executable, "-W", "error", str(EXAMPLES / example), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_spirals() -> None:
    found = output("spirals.py", "--steps", "400")
    losses = [float(loss) for loss in re.findall(r"loss (\S+)", found)]
    accuracy = re.search(r"accuracy on new points: (\S+)%", found)
    assert len(losses) == 5 and losses[0] > 0.5 and losses[-1] < 0.15
    assert accuracy is not None and float(accuracy[1]) > 95


def test_characters(tmp_path: Path) -> None:
    """A text in which a character tells less of the next one than the word that it is in."""
    random = np.random.default_rng(0)
    words = ["the ", "then ", "this ", "that ", "with ", "without "]
    file = tmp_path / "text.txt"
    file.write_text("".join(words[i] for i in random.integers(0, len(words), 2000)))
    sizes = ["--steps", "150", "--rate", "0.01", "--width", "32", "--layers", "1"]
    found = output("train.py", *sizes, "--text", str(file))
    assert "layers.qkv" in found and "●" in found
    losses = re.search(r"not seen: (\S+) nats; bigrams (\S+)", found)
    assert losses is not None and float(losses[1]) < float(losses[2])


@both
@pytest.mark.parametrize(("b", "h", "k"), [(6, 5, 4), (1, 1, 1)])
def test_the_network(backend: str, b: int, h: int, k: int) -> None:
    make = Arrays(b, h)
    weights = make(2, h), make(h), make(h, k), make(k), make(k, 1), make(1)
    points, second = make(b, 2), make.random.integers(0, 2, b).astype(np.float32)

    w1, b1, w2, b2, w3, b3 = wide(weights)
    y = np.tanh(np.tanh(wide(points) @ w1 + b1) @ w2 + b2)
    scores = (y @ w3 + b3)[:, 0]
    chances = 1 / (1 + np.exp(-scores))
    loss = -np.mean(second * np.log(chances) + (1 - second) * np.log(1 - chances))

    net = program("spirals", backend)
    close(net.score(weights, points), scores)
    close(net.loss(weights, points, second), loss)
    close(net.accuracy(weights, points, second), np.mean((chances > 0.5) == second))
