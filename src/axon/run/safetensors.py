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
import secrets
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
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
        if dtype == bool:  # a byte may be more than 0 or 1
            return numpy.ndarray(place.shape, numpy.uint8, self.data, offset) != 0
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
        raise _broken(path, "it is shorter than it says")
    if length > LONGEST_HEADER:
        raise _broken(path, f"its header has {length:,} bytes, and {LONGEST_HEADER:,} are the most")
    header: bytes = file.read(length)
    if len(header) != length:
        raise _broken(path, "it is shorter than it says")
    return header


def _broken(path: str, why: str) -> Unreadable:
    return Unreadable(f"{path} is not a safetensors file: {why}")


# The header is read piece by piece, so that what it costs does not depend on what is nested in it.
_SPACE = rb"[ \t\n\r]*+"
_STRING = rb'"(?:[^"\\\x00-\x1f]++|\\.)*+"'
_OPEN = re.compile(_SPACE + rb"\{" + _SPACE)
_NAME = re.compile(rb"(" + _STRING + rb")" + _SPACE + rb":" + _SPACE)
_PLACE = re.compile(rb"\{[^{}]{0,4096}+\}")
_PAIR = _STRING + _SPACE + rb":" + _SPACE + _STRING + _SPACE
_NOTES = re.compile(rb"\{" + _SPACE + rb"(?:" + _PAIR + rb'(?:,[ \t\n\r]*+(?=")|(?=\})))*+\}')
_NEXT = re.compile(_SPACE + rb'(?:,[ \t\n\r]*+(?=")|(\})' + _SPACE + rb")")


def _places(path: str, header: bytes, size: int) -> dict[str, Place]:
    places: dict[str, Place] = {}
    at = _after(path, _OPEN.match(header))
    if header[at : at + 1] == b"}":
        at -= 1
    noted = False
    while header[at : at + 1] == b'"':
        found = _NAME.match(header, at)
        at = _after(path, found)
        name = _text(path, found[1] if found else b"")
        if name in places or (name == "__metadata__" and noted):
            raise _broken(path, f"`{_short(name)}` is in it twice")
        if name == "__metadata__":
            noted = True
            at = _after(path, _NOTES.match(header, at))
        else:
            piece = _PLACE.match(header, at)
            if piece is None:
                raise _odd(path, name)
            places[name] = _place(path, name, piece[0])
            at = piece.end()
        following = _NEXT.match(header, at)
        at = _after(path, following)
        if following and following[1]:
            break
    else:
        at = _after(path, re.compile(rb"\{" + _SPACE + rb"\}" + _SPACE).search(header, 0, len(header)))
    if at != len(header):
        raise _broken(path, "its header cannot be read")
    _check_places(path, places, size)
    return places
