"""Random numbers in rows: PyTorch does not compute with the words of a key, and Axon does."""

from __future__ import annotations

import numpy
import pytest

import axon

PROGRAM = """
uniforms = fn (key : u32 [2], x : f32 [n,*]) { map(fn (r) { uniform(key, [size(r)]) + r }, x) };
dropped = fn (key : u32 [2], x : f32 [n,*]) { map(fn (r) { dropout(r, key=key, rate=0.5) }, x) };
"""


@pytest.mark.parametrize("name", ["uniforms", "dropped"])
def test_random_numbers_in_rows(name: str) -> None:
    key, net = axon.random_key(1), axon.compile(PROGRAM)
    for lengths in ((3, 5, 2), (3, 3, 3), (1, 7, 40, 2)):
        x = [numpy.ones(n, numpy.float32) for n in lengths]
        found = net.on("torch")[name](key, x)
        for made, expected in zip(found, net[name](key, x), strict=True):
            numpy.testing.assert_array_equal(numpy.asarray(made), expected)
