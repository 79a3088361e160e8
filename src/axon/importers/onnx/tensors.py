"""Tensors in a file: their types, and the elements of those that matter."""

from __future__ import annotations

import math
from typing import Any

import numpy

from axon.importers.onnx.values import ELEMENTS, MOST_CONTENTS, MOST_FLOATS
from axon.types.type import Tensor
from axon.types.variables import ElemVar

RAW = {1: "<f4", 2: "|u1", 3: "|i1", 6: "<i4", 7: "<i8", 9: "|b1", 11: "<f8"}
"""Element types whose values are looked at, as they are in a file."""
LISTED = {
    1: "float_data", 2: "int32_data", 3: "int32_data", 6: "int32_data", 7: "int64_data",
    9: "int32_data", 11: "double_data",
}  # fmt: skip
"""The fields that hold them where a file has them as lists."""
ELSEWHERE = 1
"""Where the data of a tensor is that the file does not hold."""


def tensor_type(tensor: Any) -> Tensor:
    elem = ELEMENTS.get(tensor.data_type) or ElemVar("", 1)
    return Tensor(elem, tuple([max(n, 0) for n in tensor.dims]))


def tensor_contents(tensor: Any) -> Any:
    """The elements of a small tensor that is in the file itself."""
    if tensor.data_location == ELSEWHERE or not is_looked_at(tensor.data_type, *tensor.dims):
        return None
    try:
        return array_of(tensor).astype(object)
    except (ValueError, TypeError, RuntimeError, OverflowError):
        return None


def is_looked_at(data_type: int, *dims: int) -> bool:
    """Whether a tensor is one of those whose elements matter."""
    if data_type not in RAW:
        return False
    count = math.prod([max(n, 0) for n in dims])
    return count <= (MOST_FLOATS if data_type in (1, 11) else MOST_CONTENTS)


def array_of(tensor: Any) -> Any:
    """A tensor that is in the file, as an array; raises what a file that lies makes NumPy raise."""
    kind, data, dims = tensor.data_type, tensor.raw_data, tuple(tensor.dims)
    if kind in RAW:
        count, dtype = math.prod(dims), RAW[kind]
        if data and len(data) == count * int(dtype[2:]):
            return numpy.frombuffer(data, dtype).reshape(dims)
        listed = () if data else getattr(tensor, LISTED[kind])
        if listed and len(listed) == count:
            return numpy.array(listed, dtype).reshape(dims)
    import onnx.numpy_helper

    return onnx.numpy_helper.to_array(tensor)
