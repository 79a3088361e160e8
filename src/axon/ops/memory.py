"""How large an array may be, and what an operator refuses to compute.

A size is a whole number without a bound; an array has one. Whoever makes an array of a new size, on
any backend, calls `check_fits` first: the array libraries answer too late (memory may be
promised at first), each in its own words, or by ending the process.
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
    """What an operator cannot compute from these values; the sentence says why."""


def check_fits(shape: Sequence[int], itemsize: int) -> None:
    """Refuse an array that is too large. A dimension of size 0 excuses no other: their
    sizes and strides are numbers of an array all the same.
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
    """A whole number as text; a very long one by its magnitude, which is what matters of it."""
    if abs(number) < 10**LONGEST:
        return str(number)
    digits = int(abs(number).bit_length() * 0.30103)
    return f"about {'-' if number < 0 else ''}10**{digits}"
