"""The tensors that an archive holds: the bytes of storages, and how tensors lie in them."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

from axon.importers.operations import Constant, NoModel
from axon.importers.torch.archive import Archive

BYTES = {
    "u8": 1, "i8": 1, "bool": 1, "i16": 2, "u16": 2, "f16": 2, "bf16": 2, "i32": 4, "u32": 4,
    "f32": 4, "i64": 8, "u64": 8, "f64": 8,
}  # fmt: skip
DTYPES = {"bool": "|b1", "bf16": "<u2", **{f"{k}{n}": f"<{k}{n // 8}" for k in "iuf"
          for n in (8, 16, 32, 64)}}  # fmt: skip

MOST_SHARED = 1 << 26
"""Elements of a tensor that share memory, as those of an expanded one do."""


class Stored(NamedTuple):
    """What the table of an archive says of a tensor."""

    folder: str
    entry: Any


class Layout(NamedTuple):
    """How a tensor lies in a storage, counted in elements."""

    archive: Archive
    name: str
    elem: str
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    path: str


def constant_of(
    archive: Archive, name: str, elem: str | None, dims: tuple[int, ...], stored: Stored | None
) -> Constant:
    """A tensor of the program that the archive may have the values of."""
    return Constant(name, elem, dims, _array, (archive, name, elem, dims, stored))


def _array(source: Any) -> Any:
    """Its elements; None if the archive does not have them, or they make no sense."""
    try:
        return read_weight(source)
    except NoModel:
        return None


def read_weight(source: Any) -> Any:
    """Its elements as an array; raises `NoModel` with the reason where there are none."""
    import numpy

    found = layout(source)
    size = BYTES[found.elem]
    count = prod(found.sizes)
    if count == 0:
        return numpy.zeros(found.sizes, DTYPES[found.elem])
    last = sum((n - 1) * step for n, step in zip(found.sizes, found.strides, strict=True))
    data = found.archive.bytes(found.path, found.offset * size, (last + 1) * size)
    flat = numpy.frombuffer(data, DTYPES[found.elem])
    steps = [step * size for step in found.strides]
    view = numpy.lib.stride_tricks.as_strided(flat, found.sizes, steps, writeable=False)
    if found.elem == "bf16":
        import ml_dtypes

        view = view.view(ml_dtypes.bfloat16)
    return view


def layout(source: Any) -> Layout:
    """Where the elements are; all is checked before anything is read or made."""
    archive, name, elem, dims, stored = source
    if stored is None:
        raise NoModel(f"{archive.name} does not have the values of `{name}`")
    if elem is None:
        raise NoModel(f"`{name}` has elements that Axon lacks")
    entry, wrong = stored.entry, NoModel(f"{archive.name}: the table of weights is damaged")
    try:
        if entry["use_pickle"]:
            raise NoModel(f"`{name}` is stored as a pickle, which Axon does not open")
        meta, path = entry["tensor_meta"], stored.folder + entry["path_name"]
        sizes = tuple(_whole(n) for n in meta["sizes"])
        strides = tuple(_whole(n) for n in meta["strides"])
        offset = _whole(meta["storage_offset"])
    except (KeyError, TypeError, ValueError, AttributeError):
        raise wrong from None
    if sizes != dims or len(strides) != len(sizes) or min((*strides, offset), default=0) < 0:
        raise wrong
    last = sum((n - 1) * step for n, step in zip(sizes, strides, strict=True))
    size = BYTES[elem]
    if prod(sizes) and (offset + last + 1) * size > archive.sizes.get(path, 0):
        raise NoModel(f"{archive.name}: the values of `{name}` are not all there")
    if prod(sizes) > max(last + 1, MOST_SHARED):
        raise NoModel(f"{archive.name}: `{name}` has far more elements than are stored")
    return Layout(archive, name, elem, sizes, strides, offset, path)


def _whole(value: Any) -> int:
    found = value["as_int"]
    if not isinstance(found, int) or isinstance(found, bool):
        raise ValueError(found)
    return found
