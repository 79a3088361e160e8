"""What looks things up by numbers, or by truth, and what puts them there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from axon.importers.expressions import Declared, Expression
from axon.importers.node import Made
from axon.importers.operations import Malformed, Operand, Unsupported
from axon.importers.runtime_values import cut_to
from axon.importers.torch.node import TorchNode
from axon.importers.torch.rules.registry import ANY_SHAPE, rule
from axon.importers.torch.rules.tensors.creating import number_of
from axon.importers.torch.rules.tensors.shapes import in_rank
from axon.types.type import shape_size

TRUTH = ("bool", "u8")
"""Elements of a tensor that says which elements are wanted, and not where they are."""

# --- index and index_put -------------------------------------------------------------------------


class Numbered(NamedTuple):
    """An axis, and the tensor that numbers its rows."""

    axis: int
    numbers: Expression


@rule("index", "_unsafe_index")
def index(node: TorchNode) -> Made:
    return indexed(node)


@rule("_unsafe_masked_index")
def masked_index(node: TorchNode) -> Made:
    """Where a mask is false there is a number, whatever the indices are."""
    fill = number_of(node, "fill", node.elem_of())
    return node.call("where", node.operand("mask", "bool"), indexed(node), fill)


def indexed(node: TorchNode) -> Expression:
    at, given = node.tensor_index("self"), _indexed_axes(node)
    if given is None:
        return node.declared(ANY_SHAPE, at)
    if not given:
        return node.call("identity", node.x())
    if len(given) == 1 and _says_which(node, given[0][1]):
        axis, mask = given[0]
        return node.call("select", node.x(), node.cast_to(mask, "bool"), axis=axis)
    numbered = _numbered(node, given)
    if len(numbered) == 1:
        axis, numbers = numbered[0]
        return node.call("gather", node.x(), numbers, axis=axis)
    word = node.sizes_of(at)
    if word is None:
        return _of_unknown_rank(node, numbered)
    order, first = _side_by_side(numbered, len(word))
    x = _turned(node, node.x(), order)
    sizes = [word[axis] for axis in order]
    flat, joined = _joined(node, x, sizes, first, len(numbered)), first
    return node.call("gather", flat, _row_numbers(node, numbered), axis=joined)


def _of_unknown_rank(node: TorchNode, numbered: list[Numbered]) -> Expression:
    """Where the first axes are indexed, the sizes of the numbers stand in their place."""
    if [each.axis for each in numbered] != list(range(len(numbered))):
        return node.declared(ANY_SHAPE, node.tensor_index("self"))
    first, *others = numbered
    joined = first.numbers
    for each in others:
        joined = node.call("+", joined, each.numbers)
    axes = ",".join(f"n{i}" for i in range(len(numbered)))
    return Declared(node.operator, f"(t [{axes}]@p, i q) -> t q@p", (node.x(), joined))


def _indexed_axes(node: TorchNode) -> list[tuple[int, int]] | None:
    """The axes that are indexed, counted without those that a mask takes besides its first, and
    which input has their numbers. None if a mask takes nobody knows how many.
    """
    found, axis = list[tuple[int, int]](), 0
    every = node.argument("indices")
    for each in every if isinstance(every, tuple) else (every,):
        if each is None:
            axis += 1
            continue
        if not isinstance(each, Operand):
            raise Malformed("an index is no tensor")
        found.append((axis, each.index))
        rank = node.rank(each.index)
        masks = _says_which(node, each.index)
        if masks and rank is None:
            return None
        axis += rank or 0 if masks else 1
    return found


def _says_which(node: TorchNode, index: int) -> bool:
    elem = node.elem(index)
    if not isinstance(elem, str):
        raise Unsupported(f"{node.operator} by elements of an unknown type")
    return elem in TRUTH


def _numbered(node: TorchNode, given: list[tuple[int, int]]) -> list[Numbered]:
    """The same with numbers in the place of masks."""
    found = []
    for axis, index in given:
        if not _says_which(node, index):
            numbers = node.input(index)
            if node.operator == "_unsafe_masked_index":
                last = node.call("-", node.call("size", node.x(), axis=axis), node.literal(1))
                numbers = node.call("minimum", node.cast(numbers, "i64"), last)
                numbers = node.call("maximum", numbers, node.literal(0))
            found.append(Numbered(axis, numbers))
            continue
        places = node.call("argwhere", node.cast_to(index, "bool"))
        for i in range(node.rank(index) or 0):
            found.append(Numbered(axis + i, node.call("index", places, i=i, axis=1)))
    return found


def _side_by_side(numbered: Sequence[Numbered], rank: int) -> tuple[list[int], int]:
    """An order of the axes in which those that are indexed stand side by side, and where the first
    of them stands: at the front, unless they are side by side anyway.
    """
    axes = [each.axis for each in numbered]
    if not axes:
        raise Unsupported("an index that is one truth value")
    if axes[-1] >= rank:
        raise Malformed(f"it indexes axis {axes[-1]} of a tensor with {rank} dimensions")
    if axes == list(range(axes[0], axes[0] + len(axes))):
        return list(range(rank)), axes[0]
    return [*axes, *(axis for axis in range(rank) if axis not in axes)], 0


def _turned(node: TorchNode, x: Expression, order: Sequence[int]) -> Expression:
    straight = list(order) == list(range(len(order)))
    return x if straight else node.call("transpose", x, perm=list(order))


def _joined(
    node: TorchNode, x: Expression, sizes: Sequence[Any], first: int, count: int
) -> Expression:
    """A tensor with some axes joined in one."""
    whole = shape_size(tuple(sizes[first : first + count]))
    listed = [node.call("size", x, axis=i) for i in range(len(sizes))]
    total: Expression = listed[first]
    for each in listed[first + 1 : first + count]:
        total = node.call("*", total, each)
    held = node.list_of([*listed[:first], total, *listed[first + count :]])
    shape = [*sizes[:first], whole, *sizes[first + count :]]
    return node.call("reshape", x, node.shape_literal(shape, held))


def _row_numbers(node: TorchNode, numbered: Sequence[Numbered]) -> Expression:
    """Numbers along several axes as those of the rows of the axes joined. They broadcast."""
    total: Expression | None = None
    for axis, numbers in numbered:
        size = node.call("size", node.x(), axis=axis)
        counted = node.call("from_front", node.cast(numbers, "i64"), size)
        total = counted if total is None else node.call("+", node.call("*", total, size), counted)
    assert total is not None
    return total


@rule("index_put", "_unsafe_index_put", "_index_put_impl")
def index_put(node: TorchNode) -> Made:
    at, given = node.tensor_index("self"), _indexed_axes(node)
    adds, x, elem = node.flag("accumulate"), node.x(), node.elem_of()
    values = node.operand("values", elem)
    if given is None:
        return node.type_of(node.call("identity", x))
    if not given:
        raise Unsupported("index_put without an index")
    word, single = node.sizes_of(at), node.rank_of("values") == 0
    if len(given) == 1 and _says_which(node, given[0][1]) and single:
        return _put_by_mask(node, given[0], values, adds)
    numbered = _numbered(node, given)
    if word is None or any(isinstance(each, str) for each in word):
        return node.type_of(node.call("identity", x))
    order, first = _side_by_side(numbered, len(word))
    front = [*range(first, first + len(numbered))]
    front += [axis for axis in range(len(word)) if axis not in front]
    order = [order[axis] for axis in front]
    turned, rows = _turned(node, x, order), _row_numbers(node, numbered)
    sizes = [word[axis] for axis in order]
    flat = _joined(node, turned, sizes, 0, len(numbered))
    taken = node.call("gather", flat, rows, axis=0)
    if first:  # the values have the axes before those that are indexed in front
        rank = node.importer.state.prune(node.infer(rows))
        count = len(rank.shape) if hasattr(rank, "shape") else 0
        straight = [*range(count, count + first), *range(count)]
        straight += range(count + first, count + len(word) - len(numbered))
        back = [straight.index(axis) for axis in range(len(straight))]
        like = node.call("transpose", taken, perm=straight)
        values = node.call("broadcast_to", values, node.call("shape", like))
        values = node.call("transpose", values, perm=back)
    else:
        values = node.call("broadcast_to", values, node.call("shape", taken))
    places = node.call("expand_dims", rows, axis=[-1])
    mode = "add" if adds else "set"
    made = node.call("scatter_nd", flat, places, values, axes=1, mode=mode)
    made = node.call("reshape", made, node.call("shape", turned))
    return _turned(node, made, [order.index(axis) for axis in range(len(order))])


def _put_by_mask(
    node: TorchNode, given: tuple[int, int], value: Expression, adds: bool
) -> Expression:
    """One value in the place of all elements for which a mask is true."""
    axis, index = given
    mask, x, rank = node.cast_to(index, "bool"), node.x(), node.rank_of()
    count = node.rank(index) or 0
    if rank is None:
        if axis:
            return node.type_of(node.call("identity", x))
    elif rank < axis + count:
        raise Malformed(f"its mask has {count} dimensions from axis {axis} on, of {rank}")
    behind = 0 if rank is None else rank - axis - count
    if rank is None:
        return node.type_of(node.call("identity", x))
    if behind:
        mask = node.call("expand_dims", mask, axis=[count + i for i in range(behind)])
    return node.call("where", mask, node.call("+", x, value) if adds else value, x)


# --- along an axis -------------------------------------------------------------------------------


@rule("index_select", "index_select_copy")
def index_select(node: TorchNode) -> Made:
    return node.call("gather", node.x(), flat_numbers(node), axis=node.axis())


def flat_numbers(node: TorchNode) -> Expression:
    """Numbers of rows: one of them is a list of one."""
    numbers = node.x("index")
    return numbers if node.rank_of("index") == 1 else node.call("flatten", numbers)


@rule("gather")
def gather(node: TorchNode) -> Made:
    x, numbers = node.tensor_index("self"), node.tensor_index("index")
    return taken_along(node, x, numbers, node.axis())


def taken_along(node: TorchNode, x: int, numbers: int, axis: int) -> Expression:
    """For each number the element of its own column that has it; the other axes may be longer than
    those of the numbers.
    """
    data, word = node.sizes_of(x), node.sizes_of(numbers)
    if word is None or data is None or not word or not data:
        return node.declared("(t p, i q) -> t q", x, numbers)
    axis = in_rank(axis, len(word))
    whole = cut = node.input(x)
    if len(data) == len(word):
        others = [i for i in range(len(word)) if i != axis]
        cut = cut_to(node, cut, x, numbers, others)
    made = node.call("gather_elements", cut, node.input(numbers), axis=axis)
    return made if cut is whole else node.shaped(made, list(word))


@rule("take_along_dim")
def take_along_dim(node: TorchNode) -> Made:
    """The other axes broadcast."""
    x, numbers = node.tensor_index("self"), node.tensor_index("indices")
    if node.argument("dim") is None:
        flat = [node.call("flatten", node.input(i)) for i in (x, numbers)]
        return node.call("gather", *flat)
    data, word = node.sizes_of(x), node.sizes_of(numbers)
    if data is None or word is None or len(data) != len(word) or not data:
        return node.declared("(t p, i q) -> t ?r where rank(?r) = rank(p)", x, numbers)
    axis = in_rank(node.axis(), len(data))
    if all(a == b for i, (a, b) in enumerate(zip(data, word, strict=True)) if i != axis):
        return node.call("gather_elements", node.input(x), node.input(numbers), axis=axis)
    sides = []
    for own, other in ((x, numbers), (numbers, x)):
        like = node.call("slice", node.input(other), stop=1, axis=axis)
        sides.append(node.call("expand", node.input(own), node.call("shape", like)))
    return node.call("gather_elements", *sides, axis=axis)


@rule("take")
def take(node: TorchNode) -> Made:
    return node.call("gather", node.call("flatten", node.x()), node.x("index"))


@rule("put")
def put(node: TorchNode) -> Made:
    x, numbers = node.x(), node.call("flatten", node.x("index"))
    rows = node.call("flatten", node.operand("source", node.elem_of()))
    mode = "add" if node.flag("accumulate") else "set"
    made = node.call("scatter", node.call("flatten", x), numbers, rows, mode=mode)
    return node.call("reshape", made, node.call("shape", x))


@rule("embedding")
def embedding(node: TorchNode) -> Made:
    return node.call("gather", node.x("weight"), node.x("indices"))


@rule("one_hot")
def one_hot(node: TorchNode) -> Made:
    """Without a number of classes there is one more than the largest number is."""
    value = node.argument("num_classes")
    if value is None or value == -1:
        most = node.call("max", node.x())
        depth = node.call("+", most, node.literal(1))
        return node.call("one_hot", node.x(), depth=depth, to="i64")
    depth = node.literal(node.size_argument("num_classes"))
    if isinstance(value, Operand):
        depth = node.size(node.size_argument("num_classes"), node.as_found(value))
    return node.call("one_hot", node.x(), depth=depth, to="i64")


@rule("index_copy", "index_add")
def index_copy(node: TorchNode) -> Made:
    """Other rows in the place of those that have numbers, or added to them."""
    elem, axis = node.elem_of(), node.axis()
    rows = node.operand("source", elem)
    adds = node.operator.startswith("index_add")
    if adds and node.argument("alpha") not in (None, 1):
        rows = node.call("*", rows, node.operand("alpha", elem))
    mode = "add" if adds else "set"
    return node.call("scatter", node.x(), flat_numbers(node), rows, axis=axis, mode=mode)


@rule("index_fill")
def index_fill(node: TorchNode) -> Made:
    value = number_of(node, "value", node.elem_of())
    return node.call("filled_rows", node.x(), flat_numbers(node), value, axis=node.axis())
