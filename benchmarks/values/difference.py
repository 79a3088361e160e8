"""How two values differ, if they do."""

from __future__ import annotations

from typing import Any

import numpy

TOLERANCE = {"float16": 1e-2, "bfloat16": 3e-2}
"""By how much of the largest element of its tensor a float may be off; else by a thousandth."""


def difference(mine: Any, true: Any) -> str | None:
    if isinstance(true, list | tuple):
        if not isinstance(mine, list | tuple) or len(mine) != len(true):
            return "not the same number of parts"
        parts = (difference(m, t) for m, t in zip(mine, true, strict=True))
        return next((part for part in parts if part), None)
    mine, true = numpy.asarray(mine), numpy.asarray(true)
    if mine.shape != true.shape:
        return f"shape {list(mine.shape)}, not {list(true.shape)}"
    if mine.dtype != true.dtype:
        return f"{mine.dtype}, not {true.dtype}"
    if true.dtype.kind in "iubOUS":
        count = int(numpy.sum(mine != true))
        return f"{count} of {true.size} elements" if count else None
    limit = TOLERANCE.get(str(true.dtype), 1e-3)
    mine, true = mine.astype(numpy.float64), true.astype(numpy.float64)
    finite = numpy.isfinite(true)
    if not numpy.array_equal(mine[~finite], true[~finite], equal_nan=True):
        return "infinities or NaN in other places"
    magnitude = max(float(numpy.max(numpy.abs(true[finite]), initial=0)), 1e-6)
    by = float(numpy.max(numpy.abs(mine[finite] - true[finite]), initial=0)) / magnitude
    return None if by <= limit else f"by {by:.2g} of the largest element"
