"""ONNX models: their rules, as the import asks for them."""

from __future__ import annotations

from axon.importers.node import Format, Rule
from axon.importers.onnx.rules import renamed  # noqa: F401 (a family enters its rules)
from axon.importers.onnx.rules.layers import (  # noqa: F401
    attention,
    convolution,
    flex_attention,
    images,
    linear,
    losses,
    norms,
    optimizers,
    pools,
    quantise,
    recurrent,
    resize,
)
from axon.importers.onnx.rules.loops import (  # noqa: F401
    control,
    sequences,
)
from axon.importers.onnx.rules.numbers import (  # noqa: F401
    pointwise,
    reductions,
    signal,
)
from axon.importers.onnx.rules.registry import find
from axon.importers.onnx.rules.tensors import (  # noqa: F401
    constants,
    indexing,
    join_and_split,
    scatter_and_pad,
    shapes,
    slicing,
)
from axon.importers.onnx.schema import check
from axon.importers.operations import Operation


def well_formed(operation: Operation, version: int) -> Rule | None:
    """The rule for an operation, if that is what ONNX declares it to be."""
    check(operation, version)
    return find(operation, version)


ONNX = Format(well_formed)
