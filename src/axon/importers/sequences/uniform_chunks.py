"""Sequences of which only a run knows the length: a tensor, and how it is cut into chunks.

All chunks have one size along an axis, but for the last, which may be smaller. So no sequence is
made: an element is a part of the tensor, the length is how often the size goes into it, and a
sequence without some element is a tensor without some part. What such a sequence cannot hold, as an
element of another size in its middle, is `Unsupported`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from axon.importers.expressions import Expression
from axon.importers.node import Node
from axon.importers.operations import Unsupported
from axon.importers.runtime_values import merged, scalar_of, sizes_of
from axon.importers.subgraphs.subgraph import computed, ranked
from axon.types import dim as dims
from axon.types.type import Shape, shape_variables
from axon.types.variables import DimVar


@dataclass(frozen=True, slots=True)
class Chunks:
    """The tensor `base`, cut along an axis into chunks of a size. They are `bare` if they come
    without that axis, and then their size is 1.
    """

    base: str
    axis: int
    size: int
    bare: bool = False


# --- the tensor ------------------------------------------------------------------------------


def _base(node: Node, chunks: Chunks) -> Expression:
    return node.tensor(chunks.base)


def _word(node: Node, chunks: Chunks) -> Shape | None:
    """The shape of the tensor, if its rank is known."""
    found = ranked(node, node.importer.types[chunks.base])
    return None if found is None else found.shape


def _count(node: Node, chunks: Chunks) -> Expression:
    """How many chunks there are: the last one counts, however small it is."""
    whole = node.call("size", _base(node, chunks), axis=chunks.axis)
    size = chunks.size
    if size == 1:
        return whole
    return node.call("/", node.call("+", whole, node.literal(size - 1)), node.literal(size))


def _is_even(node: Node, chunks: Chunks) -> bool:
    """Whether all chunks are known to have the same size."""
    word = _word(node, chunks)
    if chunks.size == 1:
        return True
    total: Any = None if word is None else word[chunks.axis]
    return total is not None and dims.mod(total, chunks.size) == 0


def _made(node: Node, expr: Expression, own: str) -> str:
    """Another tensor that such chunks are cut from."""
    first = next(filter(None, node.outputs), "")
    return computed(node, f"{first}⟨{own}⟩", own, expr)


def _stacked(node: Node, chunks: Chunks) -> Expression:
    """The tensor with its chunks along one axis, and what each of them has there along the next."""
    x, axis, size = _base(node, chunks), chunks.axis, chunks.size
    if chunks.bare:
        return x
    word: Any = _word(node, chunks)
    if word is None or not _is_even(node, chunks):
        raise Unsupported(f"{node.operator}: chunks that may not all have the same size")
    if size == 1:
        return node.call("expand_dims", x, axis=[axis + 1])
    parts = (dims.floordiv(word[axis], size), size)
    held = sizes_of(node, x, len(word))
    held[axis : axis + 1] = _count(node, chunks), node.literal(size)
    sizes = (*word[:axis], *parts, *word[axis + 1 :])
    return node.call("reshape", x, node.shape_literal(sizes, node.list_of(held)))


def rows(node: Node, chunks: Chunks, number: int) -> str:
    """A tensor whose rows are the chunks."""
    stack, word = _stacked(node, chunks), _word(node, chunks)
    if chunks.axis:
        if word is None:
            raise Unsupported(f"{node.operator}: chunks of a rank that is not known")
        rank = len(word) + (not chunks.bare)
        order = [chunks.axis, *(i for i in range(rank) if i != chunks.axis)]
        stack = node.call("transpose", stack, perm=order)
    return _made(node, stack, f"rows_{number}")


def same_for_all(shape: Shape, before: DimVar) -> bool:
    """Whether a shape found for one iteration, or one element, is that of all of them: variables
    newer than `before` may differ.
    """
    return all(var.id < before.id for var in shape_variables(shape))


# --- places ----------------------------------------------------------------------------------


def _known_place(node: Node, index: int) -> int | None:
    """The number of a chunk, if it is known; negative ones count from the end."""
    found = node.element(index)
    return found if isinstance(found, int) else None


def _start(node: Node, chunks: Chunks, place: int | None) -> Any:
    """Where a chunk begins. That there are so many chunks is checked."""
    if place is None or place >= 0:
        return place and place * chunks.size
    word: Any = _word(node, chunks)
    if word is not None:
        count = dims.floordiv(dims.add(word[chunks.axis], chunks.size - 1), chunks.size)
        if not dims.is_nonnegative(dims.add(count, place)):
            node.guard(dims.scale(chunks.size, dims.add(count, place)))
    number = node.call("-", _count(node, chunks), node.literal(-place))
    return number if chunks.size == 1 else node.call("*", number, node.literal(chunks.size))


def _sliced(node: Node, chunks: Chunks, first: int | None, last: int | None) -> Expression:
    """The part of the tensor from one chunk up to another."""
    start, stop = (_start(node, chunks, place) for place in (first, last))
    return node.call("slice", _base(node, chunks), axis=chunks.axis, start=start, stop=stop)


# --- what is done with them ------------------------------------------------------------------


def hold(node: Node, name: str, chunks: Chunks) -> None:
    """A tensor of that name is these chunks; as a value it is only declared."""
    hold_opaque(node, name, chunks.base, chunks)


def hold_opaque(node: Node, name: str, like: str, held: Any) -> None:
    """A sequence of tensors that have the element type of another one."""
    node.importer.define(name, node.unknown(node.importer.elem(like)))
    if held is not None:
        node.importer.sequences[name] = held


def cut(node: Node, size: int) -> None:
    """A tensor of any size, cut into chunks of one size."""
    axis, word = node.attribute("axis", 0), node.shape(0)
    if word is None and axis < 0:
        raise Unsupported("SplitToSequence: along an axis from the end, of a rank not known")
    node.input(0)
    bare = not node.has(1) and not node.attribute("keepdims", 1)
    axis = axis % len(word) if word else axis
    hold(node, node.outputs[0], Chunks(node.name(0), axis, size, bare))


def length(node: Node, chunks: Chunks) -> Expression:
    return _count(node, chunks)


def at(node: Node, chunks: Chunks) -> Expression:
    """One chunk. That there is one in this place is taken for granted, as in the model."""
    place, size, axis = _known_place(node, 1), chunks.size, chunks.axis
    if place is None:
        return _somewhere(node, chunks)
    if size == 1:
        row = node.call("index", _base(node, chunks), i=place, axis=axis)
        return row if chunks.bare else node.call("expand_dims", row, axis=[axis])
    if _is_even(node, chunks):
        return node.call("index", _stacked(node, chunks), i=place, axis=axis)
    return _sliced(node, chunks, place, None if place == -1 else place + 1)


def _somewhere(node: Node, chunks: Chunks) -> Expression:
    """The chunk in a place that only a run knows."""
    place, size, axis = scalar_of(node, 1), chunks.size, chunks.axis
    if size == 1:
        kept = place if chunks.bare else node.call("reshape", place, node.shape_literal((1,)))
        return node.call("gather", _base(node, chunks), kept, axis=axis)
    if _is_even(node, chunks):
        return node.call("gather", _stacked(node, chunks), place, axis=axis)
    behind = node.call("+", place, _count(node, chunks))
    number = node.call("where", node.call("<", place, node.literal(0)), behind, place)
    first = node.call("*", number, node.literal(size))
    last = node.call("+", first, node.literal(size))
    bounds = [node.call("reshape", each, node.shape_literal((1,))) for each in (first, last)]
    return node.call("slice_by", _base(node, chunks), *bounds, axes=[axis])


def erase(node: Node, chunks: Chunks) -> None:
    """The tensor without the part that one chunk is."""
    place = _known_place(node, 1) if node.has(1) else -1
    if place is None:
        raise Unsupported("SequenceErase: a place that only a run knows")
    parts = [] if place == 0 else [_sliced(node, chunks, None, place)]
    if place != -1:
        parts.append(_sliced(node, chunks, place + 1, None))
    _hold_joined(node, chunks, parts, "rest")


def insert(node: Node, chunks: Chunks) -> None:
    """The tensor with a chunk more, of the same size. Behind a smaller one there is no place."""
    place = _known_place(node, 2) if node.has(2) else None
    if node.has(2) and place is None:
        raise Unsupported("SequenceInsert: a place that only a run knows")
    if not (_is_even(node, chunks) or place == 0) or not _fits(node, chunks):
        raise Unsupported("SequenceInsert: an element that may have another size than the others")
    more = node.input(1)
    if chunks.bare:
        more = node.call("expand_dims", more, axis=[chunks.axis])
    parts = [_base(node, chunks), more] if place is None else [more, _base(node, chunks)]
    if place:
        before, behind = _sliced(node, chunks, None, place), _sliced(node, chunks, place, None)
        parts = [before, more, behind]
    _hold_joined(node, chunks, parts, "all")


def _hold_joined(node: Node, chunks: Chunks, parts: list[Expression], own: str) -> None:
    """The output is cut in the same way, from these parts in one tensor."""
    whole = parts[0] if len(parts) == 1 else node.call("concat", *parts, axis=chunks.axis)
    hold(node, node.outputs[0], replace(chunks, base=_made(node, whole, own)))


def _fits(node: Node, chunks: Chunks) -> bool:
    """Whether the second input is known to have the shape of a chunk."""
    mine, word = node.shape(1), _word(node, chunks)
    if mine is None or word is None:
        return False
    own = () if chunks.bare else (chunks.size,)
    return tuple(mine) == (*word[: chunks.axis], *own, *word[chunks.axis + 1 :])


def concat(node: Node, chunks: Chunks) -> Expression:
    """All chunks, joined along an axis: along the one that they were cut, that is the tensor."""
    axis, new, word = node.attribute("axis"), node.attribute("new_axis", 0), _word(node, chunks)
    rank = None if word is None else len(word) - chunks.bare
    if rank is not None and -rank - bool(new) <= axis < rank + bool(new):
        axis %= rank + bool(new)
    elif rank is not None:
        raise Unsupported(f"ConcatFromSequence along axis {axis} of {rank}")
    if axis == chunks.axis and not (new or chunks.bare):
        return node.call("identity", _base(node, chunks))
    if word is None or rank is None:
        raise Unsupported("ConcatFromSequence: chunks of a rank that is not known")
    order = [i for i in range(rank + 1) if i != chunks.axis]
    order.insert(axis, chunks.axis)
    stack = _stacked(node, chunks)
    found = stack if order == sorted(order) else node.call("transpose", stack, perm=order)
    if new:
        return found
    made = ranked(node, node.infer(found))
    assert made is not None
    return merged(node, node.tensor(_made(node, found, "stack")), made.shape, axis)
