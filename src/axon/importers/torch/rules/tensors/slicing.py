"""Parts of tensors by position, and what puts them back in their place."""

from __future__ import annotations

from typing import Any

from axon.contents.arithmetic import is_symbol
from axon.importers.bounds import Part, parted
from axon.importers.expressions import Expression
from axon.importers.node import Made
from axon.importers.operations import Malformed, Operand
from axon.importers.torch.node import TorchNode
from axon.importers.torch.rules.registry import SAME_RANK, rule
from axon.importers.torch.rules.tensors.shapes import in_rank
from axon.types import dim as dims

END = (1 << 63) - 1
"""The bound that means the end."""


# --- slices --------------------------------------------------------------------------------------


@rule("slice", "slice_copy")
def slice_(node: TorchNode) -> None:
    at, axis = node.tensor_index("self"), node.axis("dim", 0)
    rank = node.rank_of()
    axis = axis if rank is None else in_rank(axis, rank)
    step = node.integer("step", 1)
    start, end = _bound(node, "start", 0), _bound(node, "end", END)
    if step is None or step < 1:
        raise Malformed(f"its step is {step}")
    fallback = _cut_by_run(node, axis, step)
    if start is None or end is None:
        node.set_outputs(fallback)
        return
    node.set_outputs(parted(node, at, [Part(start, end, axis, step)], fallback), fallback=fallback)


def _bound(node: TorchNode, name: str, default: int) -> Any:
    """A bound: a number, a size, or None if it is not known."""
    value = node.argument(name)
    if value is None:
        return default
    if not isinstance(value, Operand):
        return node.integer(name)
    found = node.element(value.index)
    return found if isinstance(found, int) or is_symbol(found) else None


def _cut_by_run(node: TorchNode, axis: int, step: int) -> Expression:
    """The part by bounds that only a run knows."""
    bounds = [node.argument("start"), node.argument("end")]
    usual = (0, END)
    listed = [
        node.list_of([node.as_found(default if value is None else value)])
        for value, default in zip(bounds, usual, strict=True)
    ]
    steps = [node.list_of([node.literal(step)])] if step != 1 else []
    return node.call("slice_by", node.x(), *listed, *steps, axes=[axis])


@rule("select", "select_copy")
def select(node: TorchNode) -> Made:
    """One row; its axis goes."""
    return row_of(node, node.x(), node.axis(), "index")


def row_of(node: TorchNode, x: Expression, axis: int, name: str) -> Expression:
    """The row that an argument says."""
    value = node.argument(name)
    if value is None:
        raise Malformed(f"it has no argument `{name}`")
    if not isinstance(value, Operand):
        return node.call("index", x, i=node.integer(name), axis=axis)
    found = node.element(value.index)
    if isinstance(found, int):
        return node.call("index", x, i=found, axis=axis)
    return node.call("gather", x, node.as_found(value), axis=axis)


@rule("narrow", "narrow_copy")
def narrow(node: TorchNode) -> None:
    """So many rows from a start on: they are there."""
    at, axis = node.tensor_index("self"), node.axis()
    word = node.sizes_of(at)
    if word is None:
        node.set_outputs(node.declared(SAME_RANK, at))
        return
    if not word:
        raise Malformed("a tensor without dimensions has no rows")
    axis = in_rank(axis, len(word))
    start, length, whole = _bound(node, "start", 0), node.size_argument("length"), word[axis]
    held = [node.as_found(node.argument(name)) for name in ("start", "length")]
    stop = node.call("+", *held)
    fallback = node.call("slice_by", node.x(), *map(node.list_of, ([held[0]], [stop])), axes=[axis])
    if isinstance(start, int) and start < 0:
        start = dims.add(whole, start)
    sizes = [*word[:axis], length, *word[axis + 1 :]]
    expr = fallback
    if start is not None and node.importer.is_size(start):
        end = dims.add(start, length)
        expr = parted(node, at, [Part(start, end, axis, 1)], None)
        if isinstance(end, int) and isinstance(whole, int) and end > whole:
            raise Malformed(f"it takes rows up to {end} of {whole}")
    node.set_outputs(node.shaped(expr, sizes), fallback=fallback)


@rule("unfold", "unfold_copy")
def unfold(node: TorchNode) -> Made:
    """Windows along an axis: their number takes its place, and their elements are at the end."""
    at, size, step = node.tensor_index("self"), node.integer("size"), node.integer("step")
    word, axis = node.sizes_of(at), node.axis("dimension")
    if size is None or step is None or size < 0 or step < 1:
        raise Malformed("its windows have no size, or no step")
    if word is None:
        return node.declared("t p -> t ?r where rank(?r) = rank(p)+1", at)
    x = node.x()
    if not word:
        x, word = node.call("expand_dims", x, axis=[0]), [1]
    axis = in_rank(axis, len(word))
    slack = dims.sub(word[axis], size)
    if not isinstance(slack, int):
        node.importer.enter_slack(slack)
        node.guard(slack)
    elif slack < 0:
        raise Malformed(f"a window of {size} does not fit into {word[axis]}")
    count = dims.add(dims.floordiv(slack, step), 1)
    held = node.call("-", node.call("size", x, axis=axis), node.literal(size - step))
    if step > 1:
        held = node.call("//", held, node.literal(step))
    first: Expression = node.call("range", node.size(count, held))
    if step > 1:
        first = node.call("*", first, node.literal(step))
    places = node.call(
        "+", node.call("expand_dims", first, axis=[1]), node.call("range", node.literal(size))
    )
    taken = node.call("gather", x, places, axis=axis)
    rank = len(word) + 1
    order = [i for i in range(rank) if i != axis + 1] + [axis + 1]
    return taken if order == list(range(rank)) else node.call("transpose", taken, perm=order)


