"""Shapes as tensors, and what changes the shape of one."""

from __future__ import annotations

from typing import Any

from axon.importers.contents import arithmetic as contents
from axon.importers.contents.queries import axes_of
from axon.importers.contents.values import Unsupported, vector
from axon.importers.expressions import Expression
from axon.importers.node import Node
from axon.importers.onnx.rules.registry import rule
from axon.importers.onnx.rules.signatures import SAME_RANK
from axon.types import dim as dims
from axon.types.dim import Poly
from axon.types.quotient import exact_quotient
from axon.types.type import shape_size
from axon.types.variables import DimVar, ShapeVar


@rule("Shape")
def shape(node: Node) -> None:
    word = node.shape(0)
    start, end = node.attribute("start", 0), node.attribute("end")
    if word is None:
        node.set_outputs(_sizes_from(node, start, end))
        return
    sizes = list(word)[start:end]
    low, high = 0, None
    if len(sizes) < len(word):
        low = start if start >= 0 else max(start + len(word), 0)
        high = low + len(sizes)
    literal = node.shape_literal([n for n in sizes if not isinstance(n, ShapeVar)])
    later = node.for_program(lambda: _sizes_from(node, low, high))
    node.set_outputs(literal, fallback=later)


def _sizes_from(node: Node, start: int, end: int | None) -> Expression:
    """Some of the sizes of the input, as a run finds them."""
    whole = node.call("shape", node.input(0))
    if not start and end is None:
        return whole
    return node.call("slice", whole, start=start or None, stop=end)


@rule("Size")
def size(node: Node) -> None:
    word = node.shape(0)
    count = node.call("size", node.input(0))
    if word is None:
        node.set_outputs(count)
        return
    node.set_outputs(node.size(shape_size(word)), fallback=count)


@rule("Reshape")
def reshape(node: Node) -> None:
    keeps_zero = bool(node.attribute("allowzero", 0))
    wanted = node.contents(1) if node.count > 1 else vector(node.attribute("shape", []))
    word, fallback = node.shape(0), None
    if node.count > 1:
        fallback = node.for_program(lambda: _reshape_later(node, keeps_zero))
    if wanted is None or len(wanted.shape) != 1:
        node.set_outputs(_reshape_later(node, keeps_zero))
        return
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
    expr = node.call("reshape", node.input(0), node.shape_literal(fresh))
    if wild and word is None and node.count > 1:
        expr = node.shaped(_reshape_later(node, keeps_zero), fresh)
    node.set_outputs(expr, fallback=fallback)


def _reshape_later(node: Node, keeps_zero: bool) -> Expression:
    """The same by sizes that a run finds."""
    x = node.input(0)
    return node.call("reshape", x, node.call("reshaped_sizes", x, node.input(1), zero=keeps_zero))


@rule("Flatten")
def flatten(node: Node) -> None:
    axis, word = node.attribute("axis", 1), node.shape(0)
    if word is None:
        at = axis if isinstance(axis, int) and -64 <= axis < 64 else None
        if at is None:
            raise Unsupported(f"Flatten along axis {axis}")
        node.set_outputs(node.call("flatten", node.input(0), axis=at))
        return
    at = axis + len(word) if axis < 0 else axis
    shape = [shape_size(word[:at]), shape_size(word[at:])]
    expr = node.call("reshape", node.input(0), node.shape_literal(shape))
    later = node.for_program(lambda: node.call("flatten", node.input(0), axis=at))
    node.set_outputs(expr, fallback=later)


@rule("Expand")
def expand(node: Node) -> None:
    wanted = node.vector(1)
    fallback = node.for_program(lambda: node.call("expand", node.input(0), node.input(1)))
    if wanted is None:
        node.set_outputs(node.call("expand", node.input(0), node.input(1)))
        return
    sizes = [
        node.fresh_dim() if n is None or (isinstance(n, int) and n < 0) else n for n in wanted.items
    ]
    expr = node.call("expand", node.input(0), node.shape_literal(sizes))
    node.set_outputs(expr, fallback=fallback)


@rule("Unsqueeze")
def unsqueeze(node: Node) -> None:
    axes, rank = axes_of(node, 1), node.rank(0)
    if axes is None:
        numbers = node.input(1)
        if node.rank(1) == 0:  # which runtimes take for a list of one
            numbers = node.call("expand_dims", numbers, axis=[0])
        node.set_outputs(node.call("expand_dims_by", node.input(0), numbers))
        return
    if rank is not None:
        axes = sorted(a + rank + len(axes) if a < 0 else a for a in axes)
    node.set_outputs(node.call("expand_dims", node.input(0), axis=list(axes)))


@rule("Squeeze")
def squeeze(node: Node) -> None:
    axes, word = axes_of(node, 1), node.shape(0)
    if axes is None and node.has(1):
        node.set_outputs(node.call("squeeze_by", node.input(0), node.input(1)))
        return
    if axes is None and (word is None or not all(isinstance(n, int) for n in word)):
        node.set_outputs(node.call("squeeze_by", node.input(0)))
        return
    if axes is None and word is not None:
        axes = [i for i, n in enumerate(word) if n == 1]
    assert axes is not None
    if not axes:
        node.set_outputs(node.call("identity", node.input(0)))
        return
    node.set_outputs(node.call("squeeze", node.input(0), axis=list(axes)))


@rule("Transpose")
def transpose(node: Node) -> None:
    perm, rank = node.attribute("perm"), node.rank(0)
    if perm is None and rank is None:
        node.set_outputs(node.declared(SAME_RANK, 0))
        return
    perm = list(range(rank))[::-1] if perm is None and rank is not None else perm
    node.set_outputs(node.call("transpose", node.input(0), perm=perm))
