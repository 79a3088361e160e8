"""Loops that collect: a state to which each turn only appends is an output of the turns instead.

The state may be a tensor, which grows along its first axis, or a sequence.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from axon.importers.onnx.growing import Growing, in_place
from axon.importers.onnx.inside import hidden, prefix_of, ranked, undo
from axon.importers.onnx.node import Node
from axon.importers.onnx.pieces import Pieces, same_for_all
from axon.importers.onnx.renamed import used
from axon.types import dim as dims
from axon.types.type import Tensor
from axon.types.variables import DimVar


def appended(body: Any, operator: str = "Concat") -> dict[int, str]:
    """The states to which a body appends by this operator, along the first axis, and does nothing
    else with them, by number, each with what is appended.
    """
    makers = {
        node.output[0]: node for node in body.node if node.op_type == operator and node.output
    }
    found = {}
    for i, (given, made) in enumerate(zip(body.input[2:], body.output[1:], strict=False)):
        node = makers.get(made.name)
        if node is not None and _appends(node, given.name):
            found[i] = str(node.input[1])
    if not found:
        return {}
    uses = Counter(name for node in body.node for name in used(node) - set(node.output))
    uses.update(info.name for info in body.output)
    return {
        i: part
        for i, part in found.items()
        if uses[body.input[2 + i].name] == 1 and uses[body.output[1 + i].name] == 1
    }


def _appends(node: Any, state: str) -> bool:
    """Whether a node puts something else behind a state, along the first axis."""
    if len(node.input) != 2 or node.input[0] != state or node.input[1] == state:
        return False
    axis = next((a.i for a in node.attribute if a.name == "axis"), None)
    return axis == 0 or node.op_type != "Concat"


def listed(node: Node) -> dict[int, str]:
    """The states of a Loop that are sequences, to which its body only appends."""
    body = node.attribute("body")
    if not node.importer.sequences or body is None or not hasattr(body, "node"):
        return {}
    found = appended(body, "SequenceInsert").items()
    return {
        i: part
        for i, part in found
        if isinstance(node.importer.sequences.get(node.name(2 + i)), tuple)
    }


def collect(node: Node, parts: dict[int, str]) -> bool:
    """The Loop without these states; what each turn appends is stacked, and joined to what was
    there in the beginning. Those to which turns append tensors of several sizes stay as they are.
    Says whether there are any others.
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
            _list(node, Growing(node.proto, i, name, before), names[i])
        elif names[i]:
            _join(node, node.name(2 + i), name, names[i])
    return True


def _varies(node: Node, begin: str, rows: str, before: DimVar) -> bool:
    """Whether a turn may append more than another: what was not there before is in its size."""
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
    name = hidden(node, f"{begin}⟨none⟩", "none", node.infer(expr))
    node.step((name,), expr)
    return name


def _collected(
    node: Node, parts: dict[int, str], nones: dict[int, str]
) -> tuple[list[str], dict[int, str]]:
    """The names of all outputs, and of the rows by the numbers of the states that they are for."""
    importer, states = node.importer, node.count - 2
    names = [*node.outputs, *[""] * states][: max(states, len(node.outputs))]
    first = next(filter(None, names), "")
    rows = {i: f"{first}⟨rows {i}⟩" for i in parts}
    for i, name in rows.items():
        importer.hidden.add(name)
        importer.own[name] = f"{names[i] or first}_rows"
    loop = _without(node, parts, names, rows, nones)
    if prefix_of(node, "body") in importer.bodies:
        in_place(node, loop)
    else:
        importer.node(loop, node.at, node.rules)
    return names, rows


def _without(
    node: Node,
    parts: dict[int, str],
    names: list[str],
    rows: dict[int, str],
    nones: dict[int, str],
) -> Any:
    """The Loop that gives what it appends. Where a turn appends to `nones`, that asks for the right
    sizes and for nothing else.
    """
    states = node.count - 2
    kept = [i for i in range(states) if i not in parts]
    copy = type(node.proto)()
    copy.CopyFrom(node.proto)
    copy.input[:] = [*node.proto.input[:2], *(node.proto.input[2 + i] for i in kept)]
    copy.output[:] = [*(names[i] for i in kept), *names[states:], *rows.values()]
    body = next(a.g for a in copy.attribute if a.name == "body")
    inputs, outputs = list(body.input), list(body.output)
    given = {i: outputs[1 + i].name if i in nones else part for i, part in parts.items()}
    more = [type(outputs[0])(name=part) for part in given.values()]
    begins = {outputs[1 + i].name: nones.get(i) for i in parts}
    nodes = []
    for each in body.node:
        begin = begins.get(each.output[0], "") if each.output else ""
        if begin:
            each.input[0] = begin
        if begin is not None:
            nodes.append(each)
    del body.input[:], body.output[:], body.node[:]
    body.input.extend([*inputs[:2], *(inputs[2 + i] for i in kept)])
    body.output.extend([outputs[0], *(outputs[1 + i] for i in kept), *outputs[1 + states :], *more])
    body.node.extend(nodes)
    return copy


def _join(node: Node, begin: str, rows: str, name: str) -> None:
    """The rows one after another, behind what was there in the beginning."""
    importer = node.importer
    made, first = ranked(node, importer.types[rows]), ranked(node, importer.types[begin])
    if made is None or len(made.shape) < 2 or first is None:
        importer.define(name, node.unknown())
        return
    word: Any = made.shape
    times, each, *rest = word
    flat = (dims.mul(times, each), *rest)
    given = node.tensor(rows)
    expr = later = node.call("squeeze", given, axis=[1])
    if each != 1:
        sizes = [node.call("size", given, axis=i) for i in range(len(made.shape))]
        listed = (node.call("*", sizes[0], sizes[1]), *sizes[2:])
        later = node.call("reshape", given, node.listed(listed))
        expr = node.call("reshape", given, node.shape_literal(flat))
    joined = hidden(node, f"{rows}⟨all⟩", "all", Tensor(made.elem, flat))
    node.step((joined,), expr, later)
    parts = [node.tensor(n) for n in (begin, joined)]
    whole = node.call("concat", *parts)
    importer.define(name, node.infer(whole))
    node.step((name,), whole)


def _list(node: Node, found: Growing, name: str) -> None:
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
        importer.define(name, node.unknown(importer.elem(rows)))
        importer.sequences[name] = found
        node.step((name,), None)
        return
    if parts:
        more = node.tensor(rows)
        expr = node.call("concat", node.call("stack", *parts), more)
        rows = hidden(node, f"{rows}⟨all⟩", "all", node.infer(expr))
        node.step((rows,), expr)
    importer.define(name, node.unknown(importer.elem(rows)))
    importer.sequences[name] = Pieces(rows, 0, 1, bare=True)
    node.step((name,), None)
