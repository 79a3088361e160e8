"""Records of weights in files: by the dotted names of their tensors."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy

from axon.backends.ragged import Ragged, RaggedError
from axon.files import Unreadable, Unwritable
from axon.run import dotted
from axon.run.dotted import NoName, Tree
from axon.run.errors import ArgumentError, ProgramError
from axon.run.safetensors import Stored, ToStore, read, written
from axon.run.structures import Unfit, fields_of
from axon.run.values import element, take

MOST_SHOWN = 8
"""How many names, or errors, a message lists."""


def save(path: str | Path, weights: Any) -> None:
    """Write a record of weights to a safetensors file, each tensor under its dotted name:
    `layers.w`, or `layers.0.w` if `layers` is a tuple.

    >>> import axon, numpy, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     axon.save(f"{folder}/net.safetensors", {"dense": {"w": numpy.ones((2, 3))}})
    ...     axon.load_weights(f"{folder}/net.safetensors")["dense"]["w"].shape
    (2, 3)
    """
    try:
        if fields_of(weights, None) is None:
            raise Unfit(f"weights are a dict, and not a {type(weights).__name__}")
        tensors = [_to_store(name, value) for name, value in dotted.flattened(weights)]
        with written(os.fspath(path), tensors):
            pass
    except (Unwritable, Unfit, NoName) as problem:
        raise ArgumentError(str(problem)) from None


def _to_store(name: str, given: Any) -> ToStore:
    try:
        taken = take(given, None)
        if isinstance(taken, Ragged | tuple):
            raise Unfit("only tensors are written to such a file")
        array = numpy.asarray(taken)
        elem = element(array)
    except (Unfit, RaggedError) as unfit:
        raise Unfit(f"`{name}` cannot be saved: {unfit}") from None
    return ToStore(name, elem, array.shape, lambda: array)


def load_weights(path: str | Path, prefix: str = "") -> Any:
    """The tensors of a safetensors file, as nested dicts: `layers.attn.q` is at
    `["layers"]["attn"]["q"]`. Parts that are numbered from 0 on are a tuple. With a `prefix`, those
    whose names begin with it, without it.

    The file is mapped into memory and must not change while the arrays, which cannot be written to,
    are in use. `net.model.load_weights` compares the tensors with the types of a function, and
    stacks them where it has stacked ones.
    """
    stored, names = opened(path, prefix)

    def value(name: str) -> Any:
        place = stored.places[name]
        if place.elem is None:
            raise NoName(f"`{name}` is {place}, and {place.kind} is no element type of Axon")
        return stored.values(name)()

    try:
        return dotted.nested(names, value)
    except (NoName, ImportError) as problem:
        raise ProgramError(f"{path} cannot be read: {problem}") from None


def opened(path: str | Path, prefix: str = "") -> tuple[Stored, Tree]:
    """A file and the names in it."""
    try:
        stored = read(os.fspath(path))
        names = dotted.tree(stored.places)
    except (Unreadable, NoName) as problem:
        raise ProgramError(str(problem)) from None
    found = names.under(prefix)
    if found is None:
        known = listed(list(names.parts))
        raise ProgramError(f"no name in {path} begins with `{prefix}.`: there are {known}")
    return stored, found


def listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:MOST_SHOWN])
    more = len(names) - MOST_SHOWN
    return (f"{shown} and {more} more" if more > 0 else shown) or "none"
