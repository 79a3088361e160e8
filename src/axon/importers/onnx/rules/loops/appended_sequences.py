"""Sequences to which iterations append tensors of several sizes: they can only be joined.

Such a sequence is no tensor that is cut into pieces. Joined along an axis it is a tensor that grows
from iteration to iteration, for which Axon has loops.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from axon.importers.expressions import Expression
from axon.importers.node import Node
from axon.importers.operations import Graph, Operation, Unsupported
from axon.importers.sequences.uniform_chunks import same_for_all
from axon.importers.subgraphs.subgraph import computed, ranked
from axon.importers.walk import infer_operation
from axon.types.variables import DimVar


@dataclass(frozen=True, slots=True)
class AppendedSequence:
    """A state of a Loop, by its number: a sequence to which iterations append tensors of several
    sizes. `rows` has the type of those tensors in a stack; variables newer than `before` may differ
    among them.
    """

    loop: Operation
    state: int
    rows: str
    before: DimVar


def element(node: Node, found: AppendedSequence) -> Expression:
    """What is known of any of the tensors: the sizes that all of them have."""
    made = ranked(node, node.importer.types[found.rows])
    if made is None or node.importer.sequences[found.loop.inputs[2 + found.state]]:
        raise Unsupported(f"{node.operator}: tensors of which too little is known")
    names = [f"n{i}" for i in range(1, len(made.shape))]
    pairs = zip(names, made.shape[1:], strict=True)
    known = [name if same_for_all((size,), found.before) else f"?{name}" for name, size in pairs]
    signature = f"t [{', '.join(['n0', *names])}] -> t [{', '.join(known)}]"
    return node.declared(signature, node.tensor(found.rows))


def join(node: Node, found: AppendedSequence) -> None:
    """All of a sequence, joined along an axis: the Loop, with a tensor that grows in its place."""
    importer, axis = node.importer, node.attribute("axis")
    made = ranked(node, importer.types[found.rows])
    if made is None or not isinstance(made.elem, str) or node.attribute("new_axis", 0):
        raise Unsupported("ConcatFromSequence: tensors of which too little is known")
    each: Any = made.shape[1:]
    if not -len(each) <= axis < len(each):
        raise Unsupported(f"ConcatFromSequence along axis {axis} of {len(each)}")
    axis %= len(each)
    rest = (*each[:axis], 0, *each[axis + 1 :])
    if not same_for_all(rest, found.before):
        raise Unsupported("ConcatFromSequence: tensors that may differ in other sizes as well")
    parts = [node.tensor(n) for n in importer.sequences[found.loop.inputs[2 + found.state]]]
    if not parts:
        nothing = node.scalar(0, made.elem)
        parts = [node.call("full", node.shape_literal(rest), nothing)]
    begin = parts[0] if len(parts) == 1 else node.call("concat", *parts, axis=axis)
    name = computed(node, f"{node.outputs[0]}⟨begin⟩", "begin", begin)
    in_place(node, _joining(found, name, axis, node.outputs[0]))


def _joining(found: AppendedSequence, begin: str, axis: int, name: str) -> Operation:
    """The Loop that joins what it appended."""
    loop, body = found.loop, found.loop.attributes["body"]
    inputs = list(loop.inputs)
    inputs[2 + found.state] = begin
    outputs = [name if i == found.state else "" for i in range(len(inputs) - 2)]
    made = body.outputs[1 + found.state].name
    operations = [
        each.changed("Concat", attributes={"axis": axis}) if made in each.outputs else each
        for each in body.operations
    ]
    joined = Graph(body.inputs, body.outputs[: len(inputs) - 1], operations, body.constants)
    attributes = {**loop.attributes, "body": joined}
    return loop.changed(inputs=inputs, outputs=outputs, attributes=attributes)


def in_place(node: Node, loop: Operation) -> None:
    """Infer a Loop in the place of an earlier one, whose body the tensors are reported from."""
    importer, bodies = node.importer, set(node.importer.bodies)
    infer_operation(importer, loop, node.at, node.rules)
    for prefix in importer.bodies.keys() - bodies:
        for own, name in importer.bodies[prefix].names.items():
            importer.inner[own].discard(name)
