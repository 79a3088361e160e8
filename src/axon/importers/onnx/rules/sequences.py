"""Sequences whose length is known: their elements are tensors like others, each with its name.

What is done with such a sequence is done with its elements, so that none is left in the program.
Those of which only a run knows the length are in `pieces.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from axon.importers.contents.queries import integers
from axon.importers.contents.values import Unsupported
from axon.importers.expressions import TupleOf
from axon.importers.node import Node
from axon.importers.onnx.rules.growing_sequences import Growing, element, join
from axon.importers.onnx.rules.registry import rule
from axon.importers.sequences import uniform_chunks as pieces
from axon.importers.sequences.chunk_map import map_chunks
from axon.importers.sequences.uniform_chunks import Chunks
from axon.importers.subgraphs.subgraph import hidden, subgraph
from axon.types.type import Tuple

MOST_ELEMENTS = 256


def _elements(node: Node, index: int) -> list[str]:
    """The tensors that a sequence holds."""
    found = node.importer.sequences.get(node.name(index))
    if not isinstance(found, tuple):
        raise Unsupported(f"{node.operator}: a sequence of which only a run knows the length")
    return list(found)


def _pieces(node: Node) -> Chunks | None:
    """The first input, if it is a tensor that is cut into pieces."""
    found = node.importer.sequences.get(node.name(0))
    return found if isinstance(found, Chunks) else None


def _growing(node: Node) -> Growing | None:
    """The first input, if it is one to which turns append tensors of several sizes."""
    found = node.importer.sequences.get(node.name(0))
    return found if isinstance(found, Growing) else None


def _gives(node: Node, elements: Sequence[str], output: int = 0) -> None:
    """An output is the sequence of these tensors."""
    importer, name = node.importer, node.outputs[output]
    if len(elements) > MOST_ELEMENTS:
        raise Unsupported(f"{node.operator}: a sequence of {len(elements)} tensors")
    importer.define(name, Tuple(tuple(importer.types[each] for each in elements)))
    importer.sequences[name] = tuple(elements)
    if len(elements) != 1 and importer.writes:
        names = tuple(node.tensor(each) for each in elements)
        node.step((name,), TupleOf(names))


def _at(node: Node, index: int, count: int, default: int) -> int:
    """A place in a sequence, counted from the front."""
    if not node.has(index):
        return default
    found = integers(node, index)
    if found is None or len(found) != 1 or not -count <= found[0] < max(count, 1):
        raise Unsupported(f"{node.operator}: a place that only a run knows, or none")
    return found[0] % count if count else 0


@rule("SequenceConstruct")
def construct(node: Node) -> None:
    for i in range(node.count):
        node.input(i)
    _gives(node, [node.name(i) for i in range(node.count)])


@rule("SequenceEmpty")
def empty(node: Node) -> None:
    _gives(node, [])


@rule("SequenceInsert")
def insert(node: Node) -> None:
    if (cut := _pieces(node)) is not None:
        pieces.insert(node, cut)
        return
    elements = _elements(node, 0)
    node.input(1)
    at = len(elements)
    if node.has(2) and integers(node, 2) != [at]:
        at = _at(node, 2, at, at)
    _gives(node, [*elements[:at], node.name(1), *elements[at:]])


@rule("SequenceErase")
def erase(node: Node) -> None:
    if (cut := _pieces(node)) is not None:
        pieces.erase(node, cut)
        return
    elements = _elements(node, 0)
    if not elements:
        raise Unsupported("SequenceErase: a sequence without elements")
    del elements[_at(node, 1, len(elements), len(elements) - 1)]
    _gives(node, elements)


@rule("SequenceAt")
def at(node: Node) -> None:
    if (cut := _pieces(node)) is not None:
        pieces.at(node, cut)
        return
    if (growing := _growing(node)) is not None:
        node.importer.define(node.outputs[0], element(node, growing))
        node.step((node.outputs[0],), None)
        return
    elements = _elements(node, 0)
    if not elements:
        raise Unsupported("SequenceAt: a sequence without elements")
    name = elements[_at(node, 1, len(elements), 0)]
    handed = node.tensor(name)
    node.set_outputs(node.call("identity", handed))


def hand_on(node: Node) -> None:
    """A sequence under another name."""
    if (cut := _pieces(node)) is not None:
        pieces.gives(node, cut)
        return
    _gives(node, _elements(node, 0))


@rule("SequenceLength")
def length(node: Node) -> None:
    if (cut := _pieces(node)) is not None:
        pieces.length(node, cut)
        return
    if not isinstance(node.importer.sequences.get(node.name(0)), tuple):
        node.set_outputs(node.declared("() -> i64 []"))
        return
    count = len(_elements(node, 0))
    node.set_outputs(node.scalar(count, "i64"))


@rule("ConcatFromSequence")
def concat(node: Node) -> None:
    if (cut := _pieces(node)) is not None:
        pieces.concat(node, cut)
        return
    if (growing := _growing(node)) is not None:
        join(node, growing)
        return
    elements, axis = _elements(node, 0), node.attribute("axis")
    if not elements or not isinstance(axis, int):
        raise Unsupported("ConcatFromSequence: nothing to join, or no axis to join it along")
    parts = [node.tensor(name) for name in elements]
    operator = "stack" if node.attribute("new_axis", 0) else "concat"
    node.set_outputs(node.call(operator, *parts, axis=axis))


@rule("SplitToSequence")
def split(node: Node) -> None:
    axis, word = node.attribute("axis", 0), node.shape(0)
    if word is not None and not -len(word) <= axis < len(word):
        node.has_axis(0, axis)
        raise Unsupported(f"SplitToSequence: along axis {axis} of {len(word)}")
    total = word[axis] if word is not None else None
    sizes = _parts(node, total if isinstance(total, int) else None)
    if isinstance(sizes, int):
        pieces.cut(node, sizes)
        return
    numbers = [size for size in sizes if isinstance(size, int)]
    asked = total if isinstance(total, int) and len(numbers) == len(sizes) else sum(numbers)
    wrong = not sizes or sum(numbers) != asked or min(numbers, default=0) < 0
    if wrong or len(sizes) > MOST_ELEMENTS:
        raise Unsupported(f"SplitToSequence: {len(sizes)} parts of {asked} elements")
    whole = node.call("split", node.input(0), sizes=sizes, axis=axis)
    found = node.importer.state.prune(node.infer(whole))
    types = found.items if isinstance(found, Tuple) else (found,)
    prefix = node.outputs[0]
    names = [hidden(node, f"{prefix}⟨{i}⟩", f"part_{i}", t) for i, t in enumerate(types)]
    node.step(tuple(names), whole)
    if not node.has(1) and not node.attribute("keepdims", 1):
        names = [_squeezed(node, name, axis, i) for i, name in enumerate(names)]
    _gives(node, names)


def _parts(node: Node, total: int | None) -> list[Any] | int:
    """The sizes of the parts: each 1, all the same but for the last, or as they are listed. One
    number if they are all that, and how many they are is not known or too much to name each.
    """
    filled = node.importer.filled.get(node.name(1)) if node.has(1) else 1
    found = node.known_elements(1) if node.has(1) else [1]
    if found is None and isinstance(filled, int):
        found = [filled]
    elif found is None:
        raise Unsupported("SplitToSequence: parts of sizes that only a run knows")
    elif node.has(1) and node.rank(1) != 0:
        return found
    size = found[0]
    if not isinstance(size, int) or size < 1:
        raise Unsupported(f"SplitToSequence: parts of size {size}")
    if total is None or total > size * MOST_ELEMENTS:
        return size
    rest = total % size
    return [size] * (total // size) + ([rest] if rest else [])


def _squeezed(node: Node, name: str, axis: int, number: int) -> str:
    part = node.tensor(name)
    expr = node.call("squeeze", part, axis=[axis])
    made = hidden(node, f"{name}⟨row⟩", f"row_{number}", node.infer(expr))
    node.step((made,), expr)
    return made


@rule("SequenceMap")
def map_(node: Node) -> None:
    """The body for each element, one after another; tensors are the same for all of them."""
    importer = node.importer
    if _pieces(node) is not None:
        map_chunks(node)
        return
    count = len(_elements(node, 0))
    given = []
    for i in range(node.count):
        is_one = node.name(i) in importer.sequences
        same = _elements(node, i) if is_one else [node.name(i)] * count
        if len(same) != count:
            raise Unsupported("SequenceMap: sequences of different lengths")
        given.append(same)
    made: list[list[str]] = []
    for i in range(count):
        names = [each[i] for each in given]
        found = subgraph(node, "body", [importer.types[n] for n in names], label=f"body {i}")
        for param, name in zip(found.params, names, strict=False) if importer.writes else ():
            node.step((param,), node.call("identity", node.tensor(name)))
        importer.steps += found.steps
        made.append(found.outputs)
    for output, name in enumerate(node.outputs):
        if name and all(output < len(each) for each in made):
            _gives(node, [each[output] for each in made], output)
