"""The names of a session: what each stands for, and what it needs.

A function means by a name what the session means by it now, also if that came later. So a program
for a line is put together anew: what the line mentions, what that mentions, and so on, each after
what it needs. A value was computed once, and needs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from axon.inference.environment import bound_names
from axon.repl.kept_values import KeptTensor
from axon.syntax import ast, free_names, mentioned


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """One name: an item of a program that binds it, and its line in `:names`. `written` is the item
    as it was typed, and `file` the program that it was loaded from.
    """

    key: str
    item: ast.Item
    line: str
    needs: frozenset[str]
    written: ast.Item
    file: str = ""
    held: tuple[KeptTensor, ...] | None = None
    """The tensors of a value; None if it is no value."""

    token: object = field(default_factory=object)
    """Tells this definition of the name from those before and after."""

    basis: Mapping[str, object] = field(default_factory=dict)
    """Of a value: the tokens of what its names stood for when it was computed."""

    @property
    def is_value(self) -> bool:
        return self.held is not None


def keys_of(item: ast.Item) -> list[str]:
    """The keys of what an item binds. Imports and types have names of their own, apart."""
    match item:
        case ast.Import():
            return [f"import {item.alias}"]
        case ast.TypeAlias():
            return [f"type {item.name}"]
        case ast.OpDecl():
            return [item.name]
        case ast.Binding():
            return [name for name, _ in bound_names(item.pattern)]


def needs_of(node: ast.Item | ast.Expr) -> frozenset[str]:
    """The keys that an item or an expression may mean: of names, of types and of imports."""
    found: set[str] = set()
    if not isinstance(node, ast.Import | ast.TypeAlias | ast.OpDecl):
        found.update(free_names(node.value if isinstance(node, ast.Binding) else node))
    names = {name for name in mentioned(node) if name}
    heads = {name.partition(".")[0] for name in (*names, *found) if "." in name}
    found.update(f"type {name}" for name in names)
    found.update(f"import {name}" for name in heads)
    return frozenset(found - {f"type {node.name}"} if isinstance(node, ast.TypeAlias) else found)


@dataclass(slots=True)
class Table:
    """All names, the last definition of each."""

    known: dict[str, Known] = field(default_factory=dict)

    def with_all(self, more: Iterable[Known]) -> Table:
        added = {each.key: each for each in more}
        return Table({k: v for k, v in self.known.items() if k not in added} | added)

    def needed(self, needs: Iterable[str]) -> list[Known]:
        """What the keys stand for, each after what it needs itself."""
        found: dict[str, Known] = {}
        started: set[str] = set()
        todo: list[tuple[str, bool]] = [(key, False) for key in sorted(needs, reverse=True)]
        while todo:
            key, ready = todo.pop()
            each = self.known.get(key)
            if each is None or key in found:
                continue
            if ready:
                found[key] = each
            elif key not in started:
                started.add(key)
                todo.append((key, True))
                todo.extend((inner, False) for inner in sorted(each.needs, reverse=True))
        return list(found.values())

    def users(self, keys: Iterable[str]) -> list[Known]:
        """What uses one of the keys, directly or through others, each after what it needs."""
        affected = set(keys)
        first = frozenset(affected)
        grew = True
        while grew:
            more = {k for k, e in self.known.items() if k not in affected and e.needs & affected}
            affected |= more
            grew = bool(more)
        return [each for each in self.needed(affected) if each.key in affected - first]

    def is_used(self, key: str) -> bool:
        """Whether anything uses the name, or was computed with what it stood for."""
        return any(key in each.needs or key in each.basis for each in self.known.values())

    def circle(self, new: Known) -> list[str]:
        """The way from a new definition back to itself; empty if there is none."""
        came: dict[str, str] = {}
        todo = [(need, new.key) for need in sorted(new.needs)]
        while todo:
            key, before = todo.pop()
            if key in came or (key not in self.known and key != new.key):
                continue
            came[key] = before
            if key == new.key:
                return _way(came, key)
            todo.extend((need, key) for need in sorted(self.known[key].needs))
        return []

    def values_of(self, keys: Iterable[str]) -> Iterator[Known]:
        """The values that were computed with what one of the keys stood for before."""
        wanted = set(keys)
        for each in self.known.values():
            if wanted.intersection(each.basis) - {each.key}:
                yield each


def _way(came: Mapping[str, str], end: str) -> list[str]:
    way = [end]
    while came[way[-1]] != end:
        way.append(came[way[-1]])
    return way[::-1]
