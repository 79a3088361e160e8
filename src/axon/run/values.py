"""Arguments as arrays, and results in the form of the arguments."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy

from axon.backends.bounded import WIDEST
from axon.backends.numpy_arrays import element as dtype
from axon.backends.ragged import Ragged, split
from axon.backends.ragged_forms import arranged, from_awkward, from_list
from axon.ops.memory import MOST_DIMENSIONS, Refused, check_fits, shown
from axon.run.structures import Fields, Unfit, fields_of
from axon.types.dim import Dim
from axon.types.type import DimValue, Record, ShapeValue, Tensor, Tuple, Type, shape_variables
from axon.types.variables import DimVar, ElemVar, given_at, is_ragged

ELEMENTS = {
    "bool": "bool", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
    "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64",
}  # fmt: skip

Given = Any
"""What a caller may give: an array of NumPy, JAX or PyTorch, a number, a list, a `Ragged`, …"""


def dtype_name(array: Any) -> str:
    """What NumPy calls the elements: PyTorch says it with its own name before."""
    dtype = array.dtype
    return str(getattr(dtype, "name", None) or dtype).removeprefix("torch.")


def element(array: Any) -> str:
    """The element type of an array."""
    name = dtype_name(array)
    found = ELEMENTS.get(name)
    if found is None:
        raise Unfit(f"its elements are {name}, which is no element type of Axon")
    return found


def take(given: Given, wanted: Type | None, tensors: bool = False) -> Any:
    """An argument as an array, a `Ragged` or a tuple of them.

    `wanted` is its declared type, which decides how a plain number or a list is converted. Tensors
    of PyTorch are kept if the backend computes with them.
    """
    if isinstance(wanted, DimValue):
        return _size(given)
    if isinstance(wanted, ShapeValue):
        return tuple(_size(size) for size in given) if _is_listed(given) else _size(given)
    if isinstance(given, Ragged):
        return _as_wanted(given, wanted)
    if wanted is not None and wants_rows(wanted) and _is_dense(given):
        if is_torch(given):
            given = given if tensors else from_torch(given)
        else:
            given = _usual(given)
        return _as_wanted(split(given), wanted)  # rows of equal size are ragged rows, too
    if isinstance(given, numpy.ndarray):
        return _usual(given)
    fields = fields_of(given, wanted)
    if fields is not None:
        types = wanted.fields if isinstance(wanted, Record) else {}
        return Fields(
            {name: _part(name, fields[name], types.get(name), tensors) for name in sorted(fields)}
        )
    if isinstance(given, tuple) and not isinstance(wanted, Tensor):
        parts: Sequence[Type | None] = (
            wanted.items
            if isinstance(wanted, Tuple) and len(wanted.items) == len(given)
            else [None] * len(given)
        )
        each = enumerate(zip(given, parts, strict=True))
        return tuple(_part(i, item, type_, tensors) for i, (item, type_) in each)
    if is_torch(given):
        if getattr(given, "is_nested", False):
            rows = from_nested(given)
            return _as_wanted(rows if tensors else rows.map_values(from_torch), wanted)
        return given if tensors else from_torch(given)
    if _module(given) == "awkward":
        return _as_wanted(from_awkward(given), wanted)
    if hasattr(given, "dtype") and hasattr(given, "shape"):
        return given
    if _depth(given) > MOST_DIMENSIONS:
        raise Unfit(f"its lists are nested more than {MOST_DIMENSIONS} deep")
    if isinstance(given, list) and wanted is not None and wants_rows(wanted):
        return _rows(given, wanted)
    return _plain(given, wanted)


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """An argument with each array in it changed."""
    if isinstance(value, Fields):
        parts = [mapped(part, change) for part in value]
        return Fields(dict(zip(value.names, parts, strict=True)))
    if isinstance(value, tuple):
        return tuple([mapped(part, change) for part in value])
    return change(value)


def _part(name: object, given: Given, wanted: Type | None, tensors: bool) -> Any:
    try:
        return take(given, wanted, tensors)
    except Unfit as unfit:
        raise unfit.in_part(name) from None


def _as_wanted(given: Ragged, wanted: Type | None) -> Ragged:
    """Rows may agree in a size by chance: the definition states which of them vary."""
    if not isinstance(wanted, Tensor) or not wants_rows(wanted) or len(wanted.shape) != given.rank:
        return given
    vary = tuple(any(map(is_ragged, shape_variables((d,)))) for d in wanted.shape[1:])
    return arranged(given, vary)


def settled(wanted: Sequence[Type | None], args: Sequence[Given]) -> list[Type | None]:
    """The declared types, with the element types that array arguments decide: a plain number or a
    list takes those, as a number in a program does.
    """
    known: dict[ElemVar, str] = {}
    for type_, arg in zip(wanted, args, strict=True):
        if isinstance(type_, Tensor) and isinstance(type_.elem, ElemVar) and hasattr(arg, "dtype"):
            name = ELEMENTS.get(dtype_name(arg))
            if name is not None:
                known.setdefault(type_.elem, name)
    if not known:
        return list(wanted)
    return [
        Tensor(known[t.elem], t.shape)
        if isinstance(t, Tensor) and isinstance(t.elem, ElemVar) and t.elem in known
        else t
        for t in wanted
    ]


def _usual(array: Any) -> Any:
    """A plain array: no mask, no matrix, native byte order."""
    if isinstance(array, numpy.ma.MaskedArray):
        raise Unfit("it is a masked array; fill it first: x.filled(0)")
    if type(array) is not numpy.ndarray:
        array = numpy.asarray(array)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _is_listed(given: Any) -> bool:
    return isinstance(given, tuple | list) or getattr(given, "ndim", 0) == 1


def _size(given: Any) -> int:
    """An integer that is a size."""
    try:
        size = operator.index(given)
    except TypeError:
        raise Unfit(f"it is a {type(given).__name__}, and a size is expected") from None
    if size < 0:
        raise Unfit(f"it is {shown(size)}, and a size is expected, which is not negative")
    if size > WIDEST:
        raise Unfit(f"it is {shown(size)}, and a size is expected: no array has one like that")
    return size


def wants_rows(type_: Type) -> bool:
    """Whether the expected tensor is ragged."""
    return isinstance(type_, Tensor) and any(map(is_ragged, shape_variables(type_.shape)))


def _rows(given: list[Any], wanted: Type) -> Ragged:
    """A list of rows, as strict about its numbers as one that stands for an array."""
    assert isinstance(wanted, Tensor)
    elem = wanted.elem if isinstance(wanted.elem, str) else None
    if given and all(map(is_torch, given)):
        return _as_wanted(Ragged.from_rows(given), wanted)
    if given and all(hasattr(row, "dtype") for row in given):
        return _as_wanted(from_list(given), wanted)
    numbers = _array(list(_leaves(given, len(wanted.shape))), elem)
    sizes = tuple(size if isinstance(size, int) else None for size in wanted.shape)
    if not given:
        empty = [size or 0 for size in sizes[1:]]
        try:
            check_fits(empty, 8)
        except Refused as refused:
            raise Unfit(str(refused)) from None
        like = numpy.zeros(empty, numbers.dtype)
        return _as_wanted(Ragged.from_rows([], like), wanted)
    return _as_wanted(from_list(given, numbers.dtype, sizes), wanted)


def _leaves(given: Any, depth: int) -> Iterator[Any]:
    """The numbers in a list that is nested so deep; an array in it is a list of numbers."""
    if hasattr(given, "dtype") and not isinstance(given, Ragged):
        given = given.tolist()
    if isinstance(given, list | tuple) and depth:
        for item in given:
            yield from _leaves(item, depth - 1)
    elif depth or isinstance(given, list | tuple | Ragged):
        raise Unfit("its rows are nested to different depths")
    else:
        yield given


def _plain(given: Any, wanted: Type | None) -> Any:
    """A number or a list: of the expected element type, else f32 or i64."""
    elem = wanted.elem if isinstance(wanted, Tensor) and isinstance(wanted.elem, str) else None
    if given is None or isinstance(given, str | bytes | dict):
        raise Unfit(f"it is a {type(given).__name__}, not an array")
    return _array(given, elem)


def _array(given: Any, elem: str | None) -> Any:
    try:
        made = numpy.asarray(given)
    except (ValueError, TypeError):
        raise Unfit("its rows differ in length, and no ragged tensor is expected") from None
    if made.dtype.kind == "O" and all(isinstance(n, int | float) for n in made.flat):
        made = _large(made, elem)
    if made.dtype.kind not in "biuf":
        raise Unfit(f"it is a {type(given).__name__}, not an array of numbers")
    if elem is None:
        return made.astype(numpy.float32) if made.dtype == numpy.float64 else made
    if elem.startswith(("f", "bf")):
        return made.astype(dtype(elem))
    if made.dtype.kind == "f" and made.size:
        numbers = numpy.asarray(given, object)
        if not all(isinstance(n, int) for n in numbers.flat):
            raise Unfit(f"it has fractions, and {elem} is expected")
        made = numbers  # NumPy takes integers that no type holds together for floats
    low, high = (0, 1) if elem == "bool" else _range(elem)
    for number in (made.min(initial=0), made.max(initial=0)):
        if not low <= int(number) <= high:
            raise Unfit(f"{shown(int(number))} does not fit into {elem}")
    return made.astype(dtype(elem))


def _depth(given: Any) -> int:
    """How deep lists are nested."""
    count = 0
    while isinstance(given, list | tuple) and count <= MOST_DIMENSIONS:
        count, given = count + 1, given[0] if given else None
    return count


def _large(numbers: Any, elem: str | None) -> Any:
    """Numbers with integers beyond all integer types: as floats, where those are expected."""
    if elem is not None and elem.startswith(("f", "bf")):
        try:
            return numbers.astype(numpy.float64)
        except OverflowError:
            pass
    largest = max((n for n in numbers.flat if isinstance(n, int)), key=abs)
    raise Unfit(f"{shown(largest)} does not fit into {elem or 'i64'}")


def _range(elem: str) -> tuple[int, int]:
    info = numpy.iinfo(dtype(elem))
    return int(info.min), int(info.max)


# --- PyTorch ---------------------------------------------------------------------------------


def is_torch(given: Any) -> bool:
    torch: Any = sys.modules.get("torch")
    return torch is not None and isinstance(given, torch.Tensor)


def _is_dense(given: Any) -> bool:
    return not getattr(given, "is_nested", False) and len(getattr(given, "shape", ())) > 1


def from_nested(tensor: Any) -> Ragged:
    """The rows of a nested tensor: where they are, if they are stored end to end."""
    torch: Any = sys.modules["torch"]
    if tensor.layout is torch.jagged and tensor._ragged_idx == 1 and tensor.lengths() is None:
        return Ragged.from_packed(tensor.values(), tensor.offsets().cpu().numpy())
    rows = tensor.unbind()
    if not rows:
        raise Unfit("it is a nested tensor without rows; give an axon.Ragged")
    return Ragged.from_rows(rows)


def from_torch(tensor: Any) -> Any:
    """A tensor's memory, without a copy where it is on the CPU."""
    tensor = tensor.detach()
    if str(tensor.dtype) == "torch.bfloat16":
        bits = tensor.cpu().contiguous().view(sys.modules["torch"].int16)
        return numpy.from_dlpack(bits).view(dtype("bf16"))
    return numpy.from_dlpack(tensor.cpu().contiguous())


