"""Functions of a model's own: each is read once, and written out wherever it is called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from axon.importers.onnx.renamed import GRAPHS, Plain, copied, graphs, used
from axon.importers.onnx.steps import Called, made_by
from axon.importers.onnx.values import MOST_WRITTEN_OUT, Unsupported

if TYPE_CHECKING:
    from axon.importers.onnx.node import Node

DEEPEST = 12


class Function:
    """A function as a file has it, read when it is first called. Its nodes are `Plain` where they
    are the same in every call but for the names of tensors.
    """

    __slots__ = ("defaults", "is_read", "nodes", "params", "proto", "results")

    def __init__(self, proto: Any) -> None:
        self.proto = proto
        self.is_read = False
        self.params: list[str] = []
        self.results: list[str] = []
        self.nodes: list[Any] = []
        self.defaults: dict[str, Any] = {}

    def read(self) -> None:
        if not self.is_read:
            proto = self.proto
            self.params, self.results = proto.input[:], proto.output[:]
            self.nodes = [_read(node) for node in proto.node[:]]
            self.defaults = {a.name: a for a in proto.attribute_proto[:]}
            self.is_read = True


def _read(node: Any) -> Any:
    attributes = node.attribute[:]
    for attribute in attributes:
        if attribute.type in GRAPHS or attribute.ref_attr_name:
            return node
    return Plain(node.op_type, node.domain, node.name, node.input[:], node.output[:], attributes)


def call(node: Node, function: Function) -> None:
    """A function, written out where a node calls it."""
    importer = node.importer
    if importer.depth > DEEPEST:
        raise Unsupported(f"{node.operator}: functions call each other too deeply")
    function.read()
    nodes = function.nodes
    inside: dict[str, str] = dict.fromkeys(function.params, "")
    inside.update(zip(function.params, node.inputs, strict=False))
    outside = dict(zip(function.results, node.outputs, strict=False))
    prefix = f"{node.outputs[0]}/"
    importer.written_out += len(nodes)
    if importer.written_out > MOST_WRITTEN_OUT:
        raise Unsupported(f"{node.operator}: functions call each other too often")
    given = function.defaults | node.attributes
    importer.depth += 1
    for proto in nodes:
        importer.uses[proto.op_type] += 2
    before = len(importer.steps)
    for proto in nodes:
        for name in proto.output[:]:
            inside[name] = outside.get(name, name and prefix + name)
        importer.node(_called(proto, inside, prefix, given), node.at, node.rules)
    importer.depth -= 1
    if importer.writes:
        names = frozenset(n for step in importer.steps[before:] for n in made_by(step) if n)
        parameters = dict(zip(node.inputs, function.params, strict=False))
        called = Called(function.proto.domain, function.proto.name, parameters, names)
        importer.calls.append(called)


def _called(node: Any, names: Mapping[str, str], prefix: str, given: Mapping[str, Any]) -> Any:
    """A node of a function where that is called: tensors that have no name yet begin with a prefix,
    and attributes that the function is called with stand where the node speaks of them.
    """
    attributes: list[Any] = node.attribute[:]
    if not isinstance(node, Plain):
        for i, attribute in enumerate(attributes):
            if attribute.type in GRAPHS:
                copy = copied(node, {n: names.get(n, n and prefix + n) for n in used(node)})
                _put_attributes(copy, given)
                return copy
            if attribute.ref_attr_name:
                attributes[i] = _put(attribute, given)
    taken = [names.get(name, name and prefix + name) for name in node.input[:]]
    made = [names.get(name, name and prefix + name) for name in node.output[:]]
    return Plain(node.op_type, node.domain, node.name, taken, made, attributes)


def _put(attribute: Any, given: Mapping[str, Any]) -> Any:
    """What an attribute speaks of, under its name."""
    found = given.get(attribute.ref_attr_name)
    if found is None:
        return attribute
    copy = type(attribute)()
    copy.CopyFrom(found)
    copy.name = attribute.name
    return copy


def _put_attributes(node: Any, given: Mapping[str, Any]) -> None:
    for attribute in node.attribute:
        if attribute.ref_attr_name:
            attribute.CopyFrom(_put(attribute, given))
    for graph in graphs(node):
        for inner in graph.node:
            _put_attributes(inner, given)
