"""Nodes with other names for tensors, also in the graphs inside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

GRAPHS = (5, 10)
"""The types of attributes that are graphs, or lists of them."""


class Plain:
    """A node without graphs inside, as one of the file is."""

    __slots__ = ("attribute", "domain", "input", "name", "op_type", "output")

    def __init__(
        self,
        op_type: str,
        domain: str,
        name: str,
        taken: list[str],
        made: list[str],
        attribute: Sequence[Any],
    ) -> None:
        self.op_type = op_type
        self.domain = domain
        self.name = name
        self.input = taken
        self.output = made
        self.attribute = attribute


class Renamed(NamedTuple):
    """The nodes of a graph with the `names` that its tensors have in an importer, by their own, and
    with others for tensors `outside`.
    """

    names: dict[str, str]
    nodes: list[Any]
    outside: Mapping[str, str]


def renamed(node: Any, names: Mapping[str, str]) -> Any:
    """A node with other names; what a graph inside it calls by one of them, and does not have
    itself, has another name there too.
    """
    attributes = node.attribute[:]
    for attribute in attributes:
        if attribute.type in GRAPHS:
            return copied(node, names)
    taken = [names.get(name, name) for name in node.input[:]]
    made = [names.get(name, name) for name in node.output[:]]
    return Plain(node.op_type, node.domain, node.name, taken, made, attributes)


def copied(node: Any, names: Mapping[str, str]) -> Any:
    """The same as a message of its own, which may be changed."""
    copy = type(node)()
    copy.CopyFrom(node)
    _rename(copy, names)
    return copy


def _rename(node: Any, names: Mapping[str, str]) -> None:
    for i, name in enumerate(node.input):
        node.input[i] = names.get(name, name)
    for i, name in enumerate(node.output):
        node.output[i] = names.get(name, name)
    for graph in graphs(node):
        own = own_names(graph)
        inner = {old: new for old, new in names.items() if old not in own}
        inner |= _apart(own, set(inner.values()))
        for each in graph.node:
            _rename(each, inner)
        for info in (*graph.initializer, *graph.input, *graph.output):
            info.name = inner.get(info.name, info.name)


def _apart(own: list[str], taken: set[str]) -> dict[str, str]:
    """Other names for those that would be taken for tensors from outside."""
    found = {}
    for name in own:
        if name in taken:
            new = name
            while new in taken or new in own:
                new += "'"
            found[name] = new
    return found


def graphs(node: Any) -> Iterator[Any]:
    """The graphs inside a node."""
    for attribute in node.attribute[:]:
        if attribute.type == 5:
            yield attribute.g
        elif attribute.type == 10:
            yield from attribute.graphs


def own_names(graph: Any) -> list[str]:
    """The tensors of a graph; one outside may have the same name."""
    found = [info.name for side in (graph.initializer, graph.input) for info in side]
    for node in graph.node[:]:
        found += [name for name in node.output[:] if name]
    return list(dict.fromkeys(found))


def used(node: Any) -> set[str]:
    """The tensors that a node, or a graph inside it, takes from around it, and those it makes."""
    found = {*node.input[:], *node.output[:]}
    for graph in graphs(node):
        inside = {name for inner in graph.node for name in used(inner)}
        found |= {*inside, *(info.name for info in graph.output)} - set(own_names(graph))
    return found
