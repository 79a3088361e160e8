"""Integers combined with floats: exact, and clamped where they do not fit."""

from __future__ import annotations

import math

from axon.ops.arrays import Array, Arrays

FAR = float(1 << 66)
"""Farther than from any integer of a type to any other."""


def below(xp: Arrays, x: Array, bound: float, above: bool = False) -> Array:
    """Which integers are below a number, or above it."""
    if math.isnan(bound):
        return xp.zeros(x.shape, dtype=bool)
    bound = min(max(bound, -FAR), FAR)
    whole = math.floor(bound) if above else math.ceil(bound)
    low, high = int(xp.iinfo(x.dtype).min), int(xp.iinfo(x.dtype).max)
    if not low <= whole <= high:
        every = (whole < low) == above
        return xp.broadcast_to(xp.asarray(every), x.shape)
    edge = xp.asarray(whole, dtype=x.dtype)
    return x > edge if above else x < edge


def plus(xp: Arrays, x: Array, number: float) -> Array:
    """Integers plus a number, truncated."""
    if math.isnan(number):
        return xp.zeros_like(x)
    number = min(max(number, -FAR), FAR)
    up, down = _moved(xp, x, math.ceil(number)), _moved(xp, x, math.floor(number))
    return xp.where(below(xp, x, -number), up, down)


def _moved(xp: Arrays, x: Array, by: int) -> Array:
    """`x + by`, clamped where integers would wrap around."""
    low, high = int(xp.iinfo(x.dtype).min), int(xp.iinfo(x.dtype).max)
    last, end = (high - by, high) if by >= 0 else (low - by, low)
    if not low <= last <= high:
        return xp.broadcast_to(xp.asarray(end, dtype=x.dtype), x.shape)
    step = (by - low) % (high - low + 1) + low
    moved = x + xp.asarray(step, dtype=x.dtype)
    edge = xp.asarray(last, dtype=x.dtype)
    return xp.where(x > edge if by >= 0 else x < edge, xp.asarray(end, dtype=x.dtype), moved)
