"""Sequences whose length is known: their elements are tensors like others, each with its name.

What is done with such a sequence is done with its elements, so that none is left in the program.
Those of which only a run knows the length are in `importers/sequences/uniform_chunks.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from axon.importers.expressions import TupleOf
from axon.importers.node import Made, Node
from axon.importers.onnx.rules.loops.appended_sequences import AppendedSequence, element, join
from axon.importers.onnx.rules.registry import rule
from axon.importers.operations import Unsupported
from axon.importers.sequences import uniform_chunks as chunks
from axon.importers.sequences.chunk_map import map_chunks
from axon.importers.sequences.uniform_chunks import Chunks
from axon.importers.subgraphs.subgraph import computed, hidden, subgraph
from axon.types.type import Tuple

MOST_ELEMENTS = 256


def _sequence(node: Node, index: int = 0) -> Any:
    """What an input holds, if it is a sequence."""
    return node.importer.sequences.get(node.name(index))


def _elements(node: Node, index: int = 0) -> list[str]:
    """The tensors that a sequence holds."""
    found = _sequence(node, index)
    if not isinstance(found, tuple):
        raise Unsupported(f"{node.operator}: a sequence of which only a run knows the length")
    return list(found)


def _hold_elements(node: Node, elements: Sequence[str], output: int = 0) -> None:
    """An output is the sequence of these tensors."""
    importer, name = node.importer, node.outputs[output]
    if len(elements) > MOST_ELEMENTS:
        raise Unsupported(f"{node.operator}: a sequence of {len(elements)} tensors")
    held = TupleOf(tuple([node.tensor(each) for each in elements]))
    importer.define(name, node.infer(held))
    importer.sequences[name] = tuple(elements)
    if len(elements) != 1:
        node.step((name,), held)


def _at(node: Node, index: int, count: int, default: int) -> int:
    """A place in a sequence, counted from the front."""
    if not node.has(index):
        return default
    found = node.ints(index)
    if found is None or len(found) != 1 or not -count <= found[0] < max(count, 1):
        raise Unsupported(f"{node.operator}: a place that only a run knows, or none")
    return found[0] % count if count else 0


@rule("SequenceConstruct")
def construct(node: Node) -> None:
    for i in range(node.count):
        node.input(i)
    _hold_elements(node, [node.name(i) for i in range(node.count)])


@rule("SequenceEmpty")
def empty(node: Node) -> None:
    _hold_elements(node, [])


@rule("SequenceInsert")
def insert(node: Node) -> None:
    if isinstance(held := _sequence(node), Chunks):
        chunks.insert(node, held)
        return
    elements = _elements(node)
    node.input(1)
    at = len(elements)
    if node.has(2) and node.ints(2) != [at]:
        at = _at(node, 2, at, at)
    _hold_elements(node, [*elements[:at], node.name(1), *elements[at:]])


@rule("SequenceErase")
def erase(node: Node) -> None:
    if isinstance(held := _sequence(node), Chunks):
        chunks.erase(node, held)
        return
    elements = _elements(node)
    if not elements:
        raise Unsupported("SequenceErase: a sequence without elements")
    del elements[_at(node, 1, len(elements), len(elements) - 1)]
    _hold_elements(node, elements)


@rule("SequenceAt")
def at(node: Node) -> Made:
    held = _sequence(node)
    if isinstance(held, Chunks):
        return chunks.at(node, held)
    if isinstance(held, AppendedSequence):
        return element(node, held)
    elements = _elements(node)
    if not elements:
        raise Unsupported("SequenceAt: a sequence without elements")
    name = elements[_at(node, 1, len(elements), 0)]
    return node.call("identity", node.tensor(name))


def hand_on(node: Node) -> None:
    """A sequence under another name."""
    held = _sequence(node)
    if isinstance(held, Chunks):
        chunks.hold(node, node.outputs[0], held)
    else:
        _hold_elements(node, _elements(node))


@rule("SequenceLength")
def length(node: Node) -> Made:
    held = _sequence(node)
    if isinstance(held, Chunks):
        return chunks.length(node, held)
    known = isinstance(held, tuple)
    return node.scalar(len(held), "i64") if known else node.declared("() -> i64 []")


@rule("ConcatFromSequence")
def concat(node: Node) -> Made:
    held = _sequence(node)
    if isinstance(held, Chunks):
        return chunks.concat(node, held)
    if isinstance(held, AppendedSequence):
        join(node, held)
        return None
    elements, axis = _elements(node), node.attribute("axis")
    if not elements:
        raise Unsupported("ConcatFromSequence: a sequence without elements")
    parts = [node.tensor(name) for name in elements]
    operator = "stack" if node.attribute("new_axis", 0) else "concat"
    return node.call(operator, *parts, axis=axis)


@rule("SplitToSequence")
def split(node: Node) -> None:
    axis, word = node.attribute("axis", 0), node.shape(0)
    if word is not None and not -len(word) <= axis < len(word):
        node.refuse_axis(0, axis)
        raise Unsupported(f"SplitToSequence: along axis {axis} of {len(word)}")
    total = word[axis] if word is not None else None
    sizes = _parts(node, total if isinstance(total, int) else None)
    if isinstance(sizes, int):
        chunks.cut(node, sizes)
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
    _hold_elements(node, names)


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
    expr = node.call("squeeze", node.tensor(name), axis=[axis])
    return computed(node, f"{name}⟨row⟩", f"row_{number}", expr)


@rule("SequenceMap")
def map_(node: Node) -> None:
    """The body for each element, one after another; tensors are the same for all of them."""
    importer = node.importer
    if isinstance(_sequence(node), Chunks):
        map_chunks(node)
        return
    count = len(_elements(node))
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
            _hold_elements(node, [each[output] for each in made], output)
