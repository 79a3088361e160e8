"""Numbers as f32 has them."""

from __future__ import annotations

import math
import struct

SINGLE = struct.Struct("<f")


def single(x: float) -> float:
    """The nearest number that f32 has; infinity for one that is too large."""
    try:
        found: float = SINGLE.unpack(SINGLE.pack(x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)
    return found


def shortest(x: float) -> float:
    """The shortest decimal number that f32 makes this of."""
    if not math.isfinite(x):
        return x
    wanted = single(x)
    for digits in range(1, 9):
        found = float(f"{x:.{digits}g}")
        if single(found) == wanted:
            return found
    return float(f"{x:.9g}")
