"""PyTorch's products, norms of vectors and matrices, and what one does with a matrix."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from tests.importers.torch_calls import Given, call, close, floats, types


def name_of(value: object) -> str | None:
    """What a case is called: functions have pytest's names, not those with an address."""
    return None if callable(value) else str(value)[:40]


PRODUCTS: list[tuple[str, list[str], str, list[tuple[int, ...]], Any]] = [
    ("linear input weight bias", ["[b,s,4]", "[6,4]", "[6]"], "[b,s,6]",
     [(2, 3, 4), (6, 4), (6,)], lambda x, w, b: x @ w.T + b),
    ("linear input weight", ["[n,4]", "[4]"], "[n]", [(3, 4), (4,)], lambda x, w: x @ w),
    ("matmul self other", ["[n]", "[n]"], "[]", [(3,), (3,)], numpy.dot),
    ("matmul self other", ["[m,n]", "[n]"], "[m]", [(2, 3), (3,)], numpy.matmul),
    ("matmul self other", ["[n]", "[b,n,k]"], "[b,k]", [(3,), (2, 3, 4)], numpy.matmul),
    ("matmul self other", ["[b,1,m,n]", "[h,n,k]"], "[b,h,m,k]",
     [(2, 1, 5, 3), (4, 3, 6)], numpy.matmul),
    ("mm self mat2", ["[m,n]", "[n,k]"], "[m,k]", [(2, 3), (3, 4)], numpy.matmul),
    ("bmm self mat2", ["[b,m,n]", "[b,n,k]"], "[b,m,k]", [(5, 2, 3), (5, 3, 4)], numpy.matmul),
    ("mv self vec", ["[m,n]", "[n]"], "[m]", [(2, 3), (3,)], numpy.matmul),
    ("dot self tensor", ["[n]", "[n]"], "[]", [(3,), (3,)], numpy.dot),
    ("outer self vec2", ["[m]", "[n]"], "[m,n]", [(2,), (3,)], numpy.outer),
    ("inner self other", ["[a,n]", "[b,c,n]"], "[a,b,c]", [(2, 3), (4, 5, 3)], numpy.inner),
    ("kron self other", ["[m,n]", "[3,2]"], "[3*m,2*n]", [(2, 4), (3, 2)], numpy.kron),
    ("bilinear input1 input2 weight", ["[n,3]", "[n,4]", "[5,3,4]"], "[n,5]",
     [(2, 3), (2, 4), (5, 3, 4)], lambda x, y, w: numpy.einsum("ni,oij,nj->no", x, w, y)),
]  # fmt: skip


@pytest.mark.parametrize(("words", "given", "made", "shapes", "expected"), PRODUCTS, ids=name_of)
def test_a_product(
    words: str, given: list[str], made: str, shapes: list[tuple[int, ...]], expected: Any
) -> None:
    name, *arguments = words.split()
    tensors = {a: Given(f"f32 {g}") for a, g in zip(arguments, given, strict=True)}
    p = call(f"aten.{name}.default", **tensors)
    assert types(p) == f"f32 {made}"
    arrays = [floats(*shape, seed=i) for i, shape in enumerate(shapes)]
    close(p, arrays, expected(*arrays))


def test_a_sum_with_a_product_is_weighed_and_broadcasts() -> None:
    p = call(
        "aten.addmm.default",
        self=Given("f32 [1,k]"),
        mat1=Given("f32 [m,3]"),
        mat2=Given("f32 [3,k]"),
        beta=0.5,
        alpha=2,
    )
    assert types(p) == "f32 [m,k]"
    bias, x, y = floats(1, 4), floats(2, 3), floats(3, 4)
    close(p, [bias, x, y], 0.5 * bias + 2 * (x @ y))


def test_a_batch_of_sums() -> None:
    given = {"self": "[b,m,1]", "batch1": "[b,m,3]", "batch2": "[b,3,k]"}
    tensors = {name: Given(f"f32 {shape}") for name, shape in given.items()}
    assert types(call("aten.baddbmm.default", **tensors)) == "f32 [b,m,k]"
    tensors["self"] = Given("f32 [k]")
    assert types(call("aten.addbmm.default", **tensors)) == "f32 [m,k]"


