"""Numbers as small integers with a scale and a zero point, and layers that compute with them."""

from __future__ import annotations

from typing import Any

from axon.importers.contents.values import Unsupported
from axon.importers.elem import Elem
from axon.importers.expressions import Expression
from axon.importers.node import Node
from axon.importers.onnx.elements import ELEMENTS
from axon.importers.onnx.rules.linear import product
from axon.importers.onnx.rules.registry import rule
from axon.types.type import Tensor


def _same_as(node: Node, elem: str) -> Tensor:
    """A tensor of the shape of the first input."""
    found = node.importer.state.prune(node.importer.types[node.name(0)])
    return Tensor(elem, found.shape) if isinstance(found, Tensor) else node.unknown(elem)


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
    word, own = node.shape(index), node.shape(0)
    if not block or word is None or len(word) < 2:
        at = None if rank is None else axis % rank if -rank <= axis < rank else None
        return _behind(node, index, None if rank is None or at is None else rank - at - 1)
    if own is None or block < 0 or not -len(own) <= axis < len(own):
        return None
    whole: Any = own[axis]
    rows = node.call("repeat", node.input(index), times=block, axis=axis)
    return node.call("slice", rows, stop=whole, axis=axis)


def _zero(node: Node, index: int, scale: Expression, elem: str) -> Expression | None:
    if node.has(index):
        return _spread(node, index)
    return node.call("zeros_like", node.call("cast", scale, to=Elem(elem)))


@rule("QuantizeLinear")
def quantize(node: Node) -> None:
    given = node.attribute("output_dtype", 0) or 2
    elem = node.elem(2) if node.has(2) else ELEMENTS.get(given)
    type_ = _same_as(node, elem if isinstance(elem, str) else "u8")
    scale = _spread(node, 1)
    if scale is None or not isinstance(elem, str) or elem.startswith(("f", "b")):
        node.set_outputs(type_)
        return
    zero = _zero(node, 2, scale, elem)
    later = None if zero is None else node.call("quantise", node.input(0), scale, zero)
    node.set_outputs(type_, fallback=later)


@rule("DequantizeLinear")
def dequantize(node: Node) -> None:
    elem, small = node.elem(1), node.elem(0)
    made = ELEMENTS.get(node.attribute("output_dtype", 0)) or elem
    type_ = _same_as(node, made if isinstance(made, str) else "f32")
    scale = _spread(node, 1)
    if scale is None or not isinstance(small, str) or small.startswith(("f", "b")):
        node.set_outputs(type_)
        return
    zero = _zero(node, 2, scale, small)
    later = None if zero is None else node.call("dequantise", node.input(0), scale, zero)
    if later is not None and made != elem and isinstance(made, str):
        later = node.call("cast", later, to=Elem(made))
    node.set_outputs(type_, fallback=later)


@rule("DynamicQuantizeLinear")
def dynamic_quantize(node: Node) -> None:
    node.set_tuple_outputs(node.call("quantise_range", node.input(0)))


# --- layers ----------------------------------------------------------------------------------


def _as(node: Node, index: int, elem: str) -> Expression:
    return node.call("cast", node.input(index), to=Elem(elem))


def _centred(node: Node, index: int, zero: int, behind: int | None) -> Expression | None:
    """An input as i32 less its zero point, if it has one."""
    whole = _as(node, index, "i32")
    if not node.has(zero):
        return whole
    point = _behind(node, zero, behind)
    return (
        None if point is None else node.call("-", whole, node.call("cast", point, to=Elem("i32")))
    )


def _product(node: Node, x: Expression, y: Expression, left: int | None, right: int | None) -> Any:
    """The product of matrices as ONNX has it, of two expressions of these ranks."""
    found = product(node, x, y, left, right)
    if found is None:
        raise Unsupported(f"{node.operator} of tensors of open rank")
    return found


def _rows(rank: int) -> int:
    """How many axes are behind that of the rows of a matrix, which can have a scale each; a tensor
    of more dimensions has them in its own shape.
    """
    return 1 if rank == 2 else 0


