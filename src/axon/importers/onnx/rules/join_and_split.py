"""Taking tensors apart and putting them together: Gather, Concat, Split, Tile."""

from __future__ import annotations

from typing import Any

from axon.importers.contents import arithmetic as contents
from axon.importers.contents.queries import length
from axon.importers.expressions import Expression
from axon.importers.node import Node
from axon.importers.onnx.rules.registry import rule
from axon.importers.onnx.rules.signatures import SAME_RANK
from axon.importers.onnx.rules.slicing import put_together
from axon.types import dim as dims


@rule("Gather")
def gather(node: Node) -> None:
    axis, wrong = node.attribute("axis", 0), None
    if node.contents(0) is not None:
        wrong = _outside(node, axis)
    if wrong is not None:  # which the operator for one of them refuses
        node.set_outputs(node.call("index", node.input(0), i=wrong, axis=axis))
        return
    node.set_outputs(node.call("gather", node.input(0), node.input(1), axis=axis))


def _outside(node: Node, axis: int) -> int | None:
    """An index that is out of range, if there is that axis."""
    word, numbers = node.shape(0), node.ints(1)
    if word is None or numbers is None or not -len(word) <= axis < len(word):
        return None
    count = word[axis]
    if not isinstance(count, int):
        return None
    return next((i for i in numbers if not -count <= i < count), None)


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


def sizes_held(node: Node, vector: Expression, count: int) -> Expression:
    """A list of the sizes that a vector holds."""
    return node.list_of([node.call("index", vector, i=i) for i in range(count)])


@rule("Tile")
def tile(node: Node) -> None:
    reps, word = node.vector(1), node.shape(0)
    later, rank = None, length(node, 1) if length(node, 1) is not None else node.rank(0)
    if rank:
        held = sizes_held(node, node.input(1), min(rank, 64))
        later = node.call("tile", node.input(0), reps=held)
    if reps is None or word is None or reps.shape != (len(word),):
        node.set_outputs(later or node.declared(SAME_RANK, 0))
        return
    times = [node.fresh_dim() if n is None else n for n in reps.items]
    node.set_outputs(node.call("tile", node.input(0), reps=times), fallback=later)
