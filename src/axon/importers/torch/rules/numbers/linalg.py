"""Norms, distances, and what one does with a matrix."""

from __future__ import annotations

import math

from axon.importers.expressions import Expression
from axon.importers.node import Made
from axon.importers.operations import Malformed, Unsupported
from axon.importers.torch import elements
from axon.importers.torch.node import TorchNode
from axon.importers.torch.rules.registry import rule

SQUARE = "t s@[n,n] -> t s@[n,n]"
PIVOTS = "t s@[n,n] -> i32 s@[n]"
REPORT = "t s@[n,n] -> i32 s"
ENTRIES = "t s@[m,n] -> t s@[m,n]"
DECLARED = {
    **dict.fromkeys(
        (
            "linalg_inv", "inverse", "linalg_matrix_exp", "matrix_exp", "cholesky",
            "linalg_cholesky", "cholesky_inverse",
        ),
        (SQUARE,),
    ),
    **dict.fromkeys(("linalg_inv_ex", "linalg_cholesky_ex"), (SQUARE, REPORT)),
    **dict.fromkeys(("linalg_pinv", "pinverse"), ("t s@[m,n] -> t s@[n,m]",)),
    "linalg_cond": ("t s@[m,n] -> t s",),
    "linalg_matrix_rank": ("t s@[m,n] -> i64 s",),
    **dict.fromkeys(("pdist", "_pdist_forward"), ("t [n,k] -> t [n*(n-1)/2]",)),
    "linalg_svdvals": ("t s@[m,n] -> t s@[min(m,n)]",),
    **dict.fromkeys(("linalg_eigh", "_linalg_eigh"), ("t s@[n,n] -> t s@[n]", SQUARE)),
    "linalg_eigvalsh": ("t s@[n,n] -> t s@[n]",),
    "linalg_eig": ("t s@[n,n] -> u s@[n]", "t s@[n,n] -> u s@[n,n]"),  # complex numbers
    **dict.fromkeys(("linalg_eigvals", "_linalg_eigvals"), ("t s@[n,n] -> u s@[n]",)),
    "linalg_lu": (
        "t s@[m,n] -> t s@[m,m]", "t s@[m,n] -> t s@[m,min(m,n)]", "t s@[m,n] -> t s@[min(m,n),n]",
    ),
    **dict.fromkeys(
        ("linalg_lu_factor", "linalg_lu_factor_ex"),
        (ENTRIES, "t s@[m,n] -> i32 s@[min(m,n)]", "t s@[m,n] -> i32 s"),
    ),
    "linalg_householder_product": (ENTRIES,),
}  # fmt: skip
"""The types of the results of operators on one tensor that Axon does not have."""
MOST_FACTORS = 64


# --- norms -----------------------------------------------------------------------------------


@rule("linalg_norm", "linalg_matrix_norm")
def norm(node: TorchNode) -> Made:
    x = _in_elem(node)
    kind, keep = node.operator, node.flag("keepdim")
    order = node.argument("ord")
    axes: list[int] | None = node.integers("dim") or None
    if kind == "linalg_matrix_norm":
        axes, order = axes or [-2, -1], "fro" if order is None else order
    rank = node.rank_of()
    count = rank if axes is None else len(axes)
    matrix = kind == "linalg_matrix_norm" or (kind == "linalg_norm" and count == 2)
    if isinstance(order, str) or (matrix and order is not None):
        return _matrix_norm(node, x, order, axes or [-2, -1], keep)
    if kind == "linalg_norm" and order is not None and count is None:
        raise Unsupported("linalg_norm of a tensor whose rank is not known")
    power = 2.0 if order is None else node.real("ord", 2.0)
    return node.call("norm", x, axis=axes, keep=keep, p=float(power))


def _in_elem(node: TorchNode) -> Expression:
    elem, x = node.dtype(), node.x()
    return x if elem is None or elem == node.elem_of() else node.cast(x, elem)


