"""Taking tensors apart and putting them together: Gather, Concat, Split, Tile."""

from __future__ import annotations

from typing import Any

from axon.contents import arithmetic as contents
from axon.importers.expressions import Expression
from axon.importers.node import Made, Node
from axon.importers.onnx.rules.registry import SAME_RANK, rule
from axon.types import dim as dims


@rule("Gather")
def gather(node: Node) -> Made:
    axis = node.attribute("axis", 0)
    wrong = None if node.contents(0) is None else _outside(node, axis)
    if wrong is not None:  # which the operator for one of them refuses
        return node.call("index", node.input(0), i=wrong, axis=axis)
    return node.call("gather", node.input(0), node.input(1), axis=axis)


def _outside(node: Node, axis: int) -> int | None:
    """An index that is out of range, if there is that axis."""
    count, numbers = node.dim(0, axis), node.ints(1)
    if not isinstance(count, int) or numbers is None:
        return None
    return next((i for i in numbers if not -count <= i < count), None)


@rule("Concat")
def concat(node: Node) -> Made:
    if node.count == 1:
        return node.call("identity", node.input(0))
    parts = [node.input(i) for i in range(node.count)]
    return node.call("concat", *parts, axis=node.attribute("axis", 0))


# --- Split and Tile --------------------------------------------------------------------------


@rule("Split")
def split(node: Node) -> None:
    axis, parts, x = node.attribute("axis", 0), len(node.outputs), node.input(0)
    if parts == 1:
        node.set_outputs(node.call("slice", x, axis=axis))  # all of it, if it has the axis
        return
    sizes: Any = node.known_elements(1) if node.has(1) else node.attribute("split")
    total, uneven = node.dim(0, axis), node.attribute("num_outputs")
    if sizes is None and node.has(1):
        sizes = sizes_held(node, node.sized(1, [parts]), parts)
    elif sizes is None and uneven and node.shape(0) is None:
        made = ", ".join(f"t ?r{i}" for i in range(parts))
        node.set_tuple_outputs(node.declared(f"t p -> ({made})", 0))
        return
    elif sizes is None and (total % parts if isinstance(total, int) else total and uneven):
        each = dims.floordiv(dims.add(total, parts - 1), parts)
        sizes = [each] * (parts - 1) + [contents.sub(total, contents.mul(each, parts - 1))]
    number = parts if sizes is None else None
    node.set_tuple_outputs(node.call("split", x, parts=number, sizes=sizes, axis=axis))


def sizes_held(node: Node, vector: Expression, count: int) -> Expression:
    """A list of the sizes that a vector holds."""
    return node.list_of([node.call("index", vector, i=i) for i in range(count)])


@rule("Tile")
def tile(node: Node) -> Made:
    reps, word = node.vector(1), node.shape(0)
    count, fallback = node.length(1), None
    rank = node.rank(0) if count is None else count
    if rank:
        held = sizes_held(node, node.input(1), min(rank, 64))
        fallback = node.call("tile", node.input(0), reps=held)
    if reps is None or word is None or reps.shape != (len(word),):
        return fallback or node.declared(SAME_RANK, 0)
    times = node.sizes_or_fresh(reps.items)
    return (node.call("tile", node.input(0), reps=times), fallback)
