"""The softmax of rows that are stored end to end, on a GPU: PyTorch's kernel on a matrix in which
all rows are as long as the longest. That takes three kernels, in segments it takes some twenty.
"""

from __future__ import annotations

from math import inf
from typing import Any

import torch

from axon.backends.segments.frames import Segments
from axon.backends.torch_derived import is_derived, is_transformed
from axon.ops.arrays import Array

DEVICES = ("cuda",)
"""A processor is faster in segments: it computes nothing for what is padding."""

PADDED = torch.ops.aten._jagged_to_padded_dense_forward
PACKED = torch.ops.aten._padded_dense_to_jagged_forward


def softmax_of_rows(xp: Any, values: Array, rows: Segments) -> Array | None:
    """The softmax of each row of numbers; None where this is not for them: the two kernels that
    pad and pack have no derivatives.
    """
    if values.device.type not in DEVICES or torch.compiler.is_compiling():
        return None
    if is_transformed() or is_derived(values):
        return None
    count, length = rows.count, rows.longest
    if not rows.total or count * length * values.dtype.itemsize > xp.at_once():
        return None
    offsets = rows.placed(xp, "offsets")
    padded = PADDED(values[:, None], [offsets], [length], -inf)
    made: Array = PACKED(torch.softmax(padded, 1), [offsets], rows.total)
    return made[:, 0]
