"""Tensors in a file: their types, and the elements of those that matter."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy

from axon.importers.onnx.values import ELEMENTS, MOST_CONTENTS, MOST_FLOATS, Contents
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


class Kind(NamedTuple):
    """What a tensor says of itself beside its elements: the number of their type, and its sizes."""

    elem: int
    dims: tuple[int, ...]

    @property
    def type(self) -> Tensor:
        elem = ELEMENTS.get(self.elem) or ElemVar("", 1)
        return Tensor(elem, tuple([max(n, 0) for n in self.dims]))

    @property
    def is_looked_at(self) -> bool:
        """Whether a tensor is one of those whose elements matter."""
        if self.elem not in RAW:
            return False
        count = math.prod([max(n, 0) for n in self.dims])
        return count <= (MOST_FLOATS if self.elem in (1, 11) else MOST_CONTENTS)


def kind_of(tensor: Any) -> Kind:
    return Kind(tensor.data_type, tuple(tensor.dims[:]))


def tensor_contents(tensor: Any, kind: Kind) -> Contents:
    """The elements of a small tensor that is in the file itself."""
    if not kind.is_looked_at or tensor.data_location == ELSEWHERE:
        return None
    try:
        return array_of(tensor, kind).astype(object)
    except (ValueError, TypeError, RuntimeError, OverflowError):
        return None


def array_of(tensor: Any, held: Kind) -> Any:
    """A tensor that is in the file, as an array; raises what a file that lies makes NumPy raise."""
    (kind, dims), data = held, tensor.raw_data
    if kind in RAW:
        count, dtype = math.prod(dims), RAW[kind]
        if data and len(data) == count * int(dtype[2:]):
            return numpy.frombuffer(data, dtype).reshape(dims)
        listed = () if data else getattr(tensor, LISTED[kind])
        if listed and len(listed) == count:
            return numpy.array(listed, dtype).reshape(dims)
    import onnx.numpy_helper

    return onnx.numpy_helper.to_array(tensor)
