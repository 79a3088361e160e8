"""Numbers as small integers with a scale and a zero point, and layers that compute with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from axon.importers.expressions import Expression
from axon.importers.node import Made, Node
from axon.importers.onnx.elements import ELEMENTS, FLOATS
from axon.importers.onnx.rules.layers.convolution import sliding_options
from axon.importers.onnx.rules.registry import rule
from axon.importers.operations import Unsupported
from axon.importers.products import product


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
    if not node.has(zero):
        return _as(node, index, "i32")
    point = _behind(node, zero, behind)
    return None if point is None else node.call("centred", node.input(index), point)


Apply = Callable[[Expression, Expression], Expression]


def _layer(node: Node, second: int) -> tuple[Apply, int | None, int] | None:
    """A product, or a convolution, of the first input and another one; and how many axes are behind
    those of the two inputs that can have a scale for each row. None if the ranks are not known.
    """
    left, right = node.rank(0), node.rank(second)
    if "Conv" in node.operator:
        rank = right or left
        if rank is None:
            return None
        if not 3 <= rank <= 5:
            raise Unsupported(f"{node.operator} over no dimension, or over more than three")
        options = sliding_options(node, rank - 2)
        return (lambda x, filters: node.call("conv", x, filters, **options)), None, rank - 1
    if left is None or right is None:
        return None

    def apply(x: Expression, y: Expression) -> Expression:
        found = product(node, x, y, left, right)
        assert found is not None
        return found

    return apply, 1 if left == 2 else 0, 0  # a tensor of more dimensions has them in its shape


@rule("MatMulInteger", "ConvInteger")
def integer_layer(node: Node) -> Made:
    layer = _layer(node, 1)
    if layer is None:
        return node.declared("(t p, u q) -> i32 ?r", 0, 1)
    apply, left, right = layer
    x, y = _centred(node, 0, 2, left), _centred(node, 1, 3, right)
    if x is None or y is None:
        return node.type_of(apply(_as(node, 0, "i32"), _as(node, 1, "i32")))
    return apply(x, y)


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
    wide = "f32" if elem in ("f16", "bf16") else elem
    return node.call("requantise", total, *(node.cast(s, wide) for s in (*scales, scale)), zero)


@rule("QLinearMatMul", "QLinearConv")
def quantised_layer(node: Node) -> Made:
    layer = _layer(node, 3)
    if layer is None:
        return node.declared("(t p, u q, v z) -> v ?r", 0, 3, 7)
    apply, left, right = layer
    spatial = max(right - 1, 0)
    made = apply(_as(node, 0, "f32"), _as(node, 3, "f32"))
    x, y = _centred(node, 0, 2, left), _centred(node, 3, 5, right)
    total = None if x is None or y is None else apply(x, y)
    if total is not None and node.has(8):
        bias = node.call("expand_dims", node.input(8), axis=list(range(1, spatial + 1)))
        total = node.call("+", total, bias)
    scales = _behind(node, 1, left), _behind(node, 4, spatial)
    return _stored(node, made, total, scales, 6, spatial)
