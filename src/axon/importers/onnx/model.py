"""ONNX models: inference and reports."""

from __future__ import annotations

from typing import Any

from axon.importers.imported import Imported, import_operations
from axon.importers.node import Format, Rule
from axon.importers.onnx.load import read_model
from axon.importers.onnx.read import model_of
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
from axon.importers.reporting.report import Report, report_on
from axon.types.type import Type
from axon.workspace import workspace


def import_model(
    proto: Any,
    name: str,
    forget: bool = False,
    said: dict[str, Type] | None = None,
    reasons: bool = True,
    program: bool = True,
) -> Imported:
    """Infer a model; see `import_operations`."""
    with workspace():
        model = model_of(proto)
        return import_operations(model, ONNX, name, forget, said, reasons, program)


def well_formed(operation: Operation, version: int) -> Rule | None:
    """The rule for an operation, if that is what ONNX declares it to be."""
    check(operation, version)
    return find(operation, version)


ONNX = Format(well_formed)


def infer_model(
    proto: Any,
    name: str,
    forget: bool = False,
    said: dict[str, Type] | None = None,
    suggesting: bool = True,
) -> Report:
    """Everything there is to know about a model. `said` is what the caller says of inputs;
    suggestions take as long as inferring the model several times.
    """
    with workspace():  # what only the report needs is gone when the collector looks for cycles
        return _reported(proto, name, forget, said, suggesting)


def _reported(
    proto: Any, name: str, forget: bool, said: dict[str, Type] | None, suggesting: bool
) -> Report:
    found = import_model(proto, name, forget, said, program=False)
    return report_on(found, name, forget, suggesting)


def infer_file(path: str, forget: bool = False) -> Report:
    """The same of the model in a file; raises `NoModel`."""
    return infer_model(read_model(path), path, forget)
