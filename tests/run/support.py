"""What the tests of running programs share."""

from __future__ import annotations

import os
from typing import Any

import numpy

import axon

OTHER = os.environ.get("AXON_BACKEND", "jax")
"""The backend that is compared with NumPy: `make torch` runs the same tests on PyTorch."""

BACKENDS = ("numpy", OTHER)


def floats(*shape: int) -> Any:
    """Numbers between -1 and 1, the same for the same shape."""
    return numpy.random.default_rng(shape).uniform(-1, 1, shape).astype(numpy.float32)


def ragged(*lengths: int, inner: tuple[int, ...] = (), seed: int = 0) -> axon.Ragged:
    """Rows of these lengths; none at all if there are no lengths."""
    random = numpy.random.default_rng((seed, *lengths))
    rows = [random.uniform(-1, 1, (n, *inner)).astype(numpy.float32) for n in lengths]
    return axon.Ragged.from_rows(rows, like=numpy.zeros((0, *inner), numpy.float32))


def plain(value: Any) -> Any:
    """A result as NumPy's arrays in tuples, ragged tensors as lists of their rows."""
    if isinstance(value, tuple):
        return tuple(plain(item) for item in value)
    if isinstance(value, axon.Ragged):
        return [plain(row) for row in value.on_host()]
    return numpy.asarray(value)


def close(found: Any, expected: Any) -> None:
    """The same structure, sizes and element types, and the same numbers within rounding."""
    assert type(found) is type(expected) or not isinstance(found, list | tuple), (found, expected)
    if isinstance(found, list | tuple):
        assert len(found) == len(expected), (found, expected)
        for a, b in zip(found, expected, strict=True):
            close(a, b)
        return
    found, expected = numpy.asarray(found), numpy.asarray(expected)
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    numpy.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-6)


def on_both(program: str, *args: Any, **options: Any) -> Any:
    """What the definition `f` gives, on NumPy; the other backend must give the same. JAX has arrays
    of its own; PyTorch returns NumPy's where it is given such.
    """
    net = axon.compile(program, **options)
    result = net.f(*args)
    other = net.on(OTHER).f(*args)
    if OTHER == "jax":
        assert_jax(other)
    close(plain(other), plain(result))
    return result


def assert_jax(value: Any) -> None:
    if isinstance(value, tuple):
        for item in value:
            assert_jax(item)
    elif isinstance(value, axon.Ragged):
        assert value.xp.__name__ == "jax.numpy"
    else:
        assert type(value).__module__.startswith("jax"), type(value)
