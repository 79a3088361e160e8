"""Numbers as small integers with a scale and a zero point, and layers that compute with them."""

from __future__ import annotations

from typing import Any

from axon.importers.contents.values import Unsupported
from axon.importers.elem import Elem
from axon.importers.expressions import Expression
from axon.importers.node import Made, Node
from axon.importers.onnx.elements import ELEMENTS, FLOATS
from axon.importers.onnx.rules.convolution import sliding_options
from axon.importers.onnx.rules.linear import product
from axon.importers.onnx.rules.registry import rule


def _behind(node: Node, index: int, behind: int | None) -> Expression | None:
    """A scale or a zero point, so that it broadcasts: one number, or one for each row of the axis
    that has so many behind it. None if that cannot be said.
    """
    word = node.shape(index)
    if word is None:
        return None
    x = node.input(index)
    if word == (1,):
        return node.call("squeeze", x, axis=[0])
    if len(word) == 1 and behind is None:
        return None
    if len(word) == 1 and behind:
        return node.call("expand_dims", x, axis=list(range(1, behind + 1)))
    return x


def _spread(node: Node, index: int) -> Expression | None:
    """A scale or a zero point of the first input: for all of it, for each row of an axis, or for
    each block of rows.
    """
    axis, rank, block = node.attribute("axis", 1), node.rank(0), node.attribute("block_size", 0)
    word = node.shape(index)
    if not block or word is None or len(word) < 2:
        at = None if rank is None else axis % rank if -rank <= axis < rank else None
        return _behind(node, index, None if rank is None or at is None else rank - at - 1)
    whole = node.dim(0, axis)
    if whole is None or block < 0:
        return None
    rows = node.call("repeat", node.input(index), times=block, axis=axis)
    return node.call("slice", rows, stop=whole, axis=axis)


def _zero(node: Node, index: int, scale: Expression, elem: Any) -> Expression | None:
    if node.has(index):
        return _spread(node, index)
    return node.call("zeros_like", node.cast(scale, elem))


@rule("QuantizeLinear")
def quantize(node: Node) -> Made:
    given = node.attribute("output_dtype", 0) or 2
    elem = node.elem(2) if node.has(2) else ELEMENTS.get(given)
    scale = _spread(node, 1)
    zero = None if scale is None or not _is_whole(elem) else _zero(node, 2, scale, elem)
    if scale is not None and zero is not None:
        return _like_first(node, node.call("quantise", node.input(0), scale, zero))
    elif node.has(2):
        return node.declared("(t s, v q) -> v s", 0, 2)
    else:
        return node.declared(f"t s -> {elem or 'u8'} s", 0)


def _is_whole(elem: Any) -> bool:
    return isinstance(elem, str) and not elem.startswith(("f", "b"))


def _like_first(node: Node, expr: Expression) -> Expression:
    """A tensor of the shape of the first input: scales do not make it larger."""
    word, scale = node.shape(0), node.shape(1)
    if scale in ((), (1,)) or (word and scale and len(scale) == 1 and scale[0] in word):
        return expr
    return node.call("ensure_shape", node.call("shape", node.input(0)), expr)


@rule("DequantizeLinear")
def dequantize(node: Node) -> Made:
    elem, small = node.elem(1), node.elem(0)
    made = ELEMENTS.get(node.attribute("output_dtype", 0)) or elem
    scale = _spread(node, 1)
    zero = None if scale is None or not _is_whole(small) else _zero(node, 2, scale, small)
    if scale is None or zero is None:
        to = made if isinstance(made, str) else "u"
        return node.declared(f"(t s, u q) -> {to} s", 0, 1)
    found = _like_first(node, node.call("dequantise", node.input(0), scale, zero))
    if made != elem and isinstance(made, str):
        found = node.cast(found, made)
    return found


@rule("DynamicQuantizeLinear")
def dynamic_quantize(node: Node) -> None:
    node.set_tuple_outputs(node.call("quantise_range", node.input(0)))


# --- layers ----------------------------------------------------------------------------------


def _as(node: Node, index: int, elem: str) -> Expression:
    return node.cast(node.input(index), elem)


def _centred(node: Node, index: int, zero: int, behind: int | None) -> Expression | None:
    """An input as i32 less its zero point, if it has one."""
    whole = _as(node, index, "i32")
    if not node.has(zero):
        return whole
    point = _behind(node, zero, behind)
    return None if point is None else node.call("-", whole, node.cast(point, "i32"))


