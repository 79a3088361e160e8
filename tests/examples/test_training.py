"""examples/train.py learns: a short run of it, and the parts of its network against NumPy."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest

from tests.examples.common import EXAMPLES, Arrays, both, close, program, wide


def test_it_learns() -> None:
    command = [sys.executable, "-W", "error", str(EXAMPLES / "train.py"), "--steps", "400"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    losses = [float(found) for found in re.findall(r"loss (\S+)", done.stdout)]
    accuracy = re.search(r"accuracy on new points: (\S+)%", done.stdout)
    assert len(losses) == 5 and losses[0] > 0.5 and losses[-1] < 0.15
    assert accuracy is not None and float(accuracy[1]) > 95


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
