"""What changes the shape of a tensor, and none of its elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from axon.importers.expressions import Expression
from axon.importers.node import Made
from axon.importers.operations import Malformed, Operand, Unsupported
from axon.importers.torch.node import TorchNode
from axon.importers.torch.rules.registry import ANY_SHAPE, SAME_RANK, rule
from axon.types import dim as dims
from axon.types.dim import Poly
from axon.types.quotient import exact_quotient
from axon.types.type import shape_size
from axon.types.variables import DimVar

WILD = -1
"""The size that follows from the others."""


@rule("view", "reshape", "_unsafe_view", "view_copy", "_reshape_alias")
def view(node: TorchNode) -> Made:
    if node.argument("dtype") is not None:
        return same_bits(node)
    name = "shape" if "shape" in node.attributes else "size"
    return reshaped(node, node.x(), node.shape(node.tensor_index("self")), name)


def same_bits(node: TorchNode) -> Expression:
    """The same bytes as other elements: those of another size are more, or fewer, in a row."""
    elem, own = node.dtype(), node.elem_of()
    if elem is None or own is None or "bool" in (elem, own):
        raise Unsupported("view of the same bytes as other elements")
    x, (mine, wanted) = node.x(), (int(each.lstrip("buif")) for each in (own, elem))
    if mine == wanted:
        return node.call("bit_cast", x, to=elem)
    word = node.sizes_of(node.tensor_index("self"))
    if not word:
        raise Unsupported("view of the same bytes as other elements")
    last = dims.floordiv(dims.scale(mine, word[-1]), wanted)
    return node.type_of(node.call("zeros", node.shape_literal([*word[:-1], last]), to=elem))


def reshaped(node: TorchNode, x: Expression, word: Sequence[Any] | None, name: str) -> Expression:
    """A tensor of the shape `word`, with the sizes that an argument lists."""
    sizes = node.sizes(name)
    given = node.argument(name)
    every = given if isinstance(given, tuple) else (given,)
    held = None
    if WILD in sizes or any(isinstance(each, Operand) for each in every):
        listed = node.list_of([node.as_found(each) for each in every])
        held = node.call("reshaped_sizes", x, listed, zero=True)
    return node.call("reshape", x, node.shape_literal(wild_replaced(node, word, sizes), held))


def wild_replaced(node: TorchNode, word: Sequence[Any] | None, sizes: list[Any]) -> list[Any]:
    """Sizes of a tensor with the elements of one of shape `word`, in which one of -1 follows from
    the others.
    """
    wild = [i for i, n in enumerate(sizes) if isinstance(n, int) and n == WILD]
    if len(wild) > 1:
        raise Malformed("more than one of its sizes is -1")
    if not wild:
        return sizes
    found = list(sizes)
    (at,) = wild
    found[at] = node.fresh_dim()
    if word is not None and all(isinstance(n, int | DimVar | Poly) for n in word):
        others = dims.product([n for i, n in enumerate(sizes) if i != at])
        total = shape_size(tuple(word))
        if others != 0:
            whole = exact_quotient(total, others)
            found[at] = dims.floordiv(total, others) if whole is None else whole
    return found


@rule("reshape_as", "view_as")
def reshape_as(node: TorchNode) -> Made:
    other = node.tensor_index("other")
    word, shape = node.shape(other), node.call("shape", node.input(other))
    return node.call(
        "reshape", node.x(), shape if word is None else node.shape_literal(word, shape)
    )


@rule("expand", "expand_copy", "broadcast_to")
def expand(node: TorchNode) -> Made:
    """A size of -1 stays what it is."""
    sizes, word = node.sizes("size"), node.shape(node.tensor_index("self"))
    if WILD not in sizes:
        return node.call("broadcast_to", node.x(), node.shape_of_argument("size", sizes))
    if word is None:
        return node.declared("t p -> t ?r", node.tensor_index("self"))
    if len(sizes) < len(word):
        raise Malformed("it has fewer sizes than its input has dimensions")
    own = [*[None] * (len(sizes) - len(word)), *word]
    given = node.argument("size")
    listed = given if isinstance(given, tuple) else (given,)
    for i, size in enumerate(sizes):
        if isinstance(size, int) and size == WILD:
            if own[i] is None:
                raise Malformed("a new dimension has size -1")
            sizes[i] = own[i]
    held = None
    if any(not isinstance(size, int) for size in sizes):
        at = node.tensor_index("self")
        first = len(sizes) - len(word)
        items = [
            node.call("size", node.input(at), axis=i - first)
            if not isinstance(each, Operand) and each == WILD
            else node.as_found(each)
            for i, each in enumerate(listed)
        ]
        held = node.list_of(items)
    return node.call("broadcast_to", node.x(), node.shape_literal(sizes, held))


@rule("expand_as")
def expand_as(node: TorchNode) -> Made:
    return node.call("broadcast_to", node.x(), node.call("shape", node.x("other")))


@rule("permute", "permute_copy")
def permute(node: TorchNode) -> Made:
    perm = node.integers("dims")
    return node.call("transpose", node.x(), perm=[axis % len(perm) for axis in perm])


@rule("transpose", "transpose_copy", "swapaxes", "swapdims")
def transpose(node: TorchNode) -> Made:
    names = ("axis0", "axis1") if "axis0" in node.attributes else ("dim0", "dim1")
    a, b = (node.axis(name) for name in names)
    return swapped(node, node.x(), node.rank_of(), a, b)


def swapped(node: TorchNode, x: Expression, rank: int | None, a: int, b: int) -> Expression:
    """A tensor with two axes exchanged."""
    if rank is None:
        if {a, b} == {-1, -2}:
            return node.call("transpose", x)
        return node.declared(SAME_RANK, node.tensor_index("self"))
    if rank < 2:
        return node.call("identity", x)
    order = list(range(rank))
    a, b = in_rank(a, rank), in_rank(b, rank)
    order[a], order[b] = order[b], order[a]
    return node.call("transpose", x, perm=order)


def in_rank(axis: int, rank: int) -> int:
    """An axis counted from the front."""
    if not -max(rank, 1) <= axis < max(rank, 1):
        raise Malformed(f"it has axis {axis} of a tensor with {rank} dimensions")
    return axis % max(rank, 1)


@rule("t", "numpy_T", "adjoint", "mT", "mH", "matrix_H", "t_copy")
def turned(node: TorchNode) -> Made:
    rank, x = node.rank_of(), node.x()
    if node.operator in ("adjoint", "mT", "mH", "matrix_H"):
        return node.call("transpose", x)
    if rank is None:
        return node.declared(SAME_RANK, node.tensor_index("self"))
    return node.call("transpose", x, perm=list(range(rank))[::-1])


@rule("movedim", "moveaxis")
def movedim(node: TorchNode) -> Made:
    rank = node.rank_of()
    if rank is None:
        return node.declared(SAME_RANK, node.tensor_index("self"))
    source = [in_rank(axis, rank) for axis in node.integers("source")]
    target = [in_rank(axis, rank) for axis in node.integers("destination")]
    if not len(source) == len(target) == len(set(source)) == len(set(target)):
        raise Malformed("it does not move each of its axes to a place of its own")
    order: list[int | None] = [None] * rank
    for a, b in zip(source, target, strict=True):
        order[b] = a
    rest = iter([axis for axis in range(rank) if axis not in source])
    return node.call("transpose", node.x(), perm=[next(rest) if a is None else a for a in order])


@rule("unsqueeze", "unsqueeze_copy")
def unsqueeze(node: TorchNode) -> Made:
    return node.call("expand_dims", node.x(), axis=[node.axis()])


@rule("squeeze", "squeeze_copy")
def squeeze(node: TorchNode) -> Made:
    """An axis whose size is not 1 stays."""
    at = node.tensor_index("self")
    word, x = node.shape(at), node.x()
    if word is None:
        return node.declared(ANY_SHAPE, at)
    asked = node.argument("dim") is not None
    axes = (
        [in_rank(axis, len(word)) for axis in node.integers("dim")] if asked else range(len(word))
    )
    if not word:
        return node.call("identity", x)
    if any(not isinstance(word[axis], int) for axis in axes):
        return node.declared(ANY_SHAPE, at)  # it may be 1
    ones = [axis for axis in axes if word[axis] == 1]
    return node.call("squeeze", x, axis=ones) if ones else node.call("identity", x)


@rule("ravel")
def ravel(node: TorchNode) -> Made:
    return node.call("flatten", node.x())


@rule("sum_to_size")
def sum_to_size(node: TorchNode) -> Made:
    """The axes summed up along which a shape was stretched."""
    made = node.call("zeros", node.shape_of_argument("size", node.sizes("size")))
    return node.type_of(node.call("cast_like", made, node.x()))


@rule("flatten")
def flatten(node: TorchNode) -> Made:
    start, end = node.integer("start_dim", 0), node.integer("end_dim", -1)
    at = node.tensor_index("self")
    word, x = node.shape(at), node.x()
    assert start is not None and end is not None
    if word is None:
        if start == 1 and end == -1:
            return node.declared("t [n]@p -> t [n,size(p)]", at)
        if start == 0 and end == -1:
            return node.declared("t p -> t [size(p)]", at)
        return node.declared(ANY_SHAPE, at)
    first, last = in_rank(start, len(word)), in_rank(end, len(word))
    if not word:
        return node.call("reshape", x, node.shape_literal([1]))
    if first == last:
        return node.call("identity", x)
    sizes = [*word[:first], shape_size(word[first : last + 1]), *word[last + 1 :]]
    listed = [node.call("size", x, axis=i) for i in range(len(word))]
    joined: Expression = listed[first]
    for each in listed[first + 1 : last + 1]:
        joined = node.call("*", joined, each)
    held = node.list_of([*listed[:first], joined, *listed[last + 1 :]])
    return node.call("reshape", x, node.shape_literal(sizes, held))


@rule("unflatten")
def unflatten(node: TorchNode) -> Made:
    at = node.tensor_index("self")
    word, x = node.shape(at), node.x()
    if word is None:
        return node.declared(ANY_SHAPE, at)
    if not word:
        raise Malformed("a tensor without dimensions has no axis")
    axis = in_rank(node.axis(), len(word))
    parts = wild_replaced(node, [word[axis]], node.sizes("sizes"))
    sizes = [*word[:axis], *parts, *word[axis + 1 :]]
    return node.call("reshape", x, node.shape_literal(sizes))
