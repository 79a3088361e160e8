"""Records of weights in files: by the dotted names of their tensors."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy

from axon.backends.ragged import Ragged, RaggedError
from axon.diagnostics import Diagnostic, Label, Severity
from axon.files import Unreadable, Unwritable
from axon.ops.memory import Refused, check_fits
from axon.run import dotted
from axon.run.dotted import Absent, NoName, Rows, Tree
from axon.run.errors import ArgumentError, ProgramError
from axon.run.safetensors import BYTES, Stored, ToStore, read, written
from axon.run.structures import Unfit, fields_of
from axon.run.values import element, take
from axon.run.weights import may_be
from axon.source import Span
from axon.types.elements import BIT, INT
from axon.types.show import Show
from axon.types.type import DimValue, Record, Tensor, Tuple, Type
from axon.types.variables import TypeVar

MOST_SHOWN = 8
"""How many names, or errors, a message lists."""

Path_ = str | Path


def save(path: Path_, weights: Any) -> None:
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


def load_weights(path: Path_, prefix: str = "") -> Any:
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


def opened(path: Path_, prefix: str = "") -> tuple[Stored, Tree]:
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


# --- the values for a type -------------------------------------------------------------------


class Misfit(Exception):
    """A file that does not have what a type asks for; each problem is a sentence and a label."""

    def __init__(self, path: str, problems: list[tuple[str, str]]) -> None:
        super().__init__(path)
        self.path = path
        self.problems = problems

    def error(self, what: str, span: Span | None) -> ArgumentError:
        """The error of an argument, with the place where it is declared."""
        more = len(self.problems) - MOST_SHOWN
        others = f"; {more} more are wrong" if more > 0 else ""
        diagnostics = [
            Diagnostic(
                "AX405",
                Severity.ERROR,
                text,
                (Label(span, label, primary=True),) if span is not None else (),
            )
            for text, label in self.problems[:MOST_SHOWN]
        ]
        return ArgumentError(f"{self.path} does not fit {what}{others}", diagnostics)


def fitted(
    path: Path_, type_: Type, show: Show, prefix: str = "", name: str = "", strict: bool = True
) -> Any:
    """The value of a type from a file. A tensor that is missing, or not of its type, is an error;
    if `strict`, one that is not used is too. `name` is that of a tensor that is in no record.
    """
    if isinstance(type_, TypeVar):
        return load_weights(path, prefix)
    stored, names = opened(path, prefix)
    filling = _Filling(stored, names, show, (name,) if name and not prefix else ())
    filling.check(type_)
    unused = [n for n in names.names() if n not in filling.used] if strict else []
    if filling.missing:
        filling.problems.insert(0, (f"there is no {listed(filling.missing)} in {path}", ""))
    if unused:
        filling.problems.append((f"{listed(unused)} in {path} {_are(unused)} not used", ""))
    if filling.problems:
        raise Misfit(os.fspath(path), filling.problems)
    try:
        return filling.value(type_)
    except ImportError as problem:
        raise ProgramError(f"{path} cannot be read: {problem}") from None


def _are(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


class _Filling:
    """The tensors for a type. All of it is checked before any value is read."""

    def __init__(self, stored: Stored, names: Tree, show: Show, alone: tuple[str, ...]) -> None:
        self.stored = stored
        self.names = names
        self.show = show
        self.alone = alone
        self.rows: dict[tuple[str, ...], Rows] = {}
        self.used: set[str] = set()
        self.missing: list[str] = []
        self.problems: list[tuple[str, str]] = []

    def check(self, type_: Type) -> None:
        for path, leaf in leaves(type_):
            found = self.rows[path] = dotted.rows(self.names, path or self.alone)
            every = list(_names(found))
            absent = [each.name for each in every if isinstance(each, Absent)]
            self.used.update(each for each in every if isinstance(each, str))
            self.missing += absent
            if not absent:
                problem = self._problem(leaf, found, every[0])
                if problem:
                    self.problems.append((problem, f"`{'.'.join(path)}` is {self.show.type(leaf)}"))

    def _problem(self, type_: Type, found: Rows, first: Any) -> str | None:
        place = self.stored.places[first]
        if place.elem is None:
            return f"`{first}` is {place}, and {place.kind} is no element type of Axon"
        for name in _names(found):
            other = self.stored.places[name]
            if (other.elem, other.shape) != (place.elem, place.shape):
                return f"`{first}` is {place} and `{name}` is {other}: they are rows of one tensor"
        counts = _counts(found)
        if counts is None:
            return f"`{first}` and other rows of it differ in number"
        shape = (*counts, *place.shape)
        try:
            check_fits(shape, BYTES[place.elem])
        except Refused as refused:
            return f"`{first}`: {refused}"
        if _may_have(type_, place.elem, shape):
            return None
        rows = f" and {prod(counts) - 1} others" if counts else ""
        return f"`{first}`{rows} {'are' if counts else 'is'} {place} in {self.stored.path}"

    def value(self, type_: Type, path: tuple[str, ...] = ()) -> Any:
        match type_:
            case Record():
                return {n: self.value(t, (*path, n)) for n, t in type_.fields.items()}
            case Tuple(items):
                return tuple(self.value(t, (*path, str(i))) for i, t in enumerate(items))
            case DimValue():
                return int(self._stacked(self.rows[path]))
            case _:
                return self._stacked(self.rows[path])

    def _stacked(self, found: Rows) -> Any:
        if isinstance(found, list):
            return numpy.stack([self._stacked(row) for row in found])
        assert isinstance(found, str)
        return self.stored.values(found)()


def _may_have(type_: Type, elem: str, shape: tuple[int, ...]) -> bool:
    """Whether a tensor of the file may be of a type; what is open is not compared."""
    if isinstance(type_, DimValue):
        return not shape and bool(BIT[elem] & INT)
    if not isinstance(type_, Tensor) or not may_be(type_.shape, shape):
        return False
    allowed = BIT[type_.elem] if isinstance(type_.elem, str) else type_.elem.allowed
    return bool(BIT[elem] & allowed)


def leaves(type_: Type, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Type]]:
    """The types in a structure that are no structures, by their paths."""
    match type_:
        case Record():
            for name, part in type_.fields.items():
                yield from leaves(part, (*path, name))
        case Tuple(items):
            for i, part in enumerate(items):
                yield from leaves(part, (*path, str(i)))
        case _:
            yield path, type_


def _names(found: Rows) -> Iterator[Any]:
    if isinstance(found, list):
        for row in found:
            yield from _names(row)
    else:
        yield found


def _counts(found: Rows) -> tuple[int, ...] | None:
    """How many rows there are, and in each of them; None if these differ."""
    if not isinstance(found, list):
        return ()
    inner = {_counts(row) for row in found}
    first = inner.pop()
    return None if inner or first is None else (len(found), *first)
