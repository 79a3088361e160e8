"""Threefry-2x32-20 again, apart from Axon's: 64-bit numbers that are masked, one round a line."""

from __future__ import annotations

from typing import Any

import numpy

MASK = numpy.uint64(0xFFFFFFFF)
TURNS = [13, 15, 26, 6, 17, 29, 16, 24] * 2 + [13, 15, 26, 6]


def block(key: tuple[int, int], high: Any, low: Any) -> tuple[Any, Any]:
    """The two words that a key makes of two words."""
    keys = [key[0], key[1], key[0] ^ key[1] ^ 0x1BD11BDA]
    x = (numpy.asarray(high, numpy.uint64) + numpy.uint64(keys[0])) & MASK
    y = (numpy.asarray(low, numpy.uint64) + numpy.uint64(keys[1])) & MASK
    for number, turn in enumerate(TURNS, 1):
        x = (x + y) & MASK
        y = ((y << numpy.uint64(turn)) & MASK) | (y >> numpy.uint64(32 - turn))
        y = y ^ x
        if number % 4 == 0:
            step = number // 4
            x = (x + numpy.uint64(keys[step % 3])) & MASK
            y = (y + numpy.uint64(keys[(step + 1) % 3] + step)) & MASK
    return x, y


def words(key: tuple[int, int], count: int) -> tuple[Any, Any]:
    """The words of 0, 1, 2, …"""
    return block(key, numpy.zeros(count), numpy.arange(count))


def uniforms(key: tuple[int, int], shape: tuple[int, ...]) -> Any:
    """What `uniform` gives in f32."""
    high, low = words(key, int(numpy.prod(shape)))
    kept = (high ^ low) // numpy.uint64(512)
    return (kept.astype(numpy.float64) / 2**23).astype(numpy.float32).reshape(shape)


def dropout(key: tuple[int, int], x: Any, rate: float) -> Any:
    """What `dropout` gives."""
    left = numpy.divide(x, numpy.asarray(1 - rate, x.dtype))
    return numpy.where(uniforms(key, x.shape) < rate, numpy.zeros_like(x), left)