def _matrix_norm(
    node: TorchNode, x: Expression, order: object, axes: list[int], keep: bool
) -> Expression:
    if order == "fro":
        return node.call("norm", x, axis=axes, keep=keep)
    if len(axes) != 2:
        raise Malformed(f"a matrix has two axes, and not {len(axes)}")
    rows, columns = axes
    if order not in (1, -1, math.inf, -math.inf):  # those of singular values
        return node.type_of(node.call("norm", x, axis=axes, keep=keep))
    summed, other = (rows, columns) if abs(float(order)) == 1 else (columns, rows)
    totals = node.call("norm", x, axis=[summed], keep=True, p=1.0)
    kind = "max" if order > 0 else "min"
    made = node.call(kind, totals, axis=[other], keep=True)
    return made if keep else node.call("squeeze", made, axis=axes)


@rule("renorm")
def renorm(node: TorchNode) -> Made:
    return node.type_of(node.x())


# --- distances -------------------------------------------------------------------------------


@rule("cdist", "_cdist_forward", "_euclidean_dist")
def cdist(node: TorchNode) -> Made:
    """The distance of each row of the one from each row of the other."""
    return node.call("all_distances", node.x("x1"), node.x("x2"), p=float(node.real("p", 2.0)))


@rule("pairwise_distance")
def pairwise_distance(node: TorchNode) -> Made:
    elem = node.joint("x1", "x2") or elements.DEFAULT
    sides = [node.operand(name, elem) for name in ("x1", "x2")]
    how = {"p": float(node.real("p", 2.0)), "moved": float(node.real("eps", 1e-6))}
    return node.call("distance", *sides, **how, keep=node.flag("keepdim"))


@rule("cosine_similarity")
def cosine_similarity(node: TorchNode) -> Made:
    elem, axis = node.joint("x1", "x2") or elements.DEFAULT, node.axis("dim", 1)
    sides = [node.operand(name, elem) for name in ("x1", "x2")]
    least = float(node.real("eps", 1e-8))
    return node.call("cosine_similarity", *sides, axis=axis, epsilon=least)


@rule("linalg_vecdot")
def vecdot(node: TorchNode) -> Made:
    return node.call("sum", node.call("*", node.x("x"), node.x("y")), axis=[node.axis("dim", -1)])


@rule("linalg_cross", "cross")
def cross(node: TorchNode) -> Made:
    axis = node.integer("dim", -1 if node.operator == "linalg_cross" else None)
    if axis is None:
        word = node.shape(node.tensor_index("self"))
        if word is None or 3 not in word:
            return node.declared("(t p, t q) -> t broadcast(p,q)", 0, 1)
        axis = word.index(3)
    return node.call("cross", node.x(), node.x("other"), axis=axis)


# --- declared, and equations -----------------------------------------------------------------


@rule(*DECLARED)
def of_one_tensor(node: TorchNode) -> None:
    found = DECLARED[node.operator.removesuffix("_")]
    node.set_outputs(*(node.declared(signature, 0) for signature in found))


@rule("linalg_solve", "linalg_solve_ex", "_linalg_solve_ex")
def solve(node: TorchNode) -> None:
    """What is solved for is a batch of vectors, or of matrices."""
    at = node.tensor_index("A"), node.tensor_index("B")
    a, b = node.rank(at[0]), node.rank(at[1])
    if a is None or b is None:
        made = node.declared("(t p@[n,n], t q) -> t ?r", *at)
    elif b == 1 or (a - 1 == b and node.shape(at[1]) == (node.shape(at[0]) or ())[:-1]):
        made = node.declared("(t p@[n,n], t q@[n]) -> t broadcast(p,q)@[n]", *at)
    elif node.flag("left", True):
        made = node.declared("(t p@[n,n], t q@[n,k]) -> t broadcast(p,q)@[n,k]", *at)
    else:
        made = node.declared("(t p@[n,n], t q@[k,n]) -> t broadcast(p,q)@[k,n]", *at)
    report = node.declared(REPORT, at[0])
    if node.operator == "linalg_solve_ex":
        node.set_outputs(made, report)
        return
    node.set_outputs(made, node.declared(SQUARE, at[0]), node.declared(PIVOTS, at[0]), report)