@pytest.mark.parametrize(
    ("equation", "given", "made"),
    [
        ("bij, bjk -> bik", ["[b,m,n]", "[b,n,k]"], "[b,m,k]"),
        ("ij,j", ["[m,n]", "[n]"], "[m]"),
        ("...ij,...jk->...ik", ["[h,m,n]", "[b,h,n,k]"], "[b,h,m,k]"),
        ("bij,bij->bj", ["[b,1,n]", "[b,m,n]"], "[b,n]"),  # a size of 1 goes with any
        ("bii->b", ["[b,4,4]"], "[b]"),
    ],
)
def test_einsum(equation: str, given: list[str], made: str) -> None:
    tensors = [Given(f"f32 {shape}") for shape in given]
    p = call("aten.einsum.default", equation=equation, tensors=tensors)
    assert types(p) == f"f32 {made}"
    sizes = {"b": 2, "h": 3, "m": 4, "n": 5, "k": 6}
    arrays = [
        floats(*(int(n) if n.isdigit() else sizes[n] for n in shape.strip("[]").split(",")))
        for shape in given
    ]
    expected = (
        numpy.einsum("bij,bkj->bj", *arrays)
        if "bij,bij" in equation
        else numpy.einsum(equation.replace(" ", ""), *arrays)
    )
    close(p, arrays, expected)


def test_tensordot_goes_over_pairs_of_axes() -> None:
    p = call(
        "aten.tensordot.default",
        self=Given("f32 [a,3,n]"),
        other=Given("f32 [n,3,b]"),
        dims_self=[1, 2],
        dims_other=[1, 0],
    )
    assert types(p) == "f32 [a,b]"
    x, y = floats(2, 3, 5), floats(5, 3, 4)
    close(p, [x, y], numpy.tensordot(x, y, ([1, 2], [1, 0])))


@pytest.mark.parametrize("p_norm", [0.0, 1.0, 2.0, 3.0, float("inf")])
def test_distances(p_norm: float) -> None:
    p = call("aten.cdist.default", x1=Given("f32 [1,m,4]"), x2=Given("f32 [b,n,4]"), p=p_norm)
    assert types(p) == "f32 [b,m,n]"
    x, y = floats(1, 3, 4), floats(2, 5, 4)
    close(p, [x, y], numpy.linalg.norm(x[:, :, None] - y[:, None], ord=p_norm, axis=-1))


def test_norms_of_matrices() -> None:
    x = floats(2, 3, 4)
    for order in (1, -1, float("inf")):
        p = call("aten.linalg_matrix_norm.default", self=Given("f32 [b,m,n]"), ord=order)
        assert types(p) == "f32 [b]"
        close(p, [x], numpy.linalg.norm(x, ord=order, axis=(1, 2)))
    p = call("aten.linalg_matrix_norm.str_ord", self=Given("f32 [b,m,n]"), keepdim=True)
    assert types(p) == "f32 [b,1,1]"
    p = call("aten.linalg_norm.default", self=Given("f32 [b,m,n]"))
    assert types(p) == "f32 []"


def test_what_is_known_of_factors_is_their_shape() -> None:
    x = Given("f32 [b,4,3]")
    assert types(call("aten.linalg_svd.default", 3, A=x)) == "f32 [b,4,4], f32 [b,3], f32 [b,3,3]"
    thin = call("aten.linalg_svd.default", 3, A=x, full_matrices=False)
    assert types(thin) == "f32 [b,4,3], f32 [b,3], f32 [b,3,3]"
    assert types(call("aten.linalg_qr.default", 2, A=x)) == "f32 [b,4,3], f32 [b,3,3]"
    square = Given("f32 [b,n,n]")
    assert types(call("aten.linalg_inv.default", A=square)) == "f32 [b,n,n]"
    assert types(call("aten.linalg_eigh.default", 2, self=square)) == "f32 [b,n], f32 [b,n,n]"
    solved = call("aten.linalg_solve.default", A=square, B=Given("f32 [b,n,k]"))
    assert types(solved) == "f32 [b,n,k]"


def test_a_cross_product() -> None:
    p = call("aten.linalg_cross.default", self=Given("f32 [n,3]"), other=Given("f32 [n,3]"))
    assert types(p) == "f32 [n,3]"
    x, y = floats(4, 3), floats(4, 3, seed=1)
    close(p, [x, y], numpy.cross(x, y))


def test_a_product_of_unknown_ranks_is_unknown() -> None:
    p = call("aten.matmul.default", self=Given("f32 [m,n]"), other=Given("f32 [n,k]"))
    assert types(p, forget=True) == "f32 ?"
