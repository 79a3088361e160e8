"""Joining, cutting up, repeating and padding in PyTorch programs."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from axon.run.errors import ArgumentError
from tests.importers.torch_archives import (
    Case,
    Exported,
    SymInt,
    Tensor,
    checked,
    infer,
    run,
    types,
)


def call(target: str, **named: Any) -> Any:
    return lambda p, x: p.call(f"aten.{target}", self=x, **named)


def cut(target: str, results: int, **named: Any) -> Any:
    """A case's operator whose results are a list."""
    return lambda p, x: list(p.call(f"aten.{target}", results, self=x, listed=True, **named))


def size(p: Exported, x: Tensor, axis: int = 0) -> SymInt:
    found: SymInt = p.call("aten.sym_size.int", self=x, dim=axis, kind=SymInt)
    return found


def up_to_8(p: Exported, x: Tensor) -> Tensor:
    """The second axis up to the next multiple of 8."""
    less: SymInt = p.call("_operator.neg", a=size(p, x, 1), kind=SymInt)
    left: SymInt = p.call("_operator.mod", a=less, b=8, kind=SymInt)
    found: Tensor = p.call("aten.pad.default", self=x, pad=[0, left])
    return found


def column(p: Exported, x: Tensor) -> Tensor:
    found: Tensor = p.call("aten.select.int", self=x, dim=1, index=0)
    return found


def row(p: Exported, x: Tensor) -> Tensor:
    found: Tensor = p.call("aten.select.int", self=x, dim=0, index=0)
    return found


JOINED = [
    Case("cat", lambda p, x: p.call("aten.cat.default", tensors=[x, x], dim=1), ["f32 [n,2*m]"],
         lambda x: numpy.concatenate([x, x], 1)),
    Case("cat with an empty vector", lambda p, x: p.call("aten.cat.default",
         tensors=[p.call("aten.zeros.default", size=[0]), x]), ["f32 [n,m]"], lambda x: x),
    Case("cat of integers and floats", lambda p, x: p.call("aten.cat.default",
         tensors=[column(p, x), p.call("aten.arange.default", end=3)]), ["f32 [n + 3]"],
         lambda x: numpy.concatenate([x[:, 0], [0, 1, 2]])),
    Case("stack", lambda p, x: p.call("aten.stack.default", tensors=[x, x], dim=-1),
         ["f32 [n,m,2]"], lambda x: numpy.stack([x, x], -1)),
    Case("hstack", lambda p, x: p.call("aten.hstack.default", tensors=[x, x]), ["f32 [n,2*m]"],
         lambda x: numpy.hstack([x, x])),
    Case("vstack of vectors", lambda p, x: p.call("aten.vstack.default",
         tensors=[row(p, x), row(p, x)]), ["f32 [2,m]"], lambda x: numpy.vstack([x[0], x[0]])),
    Case("dstack", lambda p, x: p.call("aten.dstack.default", tensors=[x, x]), ["f32 [n,m,2]"],
         lambda x: numpy.dstack([x, x])),
    Case("column_stack", lambda p, x: p.call("aten.column_stack.default",
         tensors=[column(p, x), x]), ["f32 [n,m + 1]"],
         lambda x: numpy.column_stack([x[:, 0], x])),
    Case("block_diag", lambda p, x: p.call("aten.block_diag.default", tensors=[x, row(p, x)]),
         ["f32 [n + 1,2*m]"], lambda x: numpy.block([[x, 0 * x], [0 * x[:1], x[:1]]])),
    Case("meshgrid", lambda p, x: list(p.call("aten.meshgrid.indexing", 2,
         tensors=[row(p, x), column(p, x)], indexing="ij", listed=True)),
         ["f32 [m,n]", "f32 [m,n]"],
         lambda x: list(numpy.meshgrid(x[0], x[:, 0], indexing="ij"))),
    Case("meshgrid the other way", lambda p, x: list(p.call("aten.meshgrid.indexing", 2,
         tensors=[row(p, x), column(p, x)], indexing="xy", listed=True)),
         ["f32 [n,m]", "f32 [n,m]"], lambda x: list(numpy.meshgrid(x[0], x[:, 0]))),
    Case("cartesian_prod", lambda p, x: p.call("aten.cartesian_prod.default",
         tensors=[row(p, x), column(p, x)]), ["f32 [m*n,2]"],
         lambda x: numpy.stack(numpy.meshgrid(x[0], x[:, 0], indexing="ij"), -1).reshape(-1, 2)),
]  # fmt: skip
CUT = [
    Case("split_with_sizes", lambda p, x: list(p.call("aten.split_with_sizes.default", 2, self=x,
         split_sizes=[1, p.call("_operator.sub", a=size(p, x, 1), b=1, kind=SymInt)], dim=1,
         listed=True)), ["f32 [n,1]", "f32 [n,m - 1]"], lambda x: [x[:, :1], x[:, 1:]]),
    Case("chunk of twice", lambda p, x: list(p.call("aten.chunk.default", 2, chunks=2, dim=1,
         self=p.call("aten.cat.default", tensors=[x, x], dim=1), listed=True)),
         ["f32 [n,m]", "f32 [n,m]"], lambda x: [x, x]),
    Case("tensor_split", cut("tensor_split.indices", 3, indices=[1, 3], dim=1),
         ["f32 [n,min(m,1)]", "f32 [n,max(min(m-1,2),0)]", "f32 [n,max(m-3,0)]"],
         lambda x: numpy.split(x, [1, 3], 1)),
]  # fmt: skip
REPEATED = [
    Case("repeat", call("repeat.default", repeats=[3, 1, 2]), ["f32 [3,n,2*m]"],
         lambda x: numpy.tile(x, (3, 1, 2))),
    Case("repeat as often as a size", lambda p, x: p.call("aten.repeat.default",
         self=row(p, x), repeats=[size(p, x), 1]), ["f32 [n,m]"],
         lambda x: numpy.tile(x[0], (len(x), 1))),
    Case("tile", call("tile.default", dims=[2]), ["f32 [n,2*m]"], lambda x: numpy.tile(x, 2)),
    Case("repeat_interleave", call("repeat_interleave.self_int", repeats=3, dim=1),
         ["f32 [n,3*m]"], lambda x: numpy.repeat(x, 3, 1)),
    Case("repeat_interleave of all", call("repeat_interleave.self_int", repeats=2),
         ["f32 [2*m*n]"], lambda x: numpy.repeat(x, 2)),
    Case("repeat_interleave by counts", lambda p, x: p.call("aten.repeat_interleave.self_Tensor",
         self=x, dim=0, repeats=p.call("aten.arange.default", end=size(p, x))), ["f32 [a,m]"],
         lambda x: numpy.repeat(x, numpy.arange(len(x)), 0)),
]  # fmt: skip
PADDED = [
    Case("pad", call("constant_pad_nd.default", pad=[1, 2, 0, 3], value=2.0),
         ["f32 [n + 3,m + 3]"], lambda x: numpy.pad(x, ((0, 3), (1, 2)), constant_values=2)),
    Case("pad cuts", call("pad.default", pad=[-1, 2]), ["f32 [n,m + 1]"],
         lambda x: numpy.pad(x[:, 1:], ((0, 0), (0, 2)))),
    Case("pad up to a multiple", up_to_8, ["f32 [n,8*m - 8*((7*m)/8)]"],
         lambda x: numpy.pad(x, ((0, 0), (0, -x.shape[1] % 8)))),
    Case("pad reflects", call("pad.default", pad=[1, 1], mode="reflect"), ["f32 [n,m + 2]"],
         lambda x: numpy.pad(x, ((0, 0), (1, 1)), mode="reflect")),
    Case("pad replicates", call("replication_pad1d.default", padding=[1, 2]), ["f32 [n,m + 3]"],
         lambda x: numpy.pad(x, ((0, 0), (1, 2)), mode="edge")),
    Case("pad goes round", call("pad.default", pad=[1, 1], mode="circular"), ["f32 [n,m + 2]"],
         lambda x: numpy.pad(x, ((0, 0), (1, 1)), mode="wrap")),
]  # fmt: skip


