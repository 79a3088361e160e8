"""ONNX's own test cases: no shape may be inferred that a run of the operator does not give."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy
import onnx
import pytest
from onnx import numpy_helper

from axon.importers.onnx.model import infer_model


@cache
def cases() -> Sequence[Any]:
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases

        return [case for case in collect_testcases(None) if case.model is not None]


def with_weights(case: Any) -> Any:
    """The model with its inputs in the file."""
    made = onnx.ModelProto()
    made.CopyFrom(case.model)
    for info, array in zip(made.graph.input, case.data_sets[0][0], strict=False):
        if isinstance(array, numpy.ndarray) and array.dtype.kind in "fiub":
            made.graph.initializer.append(numpy_helper.from_array(array, info.name))
    return made


PARTS = 8
"""The cases are divided, so that several processes can share them."""


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("way", ["declared", "forgotten", "in the file"])
def test_shapes_are_those_of_a_run(way: str, part: int) -> None:
    wrong: list[str] = []
    for case in cases()[part::PARTS]:
        made = with_weights(case) if way == "in the file" else case.model
        report = infer_model(made, case.name, forget=way == "forgotten")
        told = [d.message for d in report.diagnostics if d.code != "AX503"]
        if told:
            wrong.append(f"{case.name}: {told[0]}")
        for info, result in zip(made.graph.output, case.data_sets[0][1], strict=False):
            found = report.tensors[info.name].shape if info.name in report.tensors else None
            expected = getattr(result, "shape", None)
            if found is None or expected is None:
                continue
            fits = len(found) == len(expected) and all(
                not isinstance(mine, int) or mine == size
                for mine, size in zip(found, expected, strict=True)
            )
            if not fits:
                wrong.append(f"{case.name}: {info.name} is {found}, not {expected}")
    assert wrong == []
