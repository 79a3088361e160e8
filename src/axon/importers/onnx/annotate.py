"""Writing what was found back into a model, as annotations that other tools read."""

from __future__ import annotations

from typing import Any

from axon.importers.onnx.elements import ELEMENTS
from axon.importers.reporting.report import Report

NUMBERS = {name: number for number, name in ELEMENTS.items()}


def annotated(model: Any, report: Report) -> Any:
    """A copy of the model that declares every shape of known rank; a size that is an expression
    is written as one.
    """
    made = type(model)()
    made.CopyFrom(model)
    weights = {tensor.name for tensor in made.graph.initializer}
    results = {info.name: info for info in [*made.graph.output, *made.graph.input]}
    del made.graph.value_info[:]
    for name, tensor in report.tensors.items():
        if name in weights or tensor.shape is None or tensor.dtype is None:
            continue
        info = results.get(name)
        if info is None:
            info = made.graph.value_info.add()
            info.name = name
        declared = info.type.tensor_type
        declared.elem_type = NUMBERS[tensor.dtype]
        declared.ClearField("shape")
        declared.shape.SetInParent()
        for size in tensor.shape:
            dim = declared.shape.dim.add()
            if isinstance(size, int):
                dim.dim_value = size
            else:
                dim.dim_param = size.replace(" ", "")
    return made
