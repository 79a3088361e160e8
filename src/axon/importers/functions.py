"""Functions of a model's own, written out wherever they are called."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from axon.importers.node import Node, Rule, Rules
from axon.importers.operations import Function, Operation, renamed, used, with_attributes
from axon.importers.steps import Called, made_by
from axon.importers.walk import infer_operation


def with_functions(functions: Mapping[tuple[str, str], Function], rules: Rules) -> Rules:
    """The rules, where a function of the model is its own rule."""
    if not functions:
        return rules

    def find(operation: Operation, version: int) -> Rule | None:
        function = functions.get((operation.domain, operation.operator))
        return rules(operation, version) if function is None else partial(call, function=function)

    return find


def call(node: Node, function: Function) -> None:
    """A function, written out where a node calls it: tensors of its own begin with a prefix, and
    attributes that it is called with stand where its operations refer to them.
    """
    importer = node.importer
    node.alone = True
    operations = function.operations
    importer.enter(operations, node.operator)
    names: dict[str, str] = {"": "", **dict.fromkeys(function.params, "")}
    names.update(zip(function.params, node.inputs, strict=False))
    outside = dict(zip(function.results, node.outputs, strict=False))
    prefix = f"{node.outputs[0]}/"
    given = function.defaults | node.attributes
    importer.opset, version = function.version, importer.opset
    for operation in operations:
        importer.uses[operation.operator] += 2
    before = len(importer.steps)
    for operation in operations:
        for name in operation.outputs:
            names[name] = outside.get(name, name and prefix + name)
        for name in used(operation) if operation.has_graphs else operation.inputs:
            names.setdefault(name, prefix + name)
        called = renamed(with_attributes(operation, given), names)
        infer_operation(importer, called, node.at, node.rules)
    importer.depth -= 1
    importer.opset = version
    if importer.writes:
        made = frozenset(n for step in importer.steps[before:] for n in made_by(step) if n)
        parameters = dict(zip(node.inputs, function.params, strict=False))
        importer.calls.append(Called(function.domain, function.name, parameters, made))
