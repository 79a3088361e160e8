"""ONNX's own test cases: no shape may be inferred that a run of the operator does not give, and the
program computes the values of the run.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy
import onnx
import pytest
from onnx import numpy_helper

import axon
from tests.importers.onnx_models import infer_model


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


PARTS = 7
"""The cases are divided, so that several processes can share them; every second one is that before
it, written out as other operators.
"""

SUGGESTING = 7
"""One case in so many also has its inputs suggested, which takes most of the time of a case whose
shapes are forgotten.
"""


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("way", ["declared", "forgotten", "in the file"])
def test_shapes_are_those_of_a_run(way: str, part: int) -> None:
    wrong: list[str] = []
    for i, case in enumerate(cases()[part::PARTS]):
        made = with_weights(case) if way == "in the file" else case.model
        report = infer_model(
            made, case.name, forget=way == "forgotten", suggesting=i % SUGGESTING == part
        )
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


@pytest.mark.parametrize("part", range(PARTS))
def test_values_are_those_of_a_run(part: int) -> None:
    """No inferred shape is wrong, nothing right is rejected, what runs gives the same values."""
    counts = {"right": 0, "partial": 0, "same values": 0}
    for case in cases()[part::PARTS]:
        if case.data_sets:
            inputs, outputs = case.data_sets[0]
            if all(map(is_numbers, [*inputs, *outputs])):
                arrays = [numpy.asarray(x) for x in inputs], [numpy.asarray(x) for x in outputs]
                one_case(case, *arrays, counts)
    assert counts["right"] * PARTS >= 1000 and counts["same values"] * PARTS >= 550, counts


def is_numbers(array: Any) -> bool:
    known = isinstance(array, numpy.ndarray | numpy.generic)
    return known and numpy.asarray(array).dtype.kind not in "OUS"


def one_case(case: Any, inputs: list[Any], outputs: list[Any], counts: dict[str, int]) -> None:
    bare = onnx.ModelProto()
    bare.CopyFrom(case.model)
    for output in bare.graph.output:
        output.type.tensor_type.ClearField("shape")
    del bare.graph.value_info[:]
    report = infer_model(bare, case.name)
    assert report.ok, (case.name, report.diagnostics)
    exact = True
    for output, true in zip(bare.graph.output, outputs, strict=False):
        shape = report.tensors[output.name].shape
        exact = exact and shape == true.shape
        if shape is not None:
            assert len(shape) == true.ndim, case.name
            for found, size in zip(shape, true.shape, strict=True):
                assert not isinstance(found, int) or found == size, case.name
    counts["right" if exact else "partial"] += 1
    try:
        made = axon.from_onnx(case.model).model(*inputs)
    except axon.AxonError:
        return  # something in it is only declared
    for found, true in zip(made if isinstance(made, tuple) else (made,), outputs, strict=False):
        within = 2**-6 if true.dtype.name == "bfloat16" else 1e-3  # as the package's own runner
        numpy.testing.assert_allclose(
            numpy.asarray(found, numpy.float64), numpy.asarray(true, numpy.float64), rtol=within,
            atol=1e-4, err_msg=case.name,
        )  # fmt: skip
    counts["same values"] += 1
