"""The operators: one module for each family; importing a family enters its operators into the table."""

from __future__ import annotations

from axon.ops import (
    convolution,
    functional,
    linear,
    pointwise,
    rearrange,
    reductions,
)
from axon.ops.operator import OPERATORS, Operator, Problem

FAMILIES = (
    pointwise,
    linear,
    reductions,
    functional,
    convolution,
    rearrange,
)
"""In the order of the reference."""

__all__ = ["FAMILIES", "OPERATORS", "Operator", "Problem"]