# --- put back ------------------------------------------------------------------------------------


@rule("slice_scatter")
def slice_scatter(node: TorchNode) -> Made:
    """A tensor with other rows in the place of those between two bounds."""
    axis, step = node.axis("dim", 0), node.integer("step", 1)
    rank = node.rank_of()
    axis = axis if rank is None else in_rank(axis, rank)
    assert step is not None
    start, x, src = node.argument("start") or 0, node.x(), node.x("src")
    if start == 0 and step == 1 and _takes_all(node, axis):
        return _as_whole(node, src)
    first = node.as_found(start)
    if isinstance(start, Operand) or start < 0:
        known = _bound(node, "start", 0)
        if not (known is not None and node.importer.is_size(known)):
            first = _from_front(node, x, axis, first)
    places: Expression = node.call("range", node.call("size", src, axis=axis))
    if step != 1:
        places = node.call("*", places, node.literal(step))
    if start != 0:
        places = node.call("+", places, first)
    return node.call("scatter", x, places, as_rows(node, src), axis=axis)


def _takes_all(node: TorchNode, axis: int) -> bool:
    """Whether the bound is the end, or the size itself."""
    end = _bound(node, "end", END)
    whole = node.size_of("self", axis)
    return end == END or (whole is not None and end == whole)


def _as_whole(node: TorchNode, src: Expression) -> Expression:
    """Another tensor of the same shape and element type as this one."""
    return node.call("broadcast_to", as_rows(node, src), node.call("shape", node.x()))


def as_rows(node: TorchNode, src: Expression) -> Expression:
    elem, own = node.elem_of(), node.elem_of("src")
    return src if elem is None or elem == own else node.cast(src, elem)


def _from_front(node: TorchNode, x: Expression, axis: int, bound: Expression) -> Expression:
    """A bound that may count from the end, from the front."""
    size, zero = node.call("size", x, axis=axis), node.literal(0)
    counted = node.call("+", node.call("*", node.literal(1), size), bound)
    back = node.call("maximum", counted, zero)
    return node.call("where", node.call("<", bound, zero), back, bound)


@rule("select_scatter")
def select_scatter(node: TorchNode) -> Made:
    """A tensor with another row in the place of one."""
    axis, rank = node.axis(), node.rank_of()
    axis = axis if rank is None else in_rank(axis, rank)
    places = node.list_of([node.as_found(node.argument("index"))])
    rows = node.call("expand_dims", as_rows(node, node.x("src")), axis=[axis])
    return node.call("scatter", node.x(), places, rows, axis=axis)


# --- triangles, and turning round ----------------------------------------------------------------


@rule("tril", "triu")
def triangle(node: TorchNode) -> Made:
    value = node.argument("diagonal")
    k = node.element(value.index) if isinstance(value, Operand) else value or 0
    if isinstance(k, int):
        return node.call(node.operator.rstrip("_"), node.x(), k=k)
    part = "lower_triangle" if node.operator.startswith("tril") else "upper_triangle"
    return node.call(part, node.x(), node.as_found(value))


@rule("flip", "fliplr", "flipud")
def flip(node: TorchNode) -> Made:
    usual = {"fliplr": [1], "flipud": [0]}.get(node.operator)
    axes, x = usual or node.integers("dims"), node.x()
    if node.rank_of() == 0:
        return node.call("identity", x)
    for axis in axes:
        x = node.call("reverse", x, axis=axis)
    return x if axes else node.call("identity", x)


@rule("roll")
def roll(node: TorchNode) -> Made:
    """Without axes all elements move along, as if the tensor were flat."""
    x, axes = node.x(), node.integers("dims")
    given = node.argument("shifts")
    shifts = given if isinstance(given, tuple) else (given,)
    if not axes:
        if len(shifts) != 1:
            raise Malformed("it moves along no axis by several distances")
        flat = _rolled(node, node.call("flatten", x), shifts[0], 0)
        return node.call("reshape", flat, node.call("shape", x))
    if len(axes) != len(shifts):
        raise Malformed("it has as many distances as axes")
    if node.rank_of() == 0:
        return node.call("identity", x)
    for axis, shift in zip(axes, shifts, strict=True):
        x = _rolled(node, x, shift, axis)
    return x


def _rolled(node: TorchNode, x: Expression, shift: Any, axis: int) -> Expression:
    known = node.element(shift.index) if isinstance(shift, Operand) else shift
    if isinstance(known, int):
        return node.call("roll", x, by=known, axis=axis)
    size = node.call("size", x, axis=axis)
    places = node.call("-", node.call("range", size), node.as_found(shift))
    return node.call("gather", x, node.call("mod", places, size), axis=axis)


@rule("rot90")
def rot90(node: TorchNode) -> Made:
    rank, x = node.rank_of(), node.x()
    times, axes = (node.integer("k", 1) or 0) % 4, node.integers("dims", (0, 1))
    if rank is None:
        return node.declared(SAME_RANK, node.tensor_index("self"))
    if len(axes) != 2:
        raise Malformed("it turns in other than two axes")
    a, b = (in_rank(axis, rank) for axis in axes)
    order = list(range(rank))
    order[a], order[b] = order[b], order[a]
    if times == 0:
        return node.call("identity", x)
    if times == 2:
        return node.call("reverse", node.call("reverse", x, axis=a), axis=b)
    if times == 1:
        return node.call("transpose", node.call("reverse", x, axis=b), perm=order)
    return node.call("reverse", node.call("transpose", x, perm=order), axis=b)
