"""What the tests of the examples share: the programs on both backends, and arrays for them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import axon
from tests.run.support import BACKENDS

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

both = pytest.mark.parametrize("backend", BACKENDS)


@cache
def program(name: str, backend: str = "numpy") -> axon.Program:
    if backend != "numpy":
        return program(name).on(backend)
    return axon.load(EXAMPLES / f"{name}.axon")


class Arrays:
    """Arrays of small random numbers, the same at every run."""

    def __init__(self, *seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def __call__(self, *shape: int) -> Any:
        return (0.5 * self.random.standard_normal(shape)).astype(np.float32)

    def positive(self, *shape: int) -> Any:
        return self.random.uniform(0.5, 1.5, shape).astype(np.float32)

    def norm(self, channels: int) -> tuple[Any, Any, Any, Any]:
        """Scale, bias, mean and variance."""
        return self.positive(channels), self(channels), self(channels), self.positive(channels)


def wide(value: Any) -> Any:
    """What the reference computes with: f64, whatever is given."""
    if isinstance(value, tuple):
        return tuple(wide(item) for item in value)
    return np.asarray(value, np.float64)


def close(given: Any, expected: Any, tolerance: float = 1e-4) -> None:
    """Of the same shape, f32, and as good as equal."""
    if isinstance(expected, tuple):
        assert isinstance(given, tuple) and len(given) == len(expected)
        for one, other in zip(given, expected, strict=True):
            close(one, other, tolerance)
        return
    assert given.dtype == np.float32
    assert given.shape == expected.shape
    np.testing.assert_allclose(np.asarray(given), expected, rtol=tolerance, atol=tolerance)
