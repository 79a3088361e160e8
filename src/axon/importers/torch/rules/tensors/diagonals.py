"""Diagonals of matrices: taken, put back, and made into matrices."""

from __future__ import annotations

from typing import NamedTuple

from axon.importers.expressions import Expression
from axon.importers.node import Made
from axon.importers.operations import Malformed
from axon.importers.torch.node import TorchNode
from axon.importers.torch.rules.registry import ANY_SHAPE, rule
from axon.importers.torch.rules.tensors.creating import number_of
from axon.importers.torch.rules.tensors.shapes import in_rank
from axon.importers.torch.rules.tensors.slicing import as_rows
from axon.types import dim as dims


def _diagonal(node: TorchNode, rank: int, first: str, second: str) -> tuple[int, int, int]:
    """The offset of a diagonal, and the two axes that it goes along."""
    offset = node.integer("offset", 0)
    assert offset is not None
    pair = {"dim1": 0, "dim2": 1} if first == "dim1" else {}
    a, b = (in_rank(node.axis(name, pair.get(name)), rank) for name in (first, second))
    if a == b:
        raise Malformed("its two axes are the same")
    return offset, a, b


class Diagonal(NamedTuple):
    """A tensor whose last two axes, in which a diagonal lies, are joined in one; the shape before
    that, the order of its axes, and the numbers of the elements on the diagonal.
    """

    flat: Expression
    square: Expression
    order: list[int]
    places: Expression


def along_diagonal(node: TorchNode, index: int, offset: int, a: int, b: int) -> Diagonal:
    """Where the elements of an input lie that are on a diagonal in two of its axes."""
    word, x = node.sizes_of(index), node.input(index)
    assert word is not None
    if a == b:
        raise Malformed(f"the diagonal is of axis {a} twice")
    rest = [i for i in range(len(word)) if i not in (a, b)]
    order = [*rest, a, b]
    turned = x
    if order != list(range(len(word))):
        turned = node.call("transpose", x, perm=order)
    rows, columns = word[a], word[b]
    left = dims.sub(columns, offset) if offset >= 0 else columns
    down = rows if offset >= 0 else dims.add(rows, offset)
    count = dims.minimum(left, down)
    if not node.importer.is_size(count):
        count = dims.maximum(count, 0)
    lines, across = (node.call("size", x, axis=axis) for axis in (a, b))
    shift = node.call("-", across if offset >= 0 else lines, node.literal(abs(offset)))
    held = node.call("minimum", *((lines, shift) if offset >= 0 else (shift, across)))
    held = node.call("maximum", held, node.literal(0)) if offset else held
    numbers: Expression = node.call("range", node.size(count, held))
    wide = node.size(columns, across)
    places = node.call("+", node.call("*", numbers, wide), numbers)
    if offset > 0:
        places = node.call("+", places, node.literal(offset))
    elif offset < 0:
        places = node.call("+", places, node.call("*", node.literal(-offset), wide))
    flat = [*(word[i] for i in rest), dims.mul(rows, columns)]
    sizes = [node.call("size", x, axis=i) for i in rest]
    listed = node.list_of([*sizes, node.call("*", lines, across)])
    joined = node.call("reshape", turned, node.shape_literal(flat, listed))
    return Diagonal(joined, turned, order, places)


def diagonal_of(node: TorchNode, index: int, offset: int, a: int, b: int) -> Expression:
    """The elements along a diagonal of an input, at the end."""
    found = along_diagonal(node, index, offset, a, b)
    return node.call("gather", found.flat, found.places, axis=-1)


@rule("diagonal", "diagonal_copy", "linalg_diagonal")
def diagonal(node: TorchNode) -> Made:
    name = "A" if "A" in node.attributes else "self"
    at = node.tensor_index(name)
    rank = node.rank(at)
    if rank is None:
        return node.declared(ANY_SHAPE, at)
    if name == "A":
        offset = node.integer("offset", 0)
        assert offset is not None
        a, b = (in_rank(node.axis(n, d), rank) for n, d in (("dim1", -2), ("dim2", -1)))
        return diagonal_of(node, at, offset, a, b)
    return diagonal_of(node, at, *_diagonal(node, rank, "dim1", "dim2"))


