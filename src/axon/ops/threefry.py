"""The generator of random bits: Threefry-2x32 with 20 rounds.

J. Salmon, M. Moraes, R. Dror and D. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
It has no state: a key of two words enciphers the numbers 0, 1, 2, …, and each gives two words. All
of it is arithmetic on u32, which wraps around alike on every array library, so the bits are the
same on each. They are those of `jax.random` for the same key.
"""

from __future__ import annotations

from math import prod

from axon.ops.arrays import Array, Arrays
from axon.ops.memory import check_fits
from axon.ops.operator import Ints

Words = tuple[Array, Array]
"""The upper and the lower 32 bits of numbers of 64 bits."""

ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
"""By how many bits a word is turned in each round, for odd and even groups of four."""

PARITY = 0x1BD11BDA
"""What the third word of the key schedule is combined with."""

MOST_BY_ONE_WORD = 1 << 32

WIDTHS = {"f32": (32, 23), "f16": (16, 10), "bf16": (8, 7)}
"""How many bits are taken, and how many of them are used: as many as the mantissa has."""


def encipher(xp: Arrays, key: Words, block: Words) -> Words:
    """The two words of each block after 20 rounds; the key is added after every fourth."""
    first, second = key
    schedule = (first, second, first ^ second ^ PARITY)
    low = xp.low32
    x, y = low(block[0] + first), low(block[1] + second)
    for group in range(5):
        for by in ROTATIONS[group % 2]:
            x = low(x + y)
            y = x ^ low(y << by | y >> (32 - by))
        x = low(x + schedule[(group + 1) % 3])
        y = low(y + (schedule[(group + 2) % 3] + (group + 1)))
    return x, y


def words(xp: Arrays, key: Array, count: int) -> Words:
    """The numbers from 0 up to `count`, enciphered."""
    word = xp.word
    parts = key[0:1], key[1:2]
    if count <= MOST_BY_ONE_WORD:
        return encipher(xp, parts, (xp.zeros(1, dtype=word), xp.arange(count, dtype=word)))
    places = xp.arange(count, dtype=xp.element("i64"))
    halves = xp.astype(places >> 32, word), xp.low32(xp.astype(places, word))
    return encipher(xp, parts, halves)


def uniforms(xp: Arrays, key: Array, shape: Ints, element: str) -> Array:
    """Multiples of the last place before 1, from 0 up to and without 1, all equally likely."""
    dtype = xp.element(element)
    check_fits(shape, 8)
    high, low = words(xp, key, prod(shape))
    if dtype.itemsize == 8:
        made = (xp.astype(high, dtype) * 2.0**20 + xp.astype(low >> 12, dtype)) * 2.0**-52
        return made.reshape(shape)
    width, places = WIDTHS[element]
    kept = ((high ^ low) & ((1 << width) - 1) if width < 32 else high ^ low) >> (width - places)
    made = xp.astype(kept, xp.element("f32")) * 2.0**-places
    return xp.astype(made, dtype).reshape(shape)


def open_uniforms(xp: Arrays, key: Array, shape: Ints, element: str) -> Array:
    """Uniforms in the middle between two places, so that none is 0 or 1. For f32 and f64."""
    made = uniforms(xp, key, shape, element)
    return made + (2.0**-53 if made.dtype.itemsize == 8 else 2.0**-24)


def below(xp: Arrays, key: Array, shape: Ints, count: int) -> Array:
    """Numbers of u32 from 0 up to and without `count`: 64 random bits times `count`, without the
    last 64. No number is likelier than another by more than a part in 2**32.
    """
    check_fits(shape, 8)
    high, low = words(xp, key, prod(shape))
    upper, rest = _product(xp, high, count)
    carried, _ = _product(xp, low, count)
    total = xp.low32(rest + carried)
    return xp.low32(upper + xp.astype(total < rest, upper.dtype)).reshape(shape)


def _product(xp: Arrays, x: Array, factor: int) -> Words:
    """The 64 bits of a product of 32 bits by 32, in halves of 16."""
    x1, x0 = x >> 16, x & 0xFFFF
    by1, by0 = factor >> 16, factor & 0xFFFF
    low = xp.low32
    first = low(x0 * by0)
    second = low(x1 * by0 + (first >> 16))
    third = low(x0 * by1 + (second & 0xFFFF))
    upper = low(x1 * by1 + (second >> 16) + (third >> 16))
    return upper, low(x * xp.asarray(factor, dtype=x.dtype))
