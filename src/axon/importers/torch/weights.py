"""The tensors that an archive holds: the bytes of storages, and how tensors lie in them."""

from __future__ import annotations

import struct
from math import prod
from typing import Any, NamedTuple

from axon.importers.operations import Constant, NoModel
from axon.importers.plain_array import PlainArray
from axon.importers.torch.archive import Archive
from axon.importers.torch.document import Document, WrongDocument
from axon.importers.torch.elements import COMPLEX, ELEMENTS, OF_PARTS

BYTES = {
    "u8": 1, "i8": 1, "bool": 1, "i16": 2, "u16": 2, "f16": 2, "bf16": 2, "i32": 4, "u32": 4,
    "f32": 4, "i64": 8, "u64": 8, "f64": 8,
}  # fmt: skip
DTYPES = {"bool": "|b1", "bf16": "<u2", **{f"{k}{n}": f"<{k}{n // 8}" for k in "iuf"
          for n in (8, 16, 32, 64)}}  # fmt: skip

FORMS = {
    "u8": "B", "i8": "b", "bool": "?", "i16": "h", "u16": "H", "f16": "e", "i32": "i", "u32": "I",
    "f32": "f", "i64": "q", "u64": "Q", "f64": "d",
}  # fmt: skip
"""As the module `struct` has them."""
MOST_PLAIN = 4096
"""Elements of a tensor that inference looks at."""
MOST_SHARED = 1 << 26
"""Elements of a tensor that share memory, as those of an expanded one do."""


class Stored(NamedTuple):
    """What the table of an archive says of a tensor."""

    folder: str
    entry: Document
    part: int | None = None
    """Of complex numbers, the real part or the imaginary one: they take turns."""


class Layout(NamedTuple):
    """How a tensor lies in a storage, counted in elements."""

    archive: Archive
    name: str
    elem: str
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    path: str

    @property
    def extent(self) -> int:
        """From its first element to behind its last, in the storage."""
        return 1 + sum((n - 1) * step for n, step in zip(self.sizes, self.strides, strict=True))


def constant_of(
    archive: Archive, name: str, elem: str | None, dims: tuple[int, ...], stored: Stored | None
) -> Constant:
    """A tensor of the program that the archive may have the values of."""
    return Constant(name, elem, dims, _array, (archive, name, elem, dims, stored))


def described(constant: Constant) -> tuple[str, tuple[int, ...]] | None:
    """The element type and the sizes of a weight; None if its elements are not Axon's."""
    return None if constant.elem is None else (constant.elem, constant.dims)


def read_weight(constant: Constant, folder: str | None = None) -> Any:
    """The values of a weight as an array; raises `NoModel` with the reason where there are none."""
    found = layout(constant.source)
    import numpy

    size = BYTES[found.elem]
    if prod(found.sizes) == 0:
        return numpy.zeros(found.sizes, element_type(found.elem))
    data = found.archive.bytes(found.path, found.offset * size, found.extent * size)
    flat = numpy.frombuffer(data, DTYPES[found.elem])
    steps = [
        step * size if n > 1 else 0 for n, step in zip(found.sizes, found.strides, strict=True)
    ]
    view = numpy.lib.stride_tricks.as_strided(flat, found.sizes, steps, writeable=False)
    return view.view(element_type(found.elem))


def element_type(elem: str) -> Any:
    """The dtype of an element type; raises `NoModel` where a package is missing."""
    import numpy

    if elem != "bf16":
        return numpy.dtype(DTYPES[elem])
    try:
        import ml_dtypes
    except ModuleNotFoundError:
        raise NoModel("weights in bf16 need the package ml_dtypes: pip install ml_dtypes") from None
    return numpy.dtype(ml_dtypes.bfloat16)


def _array(source: Any) -> Any:
    """Its elements, if they are few; None if the archive does not have them, or they make no sense.
    No array library is needed.
    """
    try:
        found = layout(source)
    except NoModel:
        return None
    count, size = prod(found.sizes), BYTES[found.elem]
    if count > MOST_PLAIN:
        return None
    if not count:
        return PlainArray(found.sizes, (), b"")
    try:
        stored = found.archive.bytes(found.path, found.offset * size, found.extent * size)
    except NoModel:
        return None
    places = [0]
    for n, step in zip(found.sizes, found.strides, strict=True):
        places = [place + i * step for place in places for i in range(n)]
    data = b"".join([stored[at * size : (at + 1) * size] for at in places])
    if found.elem == "bf16":  # the upper half of an f32
        wide = b"".join([b"\0\0" + data[at : at + 2] for at in range(0, len(data), 2)])
        return PlainArray(found.sizes, struct.unpack(f"<{count}f", wide), data)
    return PlainArray(found.sizes, struct.unpack(f"<{count}{FORMS[found.elem]}", data), data)


def layout(source: Any) -> Layout:
    """Where the elements are; all is checked before anything is read or made."""
    archive, name, elem, dims, stored = source
    if stored is None:
        raise NoModel(f"{archive.name} does not have the values of `{name}`")
    if elem is None:
        raise NoModel(f"`{name}` has elements that Axon lacks")
    try:
        return _layout(archive, name, elem, dims, stored)
    except WrongDocument as wrong:
        raise NoModel(f"{archive.name} is damaged: {wrong}") from None


def _layout(
    archive: Archive, name: str, elem: str, dims: tuple[int, ...], stored: Stored
) -> Layout:
    entry = stored.entry
    if entry["use_pickle"].flag():
        raise NoModel(f"`{name}` is stored as a pickle, which Axon does not open")
    meta, path = entry["tensor_meta"], stored.folder + entry["path_name"].text()
    sizes = tuple([_integer(each) for each in meta["sizes"].items()])
    strides = tuple([_integer(each) for each in meta["strides"].items()])
    offset, dtype = _integer(meta["storage_offset"]), meta["dtype"].integer()
    known = ELEMENTS.get(dtype)
    if stored.part is not None:
        known = OF_PARTS.get(COMPLEX.get(dtype, ""))
        strides, offset = tuple([2 * step for step in strides]), 2 * offset + stored.part
    if known != elem or sizes != dims:
        raise meta.wrong(f"has another type than `{name}` in the program")
    if len(strides) != len(sizes) or min((*strides, offset), default=0) < 0:
        raise meta.wrong("does not say where the elements are")
    found = Layout(archive, name, elem, sizes, strides, offset, path)
    if prod(sizes) and (offset + found.extent) * BYTES[elem] > archive.sizes.get(path, 0):
        raise NoModel(f"{archive.name}: the values of `{name}` are not all there")
    if prod(sizes) > max(found.extent, MOST_SHARED):
        raise NoModel(f"{archive.name}: `{name}` has far more elements than are stored")
    return found


def _integer(size: Document) -> int:
    """A size that is a number."""
    return size["as_int"].integer()
