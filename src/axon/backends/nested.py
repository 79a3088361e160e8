"""Ragged tensors of one level as the nested tensors of PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
import torch

from axon.backends.ragged import Ragged


def nested(result: Any, args: Sequence[Any]) -> Any:
    """Ragged results as nested tensors, with the offsets of an argument where they are the same:
    PyTorch knows two of them to have equal rows by that.
    """
    if any(isinstance(arg, Ragged) for arg in args):
        return result
    if isinstance(result, tuple):
        return tuple([nested(part, args) for part in result])
    if isinstance(result, dict):
        return {name: nested(part, args) for name, part in result.items()}
    if not isinstance(result, Ragged) or result.packed is None:
        return result
    values, offsets = result.packed
    for arg in args:
        if getattr(arg, "is_nested", False) and arg.layout is torch.jagged:
            known = arg.offsets()
            if numpy.array_equal(known.cpu().numpy(), offsets):
                return torch.nested.nested_tensor_from_jagged(values, known)
    return torch.nested.nested_tensor_from_jagged(
        values, torch.tensor(offsets, device=values.device)
    )
