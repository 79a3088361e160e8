"""Operations inferred one after another, equal ones once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from axon.diagnostics import Diagnostic, Label, Severity
from axon.importers.importer import Importer
from axon.importers.memo import Seen, variables
from axon.importers.node import Node, Rule, Rules
from axon.importers.operations import Malformed, Operation, Unsupported
from axon.importers.steps import Repeated, Step, made_by
from axon.inference.environment import Entry
from axon.source import Span
from axon.types.dim import Poly
from axon.types.type import Tensor
from axon.types.variables import made_so_far

OFTEN = 6
"""An operator that a graph uses less often is inferred each time: to remember takes longer."""


def infer_all(importer: Importer, rules: Rules) -> None:
    """The operations of the model's own graph."""
    for at, operation in enumerate(importer.operations):
        infer_operation(importer, operation, at, rules)


def infer_operation(importer: Importer, operation: Operation, at: int, rules: Rules) -> None:
    """An operation of the model, or of a subgraph or a function of the one at this place."""
    if importer.uses[operation.operator] < OFTEN:
        _infer(importer, importer.make_node(importer, operation, at, rules))
        return
    memo = importer.memo
    key = memo.key(operation, importer.opset, importer.kinds)
    seen = memo.seen.get(key)
    if seen is not None and _repeat(importer, operation, seen):
        return
    node = importer.make_node(importer, operation, at, rules)
    before, steps, made = importer.trouble(), len(importer.steps), made_so_far()
    _infer(importer, node)
    nothing_new = made_so_far() == made + 1
    if importer.trouble() == before and may_repeat(importer, node, nothing_new):
        if node.looked and memo.look(node.operator, node.looked):
            key = memo.key(operation, importer.opset, importer.kinds)
        outputs = tuple([importer.outcome(name) if name else None for name in node.outputs])
        written = tuple([step for step in importer.steps[steps:] if isinstance(step, Step)])
        memo.seen[key] = Seen(operation, outputs, written)


def _repeat(importer: Importer, operation: Operation, seen: Seen) -> bool:
    """Give what an equal operation gave, if the same outputs are wanted."""
    names = operation.outputs
    for name, outcome in zip(names, seen.outputs, strict=True):
        if (name == "") != (outcome is None):
            return False
    for name, outcome in zip(names, seen.outputs, strict=True):
        if outcome is not None:
            importer.types[name] = outcome.type
            importer.memo.kinds[name] = outcome.kinds
            if outcome.contents is not None:
                importer.contents[name] = outcome.contents
            else:
                importer.contents.pop(name, None)
            if name in importer.aliases:
                importer.env.names[importer.aliases[name]] = Entry(outcome.type)
    if importer.writes:
        importer.steps.append(Repeated(seen.steps, seen.node, operation))
    return True


def may_repeat(importer: Importer, node: Node, nothing_new: bool) -> bool:
    """Whether an equal operation gives the same: an output that has a variable of its own, which
    no input has, is no other operation's.
    """
    if node.alone or node.operation.has_graphs:
        return False
    sequences = importer.sequences
    if sequences and any(name in sequences for name in (*node.inputs, *node.outputs)):
        return False  # it speaks of their elements
    if nothing_new:
        return True  # there is no variable that it could have for itself
    own = _variables(importer, node.outputs)
    return not own or own <= _variables(importer, node.inputs)


def _variables(importer: Importer, names: Sequence[str]) -> set[Any]:
    known = [name for name in names if name in importer.types]
    return set(variables(map(importer.type, known), map(importer.contents.get, known)))


def _rule(importer: Importer, node: Node) -> Rule | None:
    """The rule of an operation, if there is one and it is well-formed."""
    operator = node.operator
    try:
        rule = node.rules(node.operation, importer.opset)
    except Malformed as wrong:
        importer.malformed[node.at, node.operation.label] = node.operation, str(wrong)
        importer.unsolved += 1
        return None
    if rule is None:
        importer.unsupported.setdefault(operator, (operator, node.at))
        importer.unsolved += 1
    return rule


def malformed(operation: Operation, why: str, span: Span) -> Diagnostic:
    """The error about an operation that its operator cannot be."""
    text = f"{operation.title}: {why}; what it makes is not known"
    return Diagnostic("AX505", Severity.ERROR, text, (Label(span, "malformed", primary=True),))


def _infer(importer: Importer, node: Node) -> None:
    """Apply the rule of an operation; an output that the rule does not set is unknown."""
    operator, before = node.operator, len(importer.steps)
    for name in node.inputs:
        if name and name not in importer.types:
            importer.define(name, importer.unknown())
            importer.unmade = True
    rule = _rule(importer, node)
    try:
        if rule is not None and (node.asserts or any(node.outputs)):
            node.set_made(rule(node))
    except Unsupported as lacking:
        importer.unsupported.setdefault(operator, (str(lacking), node.at))
        importer.unsolved += 1
    except Malformed as wrong:
        importer.state.diagnostics.append(malformed(node.operation, str(wrong), node.span))
    if importer.writes:
        made = [name for step in importer.steps[before:] for name in made_by(step)]
        for name in node.outputs:
            if name and name not in made:
                node.step((name,), None)
    for name in filter(None, node.outputs):
        if name not in importer.types:
            importer.define(name, importer.unknown())
        type_ = importer.type(name)
        for item in type_.shape if isinstance(type_, Tensor) else ():
            if isinstance(item, Poly):
                importer.enter_size(item)
