"""Arguments on the command line: arrays from files, literals, or made up."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy

from axon.backends.numpy_arrays import element
from axon.ops.memory import Refused, check_fits
from axon.run.errors import ProgramError
from axon.types.show import Show
from axon.types.type import Record, Tensor, Tuple, Type
from axon.types.variables import TypeVar

_MADE = re.compile(r"(rand|zeros|ones)\s*\[([0-9,\s]*)\]")
LARGEST = 1 << 31
"""How many elements a made-up array may have."""

LONGEST = 20
"""A size with more digits is more than an array can have."""

DEEPEST = 64
"""How deep tuples may be nested."""

MOST_SHOWN = 60

NPY, PICKLE = b"\x93NUMPY", b"\x80"
"""How files of arrays and of Python objects begin."""


class BadInput(Exception):
    """An argument that cannot be read; the sentence says why."""


def read_input(
    name: str,
    text: str,
    wanted: Type | None,
    random: numpy.random.Generator,
    taken: dict[str, str],
    depth: int = 0,
) -> Any:
    """`data.npy`, `data.npz`, `data.npz:key`, `w.safetensors`, `w.safetensors:prefix`,
    `rand[8,16]`, `zeros[3]`, `ones[]`, `2.5`, `[[1,2],[3,4]]`; a tuple is `(rand[4],zeros[4])`, a
    record `{w=rand[4],b=zeros[4]}`. Files that are read are entered in `taken`.
    """
    text = text.strip()
    if text.startswith("{") and text.endswith("}"):
        return _record(name, text[1:-1], wanted, random, taken, depth)
    if text.startswith("(") and text.endswith(")"):
        if depth == DEEPEST:
            raise BadInput(f"{_short(name)}: tuples are nested more than {DEEPEST} deep")
        parts = _parts(text[1:-1])
        types: list[Type | None] = [None] * len(parts)
        if isinstance(wanted, Tuple) and len(wanted.items) == len(parts):
            types = list(wanted.items)
        return tuple(
            read_input(f"{name}[{i}]", part, type_, random, taken, depth + 1)
            for i, (part, type_) in enumerate(zip(parts, types, strict=True))
        )
    made = _MADE.fullmatch(text)
    if made:
        return _made(name, made[1], made[2], wanted, random)
    weights = re.fullmatch(r"(?s)(.*\.safetensors)(?::(.*))?", text)
    if weights:
        taken[weights[1]] = "an input of this run"
        return _weights(name, weights[1], weights[2] or "", wanted)
    path, key = _path(text)
    if path is not None:
        found = _file(name, path, key)
        taken[path] = "an input of this run"
        return found
    return _literal(name, text)


def _weights(name: str, path: str, prefix: str, wanted: Type | None) -> Any:
    """What a file of weights has for a parameter: all of a record, or one of its tensors."""
    from axon.run.fitted import fitted

    whole = not isinstance(wanted, Tensor)
    try:
        own = name.rpartition(".")[2]
        return fitted(path, wanted or TypeVar(), Show(), prefix, own, strict=whole)
    except ProgramError as problem:
        raise BadInput(f"{name}: {problem}") from None


def _record(
    name: str,
    text: str,
    wanted: Type | None,
    random: numpy.random.Generator,
    taken: dict[str, str],
    depth: int,
) -> dict[str, Any]:
    """The fields of a record, `w=rand[4],b=zeros[4]`."""
    if depth == DEEPEST:
        raise BadInput(f"{_short(name)}: records are nested more than {DEEPEST} deep")
    types = wanted.fields if isinstance(wanted, Record) else {}
    found: dict[str, Any] = {}
    for part in _parts(text):
        field, equals, value = (each.strip() for each in part.partition("="))
        if not equals or not field.isidentifier() or field in found:
            raise BadInput(
                f"{_short(name)}: `{_short(part)}` is no field of a record: `name=value`"
            )
        of = f"{name}.{field}"
        found[field] = read_input(of, value, types.get(field), random, taken, depth + 1)
    return found


def _short(text: str, most: int = MOST_SHOWN) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


def _parts(text: str) -> list[str]:
    """What stands between the commas that are not in brackets."""
    parts: list[str] = []
    depth = begin = 0
    for at, sign in enumerate(text):
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and depth == 0:
            parts.append(text[begin:at])
            begin = at + 1
    parts.append(text[begin:])
    return [part for part in parts if part.strip()]


def _path(text: str) -> tuple[str | None, str]:
    if text.endswith((".npy", ".npz")):
        return text, ""
    path, found, key = text.rpartition(":")
    return (path, key) if found and path.endswith(".npz") else (None, "")


def _made(
    name: str, kind: str, sizes: str, wanted: Type | None, random: numpy.random.Generator
) -> Any:
    written = sizes.replace(",", " ").split()
    if any(len(size.lstrip("0")) > LONGEST for size in written):
        raise BadInput(f"{name}: {kind}[{_short(sizes)}] has a size that no array can have")
    shape = tuple(int(size) for size in written)
    elem = wanted.elem if isinstance(wanted, Tensor) and isinstance(wanted.elem, str) else "f32"
    count = 1
    for size in shape:
        count *= size
    try:
        check_fits(shape, 8)
        if count > LARGEST:
            raise BadInput(f"{name}: {kind}[{_short(sizes)}] would have {count:,} elements")
        return _filled(kind, shape, elem, random)
    except Refused as problem:
        raise BadInput(f"{name}: {kind}[{_short(sizes)}]: {problem}") from None
    except MemoryError:
        raise BadInput(f"{name}: there is not enough memory for {kind}[{_short(sizes)}]") from None


def _filled(kind: str, shape: tuple[int, ...], elem: str, random: numpy.random.Generator) -> Any:
    if kind == "zeros":
        return numpy.zeros(shape, element(elem))
    if kind == "ones":
        return numpy.ones(shape, element(elem))
    if elem == "bool":
        return random.integers(0, 2, shape).astype(bool)
    if elem.startswith(("i", "u")):
        return random.integers(0, 10, shape).astype(element(elem))
    return random.normal(size=shape).astype(element(elem))


def _file(name: str, path: str, key: str) -> Any:
    if not os.path.isfile(path):
        raise BadInput(f"{name}: there is no file {path}")
    with _reading(name, path), open(path, "rb") as file:
        objects = _holds_objects(file)
    if objects:
        raise BadInput(
            f"{name}: {path} holds Python objects, which are not read: they could run code"
        )
    with open(path, "rb") as file:
        with _reading(name, path):
            found = numpy.load(file, allow_pickle=False)
        return found if isinstance(found, numpy.ndarray) else _one(name, path, key, found)


@contextmanager
def _reading(name: str, path: str) -> Iterator[None]:
    """Around calls of NumPy alone. What it raises for a damaged file is of many types, also those
    of zip, zlib and Python's tokenizer, so that no list of them would be complete.
    """
    try:
        yield
    except Exception as problem:
        reason = str(problem) or type(problem).__name__
        raise BadInput(f"{name}: {path} cannot be read: {_short(reason, 200)}") from None


def _holds_objects(file: BinaryIO) -> bool:
    """Whether a file is a pickle, or an array of Python objects."""
    begin = file.read(len(NPY))
    file.seek(0)
    if begin != NPY:
        return begin.startswith(PICKLE)
    header = numpy.lib.format
    version = header.read_magic(file)
    read = header.read_array_header_1_0 if version == (1, 0) else header.read_array_header_2_0
    found: bool = read(file)[2].hasobject
    return found


def _one(name: str, path: str, key: str, found: Any) -> Any:
    """One of the arrays in a file of several."""
    names = list(found.files)
    if not key and len(names) != 1:
        listed = ", ".join(names) or "none"
        raise BadInput(f"{name}: {path} has several arrays; say which: {path}:KEY ({listed})")
    if key and key not in names:
        raise BadInput(f"{name}: {path} has no array `{key}`: it has {', '.join(names)}")
    with _reading(name, path):
        return found[key or names[0]]


def _literal(name: str, text: str) -> Any:
    try:
        value = json.loads(text.replace("inf", "Infinity").replace("nan", "NaN"))
    except (ValueError, RecursionError):
        raise BadInput(
            f"{name}: `{_short(text)}` is no input: give a .npy, .npz or .safetensors file, "
            "a number, a list such as [1,2], or rand[8,16]"
        ) from None
    if isinstance(value, bool | int | float | list):
        return value
    raise BadInput(f"{name}: `{_short(text)}` is no number and no list of numbers")
