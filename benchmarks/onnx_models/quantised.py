"""Quantised models, compared from one rounding to the next.

Floats that are added in another order differ in their last bits. Where such a number is rounded to
an integer, and lies between two of them, another integer comes out: one step further, and all that
follows is computed from that. So the model is cut where it rounds: each part goes on from the
integers that the other side has, and what it makes is compared before and after it is rounded. An
integer may be off by one step if its number lies in the middle between two, but for what a sum of
floats loses.
"""

from __future__ import annotations

from typing import Any

import numpy
import onnx
from onnx import helper

MADE = " as it is made"


def rounded(model: Any) -> list[Any]:
    """The nodes that round to steps."""
    return [node for node in model.graph.node if node.op_type == "QuantizeLinear"]


def cut(model: Any, truth: dict[str, Any]) -> Any:
    """The model with what is rounded as inputs, of the shapes that they have here, and again as
    outputs.
    """
    other = onnx.ModelProto()
    other.CopyFrom(model)
    names = [info.name for info in model.graph.output]
    for node in rounded(other):
        name = node.output[0]
        value = truth[name]
        node.output[0] = name + MADE
        elem = helper.np_dtype_to_tensor_dtype(value.dtype)
        other.graph.input.append(helper.make_tensor_value_info(name, elem, value.shape))
        names.append(name + MADE)
    del other.graph.value_info[:]
    del other.graph.output[:]
    other.graph.output.extend(
        onnx.ValueInfoProto(name=n) for n in names if n not in {i.name for i in other.graph.input}
    )
    return other


def off_by_a_step(
    mine: Any, true: Any, number: Any, scale: Any, limit: float
) -> tuple[int, str | None]:
    """How many integers are off by one step, each where its number lies between two; and what is
    wrong, if anything is. A number may be off by `limit` of the largest.
    """
    mine, true = numpy.asarray(mine), numpy.asarray(true)
    if mine.shape != true.shape or mine.dtype != true.dtype:
        return 0, f"{mine.dtype} {list(mine.shape)}, not {true.dtype} {list(true.shape)}"
    apart = numpy.abs(mine.astype(numpy.int64) - true.astype(numpy.int64))
    steps = number.astype(numpy.float64) / scale
    near = limit * max(float(numpy.max(numpy.abs(steps), initial=0)), 1e-6)
    between = numpy.abs(steps - numpy.floor(steps) - 0.5) <= near
    wrong = (apart > 1) | ((apart == 1) & ~between)
    count = int(numpy.sum(apart == 1))
    if wrong.any():
        return count, f"{int(wrong.sum())} of {wrong.size} elements, not between two steps"
    return count, None
