"""Attention that a program writes out: a softmax of the products of queries and keys, times values.

The scores may be multiplied or divided by a number, and masked: by `where` with minus infinity, by
the triangle of `tril` or of a comparison of places, or by numbers that are added.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from axon.backends.fusion import Body
from axon.graph.graph import Apply, Number, Operand, ShapeOf, SizeOf, Value
from axon.ops.arrays import Array, Arrays
from axon.ops.families import elementary, linear, normalise, pointwise, rearrange, values
from axon.types.type import Shape, Tensor
from axon.types.variables import ShapeVar

PRODUCTS = (linear.matmul, linear.multiply_matrices)
FLOATS = frozenset({"f16", "bf16", "f32", "f64"})


@dataclass(frozen=True, slots=True)
class Attention:
    """`scale` is a number that the scores are multiplied by, None for one over the root of the size
    of a key. A `factor` is a scalar of the program instead; scores are divided by it if `divided`.
    `turned` keys have the positions last, as the product takes them.
    """

    result: Value
    operands: tuple[Value, Value, Value]
    inner: frozenset[Value]
    elem: str
    turned: bool = False
    scale: float | None = 1.0
    factor: Operand | None = None
    divided: bool = False
    causal: bool = False
    mask: Value | None = None

    def written_out(self, xp: Arrays, q: Array, k: Array, v: Array, *rest: Array) -> Array:
        """What the program says, operator by operator; the mask and the factor follow."""
        scores = xp.matmul(q, k if self.turned else xp.swapaxes(k, -1, -2))
        if self.factor is not None:
            scores = scores / rest[-1] if self.divided else scores * rest[-1]
        elif self.scale is None:
            scores = scores / math.sqrt(q.shape[-1])
        elif self.scale != 1:
            scores = scores * self.scale
        mask = rest[0] if self.mask is not None else None
        if self.causal:
            mask = xp.tril(xp.ones((q.shape[-2], scores.shape[-1]), dtype=xp.element("bool")))
        if mask is not None:
            hides = xp.kind(mask.dtype) == "b"
            scores = xp.where(mask, scores, -math.inf) if hides else scores + mask
        assert normalise.softmax.meaning is not None
        return xp.matmul(normalise.softmax.meaning(xp, scores, axis=-1), v)


def attentions(body: Body) -> Iterator[Attention]:
    """Those of a body."""
    for node in body.nodes:
        if node.operator in PRODUCTS:
            found = _attention(body, node)
            if found is not None:
                yield found


def _attention(body: Body, last: Apply) -> Attention | None:
    weights = body.only(last.operands[0], normalise.softmax)
    v = last.operands[1]
    if weights is None or not isinstance(v, Value):
        return None
    masked = _scores(body, weights.operands[0])
    if masked is None:
        return None
    product, inner, found = masked
    shapes = [_float_shape(x) for x in (*product.operands, v, last.result, weights.result)]
    q, k, other, made, scores = shapes
    if q is None or k is None or other is None or made is None or scores is None:
        return None
    (first, second), rank = product.operands, len(q)
    turned = body.made_by(second, linear.transpose)
    if turned is not None and _swaps_last(turned, rank):
        if body.used[turned.result] == 1:
            inner |= {turned.result}
        second = turned.operands[0]
        k = (*k[:-2], k[-1], k[-2])
    else:
        turned = None
    batched = q[:-2] == k[:-2] == other[:-2] == made[:-2] == scores[:-2]
    if not batched or len(scores) != rank or weights.attributes["axis"] not in (-1, rank - 1):
        return None
    if not isinstance(first, Value) or not isinstance(second, Value):
        return None
    if scores[-2:] != (q[-2], k[-2] if turned is not None else k[-1]):
        return None
    elem = first.type.elem if isinstance(first.type, Tensor) else ""
    inner |= {weights.result, product.result}
    found = replace(
        found, result=last.result, operands=(first, second, v), inner=inner, elem=str(elem),
        turned=turned is None,
    )  # fmt: skip
    size = q[-1]
    factor = found.factor
    if isinstance(factor, Value) and found.divided:
        root = body.made_by(factor, elementary.sqrt)
        if root is not None and isinstance(root.operands[0], SizeOf):
            given = root.operands[0]
            if given.number is None and given.dim == size:
                unused = frozenset({factor}) if body.used[factor] == 1 else frozenset()
                return replace(found, factor=None, scale=None, inner=found.inner | unused)
    return found


def _scores(body: Body, operand: Operand) -> tuple[Apply, frozenset[Value], Attention] | None:
    """The product of queries and keys behind an operand of softmax, the values on the way, and what
    is done to the scores.
    """
    found = Attention(_NOWHERE, (_NOWHERE, _NOWHERE, _NOWHERE), frozenset(), "")
    inner: frozenset[Value] = frozenset()
    shape = _float_shape(operand)
    node = body.only(operand, values.where, pointwise.add)
    if node is not None:
        masked = _masked(body, node)
        if masked is None:
            return None
        operand, mask, causal, unused = masked
        found = replace(found, causal=causal, mask=mask)
        inner |= {node.result, *unused}
    node = body.only(operand, pointwise.multiply, pointwise.divide)
    if node is not None:
        scaled = _scaled(node)
        if scaled is None:
            return None
        operand, factor, divided = scaled
        inner |= {node.result}
        if isinstance(factor, Number):
            scale = 1 / factor.value if divided else float(factor.value)
            found = replace(found, scale=scale)
        else:
            found = replace(found, factor=factor, divided=divided)
    product = body.only(operand, *PRODUCTS)
    if product is None or _float_shape(product.result) != shape:
        return None
    return product, inner, found


def _masked(body: Body, node: Apply) -> tuple[Operand, Value | None, bool, frozenset[Value]] | None:
    """The scores of which some are hidden, the mask, and whether it is that of a sequence in which
    no position looks ahead; then nothing need make it.
    """
    if node.operator is pointwise.add:
        for scores, mask in (node.operands, node.operands[::-1]):
            made = body.only(scores, *PRODUCTS, pointwise.multiply, pointwise.divide)
            if made is not None and isinstance(mask, Value) and _float_shape(mask) is not None:
                return scores, mask, False, frozenset()
        return None
    mask, scores, hidden = node.operands
    if not isinstance(hidden, Number) or hidden.value != -math.inf or not isinstance(mask, Value):
        return None
    if _is_triangle(body, mask) and isinstance(scores, Value):
        one, other = _shape(mask), _shape(scores)
        if one is not None and other is not None and one == other[-2:]:
            return scores, None, True, body.only_for(mask)
    return scores, mask, False, frozenset()


def _is_triangle(body: Body, mask: Value) -> bool:
    """Is it true at and below the diagonal that begins in the corner?"""
    lower = body.made_by(mask, linear.tril)
    if lower is not None:
        full = body.made_by(lower.operands[0], values.full)
        true = full is not None and full.operands[1]
        return lower.attributes["k"] == 0 and isinstance(true, Number) and true.value is True
    for operator, down, across in (
        (pointwise.greater_or_equal, 0, 1),
        (pointwise.less_or_equal, 1, 0),
    ):
        node = body.made_by(mask, operator)
        if node is not None:
            column = body.made_by(node.operands[down], rearrange.expand_dims)
            return (
                column is not None
                and column.attributes["axis"] in ((1,), (-1,))
                and _counts(body, column.operands[0])
                and _counts(body, node.operands[across])
            )
    return False


def _counts(body: Body, operand: Operand) -> bool:
    """Is it a range from 0 in steps of 1?"""
    node = body.made_by(operand, values.range)
    return node is not None and len(node.operands) == 1 and node.attributes["step"] == 1


def _scaled(node: Apply) -> tuple[Operand, Operand, bool] | None:
    """The scores, the scalar, and whether they are divided by it."""
    divided = node.operator is pointwise.divide
    for scores, factor in (node.operands, node.operands[::-1])[: 1 if divided else 2]:
        if not isinstance(scores, Value) or isinstance(factor, ShapeOf):
            continue
        if isinstance(factor, Number):
            usable = math.isfinite(factor.value) and factor.value != 0
            return (scores, factor, divided) if usable else None
        if isinstance(factor, SizeOf) or (isinstance(factor, Value) and _float_shape(factor) == ()):
            return scores, factor, divided
    return None


def _swaps_last(node: Apply, rank: int) -> bool:
    swapped = (*range(rank - 2), rank - 1, rank - 2)
    return node.attributes["perm"] in (None, swapped)


def _float_shape(operand: Operand) -> Shape | None:
    """The shape of a tensor of floats whose rank is known."""
    shape = _shape(operand)
    if shape is None or not isinstance(operand, Value) or not isinstance(operand.type, Tensor):
        return None
    return shape if str(operand.type.elem) in FLOATS else None


def _shape(operand: Operand) -> Shape | None:
    if not isinstance(operand, Value) or not isinstance(operand.type, Tensor):
        return None
    shape = operand.type.shape
    return None if any(isinstance(size, ShapeVar) for size in shape) else shape


_NOWHERE = Value("", Tensor("f32", ()))
