"""Operators that refuse tensors without elements, which no condition on shapes says."""

from __future__ import annotations

from collections.abc import Mapping

from axon.importers.operations import Operation
from axon.importers.torch.dynamic.input_sizes import InputSizes
from axon.importers.torch.dynamic.search import Found
from axon.types import dim as dims
from axon.types.type import Tensor
from axon.types.variables import DimVar, ShapeVar

BEGINNINGS = (
    "max", "min", "amax", "amin", "aminmax", "argmax", "argmin", "median", "nanmedian", "mode",
    "kthvalue", "topk", "quantile", "conv", "_conv", "avg_pool", "adaptive", "upsample",
    "_upsample", "interpolate", "grid_sampler", "unfold", "im2col", "stft", "istft", "_fft", "fft",
    "multinomial", "lstm", "gru", "rnn", "linalg", "cdist", "_cdist", "embedding_bag",
    "_embedding_bag", "pad", "reflection", "replication", "roll", "einsum", "scan", "while_loop",
    "cond",
)  # fmt: skip
"""Those that do for some axis at least; elementwise `maximum` and `minimum` do not."""
NOT_THESE = frozenset({"maximum", "minimum"})
RESHAPES = frozenset({"view", "reshape", "_unsafe_view", "unflatten"})


def needs_elements(given: InputSizes, found: Found, sizes: Mapping[str, int]) -> bool:
    """Whether some operation may refuse what it is given where inputs have these sizes."""
    values = {each.var: sizes[each.name] for each in given.every()}
    return any(
        _may_refuse(each) and any(_is_empty(found, name, values) for name in each.inputs)
        for each in found.imported.model.graph.operations
    )


def _may_refuse(operation: Operation) -> bool:
    operator = operation.operator
    if operator in RESHAPES:  # what -1 stands for is not known
        return any(value in (-1, (-1,)) or _has_wild(value) for value in _values(operation))
    return operator.startswith(BEGINNINGS) and operator not in NOT_THESE


def _values(operation: Operation) -> list[object]:
    return list(operation.attributes.values())


def _has_wild(value: object) -> bool:
    return isinstance(value, tuple) and -1 in value


def _is_empty(found: Found, name: str, values: dict[DimVar, int]) -> bool:
    """Whether a tensor has no elements then, or may have none."""
    type_ = found.imported.type(name)
    if not isinstance(type_, Tensor):
        return True
    for item in type_.shape:
        if isinstance(item, ShapeVar) or dims.evaluate(item, values) in (0, None):
            return True
    return False
