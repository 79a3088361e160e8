"""Arguments from outside as arrays, and results given back as what was given."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy

from axon.backends.ragged import Ragged
from axon.backends.ragged_forms import from_awkward, from_list
from axon.types.type import Tensor, Tuple, Type
from axon.types.variables import DimVar

ELEMENTS = {
    "bool": "bool", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
    "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64",
}  # fmt: skip

Given = Any
"""What a caller may give: an array of NumPy, JAX or PyTorch, a number, a list, a `Ragged`, …"""


class Unfit(Exception):
    """Something that is no tensor; the sentence says why."""


def element(array: Any) -> str:
    """The element type of an array."""
    name = str(array.dtype.name)
    found = ELEMENTS.get(name)
    if found is None:
        raise Unfit(f"its elements are {name}, which is no element type of Axon")
    return found


def take(given: Given, wanted: Type | None) -> Any:
    """An argument as an array, a `Ragged` or a tuple of them.

    `wanted` is what the definition says of it, which decides what a plain number or a list is.
    """
    if isinstance(given, numpy.ndarray | Ragged):
        return given
    if isinstance(given, tuple) and not isinstance(wanted, Tensor):
        types: Sequence[Type | None] = (
            wanted.items
            if isinstance(wanted, Tuple) and len(wanted.items) == len(given)
            else [None] * len(given)
        )
        return tuple(take(item, type_) for item, type_ in zip(given, types, strict=True))
    if is_torch(given):
        return from_torch(given)
    if _module(given) == "awkward":
        return from_awkward(given)
    if hasattr(given, "dtype") and hasattr(given, "shape"):
        return given
    if isinstance(given, list) and wanted is not None and wants_rows(wanted):
        return _rows(given, wanted)
    return _plain(given, wanted)


def wants_rows(type_: Type) -> bool:
    """Whether a tensor is wanted that is ragged."""
    return isinstance(type_, Tensor) and any(
        isinstance(v, DimVar) and v.runtime for v in type_.shape
    )


def _rows(given: list[Any], wanted: Type) -> Ragged:
    elem = wanted.elem if isinstance(wanted, Tensor) and isinstance(wanted.elem, str) else None
    return from_list([row if hasattr(row, "dtype") else _array(row, elem) for row in given])


def _plain(given: Any, wanted: Type | None) -> Any:
    """A number or a list: of the element type that is wanted, else f32 or i64."""
    elem = wanted.elem if isinstance(wanted, Tensor) and isinstance(wanted.elem, str) else None
    if given is None or isinstance(given, str | bytes | dict):
        raise Unfit(f"it is a {type(given).__name__}, not an array")
    return _array(given, elem)


def _array(given: Any, elem: str | None) -> Any:
    try:
        made = numpy.asarray(given)
    except (ValueError, TypeError):
        raise Unfit("its rows differ in length, and no ragged tensor is wanted") from None
    if made.dtype.kind not in "biuf":
        raise Unfit(f"it is a {type(given).__name__}, not an array of numbers")
    if elem is None:
        return made.astype(numpy.float32) if made.dtype == numpy.float64 else made
    if made.dtype.kind == "f" and not elem.startswith(("f", "bf")):
        raise Unfit(f"it has fractions, and {elem} is wanted")
    from axon.backends.numpy_arrays import element as dtype

    return made.astype(dtype(elem))


# --- PyTorch ---------------------------------------------------------------------------------


def is_torch(given: Any) -> bool:
    return _module(given) == "torch" and "torch" in sys.modules


def from_torch(tensor: Any) -> Any:
    """A tensor's memory, without a copy where it is on the CPU."""
    tensor = tensor.detach()
    if str(tensor.dtype) == "torch.bfloat16":
        raise Unfit("bf16 tensors of PyTorch cannot be taken over; convert it: x.float()")
    return numpy.from_dlpack(tensor.cpu().contiguous())


def to_torch(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(to_torch(item) for item in value)
    if isinstance(value, Ragged):
        return value
    array = numpy.asarray(value)
    if not array.flags.writeable or not array.flags.c_contiguous:
        array = numpy.array(array)
    return sys.modules["torch"].from_dlpack(array)


def _module(given: Any) -> str:
    return type(given).__module__.partition(".")[0]


# --- types -----------------------------------------------------------------------------------


def type_at_rank(value: Any, depth: int = 1) -> Type:
    """The type of a value with its rank and element type, and sizes left open."""
    if isinstance(value, tuple):
        return Tuple(tuple(type_at_rank(item, depth) for item in value))
    if isinstance(value, Ragged):
        sizes = value.shape
        word = [
            DimVar("", 1, scope=depth + 1, runtime=True) if size is None else DimVar("", 1)
            for size in sizes
        ]
        return Tensor(element(value), tuple(word))
    return Tensor(element(value), tuple(DimVar("", 1) for _ in value.shape))


def exact_type(value: Any, depth: int = 1) -> Type:
    """The type of a value with its sizes."""
    if isinstance(value, tuple):
        return Tuple(tuple(exact_type(item, depth) for item in value))
    if isinstance(value, Ragged):
        word = [
            DimVar("", 1, scope=depth + 1, runtime=True) if size is None else size
            for size in value.shape
        ]
        return Tensor(element(value), tuple(word))
    return Tensor(element(value), tuple(int(size) for size in value.shape))


def key(value: Any) -> object:
    """What the graph depends on: element types and ranks."""
    if isinstance(value, tuple):
        return tuple(key(item) for item in value)
    if isinstance(value, Ragged):
        return value.dtype, tuple(size is None for size in value.shape)
    return value.dtype, len(value.shape)


def sizes_key(value: Any) -> object:
    if isinstance(value, tuple):
        return tuple(sizes_key(item) for item in value)
    return value.shape
