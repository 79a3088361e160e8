"""Partial evaluation of shapes: a definition's type when more is known about its arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from axon.diagnostics import Diagnostic
from axon.driver import prelude
from axon.graph.module import Module
from axon.graph.scope import as_function
from axon.inference.elaborate import elaborate
from axon.inference.schemes import visible
from axon.run.errors import ArgumentError
from axon.source import Source
from axon.syntax import ast, parse_signature
from axon.types.read import Reader, Scope
from axon.types.show import Names, Show
from axon.types.type import Type, relation_variables, type_variables
from axon.workspace import workspace


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
    module: Module, name: str, params: Sequence[str], types: Mapping[str, str]
) -> Specialised:
    scope = Scope()
    reader = Reader(scope, 0, 1)
    reader.in_parameter = True
    given = {param: _read(name, param, text, params, reader) for param, text in types.items()}
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
        arguments = ", ".join(f"{param} : {text}" for param, text in types.items())
        raise ArgumentError(f"{name} cannot be called with {arguments}", found)
    names = Names()
    names.reserve(type_variables(found.type))
    relations = visible(g.relation for g in found.checks)
    for relation in relations:
        names.reserve(relation_variables(relation))
    show = Show(names)
    type_ = show.type(found.type)
    return Specialised(name, type_, tuple(show.relation(r) for r in relations))


def _read(name: str, param: str, text: str, params: Sequence[str], reader: Reader) -> Type:
    if param not in params:
        listed = ", ".join(params) or "none"
        raise ArgumentError(f"{name} has no argument `{param}`: its arguments are {listed}")
    if not isinstance(text, str):
        raise ArgumentError(
            f'{name}: the type of `{param}` is a text, such as "f32 [n,3]", and not a value of '
            f"type {type(text).__name__}"
        )
    parsed, problems = parse_signature(Source(f"the type of {param}", text))
    if parsed is None or problems:
        raise ArgumentError(f"{name}: `{text}` is not a type", problems)
    type_ = reader.read_type(parsed.type)
    wrong: list[Diagnostic] = reader.diagnostics
    if wrong:
        raise ArgumentError(f"{name}: `{text}` is not a type", wrong)
    return type_
