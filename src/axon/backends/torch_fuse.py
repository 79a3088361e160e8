"""A product and the bias that is added to it, as PyTorch's one kernel for both."""

from __future__ import annotations

from collections import Counter

from torch.nn import functional

from axon.graph.graph import Apply, Function, Graph, Operand, Value
from axon.graph.sizes import operands_of, values_in
from axon.ops.arrays import Array, Arrays, Meaning
from axon.ops.families import linear, pointwise
from axon.types.type import Tensor
from axon.types.variables import ShapeVar

Joined = dict[Value, tuple[Meaning, tuple[Operand, ...]] | None]
"""By the result of a node: what computes it in place of the node, None if nothing need to."""

FLOATS = frozenset({"f16", "bf16", "f32", "f64"})


def with_bias(xp: Arrays, x: Array, w: Array, bias: Array) -> Array:
    return functional.linear(x, w.transpose(0, 1), bias)


def with_turned(xp: Arrays, x: Array, w: Array, bias: Array) -> Array:
    """The same with a matrix that the program transposes, as PyTorch's layers have it."""
    return functional.linear(x, w, bias)


def joined(whole: Graph | Function) -> Joined:
    """The sums of a body that are a product plus a bias, which is used for nothing else."""
    used = Counter(
        value for node in whole.nodes for o in operands_of(node) for value in values_in(o)
    )
    used.update(values_in(whole.result))
    products = {
        node.result: node
        for node in whole.nodes
        if isinstance(node, Apply)
        and node.operator in (linear.project, linear.multiply_matrices, linear.matmul)
        and used[node.result] == 1
    }
    turned = {
        node.result: node.operands[0]
        for node in whole.nodes
        if isinstance(node, Apply)
        and node.operator is linear.transpose
        and node.attributes.get("perm") in (None, (1, 0))
        and used[node.result] == 1
    }
    found: Joined = {}
    for node in whole.nodes:
        if not isinstance(node, Apply) or node.operator is not pointwise.add:
            continue
        for one, other in (node.operands, node.operands[::-1]):
            product = products.get(one) if isinstance(one, Value) else None
            if product is not None and isinstance(other, Value) and _is_bias(other, product):
                x, matrix = product.operands
                found[product.result] = None
                found[node.result] = with_bias, (x, matrix, other)
                if isinstance(matrix, Value) and matrix in turned:
                    found[matrix] = None
                    found[node.result] = with_turned, (x, turned[matrix], other)
                break
    return found


def _is_bias(bias: Value, product: Apply) -> bool:
    """Is it a vector, as long as the rows of the matrix?"""
    types = [o.type if isinstance(o, Value) else None for o in (*product.operands, bias)]
    if not all(isinstance(type_, Tensor) and str(type_.elem) in FLOATS for type_ in types):
        return False
    (x, matrix, vector) = [t.shape for t in types if isinstance(t, Tensor)]
    if any(isinstance(size, ShapeVar) for size in (*x, *matrix, *vector)):
        return False
    return len(matrix) == 2 and len(vector) == 1 and len(x) > 1 and vector[0] == matrix[1]