@pytest.mark.parametrize("case", JOINED, ids=lambda case: case.name)
def test_joined(case: Case) -> None:
    checked(case)


@pytest.mark.parametrize("case", CUT, ids=lambda case: case.name)
def test_cut(case: Case) -> None:
    checked(case)


@pytest.mark.parametrize("case", REPEATED, ids=lambda case: case.name)
def test_repeated(case: Case) -> None:
    checked(case)


@pytest.mark.parametrize("case", PADDED, ids=lambda case: case.name)
def test_padded(case: Case) -> None:
    checked(case)


@pytest.mark.parametrize(
    ("target", "named", "sizes"),
    [
        ("split.Tensor", {"split_size": 4}, [4, 4, 2]),
        ("chunk.default", {"chunks": 3}, [4, 4, 2]),
        ("chunk.default", {"chunks": 4}, [3, 3, 3, 1]),
        ("tensor_split.sections", {"sections": 4}, [3, 3, 2, 2]),
        ("unbind.int", {}, None),
    ],
)
def test_parts_of_a_known_size(target: str, named: Any, sizes: list[int] | None) -> None:
    p = Exported()
    x = p.input("x", "f32", ["n", 10])
    count = 10 if sizes is None else len(sizes)
    p.output(*p.call(f"aten.{target}", count, self=x, dim=1, listed=True, **named))
    parts = ["f32 [n]"] * 10 if sizes is None else [f"f32 [n,{size}]" for size in sizes]
    assert types(p) == parts
    x_ = numpy.arange(20, dtype="f4").reshape(2, 10)
    found = run(p, x_)
    assert (numpy.hstack([each.reshape(2, -1) for each in found]) == x_).all()


def test_as_many_parts_as_the_program_has() -> None:
    p = Exported()
    x = p.input("x", "f32", ["n"])
    p.output(*p.call("aten.split.Tensor", 2, self=x, split_size=4, listed=True))
    assert types(p) == ["f32 [4]", "f32 [n - 4]"]
    assert [len(each) for each in run(p, numpy.zeros(7, "f4"))] == [4, 3]
    with pytest.raises(ArgumentError):
        run(p, numpy.zeros(9, "f4"))


def test_what_does_not_fit_is_not_joined() -> None:
    p = Exported()
    x, y = p.input("x", "f32", [2, 3]), p.input("y", "f32", [3, 3])
    p.output(p.call("aten.cat.default", tensors=[x, y], dim=1))
    assert infer(p).diagnostics
