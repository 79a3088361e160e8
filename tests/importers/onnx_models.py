"""Small ONNX models, built in a line or two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

from axon.importers.formats import of_onnx
from axon.importers.imported import Imported
from axon.importers.reporting.report import Report

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64

Sizes = Any
"""Sizes, or None where nothing is declared."""


def value(name: str, shape: Sizes = None, elem: int = FLOAT) -> Any:
    return helper.make_tensor_value_info(name, elem, shape)


def node(op: str, inputs: str, outputs: str, **attributes: Any) -> Any:
    """A node; names are separated by spaces, and `-` is an input that is left out."""
    given = ["" if name == "-" else name for name in inputs.split()]
    return helper.make_node(op, given, outputs.split(), **attributes)


def floats(*shape: int) -> Any:
    return numpy.zeros(shape, dtype=numpy.float32)


def ints(*items: int) -> Any:
    return numpy.array(items, dtype=numpy.int64)


def scalar(item: int) -> Any:
    return numpy.array(item, dtype=numpy.int64)


def model(
    nodes: Sequence[Any],
    inputs: Mapping[str, Sizes] | Sequence[Any],
    outputs: Mapping[str, Sizes] | Sequence[Any],
    weights: Mapping[str, Any] | None = None,
    functions: Sequence[Any] = (),
    opset: int = 17,
) -> Any:
    """A model of these nodes; inputs and outputs by name are of f32."""
    graph = helper.make_graph(
        nodes,
        "g",
        _values(inputs),
        _values(outputs),
        [numpy_helper.from_array(array, name) for name, array in (weights or {}).items()],
    )
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("local", 1)]
    return helper.make_model(graph, opset_imports=opsets, functions=list(functions))


def _values(given: Mapping[str, Sizes] | Sequence[Any]) -> list[Any]:
    if isinstance(given, Mapping):
        return [value(name, shape) for name, shape in given.items()]
    return list(given)


def save(made: Any, path: Any) -> None:
    onnx.save_model(made, str(path))


def import_model(proto: Any, name: str, forget: bool = False, **options: Any) -> Imported:
    """A model, inferred."""
    return of_onnx(proto, name).imported(forget, **options)


def infer_model(proto: Any, name: str, forget: bool = False, **options: Any) -> Report:
    """The report on a model."""
    return of_onnx(proto, name).report(forget, **options)
