"""Operations that work in place: what shares memory with what they change is changed too."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from axon.importers.torch.archive import open_archive
from axon.importers.torch.read import model_of
from tests.importers.torch_archives import Exported, SymInt, Tensor, infer, run, types

X = numpy.arange(24, dtype="f4").reshape(4, 6) - 7


def program() -> tuple[Exported, Tensor]:
    """A program, and a tensor of its own that has the values of the input."""
    p = Exported()
    return p, p.call("aten.clone.default", self=p.input("x", "f32", [4, 6]))


def aten(p: Exported, target: str, x: Tensor, **named: Any) -> Tensor:
    found: Tensor = p.call(f"aten.{target}", self=x, **named)
    return found


def plus_10(p: Exported, x: Tensor) -> Tensor:
    return aten(p, "add_.Tensor", x, other=10)


def result(p: Exported, *values: Tensor) -> list[Any]:
    p.output(*values)
    return run(p, X)


def test_a_tensor_is_what_was_made_of_it_last() -> None:
    p, y = program()
    plus_10(p, y)
    aten(p, "mul_.Tensor", y, other=2)
    assert (result(p, y)[0] == (X + 10) * 2).all()


def test_what_was_computed_before_stays() -> None:
    p, y = program()
    before = aten(p, "mul.Tensor", y, other=2)
    plus_10(p, y)
    assert (result(p, before)[0] == X * 2).all()


VIEWS: list[tuple[str, dict[str, Any], Any]] = [
    ("slice.Tensor", {"dim": 1, "start": 1, "end": 3}, lambda x: x[:, 1:3]),
    ("slice.Tensor", {"dim": 0, "start": 0, "end": 4, "step": 2}, lambda x: x[::2]),
    ("slice.Tensor", {"dim": 0, "start": -2}, lambda x: x[-2:]),
    ("select.int", {"dim": 1, "index": 2}, lambda x: x[:, 2]),
    ("narrow.default", {"dim": 1, "start": 2, "length": 3}, lambda x: x[:, 2:5]),
    ("view.default", {"size": [2, 12]}, lambda x: x.reshape(2, 12)),
    ("reshape.default", {"shape": [-1]}, lambda x: x.reshape(-1)),
    ("flatten.using_ints", {}, lambda x: x.reshape(-1)),
    ("transpose.int", {"dim0": 0, "dim1": 1}, lambda x: x.T),
    ("permute.default", {"dims": [1, 0]}, lambda x: x.T),
    ("t.default", {}, lambda x: x.T),
    ("movedim.int", {"source": 0, "destination": 1}, lambda x: x.T),
    ("unsqueeze.default", {"dim": 0}, lambda x: x[None]),
    ("detach.default", {}, lambda x: x),
    ("alias.default", {}, lambda x: x),
    ("diagonal.default", {"offset": 1}, lambda x: x.diagonal(1)),
]


@pytest.mark.parametrize(("target", "named", "view"), VIEWS)
def test_a_view_writes_to_what_it_is_of(target: str, named: Any, view: Any) -> None:
    p, y = program()
    v = aten(p, target, y, **named)
    plus_10(p, v)
    expected = X.copy()
    taken = view(expected)
    taken.flags.writeable = True
    taken += 10
    found = result(p, y, v)
    assert (found[0] == expected).all() and (found[1] == taken).all()


@pytest.mark.parametrize(("target", "named", "view"), VIEWS)
def test_a_view_sees_what_is_written(target: str, named: Any, view: Any) -> None:
    p, y = program()
    v = aten(p, target, y, **named)
    plus_10(p, y)
    twice = aten(p, "mul.Tensor", v, other=2)
    assert (result(p, twice)[0] == view(X + 10) * 2).all()


def test_views_of_views() -> None:
    p, y = program()
    rows = aten(p, "slice.Tensor", y, dim=0, start=1)
    turned = aten(p, "transpose.int", rows, dim0=0, dim1=1)
    aten(p, "fill_.Scalar", aten(p, "select.int", turned, dim=0, index=0), value=3.0)
    plus_10(p, rows)
    expected = X.copy()
    expected[1:, 0] = 3
    expected[1:] += 10
    found = result(p, y, turned)
    assert (found[0] == expected).all() and (found[1] == expected[1:].T).all()


def test_parts_are_views() -> None:
    p, y = program()
    a, b = p.call("aten.chunk.default", 2, self=y, chunks=2, dim=1, listed=True)
    aten(p, "fill_.Scalar", a, value=1.0)
    aten(p, "copy_.default", b, src=aten(p, "mul.Tensor", a, other=3))
    expected = X.copy()
    expected[:, :3], expected[:, 3:] = 1, 3
    assert (result(p, y)[0] == expected).all()


def test_rows_are_views() -> None:
    p, y = program()
    rows = p.call("aten.unbind.int", 4, self=y, listed=True)
    aten(p, "zero_.default", rows[1])
    expected = X.copy()
    expected[1] = 0
    assert (result(p, y)[0] == expected).all()


def test_a_copy_is_no_view() -> None:
    p, y = program()
    turned = aten(p, "permute.default", y, dims=[1, 0])
    flat = aten(p, "reshape.default", turned, shape=[-1])  # its elements are in another order
    plus_10(p, flat)
    assert (result(p, y)[0] == X).all()


def test_a_shape_can_change_in_place() -> None:
    p, y = program()
    aten(p, "t_.default", y)
    aten(p, "unsqueeze_.default", y, dim=0)
    plus_10(p, y)
    p.output(aten(p, "neg.default", y))
    assert types(p) == ["f32 [1,6,4]"]
    assert (run(p, X)[0] == -(X.T[None] + 10)).all()


def test_the_element_type_stays() -> None:
    p = Exported()
    y = p.call("aten.zeros.default", size=[2], dtype=None)
    n = p.call("aten.to.dtype", self=y, dtype=None)
    p.output(aten(p, "add_.Tensor", n, other=1))
    assert types(p) == ["f32 [2]"]


def test_sizes_follow_from_what_was_written() -> None:
    p = Exported()
    n = p.call("aten.full.default", size=[2], fill_value=1)
    aten(p, "fill_.Scalar", aten(p, "select.int", n, dim=0, index=0), value=3)
    first = p.call("aten.item.default", self=aten(p, "select.int", n, dim=0, index=0), kind=SymInt)
    p.output(p.call("aten.zeros.default", size=[first]))
    found = infer(p).tensors[p.graph["nodes"][-1]["name"]].shape
    assert found != (1,)


def test_a_buffer_that_changes_is_a_result() -> None:
    p = Exported()
    x = p.input("x", "f32", ["n", 2])
    total = p.weight("total", numpy.zeros(2, "f4"), "buffer")
    aten(p, "add_.Tensor", total, other=aten(p, "sum.dim_IntList", x, dim=[0]))
    p.output(aten(p, "mul.Tensor", x, other=total))
    x_ = numpy.asarray([[1, 2], [3, 4]], "f4")
    after, product = run(p, x_)
    assert after.tolist() == [4, 6] and (product == x_ * [4, 6]).all()


def test_a_buffer_that_the_signature_changes_is_a_result() -> None:
    p = Exported()
    x = p.input("x", "f32", [2])
    total = p.weight("total", numpy.ones(2, "f4"), "buffer")
    p.mutates("total", p.call("aten.add.Tensor", self=total, other=x))
    p.output(p.call("aten.mul.Tensor", self=x, other=2))
    after, twice = run(p, numpy.asarray([1, 2], "f4"))
    assert after.tolist() == [2, 3] and twice.tolist() == [2, 4]


def test_an_input_that_changes_is_a_result() -> None:
    p = Exported()
    x = p.input("x", "f32", [2])
    plus_10(p, x)
    p.output(aten(p, "mul.Tensor", x, other=2))
    after, twice = run(p, numpy.asarray([1, 2], "f4"))
    assert after.tolist() == [11, 12] and twice.tolist() == [22, 24]


def test_what_cannot_be_followed_is_not_said() -> None:
    p, y = program()
    plus_10(p, aten(p, "as_strided.default", y, size=[2, 2], stride=[2, 1]))
    last = aten(p, "mul.Tensor", y, other=2)
    p.output(last)
    assert types(p) == ["f32 [4,6]"]
    names = [each.operator for each in model_of(open_archive(p.archive(), "m")).graph.operations]
    assert "overwritten" in names


def test_nothing_is_added_that_is_not_needed() -> None:
    p, y = program()
    p.output(plus_10(p, aten(p, "view.default", y, size=[24])))
    graph = model_of(open_archive(p.archive(), "m")).graph
    assert [each.operator for each in graph.operations] == ["clone", "view", "add_"]


def test_tensors_that_were_added_are_not_reported() -> None:
    p, y = program()
    plus_10(p, aten(p, "select.int", y, dim=0, index=0))
    p.output(aten(p, "mul.Tensor", y, other=2))
    assert not [name for name in infer(p).tensors if "⟨" in name]


def test_a_view_that_hangs_on_itself_ends() -> None:
    p, y = program()
    v = aten(p, "view_as.default", y, other=Tensor("again"))
    p.graph["nodes"][-1]["outputs"] = [{"as_tensor": {"name": "again"}}]
    plus_10(p, y)
    p.output(aten(p, "neg.default", Tensor("again")))
    assert "x" in infer(p).tensors and v