def _module(given: Any) -> str:
    return type(given).__module__.partition(".")[0]


# --- types -----------------------------------------------------------------------------------


def type_at_rank(value: Any, depth: int = 1) -> Type:
    """The type of a value with its rank and element type, and sizes left open."""
    return typed(value, lambda _: open_size(depth), depth)


def exact_type(value: Any, depth: int = 1) -> Type:
    """The type of a value with its sizes."""
    return typed(value, lambda size: size, depth)


def typed(value: Any, dimension: Callable[[int], Dim], depth: int = 1) -> Type:
    """The type of a value, with a dimension for each of its sizes that do not vary, in order."""
    if isinstance(value, int):
        return DimValue(dimension(value))
    if isinstance(value, Fields):
        return Record(tuple(typed(item, dimension, depth) for item in value), value.names)
    if isinstance(value, tuple):
        if value and all(isinstance(item, int) for item in value):
            return ShapeValue(tuple(map(dimension, value)))
        return Tuple(tuple(typed(item, dimension, depth) for item in value))
    if isinstance(value, Ragged):
        word = [
            _varying(level, depth) if size is None else dimension(size)
            for size, level in zip(value.shape, value.levels, strict=True)
        ]
        return Tensor(element(value), tuple(word))
    return Tensor(element(value), tuple(dimension(int(size)) for size in value.shape))


def open_size(depth: int = 1) -> DimVar:
    """A size of an argument of a function so deep."""
    return DimVar("", 1, scope=given_at(depth))


def _varying(level: int, depth: int) -> DimVar:
    """A size that varies over so many of the dimensions before it."""
    return DimVar("", 1, scope=given_at(depth), runtime=True, over=level)


def key(value: Any) -> object:
    """What the graph depends on: element types and ranks."""
    if isinstance(value, int):
        return "size"
    if isinstance(value, Fields):
        return (value.names, *(key(item) for item in value))
    if isinstance(value, tuple):
        return tuple(key(item) for item in value)
    if isinstance(value, Ragged):
        return value.dtype, value.levels
    return value.dtype, len(value.shape)
