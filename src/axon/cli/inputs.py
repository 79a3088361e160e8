"""Arguments on the command line: arrays from files, literals, or made up."""

from __future__ import annotations

import json
import os
import re
import zipfile
from typing import Any

import numpy

from axon.backends.numpy_arrays import element
from axon.types.type import Tensor, Type

_MADE = re.compile(r"(rand|zeros|ones)\s*\[([\d,\s]*)\]")
LARGEST = 1 << 31
"""How many elements a made-up array may have."""


class BadInput(Exception):
    """An argument that cannot be read; the sentence says why."""


def read_input(name: str, text: str, wanted: Type | None, random: numpy.random.Generator) -> Any:
    """`data.npy`, `data.npz`, `data.npz:key`, `rand[8,16]`, `zeros[3]`, `ones[]`, `2.5`,
    `[[1,2],[3,4]]`.
    """
    made = _MADE.fullmatch(text.strip())
    if made:
        return _made(name, made[1], made[2], wanted, random)
    path, key = _path(text)
    if path is not None:
        return _file(name, path, key)
    return _literal(name, text)


def _path(text: str) -> tuple[str | None, str]:
    if text.endswith((".npy", ".npz")):
        return text, ""
    path, found, key = text.rpartition(":")
    return (path, key) if found and path.endswith(".npz") else (None, "")


def _made(
    name: str, kind: str, sizes: str, wanted: Type | None, random: numpy.random.Generator
) -> Any:
    shape = tuple(int(size) for size in sizes.replace(",", " ").split())
    count = 1
    for size in shape:
        count *= size
    if count > LARGEST:
        raise BadInput(f"{name}: {kind}[{sizes}] would have {count:,} elements")
    elem = wanted.elem if isinstance(wanted, Tensor) and isinstance(wanted.elem, str) else "f32"
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
    try:
        found = numpy.load(path, allow_pickle=False)
        if isinstance(found, numpy.ndarray):
            return found
        with found:
            names = list(found.files)
            if not key and len(names) != 1:
                listed = ", ".join(names) or "none"
                raise BadInput(
                    f"{name}: {path} has several arrays; say which: {path}:KEY ({listed})"
                )
            if key and key not in names:
                raise BadInput(f"{name}: {path} has no array `{key}`: it has {', '.join(names)}")
            return found[key or names[0]]
    except ValueError as problem:
        if "pickle" in str(problem).lower():
            raise BadInput(
                f"{name}: {path} holds Python objects, which are not read: they could run code"
            ) from None
        raise BadInput(f"{name}: {path} cannot be read: {problem}") from None
    except (OSError, EOFError, zipfile.BadZipFile, MemoryError) as problem:
        raise BadInput(f"{name}: {path} cannot be read: {problem}") from None


def _literal(name: str, text: str) -> Any:
    try:
        value = json.loads(text.replace("inf", "Infinity"))
    except (ValueError, RecursionError):
        raise BadInput(
            f"{name}: `{text}` is no input: give a .npy or .npz file, a number, "
            "a list such as [1,2], or rand[8,16]"
        ) from None
    if isinstance(value, bool | int | float | list):
        return value
    raise BadInput(f"{name}: `{text}` is no number and no list of numbers")
