"""ONNX models without native code: the wire format of protocol buffers, as far as a model is read.

A `WireMessage` has the fields of ONNX's own messages that `read.py` and `load.py` ask for, under
the same names, and reads them when they are asked for first. Fields that nobody asks for are
skipped. It is not called `Message`: compiled, an import in a function would replace that name.

The format: a message is a list of fields, each a key and a value. The key is a number: eight times
the number of the field, and the kind of the value: 0 a number in pieces of seven bits, 1 eight
bytes, 2 a length and as many bytes, 5 four bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from math import prod
from typing import Any, Final

from axon.importers.plain_array import PlainArray

MOST_DEEP: Final = 64
"""How deep messages may stand in each other."""


class WireError(ValueError):
    """Bytes that are no message."""


INT, FLOAT, DOUBLE, TEXT, BYTES = "int", "float", "double", "text", "bytes"

FIELDS: Final[dict[str, dict[int, tuple[str, str, bool]]]] = {
    "Model": {
        7: ("graph", "Graph", False),
        8: ("opset_import", "Opset", True),
        25: ("functions", "Function", True),
    },
    "Opset": {1: ("domain", TEXT, False), 2: ("version", INT, False)},
    "Graph": {
        1: ("node", "Node", True),
        2: ("name", TEXT, False),
        5: ("initializer", "Tensor", True),
        11: ("input", "ValueInfo", True),
        12: ("output", "ValueInfo", True),
        13: ("value_info", "ValueInfo", True),
    },
    "Function": {
        1: ("name", TEXT, False),
        4: ("input", TEXT, True),
        5: ("output", TEXT, True),
        6: ("attribute", TEXT, True),
        7: ("node", "Node", True),
        9: ("opset_import", "Opset", True),
        10: ("domain", TEXT, False),
        11: ("attribute_proto", "Attribute", True),
    },
    "Node": {
        1: ("input", TEXT, True),
        2: ("output", TEXT, True),
        3: ("name", TEXT, False),
        4: ("op_type", TEXT, False),
        5: ("attribute", "Attribute", True),
        7: ("domain", TEXT, False),
    },
    "Attribute": {
        1: ("name", TEXT, False),
        2: ("f", FLOAT, False),
        3: ("i", INT, False),
        4: ("s", BYTES, False),
        5: ("t", "Tensor", False),
        6: ("g", "Graph", False),
        7: ("floats", FLOAT, True),
        8: ("ints", INT, True),
        9: ("strings", BYTES, True),
        11: ("graphs", "Graph", True),
        20: ("type", INT, False),
        21: ("ref_attr_name", TEXT, False),
    },
    "Tensor": {
        1: ("dims", INT, True),
        2: ("data_type", INT, False),
        4: ("float_data", FLOAT, True),
        5: ("int32_data", INT, True),
        7: ("int64_data", INT, True),
        8: ("name", TEXT, False),
        9: ("raw_data", BYTES, False),
        10: ("double_data", DOUBLE, True),
        11: ("uint64_data", INT, True),
        13: ("external_data", "Entry", True),
        14: ("data_location", INT, False),
    },
    "Entry": {1: ("key", TEXT, False), 2: ("value", TEXT, False)},
    "ValueInfo": {1: ("name", TEXT, False), 2: ("type", "Type", False)},
    "Type": {1: ("tensor_type", "TensorType", False)},
    "TensorType": {1: ("elem_type", INT, False), 2: ("shape", "Shape", False)},
    "Shape": {1: ("dim", "Dim", True)},
    "Dim": {1: ("dim_value", INT, False), 2: ("dim_param", TEXT, False)},
}  # fmt: skip
"""The fields of each message: name, kind, and whether there may be many."""
DEFAULTS: Final[dict[str, Any]] = {INT: 0, FLOAT: 0.0, DOUBLE: 0.0, TEXT: "", BYTES: b""}
FIXED: Final = {FLOAT: ("<f", 4, 5), DOUBLE: ("<d", 8, 1)}
"""Kinds of a fixed width: their format, how many bytes they have, and how the wire marks them."""


class WireMessage:
    """A message of one of the kinds in `FIELDS`."""

    __slots__ = ("_data", "_deep", "_kind", "_values")

    def __init__(self, kind: str, data: memoryview, deep: int = 0) -> None:
        if deep > MOST_DEEP:
            raise WireError("messages are nested too deep")
        self._kind = kind
        self._data = data
        self._deep = deep
        self._values: dict[str, Any] | None = None

    def __getattr__(self, name: str) -> Any:
        values = self._read()
        if name in values:
            return values[name]
        for field, kind, many in FIELDS[self._kind].values():
            if field == name:
                if many:
                    return []
                return (
                    DEFAULTS[kind] if kind in DEFAULTS else WireMessage(kind, _NOTHING, self._deep)
                )
        raise AttributeError(name)

    def HasField(self, name: str) -> bool:  # noqa: N802 (as protobuf calls it)
        return name in self._read()

    def ByteSize(self) -> int:  # noqa: N802
        return len(self._data)

    def SerializeToString(self) -> bytes:  # noqa: N802
        return bytes(self._data)

    def read_all(self) -> None:
        """Read what is inside, to the end: raises `WireError` if anything is malformed."""
        for value in self._read().values():
            for each in value if isinstance(value, list) else (value,):
                if isinstance(each, WireMessage):
                    each.read_all()

    def _read(self) -> dict[str, Any]:
        if self._values is None:
            self._values = self._parsed()
        return self._values

    def _parsed(self) -> dict[str, Any]:
        fields = FIELDS[self._kind]
        values: dict[str, Any] = {}
        for number, wire, value in _items(self._data):
            found = fields.get(number)
            if found is None:
                continue
            name, kind, many = found
            if many:
                values.setdefault(name, []).extend(self._many(kind, wire, value))
            elif kind in FIELDS and name in values:  # a message in parts is one message
                joined = values[name].SerializeToString() + bytes(_bytes(wire, value))
                values[name] = WireMessage(kind, memoryview(joined), self._deep + 1)
            else:
                values[name] = self._one(kind, wire, value)
        return values

    def _many(self, kind: str, wire: int, value: Any) -> Iterator[Any]:
        if wire == 2 and kind == INT:
            yield from _numbers(value)
        elif wire == 2 and kind in FIXED:
            form, size, _ = FIXED[kind]
            if len(value) % size:
                raise WireError("a list of numbers ends in the middle of one")
            yield from (each[0] for each in struct.iter_unpack(form, value))
        else:
            yield self._one(kind, wire, value)

    def _one(self, kind: str, wire: int, value: Any) -> Any:
        if kind == INT:
            if wire != 0:
                raise WireError("a number has another kind")
            return _signed(value)
        if kind in FIXED:
            form, _, expected = FIXED[kind]
            if wire != expected:
                raise WireError("a number has another kind")
            return struct.unpack(form, value)[0]
        data = _bytes(wire, value)
        if kind == BYTES:
            return bytes(data)
        if kind == TEXT:
            try:
                return str(data, "utf-8")
            except UnicodeDecodeError:
                raise WireError("a name is not UTF-8") from None
        return WireMessage(kind, data, self._deep + 1)


_NOTHING: Final = memoryview(b"")


def _items(data: memoryview) -> Iterator[tuple[int, int, Any]]:
    """The fields: number, kind on the wire, and the value."""
    at, end = 0, len(data)
    while at < end:
        key, at = _number(data, at)
        number, wire = key >> 3, key & 7
        if number == 0:
            raise WireError("a field has no number")
        if wire == 0:
            value, at = _number(data, at)
            yield number, wire, value
            continue
        if wire == 2:
            size, at = _number(data, at)
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
        else:
            raise WireError("a field is of an unknown kind")
        if size > end - at:
            raise WireError("a field is longer than the file")
        yield number, wire, data[at : at + size]
        at += size


def _number(data: memoryview, at: int) -> tuple[int, int]:
    """A number in pieces of seven bits, the low ones first, and where it ends."""
    found = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise WireError("a number does not end")
        byte = data[at]
        at += 1
        found |= (byte & 127) << shift
        if byte < 128:
            return found & 0xFFFF_FFFF_FFFF_FFFF, at
        shift += 7


def _numbers(data: memoryview) -> Iterator[int]:
    at = 0
    while at < len(data):
        value, at = _number(data, at)
        yield _signed(value)


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def _bytes(wire: int, value: Any) -> memoryview:
    if wire != 2 or not isinstance(value, memoryview):
        raise WireError("a field has another kind")
    return value


# --- the elements of small tensors ---------------------------------------------------------------


FORMATS: Final = {
    1: "f", 2: "B", 3: "b", 4: "H", 5: "h", 6: "i", 7: "q", 9: "?", 10: "e", 11: "d", 12: "I",
    13: "Q",
}  # fmt: skip
"""The element types that can be read, by their numbers in ONNX."""


def elements(tensor: WireMessage) -> PlainArray | None:
    """The elements of a tensor, in bytes or listed; None if they do not fit its sizes."""
    kind, dims = tensor.data_type, tensor.dims
    form, count = FORMATS.get(kind), prod(dims)
    if form is None or min(dims, default=0) < 0:
        return None
    try:
        raw = tensor.raw_data or struct.pack(f"<{count}{form}", *_listed(tensor, kind))
        if len(raw) != count * struct.calcsize(f"<{form}"):
            return None
        return PlainArray(tuple(dims), struct.unpack(f"<{count}{form}", raw), raw)
    except (struct.error, OverflowError):
        return None


def _listed(tensor: WireMessage, kind: int) -> Any:
    match kind:
        case 1:
            return tensor.float_data
        case 7:
            return tensor.int64_data
        case 10:  # the bits of each
            return [struct.unpack("<e", struct.pack("<H", n))[0] for n in tensor.int32_data]
        case 11:
            return tensor.double_data
        case 12 | 13:
            return [n & 0xFFFF_FFFF_FFFF_FFFF for n in tensor.uint64_data]
        case _:
            return tensor.int32_data
