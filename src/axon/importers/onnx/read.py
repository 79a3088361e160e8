"""A model in ONNX's own messages, as operations."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

from axon.contents.singles import shortest
from axon.importers.onnx.elements import ELEMENTS
from axon.importers.onnx.schema import ONNX, declared_attributes
from axon.importers.onnx.wire import WireMessage, elements
from axon.importers.operations import (
    Attributes,
    Constant,
    Declared,
    Function,
    Graph,
    Model,
    Operation,
    Reference,
)

LARGEST_SIZE = 1 << 62
RAW = {1: "<f4", 2: "|u1", 3: "|i1", 6: "<i4", 7: "<i8", 9: "|b1", 11: "<f8"}
"""Element types that are read here, as they are in a file."""
LISTED = {
    1: "float_data", 2: "int32_data", 3: "int32_data", 6: "int32_data", 7: "int64_data",
    9: "int32_data", 11: "double_data",
}  # fmt: skip
"""The fields that hold them where a file has them as lists."""
MALFORMED = (ValueError, TypeError, RuntimeError, OverflowError)
"""What `onnx.numpy_helper.to_array` raises for a tensor that makes no sense."""
ELSEWHERE = 1
"""Where the data of a tensor is that the file does not hold."""


def model_of(proto: Any) -> Model:
    version = _version(proto, 0)
    return Model(
        _graph(proto.graph),
        {(f.domain, f.name): _function(f, version) for f in proto.functions[:]},
        [_declared(info) for info in (*proto.graph.value_info[:], *proto.graph.output[:])],
        version,
    )


def _version(proto: Any, otherwise: int) -> int:
    """The version of ONNX's own operators."""
    opsets = proto.opset_import[:]
    return next((each.version for each in opsets if each.domain in ONNX), otherwise)


def _graph(proto: Any) -> Graph:
    return Graph(
        [_declared(info) for info in proto.input[:]],
        [_declared(info) for info in proto.output[:]],
        _operations(proto.node[:]),
        [constant_of(tensor) for tensor in proto.initializer[:]],
    )


def _function(proto: Any, version: int) -> Function:
    return Function(
        proto.domain,
        proto.name,
        proto.input[:],
        proto.output[:],
        _operations(proto.node[:]),
        _attributes(proto.attribute_proto[:]),
        _version(proto, version),
    )


def _operations(protos: list[Any]) -> list[Operation]:
    known: dict[Hashable, Attributes] = {}
    return [_operation(proto, known) for proto in protos]


def _operation(proto: Any, known: dict[Hashable, Attributes]) -> Operation:
    """A node. `known` has the attributes of nodes before it: layers repeat theirs."""
    # A slice of what protobuf repeats is a list, and much faster than going through it.
    operator, domain, given = proto.op_type, proto.domain, proto.attribute[:]
    inputs, outputs, name = proto.input[:], proto.output[:], proto.name
    if not given:
        return Operation(operator, inputs, outputs, None, domain, name)
    written = [each.SerializeToString() for each in given if each.ByteSize() <= SHORT]
    if len(written) < len(given):
        return Operation(operator, inputs, outputs, _declared_ones(proto), domain, name)
    key = (operator, domain, *written)
    found = known.get(key)
    if found is None:
        found = known[key] = _declared_ones(proto)
    return Operation(operator, inputs, outputs, found, domain, name, key)


SHORT = 512
"""The most bytes of an attribute that is compared as it is written."""


def _declared_ones(proto: Any) -> Attributes:
    """The attributes of a node, without those that its operator does not have."""
    attributes = _attributes(proto.attribute[:])
    declared = declared_attributes(proto.domain, proto.op_type) if attributes else None
    if declared is None or declared.issuperset(attributes):
        return attributes
    return {name: attributes[name] for name in attributes if name in declared}


def _attributes(protos: list[Any]) -> Attributes:
    found: Attributes = {}
    for proto in protos:
        value = _value(proto)
        if value is not None:
            found[proto.name] = value
    return found


def _value(proto: Any) -> Any:
    """The value of an attribute; None for one of a kind that no operator has."""
    if proto.ref_attr_name:
        return Reference(proto.ref_attr_name)
    match proto.type:
        case 1:
            return as_written(proto.f)
        case 2:
            return proto.i
        case 3:
            return proto.s.decode("utf-8", "replace")
        case 4:
            return constant_of(proto.t)
        case 5:
            return _graph(proto.g)
        case 6:
            return tuple(proto.floats[:])
        case 7:
            return tuple(proto.ints[:])
        case 8:
            return tuple([s.decode("utf-8", "replace") for s in proto.strings[:]])
        case 10:
            return tuple([_graph(g) for g in proto.graphs[:]])
        case _:
            return None


def as_written(number: float) -> float:
    """A number as it was written: the file has what f32 makes of it."""
    return number if number.is_integer() else shortest(number)


def _declared(info: Any) -> Declared:
    tensor = info.type.tensor_type
    elem = ELEMENTS.get(tensor.elem_type)
    if not info.type.HasField("tensor_type") or not tensor.HasField("shape"):
        return Declared(info.name, elem, None)
    sizes: list[int | str | None] = []
    for dim in tensor.shape.dim[:]:
        if dim.HasField("dim_value") and 0 <= dim.dim_value < LARGEST_SIZE:
            sizes.append(dim.dim_value)
        else:
            sizes.append(dim.dim_param or None)
    return Declared(info.name, elem, tuple(sizes))


# --- constants ---------------------------------------------------------------------------------


def constant_of(tensor: Any) -> Constant:
    dims = tuple(tensor.dims[:])
    if dims and min(dims) < 0:
        dims = tuple([max(n, 0) for n in dims])
    return Constant(tensor.name, ELEMENTS.get(tensor.data_type), dims, _array, tensor)


def _array(tensor: Any) -> Any:
    """A tensor that is in the file, as an array; None if it is malformed."""
    kind, dims, data = tensor.data_type, tensor.dims[:], tensor.raw_data
    if tensor.data_location == ELSEWHERE or min(dims, default=0) < 0:
        return None
    if isinstance(tensor, WireMessage):
        return elements(tensor)
    import numpy

    if kind in RAW:
        count, dtype = math.prod(dims), RAW[kind]
        if data and len(data) == count * int(dtype[2:]):
            return of_shape(numpy.frombuffer(data, dtype), dims)
        listed = () if data else getattr(tensor, LISTED[kind])
        if listed and len(listed) == count:
            try:
                flat = numpy.array(listed, dtype)
            except OverflowError:
                return None  # an element that its type does not have
            return of_shape(flat, dims)
    import onnx.numpy_helper

    try:
        return onnx.numpy_helper.to_array(tensor)
    except MALFORMED:
        return None


def of_shape(flat: Any, dims: Sequence[int]) -> Any:
    """Elements in a shape; None if it has more dimensions, or larger ones, than an array may."""
    try:
        return flat.reshape(dims)
    except ValueError:
        return None
