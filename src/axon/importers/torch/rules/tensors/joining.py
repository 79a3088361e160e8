"""Joining, cutting up, repeating, and what is put around a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from axon.contents import arithmetic as contents
from axon.importers.expressions import Expression
from axon.importers.node import Made
from axon.importers.operations import Malformed, Operand, Unsupported
from axon.importers.torch import elements
from axon.importers.torch.node import TorchNode
from axon.importers.torch.rules.registry import rule
from axon.importers.torch.rules.tensors.creating import number_of
from axon.importers.torch.rules.tensors.shapes import in_rank
from axon.types import dim as dims
from axon.types.quotient import exact_quotient

# --- joining -------------------------------------------------------------------------------------


@rule("cat", "concat", "concatenate")
def cat(node: TorchNode) -> None:
    """A vector without elements may stand among tensors of another rank, and counts for nothing."""
    indices = node.indices("tensors", 1)
    kept = _not_empty(node, indices)
    parts = [x for i, x in zip(indices, _in_one_type(node, indices), strict=True) if i in kept]
    if len(parts) == 1:
        node.set_outputs(node.call("identity", parts[0]))
        return
    node.set_outputs(node.call("concat", *parts, axis=node.axis("dim", 0)))


def _not_empty(node: TorchNode, indices: list[int]) -> list[int]:
    if not indices:
        raise Malformed("it joins no tensors")
    words = [node.shape(i) for i in indices]
    found = [i for i, word in zip(indices, words, strict=True) if word != (0,)]
    if any(word is not None and len(word) > 1 for word in words):
        found = [i for i, word in zip(indices, words, strict=True) if word is None or len(word) > 1]
    return found or indices[:1]


def _in_one_type(node: TorchNode, indices: Sequence[int]) -> list[Expression]:
    """Tensors in the element type that has all of theirs."""
    found = [node.weight(Operand(i)) for i in indices]
    known = [each for each in found if each is not None]
    if len(known) < len(found):
        return [node.input(i) for i in indices]
    elem = elements.promoted(known)
    return [node.cast_to(i, elem) for i in indices]


@rule("stack")
def stack(node: TorchNode) -> Made:
    parts = _in_one_type(node, node.indices("tensors", 1))
    return node.call("stack", *parts, axis=node.axis("dim", 0))


@rule("hstack", "vstack", "dstack", "row_stack", "column_stack")
def stack_along(node: TorchNode) -> Made:
    """Vectors are rows, or columns, of a matrix."""
    indices = node.indices("tensors", 1)
    ranks = [node.rank(i) for i in indices]
    if any(rank is None for rank in ranks):
        raise Unsupported(f"{node.operator} of tensors whose rank is not known")
    parts = _in_one_type(node, indices)
    kind = {"row_stack": "vstack"}.get(node.operator, node.operator)
    if kind == "column_stack":
        least, axis = 2, 1
        parts = [
            _at_least(node, x, rank or 0, 2, columns=True)
            for x, rank in zip(parts, ranks, strict=True)
        ]
    else:
        least = {"hstack": 1, "vstack": 2, "dstack": 3}[kind]
        parts = [_at_least(node, x, r or 0, least) for x, r in zip(parts, ranks, strict=True)]
        axis = {"hstack": 0 if max(r or 0 for r in ranks) < 2 else 1, "vstack": 0}.get(kind, 2)
    if len(parts) == 1:
        return node.call("identity", parts[0])
    return node.call("concat", *parts, axis=axis)


def _at_least(
    node: TorchNode, x: Expression, rank: int, least: int, columns: bool = False
) -> Expression:
    """A tensor with at least so many dimensions, as NumPy makes it."""
    if rank >= least:
        return x
    if columns:
        axes = [0, 1] if rank == 0 else [1]
    else:
        axes = {
            (0, 1): [0], (0, 2): [0, 1], (1, 2): [0], (0, 3): [0, 1, 2], (1, 3): [0, 2],
            (2, 3): [2],
        }[rank, least]  # fmt: skip
    return node.call("expand_dims", x, axis=axes)


@rule("atleast_1d", "atleast_2d", "atleast_3d")
def at_least(node: TorchNode) -> None:
    least = int(node.operator[8])
    indices = node.indices("tensors", 1) if "tensors" in node.attributes else node.indices("self")
    ranks = [node.rank(i) for i in indices]
    if any(rank is None for rank in ranks):
        raise Unsupported(f"{node.operator} of a tensor whose rank is not known")
    node.set_outputs(
        *[
            _at_least(node, node.call("identity", node.input(i)), rank or 0, least)
            for i, rank in zip(indices, ranks, strict=True)
        ]
    )


@rule("block_diag")
def block_diag(node: TorchNode) -> Made:
    """Matrices along the diagonal of one."""
    indices = node.indices("tensors", 1)
    words = [node.sizes_of(i) for i in indices]
    if any(word is None or len(word) > 2 for word in words):
        raise Unsupported("block_diag of tensors whose rank is not known")
    parts = [
        _at_least(node, x, len(word or ()), 2)
        for x, word in zip(_in_one_type(node, indices), words, strict=True)
    ]
    widths: list[Any] = [1 if not word else word[-1] for word in words]
    rows = []
    for i, part in enumerate(parts):
        before, after = (sum_of(sizes) for sizes in (widths[:i], widths[i + 1 :]))
        rows.append(node.call("pad", part, before=before, after=after, axis=1))
    return node.call("concat", *rows, axis=0) if len(rows) > 1 else rows[0]


def sum_of(sizes: Sequence[Any]) -> Any:
    total: Any = 0
    for size in sizes:
        total = contents.add(total, size)
    return total


@rule("broadcast_tensors")
def broadcast_tensors(node: TorchNode) -> None:
    indices = node.indices("tensors", 1)
    made = []
    for i in indices:
        x: Expression = node.call("identity", node.input(i))
        for j in indices:
            if j != i:
                x = node.call("expand", x, node.call("shape", node.input(j)))
        made.append(x)
    node.set_outputs(*made)


@rule("meshgrid")
def meshgrid(node: TorchNode) -> None:
    """Each vector along an axis of its own, stretched over those of the others."""
    indices = node.indices("tensors", 1)
    across = node.text("indexing", "ij") == "xy" and len(indices) > 1
    node.set_outputs(*_grid(node, indices, across))


def _grid(node: TorchNode, indices: list[int], across: bool) -> list[Expression]:
    count = len(indices)
    places = list(range(count))
    if across:
        places[0], places[1] = 1, 0
    vectors = [
        node.input(i) if node.rank(i) == 1 else node.call("flatten", node.input(i)) for i in indices
    ]
    sizes: list[Any] = [0] * count
    held: list[Expression] = [node.literal(0)] * count
    for i, place, vector in zip(indices, places, vectors, strict=True):
        word = node.sizes_of(i)
        size = node.fresh_dim() if word is None else word[0] if len(word) == 1 else 1
        sizes[place], held[place] = size, node.call("size", vector)
    shape = node.shape_literal(sizes, node.list_of(held))
    made = []
    for place, vector in zip(places, vectors, strict=True):
        behind = [axis for axis in range(count - place) if axis]
        wide = node.call("expand_dims", vector, axis=behind) if behind else vector
        made.append(node.call("broadcast_to", wide, shape))
    return made


@rule("cartesian_prod")
def cartesian_prod(node: TorchNode) -> Made:
    indices = node.indices("tensors", 1)
    if len(indices) == 1:
        return node.call("identity", node.input(indices[0]))
    flat = [node.call("flatten", each) for each in _grid(node, indices, across=False)]
    return node.call("stack", *flat, axis=1)


# --- cutting up ----------------------------------------------------------------------------------


@rule("split", "unsafe_split", "split_copy")
def split(node: TorchNode) -> None:
    if isinstance(node.argument("split_size"), tuple) or "split_sizes" in node.attributes:
        split_with_sizes(node)
        return
    each = node.size_argument("split_size")
    _cut(node, node.axis("dim", 0), each)


def _cut(node: TorchNode, axis: int, each: Any, equal: bool = False) -> None:
    """Parts of one size but for the last, as many as there are outputs."""
    parts, x, total = len(node.outputs), node.x(), node.size_of("self", axis)
    if parts == 1:
        node.set_outputs(node.call("identity", x))
        return
    if equal:
        node.set_tuple_outputs(node.call("split", x, parts=parts, axis=axis))
        return
    if total is None:
        several = ", ".join("t ?r" + str(i) for i in range(parts))
        node.set_tuple_outputs(node.declared(f"t p -> ({several})", node.tensor_index("self")))
        return
    last = contents.sub(total, contents.mul(each, parts - 1))
    sizes = [*[each] * (parts - 1), last]
    if isinstance(last, int):
        node.set_tuple_outputs(node.call("split", x, sizes=sizes, axis=axis))
        return
    node.guard(last)  # the program has so many parts
    node.guard(contents.sub(each, last))
    word = node.sizes_of(node.tensor_index("self")) or []
    at = in_rank(axis, len(word))
    made = list[Expression]()
    for i, size in enumerate(sizes):
        ends = contents.mul(each, i), contents.mul(each, i + 1)
        part = node.call("slice", x, start=ends[0] or None, stop=ends[1], axis=at)
        made.append(node.shaped(part, [*word[:at], size, *word[at + 1 :]]))
    node.set_outputs(*made)


@rule("chunk", "unsafe_chunk")
def chunk(node: TorchNode) -> None:
    """So many parts of one size but for the last; there may be fewer."""
    chunks, axis, parts = node.integer("chunks"), node.axis("dim", 0), len(node.outputs)
    total = node.size_of("self", axis)
    if chunks is None or chunks < 1:
        raise Malformed("it has no number of parts")
    if total is None or (chunks == parts and exact_quotient(total, chunks) is not None):
        _cut(node, axis, None, equal=total is not None)
        return
    _cut(node, axis, dims.floordiv(dims.add(total, chunks - 1), chunks))


@rule("split_with_sizes", "unsafe_split_with_sizes", "split_with_sizes_copy")
def split_with_sizes(node: TorchNode) -> None:
    name = "split_sizes" if "split_sizes" in node.attributes else "split_size"
    sizes, axis, x = node.sizes(name), node.axis("dim", 0), node.x()
    if len(sizes) == 1:
        node.infer(node.call("split", x, sizes=sizes, axis=axis))
        node.set_outputs(node.call("identity", x))
        return
    node.set_tuple_outputs(node.call("split", x, sizes=sizes, axis=axis))


@rule("tensor_split", "hsplit", "vsplit", "dsplit")
def tensor_split(node: TorchNode) -> None:
    """Into so many parts, the first of which may be longer by one; or at some places."""
    kind, rank = node.operator, node.rank_of()
    usual = {"hsplit": 0 if rank == 1 else 1, "vsplit": 0, "dsplit": 2}.get(kind)
    axis = node.axis("dim", 0) if usual is None else usual
    total, parts = node.size_of("self", axis), len(node.outputs)
    if "indices" in node.attributes:
        places = node.integers("indices")
        bounds = [0, *places, None]
        node.set_outputs(
            *[
                node.call("slice", node.x(), start=low or None, stop=high, axis=axis)
                for low, high in pairwise(bounds)
            ]
        )
        return
    if isinstance(total, int):
        least, longer = divmod(total, parts)
        sizes = [least + (i < longer) for i in range(parts)]
        if parts == 1:
            node.set_outputs(node.call("identity", node.x()))
            return
        node.set_tuple_outputs(node.call("split", node.x(), sizes=sizes, axis=axis))
        return
    if total is not None and exact_quotient(total, parts) is not None:
        _cut(node, axis, None, equal=True)
        return
    made = ", ".join("t ?r" + str(i) for i in range(parts))
    node.set_tuple_outputs(node.declared(f"t p -> ({made})", node.tensor_index("self")))


@rule("unbind", "unbind_copy")
def unbind(node: TorchNode) -> None:
    """All rows, one by one: there are as many as the program has outputs."""
    at, axis, rank, parts = (
        node.tensor_index("self"), node.axis("dim", 0), node.rank_of(), len(node.outputs),
    )  # fmt: skip
    x = node.x()
    if rank is not None:
        axis = in_rank(axis, rank)
        x = node.sized(at, [parts if i == axis else None for i in range(rank)])
    node.set_outputs(*[node.call("index", x, i=i, axis=axis) for i in range(parts)])


# --- repeating -----------------------------------------------------------------------------------


@rule("repeat", "tile")
def repeat(node: TorchNode) -> Made:
    name = "repeats" if "repeats" in node.attributes else "dims"
    at, times, rank, x = node.tensor_index("self"), node.sizes(name), node.rank_of(), node.x()
    if rank is None:
        return node.declared("t p -> t ?r", at)
    if node.operator == "tile":
        times = [1] * (rank - len(times)) + times
    new = len(times) - rank
    if new < 0:
        raise Malformed("it repeats along fewer axes than its input has")
    if new:
        x = node.call("expand_dims", x, axis=list(range(new)))
    if not times:
        return node.call("identity", x)
    given = node.argument(name)
    listed = given if isinstance(given, tuple) else (given,)
    if not any(isinstance(each, Operand) for each in listed):
        return node.call("tile", x, reps=times)
    held = [node.literal(1)] * (len(times) - len(listed)) + [node.as_found(e) for e in listed]
    fallback = node.call("tile", x, reps=node.list_of(held))
    return node.call("tile", x, reps=times), fallback


@rule("repeat_interleave")
def repeat_interleave(node: TorchNode) -> Made:
    """Each row so many times, as often as another, or as a tensor tells."""
    value = node.argument("repeats")
    if "self" not in node.attributes:
        return _sized_as_told(
            node, node.call("numbers_repeated", node.cast(node.x("repeats"), "i64"))
        )
    flat = node.argument("dim") is None
    x, axis = (node.call("flatten", node.x()), 0) if flat else (node.x(), node.axis())
    if isinstance(value, Operand) and not _is_number(node, value):
        counts = node.cast_to(value.index, "i64")
        if node.rank(value.index) == 0 or node.length(value.index) == 1:
            one = node.call("reshape", counts, node.shape_literal([1]))
            counts = node.call("broadcast_to", one, node.list_of([node.call("size", x, axis=axis)]))
        return node.call(
            "gather", x, _sized_as_told(node, node.call("numbers_repeated", counts)), axis=axis
        )
    times = node.size_argument("repeats")
    if isinstance(times, int):
        return node.call("repeat", x, times=times, axis=axis)
    fallback = node.call("repeat", x, times=node.as_found(value), axis=axis)
    return node.call("repeat", x, times=times, axis=axis), fallback


def _is_number(node: TorchNode, value: Operand) -> bool:
    """Whether an argument is a number that was computed, and no tensor of counts."""
    return node.rank(value.index) == 0 and node.element(value.index) is not None


def _sized_as_told(node: TorchNode, numbers: Expression) -> Expression:
    """Numbers of which the program may say how many there are."""
    if node.argument("output_size") is None:
        return numbers
    return node.shaped(numbers, [node.size_argument("output_size")])


# --- around a tensor -----------------------------------------------------------------------------

PADS = {"constant": "constant", "replicate": "edge", "reflect": "reflect", "circular": "wrap"}
PAD_MODES = {
    "reflection_pad1d": "reflect", "reflection_pad2d": "reflect", "reflection_pad3d": "reflect",
    "replication_pad1d": "replicate", "replication_pad2d": "replicate",
    "replication_pad3d": "replicate", "_pad_circular": "circular",
}  # fmt: skip
ENUM = ("constant", "reflect", "replicate", "circular")
MOST_AXES = 64
"""Of a tensor whose rank is not known."""


@rule("pad", "constant_pad_nd", "_pad_enum", *PAD_MODES)
def pad(node: TorchNode) -> Made:
    """Pairs for the axes from the last one on; a negative number cuts so many off."""
    mode = PAD_MODES.get(node.operator) or node.text("mode", "constant")
    if node.operator == "_pad_enum":
        mode = ENUM[node.integer("mode", 0) or 0]
    if mode not in PADS:
        raise Unsupported(f"{node.operator} with mode {mode}")
    name = "padding" if "padding" in node.attributes else "pad"
    pads, given = node.known_sizes(name), node.argument(name)
    listed = given if isinstance(given, tuple) else (given,)
    if len(pads) % 2:
        raise Malformed("its numbers are no pairs")
    rank = node.rank_of()
    if len(pads) > 2 * (MOST_AXES if rank is None else rank):
        raise Malformed("it has numbers for more axes than there are")
    x: Expression = node.x()
    value = _around(node) if mode == "constant" else None
    for i in reversed(range(len(pads) // 2)):
        pair, held = pads[2 * i : 2 * i + 2], listed[2 * i : 2 * i + 2]
        if pair == [0, 0]:
            continue
        more = [] if value is None else [value]
        how = {"axis": -1 - i, "mode": PADS[mode]}
        if None in pair:
            by = node.list_of([node.as_found(each) for each in held])
            how = {"axis": [-1 - i], "mode": PADS[mode]}
            x = node.call("pad_by", x, by, *more, **how)
        else:
            x = node.call("pad", x, *more, before=pair[0], after=pair[1], **how)
    if x is node.x():
        x = node.call("identity", x)
    return x


def _around(node: TorchNode) -> Expression | None:
    """What is put around; None if that is zero."""
    value = node.argument("value")
    if value in (None, 0):
        return None
    return number_of(node, "value", node.elem_of())