def _product(node: Node, x: Expression, y: Expression, left: int, right: int) -> Expression:
    """The product of matrices as ONNX has it, of two expressions of these ranks."""
    found = product(node, x, y, left, right)
    assert found is not None
    return found


def _rows(rank: int) -> int:
    """How many axes are behind that of the rows of a matrix, which can have a scale each; a tensor
    of more dimensions has them in its own shape.
    """
    return 1 if rank == 2 else 0


@rule("MatMulInteger")
def matmul_integer(node: Node) -> Made:
    left, right = node.rank(0), node.rank(1)
    if left is None or right is None:
        return node.declared("(t p, u q) -> i32 ?r", 0, 1)
    x, y = _centred(node, 0, 2, _rows(left)), _centred(node, 1, 3, 0)
    if x is None or y is None:
        made = _product(node, _as(node, 0, "i32"), _as(node, 1, "i32"), left, right)
        return node.type_of(made)
    return _product(node, x, y, left, right)


def _conv(node: Node, x: Expression, filters: Expression, spatial: int) -> Expression:
    """A convolution with the attributes of the node."""
    return node.call("conv", x, filters, **sliding_options(node, spatial))


def _spatial(node: Node, filters: int) -> int | None:
    rank = node.rank(filters) or node.rank(0)
    if rank is not None and not 3 <= rank <= 5:
        raise Unsupported(f"{node.operator} over no dimension, or over more than three")
    return None if rank is None else rank - 2


@rule("ConvInteger")
def conv_integer(node: Node) -> Made:
    spatial = _spatial(node, 1)
    if spatial is None:
        return node.declared("(t p, u q) -> i32 ?r", 0, 1)
    x, filters = _centred(node, 0, 2, None), _centred(node, 1, 3, spatial + 1)
    if x is None or filters is None:
        made = _conv(node, _as(node, 0, "i32"), _as(node, 1, "i32"), spatial)
        return node.type_of(made)
    return _conv(node, x, filters, spatial)


def _stored(
    node: Node,
    made: Expression,
    total: Expression | None,
    scales: tuple[Any, Any],
    at: int,
    behind: int,
) -> Expression:
    """What integers add up to, with their two scales, in those of the result. If that cannot be
    said, it has at least the shape of what is made of numbers.
    """
    scale, zero = _behind(node, at, behind), _behind(node, at + 1, behind)
    elem = node.elem(at)
    if total is None or scale is None or zero is None or None in scales or elem not in FLOATS:
        return node.type_of(node.call("cast_like", made, node.input(at + 1)))
    wide = Elem("f32" if elem in ("f16", "bf16") else elem)
    first, second, last = (node.call("cast", s, to=wide) for s in (*scales, scale))
    numbers = node.call("*", node.call("cast", total, to=wide), node.call("*", first, second))
    return node.call("quantise", numbers, last, zero)


@rule("QLinearMatMul")
def quantised_matmul(node: Node) -> Made:
    left, right = node.rank(0), node.rank(3)
    if left is None or right is None:
        return node.declared("(t p, u q, v z) -> v ?r", 0, 3, 7)
    made = _product(node, _as(node, 0, "f32"), _as(node, 3, "f32"), left, right)
    x, y = _centred(node, 0, 2, _rows(left)), _centred(node, 3, 5, 0)
    scales = _behind(node, 1, _rows(left)), _behind(node, 4, 0)
    total = None if x is None or y is None else _product(node, x, y, left, right)
    return _stored(node, made, total, scales, 6, 0)


@rule("QLinearConv")
def quantised_conv(node: Node) -> Made:
    spatial = _spatial(node, 3)
    if spatial is None:
        return node.declared("(t p, u q, v z) -> v ?r", 0, 3, 7)
    made = _conv(node, _as(node, 0, "f32"), _as(node, 3, "f32"), spatial)
    x, filters = _centred(node, 0, 2, None), _centred(node, 3, 5, spatial + 1)
    total = None if x is None or filters is None else _conv(node, x, filters, spatial)
    if total is not None and node.has(8):
        bias = node.call("expand_dims", node.input(8), axis=list(range(1, spatial + 1)))
        total = node.call("+", total, bias)
    scales = _behind(node, 1, None), _behind(node, 4, spatial)
    return _stored(node, made, total, scales, 6, spatial)
