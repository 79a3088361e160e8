"""The largest size of an array, and operations that are refused.

A size is an unbounded integer; an array has a limit. Code that makes an array of a new size, on any
backend, calls `check_fits` first: the array libraries fail too late (memory may be overcommitted),
with different messages, or by ending the process.
"""

from __future__ import annotations

from collections.abc import Sequence

LARGEST = 1 << 47
"""How many bytes an array may have: as many as a process can address."""

MOST_DIMENSIONS = 64
"""How many dimensions an array may have: those of NumPy."""

LONGEST = 24
"""Numbers with more digits than this are shown as a power of ten."""


class Refused(Exception):
    """A computation that an operator cannot do on these values, with the reason as a sentence."""


def check_fits(shape: Sequence[int], itemsize: int) -> None:
    """Refuse an array that is too large. A dimension of size 0 does not excuse the others: sizes
    and strides are limited all the same.
    """
    if len(shape) > MOST_DIMENSIONS:
        raise Refused(
            f"an array would have {len(shape)} dimensions; there can be at most {MOST_DIMENSIONS}"
        )
    count = itemsize
    for size in shape:
        if size > 1:
            count *= size
    if count > LARGEST:
        raise Refused(
            f"an array of shape [{','.join(map(shown, shape))}] would take more than "
            f"{LARGEST >> 40} TiB, the most that there can be"
        )


def shown(number: int) -> str:
    """An integer as text; a very long one by its magnitude."""
    if abs(number) < 10**LONGEST:
        return str(number)
    digits = int(abs(number).bit_length() * 0.30103)
    return f"about {'-' if number < 0 else ''}10**{digits}"
