"""The operators: one module for each family; importing a family enters its operators into the
table."""

from __future__ import annotations

from axon.ops import (
    activations,
    convolution,
    elementary,
    functional,
    indexing,
    linear,
    normalise,
    pointwise,
    rearrange,
    reductions,
    values,
)
from axon.ops.operator import OPERATORS, Operator, Problem

FAMILIES = (
    pointwise,
    elementary,
    activations,
    linear,
    convolution,
    reductions,
    functional,
    normalise,
    rearrange,
    indexing,
    values,
)
"""In the order of the reference."""

__all__ = ["FAMILIES", "OPERATORS", "Operator", "Problem"]
