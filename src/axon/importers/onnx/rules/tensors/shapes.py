"""Shapes as tensors, and what changes the shape of one."""

from __future__ import annotations

from typing import Any

from axon.contents import arithmetic as contents
from axon.contents.values import vector
from axon.importers.expressions import Expression
from axon.importers.node import Made, Node
from axon.importers.onnx.rules.registry import MOST_RANK, SAME_RANK, rule
from axon.importers.operations import Unsupported
from axon.types import dim as dims
from axon.types.dim import Poly
from axon.types.quotient import exact_quotient
from axon.types.type import shape_size
from axon.types.variables import DimVar, ShapeVar


@rule("Shape")
def shape(node: Node) -> Made:
    word = node.shape(0)
    start, end = node.attribute("start", 0), node.attribute("end")
    if word is None:
        return _sizes_from(node, start, end)
    sizes = list(word)[start:end]
    low, high = 0, None
    if len(sizes) < len(word):
        low = start if start >= 0 else max(start + len(word), 0)
        high = low + len(sizes)
    known = [n for n in sizes if not isinstance(n, ShapeVar)]
    return node.shape_literal(known, _sizes_from(node, low, high))


def _sizes_from(node: Node, start: int, end: int | None) -> Expression:
    """Some of the sizes of the input, as a run finds them."""
    whole = node.call("shape", node.input(0))
    if not start and end is None:
        return whole
    return node.call("slice", whole, start=start or None, stop=end)


@rule("Size")
def size(node: Node) -> Made:
    word, count = node.shape(0), node.call("size", node.input(0))
    return count if word is None else node.size(shape_size(word), count)


@rule("Reshape")
def reshape(node: Node) -> Made:
    keeps_zero = bool(node.attribute("allowzero", 0))
    wanted = node.contents(1) if node.count > 1 else vector(node.attribute("shape", []))
    word, x, held = node.shape(0), node.input(0), None
    if node.count > 1:
        held = node.call("reshaped_sizes", x, node.input(1), zero=keeps_zero)
    if wanted is None or len(wanted.shape) != 1:
        return None if held is None else node.call("reshape", x, held)
    sizes: list[Any] = list(wanted.items)
    if not keeps_zero:
        for i, n in enumerate(sizes):
            if isinstance(n, int) and n == 0:
                sizes[i] = word[i] if word is not None and i < len(word) else None
    wild = [i for i, n in enumerate(sizes) if isinstance(n, int) and n == -1]
    for n in sizes:
        if contents.is_symbol(n) and not dims.is_nonnegative(n):
            node.guard(n)  # it is a size, and no -1
    if len(wild) > 1:
        raise Unsupported("Reshape with several sizes of -1")
    if wild and word is not None and all(isinstance(n, int | DimVar | Poly) for n in sizes):
        others = dims.product([n for i, n in enumerate(sizes) if i != wild[0]])
        total = shape_size(word)
        if others == 0:
            sizes[wild[0]] = None
        else:
            whole = exact_quotient(total, others)  # of 0 there is none, and it cannot run
            sizes[wild[0]] = dims.floordiv(total, others) if whole is None else whole
    fresh = [node.fresh_dim() if n is None or n == -1 else n for n in sizes]
    if wild and word is None and held is not None:
        return node.shaped(node.call("reshape", x, held), fresh)
    return node.call("reshape", x, node.shape_literal(fresh, held))


@rule("Flatten")
def flatten(node: Node) -> Made:
    axis, word = node.attribute("axis", 1), node.shape(0)
    if word is None:
        if not -MOST_RANK <= axis < MOST_RANK:
            raise Unsupported(f"Flatten along axis {axis}")
        return node.call("flatten", node.input(0), axis=axis)
    at = axis + len(word) if axis < 0 else axis
    shape = [shape_size(word[:at]), shape_size(word[at:])]
    expr = node.call("reshape", node.input(0), node.shape_literal(shape))
    return expr, node.call("flatten", node.input(0), axis=at)


@rule("Expand")
def expand(node: Node) -> Made:
    wanted, held = node.vector(1), node.input(1)
    if wanted is not None:
        sizes = [None if isinstance(n, int) and n < 0 else n for n in wanted.items]
        held = node.shape_literal(node.sizes_or_fresh(sizes), held)
    return node.call("expand", node.input(0), held)


@rule("Unsqueeze")
def unsqueeze(node: Node) -> Made:
    axes, rank = node.axes(1), node.rank(0)
    if axes is None:
        numbers = node.input(1)
        if node.rank(1) == 0:  # which runtimes take for a list of one
            numbers = node.call("expand_dims", numbers, axis=[0])
        return node.call("expand_dims_by", node.input(0), numbers)
    if rank is not None:
        axes = sorted(a + rank + len(axes) if a < 0 else a for a in axes)
    return node.call("expand_dims", node.input(0), axis=list(axes))


@rule("Squeeze")
def squeeze(node: Node) -> Made:
    axes, word = node.axes(1), node.shape(0)
    if axes is None and node.has(1):
        return node.call("squeeze_by", node.input(0), node.input(1))
    if axes is None:
        if word is None or not all(isinstance(n, int) for n in word):
            return node.call("squeeze_by", node.input(0))
        axes = [i for i, n in enumerate(word) if n == 1]
    if not axes:
        return node.call("identity", node.input(0))
    return node.call("squeeze", node.input(0), axis=list(axes))


@rule("Transpose")
def transpose(node: Node) -> Made:
    perm, rank = node.attribute("perm"), node.rank(0)
    if perm is None and rank is None:
        return node.declared(SAME_RANK, 0)
    perm = list(range(rank))[::-1] if perm is None and rank is not None else perm
    return node.call("transpose", node.input(0), perm=perm)
