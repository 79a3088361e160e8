"""Taking tensors apart and putting them together: Gather, Concat, Split, Tile."""

from __future__ import annotations

import math
from typing import Any

import numpy

from axon.importers.contents import arithmetic as contents
from axon.importers.contents.queries import empty, length
from axon.importers.contents.values import MOST_CONTENTS
from axon.importers.expressions import Expression
from axon.importers.node import Node
from axon.importers.onnx.rules.registry import rule
from axon.importers.onnx.rules.signatures import SAME_RANK
from axon.importers.onnx.rules.slicing import put_together
from axon.types import dim as dims


@rule("Gather")
def gather(node: Node) -> None:
    axis, data, index = node.attribute("axis", 0), node.contents(0), node.contents(1)
    known = None
    if data is not None and index is not None and all(isinstance(i, int) for i in index.flat):
        try:
            known = numpy.take(data, index.astype(int), axis=axis)
            known = numpy.asarray(known, dtype=object)
        except (IndexError, ValueError):
            wrong = _outside(data, index, axis)
            if wrong is not None:  # which the operator for one of them refuses
                node.set_outputs(node.call("index", node.input(0), i=wrong, axis=axis))
                return
    node.set_outputs(node.call("gather", node.input(0), node.input(1), axis=axis), contents=known)


def _outside(data: Any, index: Any, axis: int) -> int | None:
    """An index that is out of range, if there is that axis."""
    if not -data.ndim <= axis < data.ndim:
        return None
    size = data.shape[axis]
    return next((i for i in index.flat if not -size <= i < size), None)


@rule("Concat")
def concat(node: Node) -> None:
    axis = node.attribute("axis", 0)
    parts = [node.contents(i) for i in range(node.count)]
    known = None
    if any(part is not None for part in parts):
        filled = [p if p is not None else _holes(node, i) for i, p in enumerate(parts)]
        if all(p is not None and p.ndim for p in filled):
            known = numpy.concatenate(filled, axis=axis)
    if node.count == 1:
        node.set_outputs(node.call("identity", node.input(0)), contents=known)
        return
    node.set_outputs(
        node.call("concat", *(node.input(i) for i in range(node.count)), axis=axis), contents=known
    )
    put_together(node)


def _holes(node: Node, index: int) -> Any:
    """An array without known elements, if its size is known and small."""
    word = node.shape(index)
    if word is None or not all(isinstance(n, int) for n in word):
        return None
    return empty(tuple(n for n in word if isinstance(n, int)))


# --- Split and Tile --------------------------------------------------------------------------


@rule("Split")
def split(node: Node) -> None:
    axis, parts = node.attribute("axis", 0), len(node.outputs)
    sizes = node.known_elements(1) if node.has(1) else node.attribute("split")
    if node.has(1) and sizes is None and parts > 1:
        held = sizes_held(node, node.sized(1, [parts]), parts)
        node.set_tuple_outputs(node.call("split", node.input(0), sizes=held, axis=axis))
        return
    if sizes is None:
        word = node.shape(0)
        if word is not None and not -len(word) <= axis < len(word):
            node.set_tuple_outputs(node.call("split", node.input(0), parts=parts, axis=axis))
            return
        total = word[axis] if word is not None else None
        if total is None and node.attribute("num_outputs"):
            made = ", ".join(f"t ?r{i}" for i in range(parts))
            node.set_tuple_outputs(node.declared(f"t p -> ({made})", 0))
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
    found = node.contents(0)
    if found is not None and sizes is not None and all(isinstance(n, int) for n in sizes):
        at = 0
        for name, count in zip(node.outputs, sizes, strict=False):
            taken = numpy.take(found, range(at, at + count), axis=axis)
            node.importer.contents[name] = numpy.asarray(taken, dtype=object)
            at += count


def sizes_held(node: Node, vector: Expression, count: int) -> Expression:
    """A list of the sizes that a vector holds."""
    return node.list_of([node.call("index", vector, i=i) for i in range(count)])


@rule("Tile")
def tile(node: Node) -> None:
    times, word = node.contents(1), node.shape(0)
    later, rank = None, length(node, 1) if length(node, 1) is not None else node.rank(0)
    if rank:
        later = node.call(
            "tile", node.input(0), reps=sizes_held(node, node.input(1), min(rank, 64))
        )
    if times is None or word is None or len(times) != len(word):
        node.set_outputs(later or node.declared(SAME_RANK, 0))
        return
    known = _tiled(node.contents(0), times)
    by = [node.fresh_dim() if n is None else n for n in times]
    expr = node.call("tile", node.input(0), reps=by)
    node.set_outputs(expr, contents=known, fallback=later)


def _tiled(found: Any, times: Any) -> Any:
    if found is None or not all(isinstance(n, int) and n >= 0 for n in times):
        return None
    few = found.size * math.prod(times) <= MOST_CONTENTS
    return numpy.tile(found, tuple(times)) if few else None
