"""Records in Python: dicts outside, tuples of the fields in alphabetical order inside."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from axon.graph.graph import Graph
from axon.graph.scope import operand_type
from axon.types.type import Record, Tuple, Type


class Unfit(Exception):
    """An argument that is not a value of Axon, with the reason as a sentence. Of a structure `path`
    is the part that is not one, `.layers.0`.
    """

    path = ""

    def in_part(self, part: object) -> Unfit:
        """The same of the structure that has this part."""
        self.path = f".{part}{self.path}"
        return self


class Fields(tuple[Any, ...]):
    """The values of a record, in alphabetical order of their `names`."""

    names: tuple[str, ...]

    def __new__(cls, fields: Mapping[str, Any]) -> Fields:
        found = super().__new__(cls, fields.values())
        found.names = tuple(fields)
        return found


def fields_of(given: Any, wanted: Type | None) -> dict[str, Any] | None:
    """The fields of a dict, a dataclass or a named tuple; None for anything else."""
    if isinstance(given, Mapping):
        for name in given:
            if not isinstance(name, str):
                kind = type(name).__name__
                raise Unfit(f"the fields of a record have names, and one of these is a {kind}")
        return dict(given)
    if dataclasses.is_dataclass(given) and not isinstance(given, type):
        return {field.name: getattr(given, field.name) for field in dataclasses.fields(given)}
    if isinstance(given, tuple) and hasattr(given, "_fields"):
        as_tuple = isinstance(wanted, Tuple) and not isinstance(wanted, Record)
        return None if as_tuple else dict(zip(given._fields, given, strict=True))
    return None


def with_records(made: Graph, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of a graph, with dicts for the records in its result."""
    result = operand_type(made.result)
    takes = any(_has_record(param.type) for param in made.params)
    gives = _has_record(result)
    if not takes and not gives:
        return function

    def run(*args: Any) -> Any:
        found = function(*map(_plain, args)) if takes else function(*args)
        return with_names(found, result) if gives else found

    def with_tuples(*args: Any) -> Any:
        """The same for records that are tuples already."""
        return with_names(function(*args), result)

    run.with_tuples = with_tuples if gives else function  # type: ignore[attr-defined]
    run.on_tuples = function  # type: ignore[attr-defined]
    return run


def by_path(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """The values in a record by their dotted names: `layers.w`."""
    if isinstance(value, dict):
        for field, part in value.items():
            yield from by_path(part, f"{name}.{field}" if name else field)
    else:
        yield name, value


def leaves(value: Any) -> Iterator[Any]:
    """The tensors in a result."""
    if isinstance(value, tuple | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from leaves(part)
    else:
        yield value


def _has_record(type_: Type) -> bool:
    if isinstance(type_, Record):
        return True
    return isinstance(type_, Tuple) and any(map(_has_record, type_.items))


def _plain(value: Any) -> Any:
    return tuple(map(_plain, value)) if isinstance(value, tuple) else value


def with_names(value: Any, type_: Type) -> Any:
    """A value with dicts for its records."""
    if not isinstance(type_, Tuple):
        return value
    parts = [with_names(part, inner) for part, inner in zip(value, type_.items, strict=True)]
    return dict(zip(type_.names, parts, strict=True)) if isinstance(type_, Record) else tuple(parts)
