"""Sizes times a scale, rounded down, in all formats."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from axon.ops.families.resample import WHOLE
from axon.types import dim as dims


def is_exact(scale: float) -> bool:
    """Whether `resize` can compute the size from the scale."""
    exact = Fraction(scale)
    return exact.denominator <= WHOLE and exact.numerator < 1 << 20


def scaled(size: Any, scale: float) -> Any:
    """A size times a scale that is exact."""
    exact = Fraction(scale)
    return dims.floordiv(dims.scale(exact.numerator, size), exact.denominator)
