"""The files of a program, linked for the run: what each name stands for at each place."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from axon.inference.environment import Entry, Environment, bound_names
from axon.inference.program import Definition, Inferred
from axon.syntax import ast, mentioned
from axon.types.read import read_signature
from axon.types.scope import Alias
from axon.types.trees import NOWHERE
from axon.types.type import Fn, Scheme, Type


@dataclass(slots=True, eq=False)
class Module:
    """A checked file. A definition sees what is bound above it, so a name is looked up from a
    place: the index of an item.
    """

    program: ast.Program
    types: dict[tuple[str, int], Entry] = field(default_factory=dict)
    places: dict[str, list[int]] = field(default_factory=dict)
    items: list[ast.Item] = field(default_factory=list)
    imports: dict[str, Module] = field(default_factory=dict)
    aliases: dict[str, Alias] = field(default_factory=dict)

    def find(self, name: str, before: int) -> tuple[Module, str, int] | None:
        """Where the name is bound, seen from an item: the file, the name there and the item."""
        found = self.places.get(name, [])
        at = bisect_left(found, before) - 1
        if at >= 0:
            return self, name, found[at]
        alias, dot, rest = name.partition(".")
        if dot and alias in self.imports:
            other = self.imports[alias]
            return other.find(rest, len(other.items))
        return None

    def entry(self, name: str, before: int) -> Entry | None:
        place = self.find(name, before)
        if place is None:
            return None
        module, known, at = place
        return module.types.get((known, at))

    def environment(self, before: int, *nodes: ast.Expr) -> Environment:
        """The types of the names that are mentioned."""
        names = {name: self.entry(name, before) for name in mentioned(*nodes)}
        known = {name: e for name, e in names.items() if e is not None}
        return Environment(None, known, self.aliases)


def make_module(
    program: ast.Program,
    inferred: Inferred,
    imports: dict[str, Module],
    held: Mapping[str, Entry] = MappingProxyType({}),
) -> Module:
    """The module of a program. `held` are operators that are known from outside its text: they
    come first, and are declared.
    """
    module = Module(program, imports=imports, aliases=inferred.environment.types)
    known = {definition.span: definition for definition in inferred.definitions}
    items: list[ast.Item] = [_declared(name) for name in held]
    for at, (name, entry) in enumerate(held.items()):
        module.types[name, at] = entry
        module.places[name] = [at]
    items += program.items
    if program.result is not None:
        span = program.result.span
        items.append(ast.Binding(ast.NamePattern("main", span), program.result, span))
    module.items = items
    for at, item in enumerate(items[len(held) :], len(held)):
        if isinstance(item, ast.OpDecl):
            find = module.aliases.get
            scheme, _ = read_signature(item.signature, user=True, aliases=find)
            module.types[item.name, at] = Entry(scheme, item.name_span)
            module.places.setdefault(item.name, []).append(at)
        elif isinstance(item, ast.Binding):
            for name, span in bound_names(item.pattern):
                if span in known:
                    found = known[span]
                    type_ = _type(found, inferred)
                    module.types[name, at] = Entry(type_, span, None, found.function)
                module.places.setdefault(name, []).append(at)
    return module


def _declared(name: str) -> ast.OpDecl:
    """A declaration whose type is stated elsewhere."""
    nothing = ast.Signature(ast.TupleType((), NOWHERE), (), NOWHERE)
    return ast.OpDecl(name, nothing, NOWHERE, NOWHERE)


def _type(definition: Definition, inferred: Inferred) -> Type | Scheme:
    """A function has a scheme. A value has one type in the entire file; a number may be a size."""
    scheme = definition.scheme
    if isinstance(scheme.type, Fn):
        return scheme
    return inferred.state.resolve(definition.type)
