"""The operators: one module for each family; importing a family enters its operators into the
table."""

from __future__ import annotations

from axon.ops import (
    activations,
    attention,
    bits,
    blocks,
    convolution,
    elementary,
    functional,
    indexing,
    linear,
    losses,
    normalise,
    ordering,
    pointwise,
    pools,
    quantise,
    rearrange,
    recurrent,
    reductions,
    regions,
    resample,
    sampling,
    scatter,
    signal,
    sized,
    values,
)
from axon.ops.operator import OPERATORS, Operator, Problem

FAMILIES = (
    pointwise,
    bits,
    elementary,
    activations,
    linear,
    convolution,
    pools,
    resample,
    sampling,
    regions,
    blocks,
    reductions,
    functional,
    normalise,
    attention,
    recurrent,
    losses,
    rearrange,
    indexing,
    ordering,
    scatter,
    values,
    sized,
    quantise,
    signal,
)
"""In the order of the reference."""

__all__ = ["FAMILIES", "OPERATORS", "Operator", "Problem"]
