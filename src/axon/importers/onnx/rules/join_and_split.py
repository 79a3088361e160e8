"""Taking tensors apart and putting them together: Gather, Concat, Split, Tile."""

from __future__ import annotations

from typing import Any

from axon.importers.contents import arithmetic as contents
from axon.importers.contents.queries import length
from axon.importers.contents.values import Unsupported
from axon.importers.expressions import Expression
from axon.importers.node import Node
from axon.importers.onnx.rules.registry import rule
from axon.importers.onnx.rules.slicing import cut_somewhere, put_together
from axon.types import dim as dims
from axon.types.type import Tensor


@rule("Gather")
def gather(node: Node) -> None:
    axis, numbers = node.attribute("axis", 0), node.ints(1)
    word = node.shape(0) if numbers and node.contents(0) is not None else None
    if word and numbers and -len(word) <= axis < len(word):
        count = word[axis]
        if isinstance(count, int) and not all(-count <= i < count for i in numbers):
            for i in numbers:
                node.infer(node.call("index", node.input(0), i=i, axis=axis))
            raise Unsupported("Gather with an index that is out of range")
    node.set_outputs(node.call("gather", node.input(0), node.input(1), axis=axis))


@rule("Concat")
def concat(node: Node) -> None:
    if node.count == 1:
        node.set_outputs(node.call("identity", node.input(0)))
        return
    parts = [node.input(i) for i in range(node.count)]
    node.set_outputs(node.call("concat", *parts, axis=node.attribute("axis", 0)))
    put_together(node)


# --- Split and Tile --------------------------------------------------------------------------


@rule("Split")
def split(node: Node) -> None:
    axis, rank, parts = node.attribute("axis", 0), node.rank(0), len(node.outputs)
    sizes = node.known_elements(1) if node.has(1) else node.attribute("split")
    if node.has(1) and sizes is None:
        node.has_shape(1, [parts])
        later = node.call("split", node.input(0), sizes=sizes_held(node, 1, parts), axis=axis)
        if not node.importer.state.sealed:
            node.infer(later)
        for name in node.outputs:
            node.importer.define(name, cut_somewhere(node, [axis], rank))
        node.step(tuple(node.outputs), None, later if parts > 1 else None)
        return
    if sizes is None:
        word = node.shape(0)
        if word is not None and not -len(word) <= axis < len(word):
            node.set_tuple_outputs(node.call("split", node.input(0), parts=parts, axis=axis))
            return
        total = word[axis] if word is not None else None
        if total is None and node.attribute("num_outputs"):
            for name in node.outputs:
                node.importer.define(name, cut_somewhere(node, [axis], rank))
            return
        uneven = isinstance(total, int) and total % parts
        if uneven or (node.attribute("num_outputs") and contents.is_symbol(total)):
            each: Any = dims.floordiv(dims.add(total, parts - 1), parts)  # type: ignore[arg-type]
            sizes = [each] * (parts - 1) + [contents.sub(total, contents.mul(each, parts - 1))]
    if parts == 1:
        node.set_outputs(node.call("identity", node.input(0)))
        return
    if sizes is None:
        node.set_tuple_outputs(node.call("split", node.input(0), parts=parts, axis=axis))
    else:
        node.set_tuple_outputs(node.call("split", node.input(0), sizes=list(sizes), axis=axis))


def sizes_held(node: Node, index: int, count: int) -> Expression:
    """A list of the sizes that an input holds."""
    return node.list_of([node.call("index", node.input(index), i=i) for i in range(count)])


@rule("Tile")
def tile(node: Node) -> None:
    reps, word = node.contents(1), node.shape(0)
    later, rank = None, length(node, 1) if length(node, 1) is not None else node.rank(0)
    if rank:
        later = node.call("tile", node.input(0), reps=sizes_held(node, 1, min(rank, 64)))
    if reps is None or word is None or reps.shape != (len(word),):
        node.set_outputs(node.unknown(node.elem(0), node.rank(0)), fallback=later)
        return
    times = reps.items
    sizes = [
        node.fresh_dim() if n is None else contents.mul(n, size)
        for n, size in zip(times, word, strict=True)
    ]
    if all(n is not None for n in times):
        node.set_outputs(node.call("tile", node.input(0), reps=list(times)), fallback=later)
    else:
        node.set_outputs(Tensor(node.elem(0), tuple(sizes)), fallback=later)
