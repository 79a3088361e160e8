"""Products of matrices."""

from __future__ import annotations

from axon.importers.node import Made, Node
from axon.importers.onnx.rules.registry import rule
from axon.importers.products import PRODUCT, free_letters, product


@rule("MatMul")
def matmul(node: Node) -> Made:
    found = product(node, node.input(0), node.input(1), node.rank(0), node.rank(1))
    return node.declared(PRODUCT, 0, 1) if found is None else found


@rule("Gemm")
def gemm(node: Node) -> Made:
    x, w = node.input(0), node.input(1)
    if node.attribute("transA", 0):
        x = node.call("transpose", x, perm=[1, 0])
    if node.attribute("transB", 0):
        w = node.call("transpose", w, perm=[1, 0])
    ranked = node.rank(0) == 2 and node.rank(1) == 2
    expr = node.call("project", x, w) if ranked else node.call("einsum", x, w, equation="ik,kj->ij")
    elem = node.elem(0) if isinstance(node.elem(0), str) else node.elem(1)
    alpha, beta = node.attribute("alpha", 1.0), node.attribute("beta", 1.0)
    if alpha != 1 and isinstance(elem, str):
        expr = node.call("*", expr, node.scalar(alpha, elem))
    if node.has(2):
        bias = node.input(2)
        if beta != 1 and isinstance(elem, str):
            bias = node.call("*", bias, node.scalar(beta, elem))
        expr = node.call("+" if _is_row(node) else "plus_within", expr, bias)
    return expr


def _is_row(node: Node) -> bool:
    """Whether what is added is a row of the product, so that it broadcasts to no other shape."""
    row, matrix = node.shape(2), node.shape(1)
    if row is None or matrix is None or len(matrix) != 2:
        return False
    return row == (matrix[0 if node.attribute("transB", 0) else 1],)


@rule("Einsum")
def einsum(node: Node) -> Made:
    equation = str(node.attribute("equation", "")).replace(" ", "")
    if "->" not in equation:
        equation = f"{equation}->{free_letters(equation)}"
    parts = [node.input(i) for i in range(node.count)]
    return node.call("einsum", *parts, equation=equation)