@rule("trace")
def trace(node: TorchNode) -> Made:
    at = node.tensor_index("self")
    if node.rank(at) != 2:
        node.ranked(at, 2)
        return node.declared("t [m,n] -> t []", at)
    made = node.call("sum", diagonal_of(node, at, 0, 0, 1))
    elem = node.elem_of()
    return made if elem is None or elem.startswith(("f", "bf", "i64")) else node.cast(made, "i64")


@rule("diag")
def diag(node: TorchNode) -> Made:
    """The diagonal of a matrix, or the matrix with that diagonal."""
    at, rank, k = node.tensor_index("self"), node.rank_of(), node.integer("diagonal", 0)
    assert k is not None
    if rank is None:
        return node.declared(ANY_SHAPE, at)
    if rank == 2:
        return diagonal_of(node, at, k, 0, 1)
    return embedded(node, node.x(), 2, k, 0, 1)


@rule("diag_embed", "diagflat")
def diag_embed(node: TorchNode) -> Made:
    at, rank, offset = node.tensor_index("self"), node.rank_of(), node.integer("offset", 0)
    assert offset is not None
    if rank is None:
        return node.declared(ANY_SHAPE, at)
    if node.operator == "diagflat":
        return _on_diagonal(node, node.call("flatten", node.x()), offset)
    pair = [in_rank(node.axis(name, d), rank + 1) for name, d in (("dim1", -2), ("dim2", -1))]
    if pair[0] == pair[1]:
        raise Malformed("its two axes are one")
    return embedded(node, node.x(), rank + 1, offset, *pair)


def embedded(node: TorchNode, x: Expression, rank: int, offset: int, a: int, b: int) -> Expression:
    """Matrices whose diagonals are the last axis of a tensor, along two axes of the result, which
    has this rank.
    """
    made = _on_diagonal(node, x, offset)
    order: list[int | None] = [None] * rank
    order[a], order[b] = rank - 2, rank - 1
    rest = iter(range(rank - 2))
    perm = [next(rest) if axis is None else axis for axis in order]
    return made if perm == list(range(rank)) else node.call("transpose", made, perm=perm)


def _on_diagonal(node: TorchNode, x: Expression, offset: int) -> Expression:
    """The last axis as the diagonal of a matrix at the end."""
    pad = {"after": abs(offset), "axis": -1}
    wide = node.call("pad", x, **pad) if offset else x
    size = node.call("size", x, axis=-1)
    total = node.call("+", size, node.literal(abs(offset))) if offset else size
    down, along = node.call("range", total), node.call("range", total)
    lines = node.call("expand_dims", down, axis=[1])
    if offset:
        lines = node.call("+", lines, node.literal(offset))
    values = node.call("expand_dims", wide, axis=[-1 if offset >= 0 else -2])
    on = node.call("==", lines, along)
    return node.call("where", on, values, node.call("zeros_like", values))


@rule("diagonal_scatter")
def diagonal_scatter(node: TorchNode) -> Made:
    """A tensor with other elements on a diagonal."""
    at, rank = node.tensor_index("self"), node.rank_of()
    if rank is None:
        return node.type_of(node.call("identity", node.x()))
    flat, square, order, places = along_diagonal(node, at, *_diagonal(node, rank, "dim1", "dim2"))
    made = node.call("scatter", flat, places, as_rows(node, node.x("src")), axis=-1)
    made = node.call("reshape", made, node.call("shape", square))
    back = [order.index(axis) for axis in range(rank)]
    return made if back == order == sorted(order) else node.call("transpose", made, perm=back)


@rule("fill_diagonal")
def fill_diagonal(node: TorchNode) -> Made:
    """One number on the diagonal of a matrix; with `wrap` it goes on in tall ones."""
    if node.rank_of() != 2 or node.flag("wrap"):
        return node.type_of(node.call("identity", node.x()))
    on = node.call("diagonal_mask", node.x(), node.literal(0))
    value = number_of(node, "fill_value", node.elem_of())
    return node.call("where", on, value, node.x())
