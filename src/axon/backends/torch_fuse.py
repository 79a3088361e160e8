"""A product and the bias that is added to it, as PyTorch's one kernel for both."""

from __future__ import annotations

from collections.abc import Iterator

from torch.nn import functional

from axon.backends.fusion import Body, Fusion
from axon.graph.graph import Apply, Value
from axon.ops.arrays import Array, Arrays
from axon.ops.families import linear, pointwise
from axon.types.type import Tensor
from axon.types.variables import ShapeVar

FLOATS = frozenset({"f16", "bf16", "f32", "f64"})


def with_bias(xp: Arrays, x: Array, w: Array, bias: Array) -> Array:
    return functional.linear(x, w.transpose(0, 1), bias)


def with_turned(xp: Arrays, x: Array, w: Array, bias: Array) -> Array:
    """The same with a matrix that the program transposes, as PyTorch's layers have it."""
    return functional.linear(x, w, bias)


def biased_products(body: Body) -> Iterator[Fusion]:
    """The sums of a body that are a product plus a bias, which is used for nothing else."""
    for node in body.nodes:
        if node.operator is not pointwise.add:
            continue
        for one, other in (node.operands, node.operands[::-1]):
            product = body.only(one, linear.project, linear.multiply_matrices, linear.matmul)
            if product is not None and isinstance(other, Value) and _is_bias(other, product):
                x, matrix = product.operands
                meaning, inner = with_bias, {product.result}
                turned = body.only(matrix, linear.transpose)
                if turned is not None and turned.attributes.get("perm") in (None, (1, 0)):
                    meaning, matrix = with_turned, turned.operands[0]
                    inner.add(turned.result)
                yield Fusion(node.result, meaning, (x, matrix, other), frozenset(inner))
                break


def _is_bias(bias: Value, product: Apply) -> bool:
    """Is it a vector, as long as the rows of the matrix?"""
    types = [o.type if isinstance(o, Value) else None for o in (*product.operands, bias)]
    if not all(isinstance(type_, Tensor) and str(type_.elem) in FLOATS for type_ in types):
        return False
    (x, matrix, vector) = [t.shape for t in types if isinstance(t, Tensor)]
    if any(isinstance(size, ShapeVar) for size in (*x, *matrix, *vector)):
        return False
    return len(matrix) == 2 and len(vector) == 1 and len(x) > 1 and vector[0] == matrix[1]