@rule("linalg_solve_triangular")
def solve_triangular(node: TorchNode) -> Made:
    at = node.tensor_index("self"), node.tensor_index("B")
    right = "[n,k]" if node.flag("left", True) else "[k,n]"
    return node.declared(f"(t p@[n,n], t q@{right}) -> t broadcast(p,q)@{right}", *at)


@rule("triangular_solve")
def triangular_solve(node: TorchNode) -> None:
    at = node.tensor_index("self"), node.tensor_index("A")
    made = node.declared("(t p@[n,k], t q@[n,n]) -> t broadcast(p,q)@[n,k]", *at)
    node.set_outputs(made, node.declared("(t p@[n,k], t q@[n,n]) -> t broadcast(p,q)@[n,n]", *at))


@rule("cholesky_solve")
def cholesky_solve(node: TorchNode) -> Made:
    at = node.tensor_index("self"), node.tensor_index("input2")
    return node.declared("(t p@[n,k], t q@[n,n]) -> t broadcast(p,q)@[n,k]", *at)


# --- determinants and powers -----------------------------------------------------------------


@rule("det", "linalg_det")
def det(node: TorchNode) -> Made:
    return node.call("det", node.input(0))


@rule("_linalg_det")
def det_with_factors(node: TorchNode) -> None:
    parts = (node.declared(signature, 0) for signature in (SQUARE, PIVOTS))
    node.set_outputs(node.call("det", node.input(0)), *parts)


@rule("logdet")
def logdet(node: TorchNode) -> Made:
    return node.call("log", node.call("det", node.input(0)))


@rule("slogdet", "linalg_slogdet", "_linalg_slogdet")
def slogdet(node: TorchNode) -> None:
    found = node.call("det", node.input(0))
    size = node.call("log", node.call("abs", found))
    parts = (node.declared(signature, 0) for signature in (SQUARE, PIVOTS))
    node.set_outputs(node.call("sign", found), size, *parts)


@rule("linalg_matrix_power", "matrix_power")
def matrix_power(node: TorchNode) -> Made:
    count, x = node.integer("n") or 0, node.x()
    if not 0 < count <= MOST_FACTORS:
        return node.declared(SQUARE, node.tensor_index("self"))
    made = x
    for _ in range(count - 1):
        made = node.call("matmul", made, x)
    return made


# --- factors ---------------------------------------------------------------------------------


@rule("linalg_qr", "qr")
def qr(node: TorchNode) -> None:
    mode = node.text("mode", "reduced")
    complete = mode == "complete" or not node.flag("some", True)
    if mode == "r":
        node.set_outputs(node.declared("t s@[m,n] -> t [0]", 0), _factor(node, "[min(m,n),n]"))
    elif complete:
        node.set_outputs(_factor(node, "[m,m]"), _factor(node, "[m,n]"))
    else:
        node.set_outputs(_factor(node, "[m,min(m,n)]"), _factor(node, "[min(m,n),n]"))


def _factor(node: TorchNode, shape: str, elem: str = "t") -> Expression:
    return node.declared(f"t s@[m,n] -> {elem} s@{shape}", 0)


@rule("linalg_svd", "_linalg_svd", "svd")
def svd(node: TorchNode) -> None:
    full = node.flag("full_matrices", node.operator == "linalg_svd")
    if node.operator == "svd":
        full = not node.flag("some", True)
    if not node.flag("compute_uv", True):
        raise Unsupported("singular values without their vectors")
    left, right = ("m", "n") if full else ("min(m,n)", "min(m,n)")
    last = f"[n,{right}]" if node.operator == "svd" else f"[{right},n]"
    node.set_outputs(_factor(node, f"[m,{left}]"), _factor(node, "[min(m,n)]"), _factor(node, last))
