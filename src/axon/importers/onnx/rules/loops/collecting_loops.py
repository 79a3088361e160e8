"""Loops that collect: a state to which iterations only append is an output of each instead.

The state may be a tensor, which grows along its first axis, or a sequence.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from axon.importers.node import Node
from axon.importers.onnx.rules.loops.appended_sequences import AppendedSequence, in_place
from axon.importers.operations import Declared, Graph, Operation, used
from axon.importers.runtime_values import merged
from axon.importers.sequences.uniform_chunks import Chunks, hold, hold_opaque, same_for_all
from axon.importers.subgraphs.loop_state import padded
from axon.importers.subgraphs.subgraph import computed, prefix_of, ranked, undo
from axon.importers.walk import infer_operation
from axon.types.variables import DimVar


def appended(body: Graph, operator: str = "Concat") -> dict[int, str]:
    """The states to which a body appends by this operator, along the first axis, and does nothing
    else with them, by number, each with what is appended.
    """
    makers = {
        each.outputs[0]: each
        for each in body.operations
        if each.operator == operator and each.outputs
    }
    found = {}
    for i, (given, made) in enumerate(zip(body.inputs[2:], body.outputs[1:], strict=False)):
        maker = makers.get(made.name)
        if maker is not None and _appends(maker, given.name):
            found[i] = maker.inputs[1]
    if not found:
        return {}
    uses = Counter(n for each in body.operations for n in used(each) - set(each.outputs))
    uses.update(each.name for each in body.outputs)
    return {
        i: part
        for i, part in found.items()
        if uses[body.inputs[2 + i].name] == 1 and uses[body.outputs[1 + i].name] == 1
    }


def _appends(operation: Operation, state: str) -> bool:
    """Whether an operation puts something else behind a state, along the first axis."""
    inputs = operation.inputs
    if len(inputs) != 2 or inputs[0] != state or inputs[1] == state:
        return False
    return operation.attributes.get("axis") == 0 or operation.operator != "Concat"


def listed(node: Node) -> dict[int, str]:
    """The states of a Loop that are sequences, to which its body only appends."""
    if not node.importer.sequences:
        return {}
    found = appended(node.attribute("body"), "SequenceInsert").items()
    return {
        i: part
        for i, part in found
        if isinstance(node.importer.sequences.get(node.name(2 + i)), tuple)
    }


def collect(node: Node, parts: dict[int, str]) -> bool:
    """The Loop without these states: what iterations append is stacked, and joined to the initial
    state. States to which they append tensors of several sizes stay as they are. Returns whether
    there are any others.
    """
    importer, before, back = node.importer, node.fresh_dim(), undo(node.importer)
    names, rows = _collected(node, parts, {})
    uneven = {i for i in rows if _varies(node, node.name(2 + i), rows[i], before)}
    if uneven:
        back()
        others = {i: part for i, part in parts.items() if i not in uneven}
        return bool(others) and collect(node, others)
    asked = {i: node.name(2 + i) for i in rows if not _fits(node, node.name(2 + i), rows[i])}
    if asked:
        back()
        none = {begin: _none(node, begin) for begin in dict.fromkeys(asked.values())}
        names, rows = _collected(node, parts, {i: none[begin] for i, begin in asked.items()})
    for i, name in rows.items():
        if names[i] and node.name(2 + i) in importer.sequences:
            _list(node, AppendedSequence(node.operation, i, name, before), names[i])
        elif names[i]:
            _join(node, node.name(2 + i), name, names[i])
    return True


def _varies(node: Node, begin: str, rows: str, before: DimVar) -> bool:
    """Whether iterations may append tensors of several sizes: variables newer than `before`."""
    made = ranked(node, node.importer.types[rows])
    if made is None or len(made.shape) < 2 or begin in node.importer.sequences:
        return False
    return not same_for_all(made.shape[1:2], before)


def _fits(node: Node, begin: str, rows: str) -> bool:
    """Whether what is appended is known to have the sizes of what it is appended to."""
    made, first = (ranked(node, node.importer.types[name]) for name in (rows, begin))
    if made is None or first is None or begin in node.importer.sequences:
        return True
    return made.shape[2:] == first.shape[1:]


def _none(node: Node, begin: str) -> str:
    """No rows of a tensor."""
    expr = node.call("slice", node.tensor(begin), stop=0)
    return computed(node, f"{begin}⟨none⟩", "none", expr)


def _collected(
    node: Node, parts: dict[int, str], nones: dict[int, str]
) -> tuple[list[str], dict[int, str]]:
    """The names of all outputs, and of the rows by the numbers of the states that they are for."""
    importer, states = node.importer, node.count - 2
    names = padded(node.outputs, max(states, len(node.outputs)))
    first = next(filter(None, names), "")
    rows = {i: f"{first}⟨rows {i}⟩" for i in parts}
    for i, name in rows.items():
        importer.hidden.add(name)
        importer.own[name] = f"{names[i] or first}_rows"
    loop = _without(node, parts, names, rows, nones)
    if prefix_of(node, "body") in importer.bodies:
        in_place(node, loop)
    else:
        infer_operation(importer, loop, node.at, node.rules)
    return names, rows


def _without(
    node: Node,
    parts: dict[int, str],
    names: list[str],
    rows: dict[int, str],
    nones: dict[int, str],
) -> Operation:
    """The Loop that makes what it appends. Appending to `nones` only asks for the right sizes."""
    states = node.count - 2
    kept = [i for i in range(states) if i not in parts]
    inputs = [*node.inputs[:2], *(node.inputs[2 + i] for i in kept)]
    outputs = [*(names[i] for i in kept), *names[states:], *rows.values()]
    attributes = {
        **node.attributes,
        "body": _collecting(node.attributes["body"], kept, parts, nones),
    }
    return node.operation.changed(inputs=inputs, outputs=outputs, attributes=attributes)


def _collecting(
    body: Graph, kept: list[int], parts: dict[int, str], nones: dict[int, str]
) -> Graph:
    """The body that gives what it would append."""
    inputs, outputs, states = body.inputs, body.outputs, len(kept) + len(parts)
    given = {i: outputs[1 + i].name if i in nones else part for i, part in parts.items()}
    more = [Declared(part, None, None) for part in given.values()]
    begins = {outputs[1 + i].name: nones.get(i) for i in parts}
    operations = []
    for each in body.operations:
        begin = begins.get(each.outputs[0], "") if each.outputs else ""
        if begin:
            operations.append(each.changed(inputs=[begin, *each.inputs[1:]]))
        elif begin is not None:
            operations.append(each)
    return Graph(
        [*inputs[:2], *(inputs[2 + i] for i in kept)],
        [outputs[0], *(outputs[1 + i] for i in kept), *outputs[1 + states :], *more],
        operations,
        body.constants,
    )


def _join(node: Node, begin: str, rows: str, name: str) -> None:
    """The rows one after another, behind what was there in the beginning."""
    importer = node.importer
    made, first = ranked(node, importer.types[rows]), ranked(node, importer.types[begin])
    if made is None or len(made.shape) < 2 or first is None:
        importer.define(name, node.unknown())
        return
    given = node.tensor(rows)
    expr = node.call("squeeze", given, axis=[1])
    if made.shape[1] != 1:
        expr = merged(node, given, made.shape, 0)
    joined = computed(node, f"{rows}⟨all⟩", "all", expr)
    whole = node.call("concat", node.tensor(begin), node.tensor(joined))
    importer.define(name, node.infer(whole))
    node.step((name,), whole)


def _list(node: Node, found: AppendedSequence, name: str) -> None:
    """The sequence of the rows, behind what was in it in the beginning: as pieces of one tensor, if
    all rows have the same shape.
    """
    importer, rows, begin = node.importer, found.rows, node.name(2 + found.state)
    made = ranked(node, importer.types[rows])
    each: Any = None if made is None else made.shape[1:]
    parts = [node.tensor(n) for n in importer.sequences[begin]]
    firsts = [ranked(node, importer.types[n]) for n in importer.sequences[begin]]
    if (
        each is None
        or not same_for_all(each, found.before)
        or any(first is None or first.shape != each for first in firsts)
    ):
        hold_opaque(node, name, rows, found)
        return
    if parts:
        expr = node.call("concat", node.call("stack", *parts), node.tensor(rows))
        rows = computed(node, f"{rows}⟨all⟩", "all", expr)
    hold(node, name, Chunks(rows, 0, 1, bare=True))
