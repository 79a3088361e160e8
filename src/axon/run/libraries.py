"""Which library the arrays of a call are of: results are returned in the same one."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy

from axon.backends.ragged import Ragged
from axon.ops.memory import MOST_DIMENSIONS
from axon.run.errors import ArgumentError

NAMES = {"numpy": "NumPy", "jax": "JAX", "torch": "PyTorch"}


def library_of(array: Any) -> str | None:
    """`numpy`, `jax` or `torch`; None for what is no array."""
    if type(array) is numpy.ndarray:
        return "numpy"
    name = type(array).__module__.partition(".")[0]
    if name in ("torch", "numpy") and hasattr(array, "ndim"):
        return name if getattr(array, "ndim", 0) or name == "torch" else None
    torch: Any = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):  # a subclass
        return "torch"
    return "jax" if name in ("jaxlib", "jax") else None


def libraries(value: Any, path: str, depth: int = 0) -> Iterator[tuple[str, str]]:
    """The arrays in an argument: the path of each and its library."""
    if depth > MOST_DIMENSIONS:
        return
    found = library_of(value)
    if found is not None:
        yield path, found
    elif isinstance(value, Mapping):
        for name, part in value.items():
            yield from libraries(part, f"{path}.{name}", depth + 1)
    elif isinstance(value, tuple | list):
        for i, part in enumerate(value):
            yield from libraries(part, f"{path}[{i}]", depth + 1)
    elif isinstance(value, Ragged):
        yield from libraries(value.stored, path)


def common_library(function: str, params: Sequence[str], args: Sequence[Any]) -> str | None:
    """The library of all arrays among the arguments, None if there is no array. Tensors of PyTorch
    go with nothing else; arrays of NumPy go with those of JAX, which takes them for its own.
    """
    first: tuple[str, str] | None = None
    common: str | None = None
    for name, arg in zip(params, args, strict=False):
        for path, library in libraries(arg, name):
            if first is None:
                first = path, library
            elif library != first[1] and "torch" in (library, first[1]):
                raise ArgumentError(
                    f"{function}: `{first[0]}` is an array of {NAMES[first[1]]}, but `{path}` is "
                    f"one of {NAMES[library]}: give all of one library"
                )
            common = library if common in (None, "numpy") else common
    return common
