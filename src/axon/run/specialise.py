"""Partial evaluation of shapes: a definition's type when more is known about its arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from axon.backends.ragged import RaggedError
from axon.diagnostics import Diagnostic
from axon.driver import prelude
from axon.graph.module import Module
from axon.graph.scope import as_function
from axon.inference.generalise.schemes import visible
from axon.inference.recording.elaborate import elaborate
from axon.run import values
from axon.run.errors import ArgumentError
from axon.run.structures import Unfit, fields_of
from axon.source import Source
from axon.syntax import ast, parse_signature
from axon.types.elements import ANY
from axon.types.reader import Reader
from axon.types.scope import Scope
from axon.types.show import Names, Show
from axon.types.type import (
    Record,
    ShapeValue,
    Tensor,
    Tuple,
    Type,
    record,
    relation_variables,
    type_variables,
)
from axon.types.variables import ElemVar
from axon.workspace import workspace

DEEPEST = 64
"""How deep tuples may be nested."""


@dataclass(frozen=True, slots=True)
class Specialised:
    """The remaining type, and its remaining conditions."""

    name: str
    type: str
    where: tuple[str, ...]

    @property
    def signature(self) -> str:
        return self.type + (f" where {', '.join(self.where)}" if self.where else "")

    def __str__(self) -> str:
        return f"{self.name} : {self.signature}"


def specialise(
    module: Module, name: str, params: Mapping[str, Type | None], types: Mapping[str, Any]
) -> Specialised:
    """The type of a definition whose parameters have the types `params`, at these `types`."""
    scope = Scope()
    reader = Reader(scope, 0, 1)
    reader.in_parameter = True
    given: dict[str, Type] = {}
    for param, about in types.items():
        if param not in params:
            listed = ", ".join(params) or "none"
            raise ArgumentError(f"{name} has no argument `{param}`: its arguments are {listed}")
        given[param] = type_of(name, param, about, params[param], reader)
    place = module.find(name, len(module.items))
    assert place is not None
    at = place[2]
    item = module.items[at]
    assert isinstance(item, ast.Binding)
    fn = as_function(item.value, len(params))
    with workspace():
        found = elaborate(
            fn,
            lambda _: module.environment(at, fn),
            prelude,
            [given.get(p.name) for p in fn.params],
            name=name,
        )
    if isinstance(found, list):
        shown = Show(Names())
        arguments = ", ".join(f"{param} : {shown.type(type_)}" for param, type_ in given.items())
        raise ArgumentError(f"{name} cannot be called with {arguments}", found)
    names = Names()
    names.reserve(type_variables(found.type))
    relations = visible(g.relation for g in found.checks)
    for relation in relations:
        names.reserve(relation_variables(relation))
    show = Show(names)
    type_ = show.type(found.type)
    return Specialised(name, type_, tuple(show.relation(r) for r in relations))


def type_of(
    name: str, param: str, about: Any, wanted: Type | None, reader: Reader, depth: int = 0
) -> Type:
    """The type that is meant by a text, by the sizes of a tensor, by a value of that type, or by a
    tuple or a record of these for a parameter that is one.
    """
    depth += 1
    if depth > DEEPEST:
        raise ArgumentError(f"{name}: `{param}` is nested too deeply")
    if isinstance(about, str):
        return _read(name, param, about, reader)
    try:
        fields = fields_of(about, wanted)
        if fields is not None:
            types = wanted.fields if isinstance(wanted, Record) else {}
            return record(
                {
                    field: type_of(name, f"{param}.{field}", part, types.get(field), reader, depth)
                    for field, part in fields.items()
                }
            )
        if isinstance(about, tuple) and isinstance(wanted, Tensor):
            return _sized(name, param, about, wanted, reader)
        if not isinstance(about, tuple) or isinstance(wanted, ShapeValue):
            return values.exact_type(values.take(about, wanted))
    except (Unfit, RaggedError, TypeError, ValueError) as unfit:
        raise ArgumentError(
            f'{name}: `{param}` must be a type, such as "f32 [n,3]", or a value: {unfit}'
        ) from None
    inner: Sequence[Type | None] = [None] * len(about)
    if isinstance(wanted, Tuple) and len(wanted.items) == len(about):
        inner = wanted.items
    items = zip(about, inner, strict=True)
    return Tuple(tuple(type_of(name, param, a, w, reader, depth) for a, w in items))


def _sized(name: str, param: str, sizes: tuple[Any, ...], wanted: Tensor, reader: Reader) -> Tensor:
    """A tensor of these sizes, numbers or names, with the element type that is expected."""
    found = _read(name, param, f"f32 [{', '.join(map(str, sizes))}]", reader)
    assert isinstance(found, Tensor)
    elem = wanted.elem if isinstance(wanted.elem, str) else ElemVar("", 0, allowed=ANY)
    return Tensor(elem, found.shape)


def _read(name: str, param: str, text: str, reader: Reader) -> Type:
    parsed, problems = parse_signature(Source(f"the type of {param}", text))
    if parsed is None or problems:
        raise ArgumentError(f"{name}: `{text}` is not a type", problems)
    type_ = reader.read_type(parsed.type)
    wrong: list[Diagnostic] = reader.diagnostics
    if wrong:
        raise ArgumentError(f"{name}: `{text}` is not a type", wrong)
    return type_
