"""Sequences of which only a run knows the length: a tensor, and how it is cut into pieces.

All pieces have one size along an axis, but for the last, which may be smaller. So no sequence is
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
    """The tensor `base`, cut along an axis into pieces of a size. They are `bare` if they come
    without that axis, and then their size is 1.
    """

    base: str
    axis: int
    size: int
    bare: bool = False


# --- the tensor ------------------------------------------------------------------------------


def _base(node: Node, pieces: Chunks) -> Expression:
    return node.tensor(pieces.base)


def _word(node: Node, pieces: Chunks) -> Shape | None:
    """The shape of the tensor, if its rank is known."""
    found = ranked(node, node.importer.types[pieces.base])
    return None if found is None else found.shape


def _count(node: Node, pieces: Chunks) -> Expression:
    """How many pieces there are: the last one counts, however small it is."""
    whole = node.call("size", _base(node, pieces), axis=pieces.axis)
    size = pieces.size
    if size == 1:
        return whole
    return node.call("/", node.call("+", whole, node.literal(size - 1)), node.literal(size))


def _is_even(node: Node, pieces: Chunks) -> bool:
    """Whether all pieces are known to have the same size."""
    word = _word(node, pieces)
    if pieces.size == 1:
        return True
    total: Any = None if word is None else word[pieces.axis]
    return total is not None and dims.mod(total, pieces.size) == 0


def _made(node: Node, expr: Expression, own: str) -> str:
    """Another tensor that such pieces are cut from."""
    first = next(filter(None, node.outputs), "")
    return computed(node, f"{first}⟨{own}⟩", own, expr)


def _stacked(node: Node, pieces: Chunks) -> Expression:
    """The tensor with its pieces along one axis, and what each of them has there along the next."""
    x, axis, size = _base(node, pieces), pieces.axis, pieces.size
    if pieces.bare:
        return x
    word: Any = _word(node, pieces)
    if word is None or not _is_even(node, pieces):
        raise Unsupported(f"{node.operator}: pieces that may not all have the same size")
    if size == 1:
        return node.call("expand_dims", x, axis=[axis + 1])
    parts = (dims.floordiv(word[axis], size), size)
    held = sizes_of(node, x, len(word))
    held[axis : axis + 1] = _count(node, pieces), node.literal(size)
    sizes = (*word[:axis], *parts, *word[axis + 1 :])
    return node.call("reshape", x, node.shape_literal(sizes, node.list_of(held)))


def rows(node: Node, pieces: Chunks, number: int) -> str:
    """A tensor whose rows are the pieces."""
    stack, word = _stacked(node, pieces), _word(node, pieces)
    if pieces.axis:
        if word is None:
            raise Unsupported(f"{node.operator}: pieces of a rank that is not known")
        rank = len(word) + (not pieces.bare)
        order = [pieces.axis, *(i for i in range(rank) if i != pieces.axis)]
        stack = node.call("transpose", stack, perm=order)
    return _made(node, stack, f"rows_{number}")


def same_for_all(shape: Shape, before: DimVar) -> bool:
    """Whether a shape found for one iteration, or one element, is that of all of them: variables
    newer than `before` may differ.
    """
    return all(var.id < before.id for var in shape_variables(shape))


# --- places ----------------------------------------------------------------------------------


def _known_place(node: Node, index: int) -> int | None:
    """The number of a piece, if it is known; negative ones count from the end."""
    found = node.element(index)
    return found if isinstance(found, int) else None


def _start(node: Node, pieces: Chunks, place: int | None) -> Any:
    """Where a piece begins. That there are so many pieces is checked."""
    if place is None or place >= 0:
        return place and place * pieces.size
    word: Any = _word(node, pieces)
    if word is not None:
        count = dims.floordiv(dims.add(word[pieces.axis], pieces.size - 1), pieces.size)
        if not dims.is_nonnegative(dims.add(count, place)):
            node.guard(dims.scale(pieces.size, dims.add(count, place)))
    number = node.call("-", _count(node, pieces), node.literal(-place))
    return number if pieces.size == 1 else node.call("*", number, node.literal(pieces.size))


def _sliced(node: Node, pieces: Chunks, first: int | None, last: int | None) -> Expression:
    """The part of the tensor from one piece up to another."""
    start, stop = (_start(node, pieces, place) for place in (first, last))
    return node.call("slice", _base(node, pieces), axis=pieces.axis, start=start, stop=stop)


# --- what is done with them ------------------------------------------------------------------


def hold(node: Node, name: str, pieces: Chunks) -> None:
    """A tensor of that name is these pieces; as a value it is only declared."""
    hold_opaque(node, name, pieces.base, pieces)


def hold_opaque(node: Node, name: str, like: str, held: Any) -> None:
    """A sequence of tensors that have the element type of another one."""
    node.importer.define(name, node.unknown(node.importer.elem(like)))
    if held is not None:
        node.importer.sequences[name] = held


def cut(node: Node, size: int) -> None:
    """A tensor of any size, cut into pieces of one size."""
    axis, word = node.attribute("axis", 0), node.shape(0)
    if word is None and axis < 0:
        raise Unsupported("SplitToSequence: along an axis from the end, of a rank not known")
    node.input(0)
    bare = not node.has(1) and not node.attribute("keepdims", 1)
    axis = axis % len(word) if word else axis
    hold(node, node.outputs[0], Chunks(node.name(0), axis, size, bare))


def length(node: Node, pieces: Chunks) -> Expression:
    return _count(node, pieces)


def at(node: Node, pieces: Chunks) -> Expression:
    """One piece. That there is one in this place is taken for granted, as in the model."""
    place, size, axis = _known_place(node, 1), pieces.size, pieces.axis
    if place is None:
        return _somewhere(node, pieces)
    if size == 1:
        row = node.call("index", _base(node, pieces), i=place, axis=axis)
        return row if pieces.bare else node.call("expand_dims", row, axis=[axis])
    if _is_even(node, pieces):
        return node.call("index", _stacked(node, pieces), i=place, axis=axis)
    return _sliced(node, pieces, place, None if place == -1 else place + 1)


def _somewhere(node: Node, pieces: Chunks) -> Expression:
    """The piece in a place that only a run knows."""
    place, size, axis = scalar_of(node, 1), pieces.size, pieces.axis
    if size == 1:
        kept = place if pieces.bare else node.call("reshape", place, node.shape_literal((1,)))
        return node.call("gather", _base(node, pieces), kept, axis=axis)
    if _is_even(node, pieces):
        return node.call("gather", _stacked(node, pieces), place, axis=axis)
    behind = node.call("+", place, _count(node, pieces))
    number = node.call("where", node.call("<", place, node.literal(0)), behind, place)
    first = node.call("*", number, node.literal(size))
    last = node.call("+", first, node.literal(size))
    bounds = [node.call("reshape", each, node.shape_literal((1,))) for each in (first, last)]
    return node.call("slice_by", _base(node, pieces), *bounds, axes=[axis])


def erase(node: Node, pieces: Chunks) -> None:
    """The tensor without the part that one piece is."""
    place = _known_place(node, 1) if node.has(1) else -1
    if place is None:
        raise Unsupported("SequenceErase: a place that only a run knows")
    parts = [] if place == 0 else [_sliced(node, pieces, None, place)]
    if place != -1:
        parts.append(_sliced(node, pieces, place + 1, None))
    _hold_joined(node, pieces, parts, "rest")


def insert(node: Node, pieces: Chunks) -> None:
    """The tensor with a piece more, of the same size. Behind a smaller one there is no place."""
    place = _known_place(node, 2) if node.has(2) else None
    if node.has(2) and place is None:
        raise Unsupported("SequenceInsert: a place that only a run knows")
    if not (_is_even(node, pieces) or place == 0) or not _fits(node, pieces):
        raise Unsupported("SequenceInsert: an element that may have another size than the others")
    more = node.input(1)
    if pieces.bare:
        more = node.call("expand_dims", more, axis=[pieces.axis])
    parts = [_base(node, pieces), more] if place is None else [more, _base(node, pieces)]
    if place:
        before, behind = _sliced(node, pieces, None, place), _sliced(node, pieces, place, None)
        parts = [before, more, behind]
    _hold_joined(node, pieces, parts, "all")


def _hold_joined(node: Node, pieces: Chunks, parts: list[Expression], own: str) -> None:
    """The output is cut in the same way, from these parts in one tensor."""
    whole = parts[0] if len(parts) == 1 else node.call("concat", *parts, axis=pieces.axis)
    hold(node, node.outputs[0], replace(pieces, base=_made(node, whole, own)))


def _fits(node: Node, pieces: Chunks) -> bool:
    """Whether the second input is known to have the shape of a piece."""
    mine, word = node.shape(1), _word(node, pieces)
    if mine is None or word is None:
        return False
    own = () if pieces.bare else (pieces.size,)
    return tuple(mine) == (*word[: pieces.axis], *own, *word[pieces.axis + 1 :])


def concat(node: Node, pieces: Chunks) -> Expression:
    """All pieces, joined along an axis: along the one that they were cut, that is the tensor."""
    axis, new, word = node.attribute("axis"), node.attribute("new_axis", 0), _word(node, pieces)
    rank = None if word is None else len(word) - pieces.bare
    if rank is not None and -rank - bool(new) <= axis < rank + bool(new):
        axis %= rank + bool(new)
    elif rank is not None:
        raise Unsupported(f"ConcatFromSequence along axis {axis} of {rank}")
    if axis == pieces.axis and not (new or pieces.bare):
        return node.call("identity", _base(node, pieces))
    if word is None or rank is None:
        raise Unsupported("ConcatFromSequence: pieces of a rank that is not known")
    order = [i for i in range(rank + 1) if i != pieces.axis]
    order.insert(axis, pieces.axis)
    stack = _stacked(node, pieces)
    found = stack if order == sorted(order) else node.call("transpose", stack, perm=order)
    if new:
        return found
    made = ranked(node, node.infer(found))
    assert made is not None
    return merged(node, node.tensor(_made(node, found, "stack")), made.shape, axis)
