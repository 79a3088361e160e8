"""What PyTorch programs compute from numbers: new tensors, sums, order, and functions of them."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from tests.importers.torch_archives import (
    Case,
    Elem,
    Exported,
    SymInt,
    Tensor,
    checked,
    infer,
    run,
    types,
)


def call(target: str, results: int = 1, **named: Any) -> Any:
    """A case's operator on its tensor."""

    def build(p: Exported, x: Tensor) -> Any:
        made = p.call(f"aten.{target}", results, self=x, **named)
        return made if results == 1 else list(made)

    return build


def size(p: Exported, x: Tensor, axis: int = 0) -> SymInt:
    found: SymInt = p.call("aten.sym_size.int", self=x, dim=axis, kind=SymInt)
    return found


def of_size(target: str, name: str, axis: int = 0, **named: Any) -> Any:
    """A case's operator on a size of its tensor."""
    return lambda p, x: p.call(f"aten.{target}", **{name: size(p, x, axis)}, **named)


def positive(p: Exported, x: Tensor) -> Tensor:
    found: Tensor = p.call("aten.gt.Scalar", self=x, other=0)
    return found


def of_truth(target: str, **named: Any) -> Any:
    return lambda p, x: p.call(f"aten.{target}", self=positive(p, x), **named)


CREATED = [
    Case("arange", of_size("arange.default", "end"), ["i64 [n]"], lambda x: numpy.arange(len(x))),
    Case("arange from", of_size("arange.start", "end", start=1), ["i64 [n - 1]"],
         lambda x: numpy.arange(1, len(x))),
    Case("arange by steps", of_size("arange.start_step", "end", start=0, step=2),
         ["i64 [(n+1)/2]"], lambda x: numpy.arange(0, len(x), 2)),
    Case("arange backwards", of_size("arange.start_step", "start", end=0, step=-1), ["i64 [n]"],
         lambda x: numpy.arange(len(x), 0, -1)),
    Case("arange of fractions", lambda p, x: p.call("aten.arange.start_step", start=0, end=1.0,
         step=0.25), ["f32 [4]"], lambda x: numpy.arange(0, 1, 0.25)),
    Case("arange as floats", of_size("arange.default", "end", dtype=Elem("f32")), ["f32 [n]"],
         lambda x: numpy.arange(len(x))),
    Case("zeros", lambda p, x: p.call("aten.zeros.default", size=[size(p, x), 3]), ["f32 [n,3]"],
         lambda x: numpy.zeros((len(x), 3))),
    Case("full of integers", lambda p, x: p.call("aten.full.default", size=[2], fill_value=7),
         ["i64 [2]"], lambda x: [numpy.full(2, 7)]),
    Case("full of truth", lambda p, x: p.call("aten.full.default", size=[2], fill_value=True),
         ["bool [2]"], lambda x: [numpy.full(2, True)]),
    Case("full_like", call("full_like.default", fill_value=3), ["f32 [n,m]"],
         lambda x: numpy.full_like(x, 3)),
    Case("ones_like of another type", call("ones_like.default", dtype=Elem("i32")),
         ["i32 [n,m]"], lambda x: numpy.ones_like(x, "i4")),
    Case("new_full", call("new_full.default", size=[2, 2], fill_value=1), ["f32 [2,2]"],
         lambda x: numpy.ones((2, 2), "f4")),
    Case("eye", of_size("eye.default", "n"), ["f32 [n,n]"], lambda x: numpy.eye(len(x))),
    Case("eye of two sizes", of_size("eye.m", "m", n=2), ["f32 [2,n]"],
         lambda x: numpy.eye(2, len(x))),
    Case("linspace", of_size("linspace.default", "steps", start=-1, end=1.0), ["f32 [n]"],
         lambda x: numpy.linspace(-1, 1, len(x))),
    Case("linspace of integers", lambda p, x: p.call("aten.linspace.default", start=-3, end=8,
         steps=5, dtype=Elem("i64")), ["i64 [5]"], lambda x: numpy.asarray([-3, 0, 2, 5, 8])),
    Case("tril_indices", lambda p, x: p.call("aten.tril_indices.default", row=4, col=3, offset=-1),
         ["i64 [2,6]"], lambda x: numpy.stack(numpy.tril_indices(4, -1, 3))),
    Case("scalar_tensor", lambda p, x: p.call("aten.scalar_tensor.default", s=2.0), ["f32 []"],
         lambda x: numpy.float32(2)),
    Case("rand", lambda p, x: p.call("aten.rand.default", size=[size(p, x), 2]), ["f32 [n,2]"],
         None),
    Case("randn_like", call("randn_like.default"), ["f32 [n,m]"], None),
    Case("randint", lambda p, x: p.call("aten.randint.default", high=9, size=[size(p, x)]),
         ["i64 [n]"], None),
]  # fmt: skip
REDUCED = [
    Case("sum", call("sum.default"), ["f32 []"], lambda x: x.sum()),
    Case("sum along an axis", call("sum.dim_IntList", dim=[-1], keepdim=True), ["f32 [n,1]"],
         lambda x: x.sum(-1, keepdims=True)),
    Case("sum along no axis", call("sum.dim_IntList", dim=[], keepdim=True), ["f32 [1,1]"],
         lambda x: x.sum(keepdims=True)),
    Case("sum of truth", of_truth("sum.dim_IntList", dim=[0]), ["i64 [m]"],
         lambda x: (x > 0).sum(0)),
    Case("mean", call("mean.dim", dim=[0]), ["f32 [m]"], lambda x: x.mean(0)),
    Case("prod", call("prod.dim_int", dim=1), ["f32 [n]"], lambda x: x.prod(1)),
    Case("amax", call("amax.default", dim=[1]), ["f32 [n]"], lambda x: x.max(1)),
    Case("max and where", call("max.dim", 2, dim=1), ["f32 [n]", "i64 [n]"],
         lambda x: [x.max(1), x.argmax(1)]),
    Case("max of two", lambda p, x: p.call("aten.max.other", self=x,
         other=p.call("aten.neg.default", self=x)), ["f32 [n,m]"], numpy.abs),
    Case("argmin", call("argmin.default", dim=0, keepdim=True), ["i64 [1,m]"],
         lambda x: x.argmin(0)[None]),
    Case("argmax of all", call("argmax.default"), ["i64 []"], lambda x: x.argmax()),
    Case("any", of_truth("any.dim", dim=1), ["bool [n]"], lambda x: (x > 0).any(1)),
    Case("any of numbers", call("any.default"), ["bool []"], lambda x: x.any()),
    Case("all", of_truth("all.dim", dim=1, keepdim=True), ["bool [n,1]"],
         lambda x: (x > 0).all(1, keepdims=True)),
    Case("var", call("var.dim", dim=[1]), ["f32 [n]"], lambda x: x.var(1, ddof=1)),
    Case("var of all", call("var.dim", dim=[1], unbiased=False), ["f32 [n]"],
         lambda x: x.var(1)),
    Case("var with a correction", call("var.correction", dim=[0], correction=2.0), ["f32 [m]"],
         lambda x: x.var(0, ddof=2)),
    Case("std_mean", call("std_mean.default", 2), ["f32 []", "f32 []"],
         lambda x: [x.std(ddof=1), x.mean()]),
    Case("logsumexp", call("logsumexp.default", dim=[1]), ["f32 [n]"],
         lambda x: numpy.log(numpy.exp(x).sum(1))),
    Case("norm", call("linalg_vector_norm.default", ord=1, dim=[1]), ["f32 [n]"],
         lambda x: numpy.abs(x).sum(1)),
    Case("count_nonzero", call("count_nonzero.default", dim=1), ["i64 [n]"],
         lambda x: (x != 0).sum(1)),
    Case("cumsum", call("cumsum.default", dim=1), ["f32 [n,m]"], lambda x: x.cumsum(1)),
    Case("cumsum of truth", of_truth("cumsum.default", dim=0), ["i64 [n,m]"],
         lambda x: (x > 0).cumsum(0)),
    Case("diff", call("diff.default"), ["f32 [n,max(m-1,0)]"], numpy.diff),
    Case("bincount", lambda p, x: p.call("aten.bincount.default", self=p.call("aten.arange.default",
         end=size(p, x)), minlength=4), ["i64 [a]"],
         lambda x: numpy.ones(len(x), int) if len(x) > 3 else [numpy.asarray([1, 1, 1, 0])]),
    Case("quantile", call("quantile.scalar", q=0.3, dim=1, keepdim=True), ["f32 [n,1]"],
         lambda x: numpy.quantile(x, 0.3, 1, keepdims=True)),
    Case("several quantiles", lambda p, x: p.call("aten.quantile.default", self=x, dim=1,
         q=p.weight("q", numpy.asarray([0.2, 0.5], "f4"))), ["f32 [2,n]"],
         lambda x: numpy.quantile(x, [0.2, 0.5], 1)),
    Case("logcumsumexp", call("logcumsumexp.default", dim=1), ["f32 [n,m]"],
         lambda x: numpy.log(numpy.exp(x).cumsum(1))),
]  # fmt: skip
ORDERED = [
    Case("sort", call("sort.default", 2), ["f32 [n,m]", "i64 [n,m]"],
         lambda x: [numpy.sort(x), numpy.argsort(x, kind="stable")]),
    Case("sort downwards", call("sort.default", 2, dim=0, descending=True),
         ["f32 [n,m]", "i64 [n,m]"],
         lambda x: [-numpy.sort(-x, 0), numpy.argsort(-x, 0, kind="stable")]),
    Case("argsort", call("argsort.default", dim=1), ["i64 [n,m]"],
         lambda x: numpy.argsort(x, 1, kind="stable")),
    Case("topk", call("topk.default", 2, k=2), ["f32 [n,2]", "i64 [n,2]"],
         lambda x: [-numpy.sort(-x)[:, :2], numpy.argsort(-x, kind="stable")[:, :2]]),
    Case("topk of a size", lambda p, x: list(p.call("aten.topk.default", 2, self=x, k=size(p, x),
         dim=0)), ["f32 [n,m]", "i64 [n,m]"],
         lambda x: [-numpy.sort(-x, 0), numpy.argsort(-x, 0, kind="stable")]),
    Case("median", call("median.default"), ["f32 []"],
         lambda x: numpy.sort(x.ravel())[(x.size - 1) // 2]),
    Case("kthvalue", call("kthvalue.default", 2, k=2, dim=1, keepdim=True),
         ["f32 [n,1]", "i64 [n,1]"],
         lambda x: [numpy.sort(x)[:, 1:2], numpy.argsort(x, kind="stable")[:, 1:2]]),
    Case("searchsorted", lambda p, x: p.call("aten.searchsorted.Tensor", self=x, right=True,
         sorted_sequence=p.weight("s", numpy.asarray([-1, 0, 1], "f4"))), ["i64 [n,m]"],
         lambda x: numpy.searchsorted([-1, 0, 1], x, "right")),
]  # fmt: skip


def with_itself(target: str, **named: Any) -> Any:
    """A case's operator on its tensor and that less 1."""
    return lambda p, x: p.call(
        f"aten.{target}", self=x, other=p.call("aten.sub.Tensor", self=x, other=1), **named
    )


FUNCTIONS = [
    Case("exp2", call("exp2.default"), ["f32 [n,m]"], numpy.exp2),
    Case("log2", lambda p, x: p.call("aten.log2.default", self=p.call("aten.exp.default", self=x)),
         ["f32 [n,m]"], lambda x: x / numpy.log(2)),
    Case("atan2", with_itself("atan2.default"), ["f32 [n,m]"], lambda x: numpy.arctan2(x, x - 1)),
    Case("hypot", with_itself("hypot.default"), ["f32 [n,m]"], lambda x: numpy.hypot(x, x - 1)),
    Case("logaddexp", with_itself("logaddexp.default"), ["f32 [n,m]"],
         lambda x: numpy.logaddexp(x, x - 1)),
    Case("copysign", with_itself("copysign.Tensor"), ["f32 [n,m]"],
         lambda x: numpy.copysign(x, x - 1)),
    Case("sinc", call("sinc.default"), ["f32 [n,m]"], lambda x: numpy.sinc(x)),
    Case("heaviside", lambda p, x: p.call("aten.heaviside.default", self=x,
         values=p.weight("v", numpy.asarray(0.5, "f4"))), ["f32 [n,m]"],
         lambda x: numpy.heaviside(x, 0.5)),
    Case("trunc", call("trunc.default"), ["f32 [n,m]"], numpy.trunc),
    Case("round to digits", call("round.decimals", decimals=1), ["f32 [n,m]"],
         lambda x: numpy.round(x, 1)),
    Case("signbit", call("signbit.default"), ["bool [n,m]"], numpy.signbit),
    Case("isfinite", lambda p, x: p.call("aten.isfinite.default", self=p.call("aten.log.default",
         self=x)), ["bool [n,m]"], lambda x: x > 0),
    Case("nan_to_num", lambda p, x: p.call("aten.nan_to_num.default", self=p.call(
         "aten.log.default", self=x), nan=1.0, neginf=-2.0), ["f32 [n,m]"],
         lambda x: numpy.nan_to_num(numpy.log(x.astype("f8")), nan=1, neginf=-2)),
    Case("isclose", with_itself("isclose.default", rtol=0.0, atol=1.0), ["bool [n,m]"],
         lambda x: numpy.isclose(x, x - 1, 0, 1)),
    Case("div that rounds down", lambda p, x: p.call("aten.div.Tensor_mode", self=x, other=0.3,
         rounding_mode="floor"), ["f32 [n,m]"], lambda x: numpy.floor(x / numpy.float32(0.3))),
]  # fmt: skip


@pytest.mark.parametrize("case", CREATED, ids=lambda case: case.name)
def test_created(case: Case) -> None:
    checked(case)


@pytest.mark.parametrize("case", REDUCED, ids=lambda case: case.name)
def test_reduced(case: Case) -> None:
    checked(case)


@pytest.mark.parametrize("case", ORDERED, ids=lambda case: case.name)
def test_ordered(case: Case) -> None:
    checked(case)


@pytest.mark.parametrize("case", FUNCTIONS, ids=lambda case: case.name)
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_functions(case: Case) -> None:
    checked(case)


def test_a_range_cannot_go_the_wrong_way() -> None:
    p = Exported()
    p.input("x", "f32", ["n"])
    p.output(p.call("aten.arange.start_step", start=0, end=5, step=-1))
    assert "wrong side of its start" in infer(p).diagnostics[0].message


def test_integers_are_summed_up_in_64_bits() -> None:
    p = Exported()
    x = p.input("x", "i32", ["n"])
    p.output(p.call("aten.sum.default", self=x), p.call("aten.max.default", self=x))
    assert types(p) == ["i64 []", "i32 []"]
    assert [int(each) for each in run(p, numpy.asarray([1, 5], "i4"))] == [6, 5]


@pytest.mark.parametrize("target", ["sum.dim_IntList", "amax.default", "mean.dim"])
def test_a_tensor_without_dimensions_has_axis_0(target: str) -> None:
    p = Exported()
    p.output(p.call(f"aten.{target}", self=p.input("x"), dim=[0]))
    assert types(p) == ["f32 []"]
    assert run(p, numpy.float32(3))[0] == 3


def test_order_of_a_tensor_without_dimensions() -> None:
    p = Exported()
    p.output(*p.call("aten.sort.default", 2, self=p.input("x"), dim=-1))
    assert types(p) == ["f32 []", "i64 []"]
    assert [float(each) for each in run(p, numpy.float32(3))] == [3, 0]


def test_the_same_bits() -> None:
    p = Exported()
    x = p.input("x", "f32", ["n", "m"])
    p.output(p.call("aten.view.dtype", self=x, dtype=Elem("i32")))
    assert types(p) == ["i32 [n,m]"]
    x_ = numpy.asarray([[1.5, -2]], "f4")
    assert (run(p, x_)[0] == x_.view("i4")).all()


@pytest.mark.parametrize(("elem", "last"), [("i16", "2*m"), ("u8", "4*m"), ("f64", "m/2")])
def test_the_same_bytes(elem: str, last: str) -> None:
    p = Exported()
    x = p.input("x", "f32", ["n", "m"])
    p.output(p.call("aten.view.dtype", self=x, dtype=Elem(elem)))
    assert types(p) == [f"{elem} [n,{last}]"]
