"""Files of named tensors, in the format `safetensors`: nothing in such a file is ever run.

A file is the length of its header in 8 bytes, the header, which is JSON, and the data. The header
has the element type, the shape and the place of each tensor; the places lie side by side, and
together they are all of the data. Numbers have their lowest byte first.
"""

from __future__ import annotations

import json
import mmap
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy

from axon.backends.numpy_arrays import element
from axon.files import Unreadable, Unwritable
from axon.run.values import ELEMENTS

LONGEST_HEADER = 100_000_000
LARGEST = (1 << 63) - 1
MOST_SIZES = 64
"""As NumPy has it."""

STORED = {
    "bool": "BOOL", "i8": "I8", "i16": "I16", "i32": "I32", "i64": "I64",
    "u8": "U8", "u16": "U16", "u32": "U32", "u64": "U64",
    "f16": "F16", "bf16": "BF16", "f32": "F32", "f64": "F64",
}  # fmt: skip
"""Element types, and what such a file calls them."""

READ = {stored: elem for elem, stored in STORED.items()}
BYTES = {elem: max(1, int(re.sub(r"\D", "", elem) or 8) // 8) for elem in STORED}


# --- reading ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Place:
    """What the header says of a tensor. `begin` and `end` count from where the data begins."""

    kind: str
    shape: tuple[int, ...]
    begin: int
    end: int

    @property
    def elem(self) -> str | None:
        """Its element type, if it is one of Axon's."""
        return READ.get(self.kind)

    def __str__(self) -> str:
        sizes = f" [{','.join(map(str, self.shape))}]" if self.shape else ""
        return f"{self.elem or self.kind}{sizes}"


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """The tensors of a file; the data stays there until it is used."""

    path: str
    places: dict[str, Place]
    start: int
    data: mmap.mmap

    def values(self, name: str) -> Callable[[], Any]:
        """A function that gives a tensor, which must have an element type of Axon's."""
        place = self.places[name]
        assert place.elem is not None
        dtype = element(place.elem)
        known: list[Any] = []

        def values() -> Any:
            if not known:
                known.append(self._array(place, dtype))
            return known[0]

        return values

    def _array(self, place: Place, dtype: Any) -> Any:
        """An array on the file itself where that can be; else a copy that NumPy can work with."""
        offset = self.start + place.begin
        if place.elem == "bool":  # a byte may be more than 0 or 1
            return numpy.asarray(numpy.ndarray(place.shape, numpy.uint8, self.data, offset) != 0)
        array: Any = numpy.ndarray(place.shape, dtype, self.data, offset)
        if sys.byteorder == "big":
            return array.byteswap()
        return array if array.flags.aligned else array.copy()


def read(path: str) -> Stored:
    """The tensors of a file, whose header is checked as a whole; the data is not looked at."""
    try:
        if not os.path.isfile(path):
            raise Unreadable(_no_file(path))
        with open(path, "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise Unreadable(_no_file(path))
            header = _header(path, file, found.st_size)
            start = 8 + len(header)
            places = _places(path, header, found.st_size - start)
            data = mmap.mmap(file.fileno(), found.st_size, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise Unreadable(f"{path!r} cannot be read: {reason}") from None
    return Stored(path, places, start, data)


def _no_file(path: str) -> str:
    return f"{path} is not a file" if os.path.exists(path) else f"there is no file {path}"


def _header(path: str, file: Any, size: int) -> bytes:
    length = int.from_bytes(file.read(8), "little")
    if size < 8 or length > size - 8:
        raise _broken(path, "it is shorter than its header states")
    if length > LONGEST_HEADER:
        raise _broken(path, f"its header has {length:,} bytes, and {LONGEST_HEADER:,} are the most")
    header: bytes = file.read(length)
    if len(header) != length:
        raise _broken(path, "it is shorter than its header states")
    return header


def _broken(path: str, why: str) -> Unreadable:
    return Unreadable(f"{path} is not a safetensors file: {why}")


# The header is read piece by piece, so that what is nested in it costs nothing.
_SPACE = rb"[ \t\n\r]*+"
_STRING = rb'"(?:[^"\\\x00-\x1f]++|\\.)*+"'
_PAIR = _STRING + _SPACE + rb":" + _SPACE + _STRING + _SPACE
_MORE = rb"," + _SPACE + rb'(?=")'
_EMPTY = re.compile(_SPACE + rb"\{" + _SPACE + rb"\}" + _SPACE)
_OPEN = re.compile(_SPACE + rb"\{" + _SPACE)
_NAME = re.compile(rb"(" + _STRING + rb")" + _SPACE + rb":" + _SPACE)
_PLACE = re.compile(rb"\{[^{}]{0,4096}+\}")
_NOTES = re.compile(rb"\{" + _SPACE + rb"(?:" + _PAIR + rb"(?:" + _MORE + rb"|(?=\})))*+\}")
_NEXT = re.compile(_SPACE + rb"(?:(" + _MORE + rb")|\}" + _SPACE + rb"\Z)")
NOTES = "__metadata__"
"""The name in a header that is no tensor: texts by name, which mean nothing here."""


def _places(path: str, header: bytes, size: int) -> dict[str, Place]:
    places: dict[str, Place] = {}
    noted = False
    for name, said in _entries(path, header):
        if name in places or (name == NOTES and noted):
            raise _broken(path, f"`{_short(name)}` is in it twice")
        if name == NOTES:
            noted = True
        else:
            places[name] = _place(path, name, said)
    _check_side_by_side(path, places, size)
    return places


def _entries(path: str, header: bytes) -> Iterator[tuple[str, bytes]]:
    """The names in a header, each with what is said of it."""
    if _EMPTY.fullmatch(header):
        return
    at, more = _step(path, header, _OPEN, 0).end(), True
    while more:
        written = _step(path, header, _NAME, at)
        name = _name(path, written[1])
        said = _step(path, header, _NOTES if name == NOTES else _PLACE, written.end())
        following = _step(path, header, _NEXT, said.end())
        yield name, said[0]
        at, more = following.end(), following[1] is not None


def _step(path: str, header: bytes, pattern: re.Pattern[bytes], at: int) -> re.Match[bytes]:
    found = pattern.match(header, at)
    if found is None:
        raise _broken(path, f"its header is not understood from byte {at} on")
    return found


def _name(path: str, written: bytes) -> str:
    try:
        name: str = json.loads(written.decode("utf-8"))
        name.encode("utf-8")
    except ValueError:
        raise _broken(path, "a name in its header is no text") from None
    return name


def _short(name: str) -> str:
    return name if len(name) <= 80 else f"{name[:77]}…"


def _place(path: str, name: str, said: bytes) -> Place:
    """What is said of a tensor, if that can be true: the sizes fit the number of bytes."""
    try:
        found = json.loads(said.decode("utf-8"), object_pairs_hook=_once)
        kind, shape = found["dtype"], found["shape"]
        begin, end = found["data_offsets"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise _broken(path, f"its entry for `{_short(name)}` is not understood") from None
    if not isinstance(kind, str) or not isinstance(shape, list):
        raise _broken(path, f"its entry for `{_short(name)}` is not understood")
    if not all(type(n) is int and 0 <= n <= LARGEST for n in (*shape, begin, end)):
        raise _broken(path, f"the sizes or the place of `{_short(name)}` are no sizes")
    place = Place(kind, tuple(shape), begin, end)
    if begin > end or len(shape) > MOST_SIZES:
        raise _broken(path, f"the sizes or the place of `{_short(name)}` are no sizes")
    if place.elem is not None:
        width = BYTES[place.elem]
        if width * prod(n for n in shape if n) > LARGEST or width * prod(shape) != end - begin:
            detail = f"{end - begin:,} bytes of it, which is not what {place} has"
            raise _broken(path, f"`{_short(name)}` has {detail}")
    return place


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found


def _check_side_by_side(path: str, places: dict[str, Place], size: int) -> None:
    """Each place begins where the one before it ends, and the last ends with the file."""
    at, before = 0, ""
    for name, place in sorted(places.items(), key=lambda each: (each[1].begin, each[1].end)):
        if place.end > size:
            raise _broken(path, f"the data of `{_short(name)}` is not all there")
        if place.begin < at:
            raise _broken(path, f"`{_short(before)}` and `{_short(name)}` overlap")
        if place.begin > at:
            raise _broken(path, f"the data before `{_short(name)}` belongs to no tensor")
        at, before = place.end, name
    if at != size:
        raise _broken(path, "the data at its end belongs to no tensor")


# --- writing ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ToStore:
    """A tensor that is to be written: its type is known before its values are asked for."""

    name: str
    elem: str
    shape: tuple[int, ...]
    values: Callable[[], Any]


@contextmanager
def written(
    path: str, tensors: Iterable[ToStore], tell: Callable[[int, int], None] | None = None
) -> Iterator[None]:
    """Write a file, one tensor after another. It gets its name when the block has come to its end;
    if something fails, here or there, nothing is left behind.

    Tensors with wide elements come first: so all lie at a multiple of their width.
    """
    ordered = sorted(tensors, key=lambda each: (-BYTES[each.elem], each.name))
    with _reported_errors(path):
        target = os.path.realpath(path)
        if os.path.exists(target) and not os.path.isfile(target):
            raise Unwritable(f"{path} is not a regular file")
    folder, name = os.path.split(target)
    unfinished = os.path.join(folder, f".{name[:100]}.{os.urandom(4).hex()}.part")
    try:
        with _reported_errors(path), open(unfinished, "xb") as file:
            file.write(_made_header(ordered))
            for done, tensor in enumerate(ordered):
                file.write(_bytes(tensor))
                if tell is not None:
                    tell(done + 1, len(ordered))
        yield
        with _reported_errors(path):
            os.replace(unfinished, target)
    except BaseException:
        if os.path.lexists(unfinished):
            os.unlink(unfinished)
        raise


@contextmanager
def _reported_errors(path: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise Unwritable(f"{path!r} cannot be written: {reason}") from None


def _made_header(tensors: list[ToStore]) -> bytes:
    """The length and the header, filled up with spaces to a multiple of eight bytes."""
    header: dict[str, object] = {}
    at = 0
    for tensor in tensors:
        if tensor.name in header or tensor.name == NOTES:
            raise Unwritable(f"there cannot be another tensor named `{tensor.name}`")
        end = at + BYTES[tensor.elem] * prod(tensor.shape)
        header[tensor.name] = {
            "dtype": STORED[tensor.elem],
            "shape": list(tensor.shape),
            "data_offsets": [at, end],
        }
        at = end
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode("utf-8")
    text += b" " * (-len(text) % 8)
    if len(text) > LONGEST_HEADER:
        raise Unwritable(f"the names of {len(tensors):,} tensors are too long for one file")
    return len(text).to_bytes(8, "little") + text


def _bytes(tensor: ToStore) -> Any:
    array = numpy.asarray(tensor.values())
    if array.shape != tensor.shape or ELEMENTS.get(array.dtype.name) != tensor.elem:
        detail = f"{array.dtype} {list(array.shape)}, not {tensor.elem} {list(tensor.shape)}"
        raise Unwritable(f"`{tensor.name}` is {detail}")
    if (array.dtype.byteorder == ">") or (array.dtype.isnative and sys.byteorder == "big"):
        array = array.byteswap()
    return numpy.ascontiguousarray(array).reshape(-1).view(numpy.uint8).data