@rule("MatMulInteger")
def matmul_integer(node: Node) -> None:
    left, right = node.rank(0), node.rank(1)
    if left is None or right is None:
        node.set_outputs(node.unknown("i32"))
        return
    x, y = _centred(node, 0, 2, _rows(left)), _centred(node, 1, 3, 0)
    type_ = node.infer(_product(node, _as(node, 0, "i32"), _as(node, 1, "i32"), left, right))
    later = None if x is None or y is None else _product(node, x, y, left, right)
    node.set_outputs(type_, fallback=later)


def _slid(node: Node, x: Expression, filters: Expression, spatial: int) -> Expression:
    """A convolution with the attributes of the node."""
    auto = node.attribute("auto_pad", "NOTSET")
    same = {"SAME_UPPER": "same", "SAME_LOWER": "same_lower"}
    return node.call(
        "conv",
        x,
        filters,
        stride=node.attribute("strides") or [1] * spatial,
        pad=same.get(auto) or node.attribute("pads") or [0] * spatial,
        dilation=node.attribute("dilations") or [1] * spatial,
        groups=node.attribute("group", 1),
    )


def _spatial(node: Node, filters: int) -> int | None:
    rank = node.rank(filters) or node.rank(0)
    if rank is not None and not 3 <= rank <= 5:
        raise Unsupported(f"{node.operator} over no dimension, or over more than three")
    return None if rank is None else rank - 2


@rule("ConvInteger")
def conv_integer(node: Node) -> None:
    spatial = _spatial(node, 1)
    if spatial is None:
        node.set_outputs(node.unknown("i32"))
        return
    x, filters = _centred(node, 0, 2, None), _centred(node, 1, 3, spatial + 1)
    type_ = node.infer(_slid(node, _as(node, 0, "i32"), _as(node, 1, "i32"), spatial))
    later = None if x is None or filters is None else _slid(node, x, filters, spatial)
    node.set_outputs(type_, fallback=later)


def _stored(
    node: Node, total: Expression, scales: tuple[Any, Any], at: int, behind: int
) -> Expression | None:
    """What integers add up to, with their two scales, in those of the result."""
    scale, zero = _behind(node, at, behind), _behind(node, at + 1, behind)
    elem = node.elem(at)
    if scale is None or zero is None or None in scales or not isinstance(elem, str):
        return None
    wide = Elem("f32" if elem in ("f16", "bf16") else elem)
    first, second, last = (node.call("cast", s, to=wide) for s in (*scales, scale))
    numbers = node.call("*", node.call("cast", total, to=wide), node.call("*", first, second))
    return node.call("quantise", numbers, last, zero)


@rule("QLinearMatMul")
def quantised_matmul(node: Node) -> None:
    left, right, elem = node.rank(0), node.rank(3), node.elem(7)
    if left is None or right is None:
        node.set_outputs(node.unknown(elem))
        return
    shape = node.infer(_product(node, _as(node, 0, "f32"), _as(node, 3, "f32"), left, right))
    x, y = _centred(node, 0, 2, _rows(left)), _centred(node, 3, 5, 0)
    type_ = Tensor(elem, shape.shape) if isinstance(shape, Tensor) else node.unknown(elem)
    if x is None or y is None:
        node.set_outputs(type_)
        return
    scales = _behind(node, 1, _rows(left)), _behind(node, 4, 0)
    later = _stored(node, _product(node, x, y, left, right), scales, 6, 0)
    node.set_outputs(type_, fallback=later)


@rule("QLinearConv")
def quantised_conv(node: Node) -> None:
    spatial, elem = _spatial(node, 3), node.elem(7)
    if spatial is None:
        node.set_outputs(node.unknown(elem))
        return
    shape = node.infer(_slid(node, _as(node, 0, "f32"), _as(node, 3, "f32"), spatial))
    x, filters = _centred(node, 0, 2, None), _centred(node, 3, 5, spatial + 1)
    type_ = Tensor(elem, shape.shape) if isinstance(shape, Tensor) else node.unknown(elem)
    if x is None or filters is None:
        node.set_outputs(type_)
        return
    total = _slid(node, x, filters, spatial)
    if node.has(8):
        bias = node.call("expand_dims", node.input(8), axis=list(range(1, spatial + 1)))
        total = node.call("+", total, bias)
    scales = _behind(node, 1, None), _behind(node, 4, spatial)
    node.set_outputs(type_, fallback=_stored(node, total, scales, 6, spatial))
