"""Weights for a type: the tensors of a file that it asks for, each compared with its type."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy

from axon.ops.memory import Refused, check_fits
from axon.run import dotted
from axon.run.dotted import Absent, Rows, Tree
from axon.run.errors import ArgumentError, Misfit, ProgramError
from axon.run.parameters import Subject, chosen, inferred, leaves, no_parameters, signature_names
from axon.run.safetensors import BYTES, Stored
from axon.run.values import exact_type, take
from axon.run.weight_files import listed, load_weights, opened
from axon.run.weights import may_be
from axon.source import Span
from axon.syntax import ast
from axon.types.elements import BIT, INT
from axon.types.show import Show
from axon.types.type import DimValue, Fn, Record, Tensor, Tuple, Type, record
from axon.types.variables import TypeVar


def loaded(
    subject: Subject,
    path: str | Path,
    params: str | Sequence[str] | None = None,
    prefix: str = "",
    strict: bool = True,
) -> Any:
    """The parameters of a function from a file: of one, or of several as a tuple."""
    which = chosen(subject, params)
    if not which:
        raise no_parameters(subject)
    written = subject.definition.scheme.type
    assert isinstance(written, Fn)
    types = dict(zip(subject.arguments, written.params, strict=True))
    type_ = types[which[0]] if len(which) == 1 else record({name: types[name] for name in which})
    try:
        found = fitted(path, type_, signature_names(subject.definition), prefix, which[0], strict)
    except Misfit as misfit:
        raise misfit.error(subject.name, place_of(subject, which[0])) from None
    values = {which[0]: found} if len(which) == 1 else found
    exact = {n: exact_type(take(v, types[n])) for n, v in values.items()}
    problems = inferred(subject, {name: exact.get(name) for name in types})
    if isinstance(problems, list):
        raise ArgumentError(f"{path} does not fit {subject.name}", problems)
    return found if len(which) == 1 else tuple(values[name] for name in which)


def place_of(subject: Subject, argument: str) -> Span:
    """Where an argument is declared."""
    place = subject.module.find(subject.name, len(subject.module.items))
    item = place[0].items[place[2]] if place is not None else None
    if isinstance(item, ast.Binding) and isinstance(item.value, ast.Fn):
        spans = {param.name: param.span for param in item.value.params}
        return spans.get(argument, subject.definition.span)
    return subject.definition.span


def fitted(
    path: str | Path, type_: Type, show: Show, prefix: str = "", name: str = "", strict: bool = True
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
