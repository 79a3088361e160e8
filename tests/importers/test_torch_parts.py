"""Parts of tensors of PyTorch programs: by position, by numbers, by truth, and put back."""

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


def call(target: str, **named: Any) -> Any:
    """A case's operator on its tensor."""
    return lambda p, x: p.call(f"aten.{target}", self=x, **named)


def const(p: Exported, values: Any, name: str = "c") -> Tensor:
    return p.weight(name, numpy.asarray(values), "tensor_constant")


def size(p: Exported, x: Tensor, axis: int) -> SymInt:
    found: SymInt = p.call("aten.sym_size.int", self=x, dim=axis, kind=SymInt)
    return found


def half(p: Exported, x: Tensor) -> SymInt:
    """Half of the second size."""
    found: SymInt = p.call("_operator.floordiv", a=size(p, x, 1), b=2, kind=SymInt)
    return found


def by_itself(p: Exported, x: Tensor) -> SymInt:
    """The square of the second size, divided by that size."""
    n = size(p, x, 1)
    square: SymInt = p.call("_operator.pow", a=n, b=2, kind=SymInt)
    found: SymInt = p.call("_operator.floordiv", a=square, b=n, kind=SymInt)
    return found


def less(p: Exported, x: Tensor, by: int) -> SymInt:
    """The first size less a number."""
    found: SymInt = p.call("_operator.sub", a=size(p, x, 0), b=by, kind=SymInt)
    return found


END = (1 << 63) - 1
POSITION = [
    Case("slice", call("slice.Tensor", dim=1, start=1, end=3), ["f32 [n,max(min(m-1,2),0)]"],
         lambda x: x[:, 1:3]),
    Case("slice to the end", call("slice.Tensor", dim=0, start=1, end=END), ["f32 [max(n-1,0),m]"],
         lambda x: x[1:]),
    Case("slice from the end", call("slice.Tensor", dim=0, start=-2), ["f32 [min(n,2),m]"],
         lambda x: x[-2:]),
    Case("slice up to the last", call("slice.Tensor", dim=1, end=-1), ["f32 [n,max(m-1,0)]"],
         lambda x: x[:, :-1]),
    Case("slice by steps", call("slice.Tensor", dim=1, start=1, end=END, step=2),
         ["f32 [n,max(m,1)/2]"], lambda x: x[:, 1::2]),
    Case("slice up to a size",
         lambda p, x: p.call("aten.slice.Tensor", self=x, dim=1, start=0, end=half(p, x)),
         ["f32 [n,m/2]"], lambda x: x[:, : x.shape[1] // 2]),
    Case("slice from a size", lambda p, x: p.call("aten.slice.Tensor", self=x, dim=1,
         start=half(p, x), end=END), ["f32 [n,m - m/2]"], lambda x: x[:, x.shape[1] // 2 :]),
    Case("select", call("select.int", dim=1, index=-1), ["f32 [n]"], lambda x: x[:, -1]),
    Case("select by a size",
         lambda p, x: p.call("aten.select.int", self=x, dim=0, index=less(p, x, 1)),
         ["f32 [m]"], lambda x: x[-1]),
    Case("narrow", call("narrow.default", dim=1, start=1, length=2), ["f32 [n,2]"],
         lambda x: x[:, 1:3]),
    Case("narrow to a size",
         lambda p, x: p.call("aten.narrow.default", self=x, dim=1, start=0, length=half(p, x)),
         ["f32 [n,m/2]"], lambda x: x[:, : x.shape[1] // 2]),
    Case("narrow to a power of a size",
         lambda p, x: p.call("aten.narrow.default", self=x, dim=1, start=0, length=by_itself(p, x)),
         ["f32 [n,m]"], lambda x: x),
    Case("unfold", call("unfold.default", dimension=1, size=2, step=1), ["f32 [n,m - 1,2]"],
         lambda x: numpy.stack([x[:, :-1], x[:, 1:]], -1)),
    Case("flip", call("flip.default", dims=[0, 1]), ["f32 [n,m]"], lambda x: x[::-1, ::-1]),
    Case("roll", call("roll.default", shifts=[1, -2], dims=[0, 1]), ["f32 [n,m]"],
         lambda x: numpy.roll(x, (1, -2), (0, 1))),
    Case("roll all", call("roll.default", shifts=[2]), ["f32 [n,m]"], lambda x: numpy.roll(x, 2)),
    Case("roll by a size", lambda p, x: p.call("aten.roll.default", self=x,
         shifts=[half(p, x)], dims=[1]), ["f32 [n,m]"],
         lambda x: numpy.roll(x, x.shape[1] // 2, 1)),
    Case("rot90", call("rot90.default"), ["f32 [m,n]"], numpy.rot90),
    Case("rot90 back", call("rot90.default", k=3), ["f32 [m,n]"], lambda x: numpy.rot90(x, 3)),
    Case("tril", call("tril.default", diagonal=-1), ["f32 [n,m]"], lambda x: numpy.tril(x, -1)),
    Case("triu by a size", lambda p, x: p.call("aten.triu.default", self=x,
         diagonal=less(p, x, 2)), ["f32 [n,m]"], lambda x: numpy.triu(x, len(x) - 2)),
    Case("diagonal", call("diagonal.default"), ["f32 [min(n,m)]"], numpy.diagonal),
    Case("diagonal above", call("diagonal.default", offset=1), ["f32 [max(min(n,m-1),0)]"],
         lambda x: numpy.diagonal(x, 1)),
    Case("diagonal below", call("diagonal.default", offset=-1), ["f32 [max(min(m,n-1),0)]"],
         lambda x: numpy.diagonal(x, -1)),
    Case("diag_embed", call("diag_embed.default", offset=1), ["f32 [n,m + 1,m + 1]"],
         lambda x: numpy.stack([numpy.diag(row, 1) for row in x])),
    Case("trace", call("trace.default"), ["f32 []"], lambda x: numpy.trace(x)),
]  # fmt: skip


def numbered(target: str, index: Any, **named: Any) -> Any:
    """A case's operator with numbers as `index`."""
    return lambda p, x: p.call(f"aten.{target}", self=x, index=const(p, index), **named)


def indexed(*indices: Any) -> Any:
    def build(p: Exported, x: Tensor) -> Any:
        given = [
            None if each is None else const(p, each, f"c{i}") for i, each in enumerate(indices)
        ]
        return p.call("aten.index.Tensor", self=x, indices=given)

    return build


def put(indices: list[Any], values: Any, **named: Any) -> Any:
    def build(p: Exported, x: Tensor) -> Any:
        given = [
            None if each is None else const(p, each, f"c{i}") for i, each in enumerate(indices)
        ]
        new = const(p, numpy.asarray(values, "f4"), "new")
        return p.call("aten.index_put.default", self=x, indices=given, values=new, **named)

    return build


def after(change: Any) -> Any:
    """What a copy of an array is after a change."""

    def values(x: Any) -> Any:
        made = x.copy()
        change(made)
        return made

    return values


def set_rows(x: Any) -> None:
    x[[0, 1], [1, 1]] = [5, 6]


def add_rows(x: Any) -> None:
    numpy.add.at(x, [0, 0], numpy.asarray([[1], [2]], "f4"))


def set_columns(x: Any) -> None:
    x[:, [1, 0]] = [5, 6]


def set_row(x: Any) -> None:
    x[[1, 0]] = x[:2] * 2


def fill_row(x: Any) -> None:
    x[[1]] = 3


def scatter_rows(x: Any) -> None:
    x[[0, 1], [0, 1]] = 7


NUMBERS = [
    Case("index", indexed([0, 1, 1]), ["f32 [3,m]"], lambda x: x[[0, 1, 1]]),
    Case("index behind an axis", indexed(None, [0, -1]), ["f32 [n,2]"], lambda x: x[:, [0, -1]]),
    Case("index by two", indexed([0, 1], [1, 0]), ["f32 [2]"], lambda x: x[[0, 1], [1, 0]]),
    Case("indices broadcast", indexed([[0], [1]], [1, 0, -1]), ["f32 [2,3]"],
         lambda x: x[[[0], [1]], [1, 0, -1]]),
    Case("index_select", numbered("index_select.default", [2, 0], dim=1), ["f32 [n,2]"],
         lambda x: x[:, [2, 0]]),
    Case("take", numbered("take.default", [[0, 3], [5, 1]]), ["f32 [2,2]"],
         lambda x: x.ravel()[[[0, 3], [5, 1]]]),
    Case("gather", numbered("gather.default", [[0, 2, 1], [1, 1, 0]], dim=1), ["f32 [2,3]"],
         lambda x: numpy.take_along_axis(x[:2], numpy.asarray([[0, 2, 1], [1, 1, 0]]), 1)),
    Case("embedding", lambda p, x: p.call("aten.embedding.default", weight=x,
         indices=const(p, [[1, 0]])), ["f32 [1,2,m]"], lambda x: x[[[1, 0]]]),
    Case("index_put", put([[0, 1], [1, 1]], [5, 6]), ["f32 [n,m]"], after(set_rows)),
    Case("index_put adds", put([[0, 0]], [[1], [2]], accumulate=True), ["f32 [n,m]"],
         after(add_rows)),
    Case("index_put behind an axis", put([None, [1, 0]], [5, 6]), ["f32 [n,m]"],
         after(set_columns)),
    Case("index_copy", lambda p, x: p.call("aten.index_copy.default", self=x, dim=0,
         index=const(p, [1, 0]), source=p.call("aten.mul.Tensor", self=p.call("aten.slice.Tensor",
         self=x, dim=0, start=0, end=2), other=2)), ["f32 [n,m]"], after(set_row)),
    Case("index_fill", numbered("index_fill.int_Scalar", [1], dim=0, value=3), ["f32 [n,m]"],
         after(fill_row)),
    Case("scatter", numbered("scatter.value", [[0], [1]], dim=1, value=7.0), ["f32 [n,m]"],
         after(scatter_rows)),
    Case("scatter_add", lambda p, x: p.call("aten.scatter_add.default", self=x, dim=0,
         index=const(p, [[1, 1], [1, 1]]), src=x), ["f32 [n,m]"],
         after(lambda x: x.__setitem__((1, slice(2)), x[1, :2] + x[:2, :2].sum(0)))),
    Case("slice_scatter", lambda p, x: p.call("aten.slice_scatter.default", self=x, dim=1, start=1,
         end=END, step=2, src=p.call("aten.neg.default", self=p.call("aten.slice.Tensor", self=x,
         dim=1, start=1, end=END, step=2))), ["f32 [n,m]"],
         after(lambda x: x.__setitem__((slice(None), slice(1, None, 2)), -x[:, 1::2]))),
    Case("select_scatter", lambda p, x: p.call("aten.select_scatter.default", self=x, dim=1,
         index=-1, src=p.call("aten.select.int", self=x, dim=1, index=0)), ["f32 [n,m]"],
         after(lambda x: x.__setitem__((slice(None), -1), x[:, 0]))),
    Case("diagonal_scatter", lambda p, x: p.call("aten.diagonal_scatter.default", self=x, offset=1,
         src=p.call("aten.neg.default", self=p.call("aten.diagonal.default", self=x, offset=1))),
         ["f32 [n,m]"], lambda x: x - 2 * (numpy.triu(x, 1) - numpy.triu(x, 2))),
]  # fmt: skip


def where_positive(p: Exported, x: Tensor) -> Tensor:
    found: Tensor = p.call("aten.gt.Scalar", self=x, other=0)
    return found


TRUTH = [
    Case("masked_fill", lambda p, x: p.call("aten.masked_fill.Scalar", self=x,
         mask=where_positive(p, x), value=5.0), ["f32 [n,m]"], lambda x: numpy.where(x > 0, 5, x)),
    Case("masked_select", lambda p, x: p.call("aten.masked_select.default", self=x,
         mask=where_positive(p, x)), ["f32 [a]"], lambda x: x[x > 0]),
    Case("index by a mask", lambda p, x: p.call("aten.index.Tensor", self=x,
         indices=[where_positive(p, x)]), ["f32 [a]"], lambda x: x[x > 0]),
    Case("index by a mask behind an axis", lambda p, x: p.call("aten.index.Tensor", self=x,
         indices=[None, where_positive(p, p.call("aten.select.int", self=x, dim=0, index=0))]),
         ["f32 [n,a]"], lambda x: x[:, x[0] > 0]),
    Case("masked_scatter", lambda p, x: p.call("aten.masked_scatter.default", self=x,
         mask=where_positive(p, x), source=p.call("aten.neg.default", self=x)), ["f32 [n,m]"],
         after(lambda x: numpy.place(x, x > 0, -x.ravel()))),
    Case("index_put by a mask", lambda p, x: p.call("aten.index_put.default", self=x,
         indices=[where_positive(p, x)], values=const(p, numpy.float32(7))), ["f32 [n,m]"],
         lambda x: numpy.where(x > 0, 7, x)),
    Case("nonzero", call("nonzero.default"), ["i64 [a,2]"],
         lambda x: numpy.stack(x.nonzero(), 1)),
    Case("one_hot", lambda p, x: p.call("aten.one_hot.default", self=p.call("aten.to.dtype",
         self=where_positive(p, x), dtype=Elem("i64")), num_classes=3), ["i64 [n,m,3]"],
         lambda x: numpy.eye(3, dtype="i8")[(x > 0).astype("i8")]),
    Case("where", lambda p, x: p.call("aten.where.self", condition=where_positive(p, x), self=x,
         other=const(p, numpy.float32(2))), ["f32 [n,m]"], lambda x: numpy.where(x > 0, x, 2)),
]  # fmt: skip


@pytest.mark.parametrize("case", POSITION, ids=lambda case: case.name)
def test_by_position(case: Case) -> None:
    checked(case)


@pytest.mark.parametrize("case", NUMBERS, ids=lambda case: case.name)
def test_by_numbers(case: Case) -> None:
    checked(case)


@pytest.mark.parametrize("case", TRUTH, ids=lambda case: case.name)
def test_by_truth(case: Case) -> None:
    checked(case)


def test_numbers_apart_come_first() -> None:
    p = Exported()
    x = p.input("x", "f32", ["n", 4, "m"])
    given = [const(p, [0, 1], "a"), None, const(p, [1, 0], "b")]
    p.output(p.call("aten.index.Tensor", self=x, indices=given))
    assert types(p) == ["f32 [2,4]"]
    x_ = numpy.arange(40, dtype="f4").reshape(2, 4, 5)
    assert (run(p, x_)[0] == x_[[0, 1], :, [1, 0]]).all()


def test_values_are_put_where_they_are_taken() -> None:
    p = Exported()
    x = p.input("x", "f32", ["n", 4, "m"])
    given = [None, const(p, [[0], [1]], "a"), const(p, [1, 0], "b")]
    new = p.call("aten.neg.default", self=p.call("aten.index.Tensor", self=x, indices=given))
    p.output(p.call("aten.index_put.default", self=x, indices=given, values=new))
    assert types(p) == ["f32 [n,4,m]"]
    x_ = numpy.arange(40, dtype="f4").reshape(2, 4, 5)
    expected = x_.copy()
    expected[:, [[0], [1]], [1, 0]] *= -1
    assert (run(p, x_)[0] == expected).all()


def test_a_window_must_fit() -> None:
    p = Exported()
    x = p.input("x", "f32", [2, 3])
    p.output(p.call("aten.unfold.default", self=x, dimension=1, size=4, step=1))
    assert "does not fit" in infer(p).diagnostics[0].message


def test_different_elements() -> None:
    p = Exported()
    x = p.input("x", "f32", ["n", "m"])
    found = p.call("aten._unique2.default", 3, self=x, return_inverse=True, return_counts=True)
    p.output(*found)
    assert types(p) == ["f32 [a]", "i64 [n,m]", "i64 [a]"]
    x_ = numpy.asarray([[3, 1], [1, 2]], "f4")
    values, inverse, counts = run(p, x_)
    assert values.tolist() == [1, 2, 3] and counts.tolist() == [2, 1, 1]
    assert inverse.tolist() == [[2, 0], [0, 1]]


def test_runs_of_equal_elements() -> None:
    p = Exported()
    x = p.input("x", "f32", ["n"])
    made = p.call("aten.unique_consecutive.default", 3, self=x, return_inverse=True,
                  return_counts=True)  # fmt: skip
    p.output(*made)
    assert types(p) == ["f32 [a]", "i64 [n]", "i64 [a]"]
    values, inverse, counts = run(p, numpy.asarray([1, 1, 2, 1], "f4"))
    assert values.tolist() == [1, 2, 1] and counts.tolist() == [2, 1, 1]
    assert inverse.tolist() == [0, 0, 1, 2]


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("how", ["sum", "prod", "mean", "amax", "amin"])
def test_what_comes_to_one_place_is_combined(how: str, own: bool) -> None:
    p = Exported()
    x, new = p.input("x", "f32", ["n"]), p.input("new", "f32", ["m"])
    index = p.input("index", "i64", ["m"])
    made = p.call("aten.scatter_reduce.two", self=x, dim=0, index=index, src=new, reduce=how,
                  include_self=own)  # fmt: skip
    p.output(made)
    assert types(p) == ["f32 [n]"]
    x_, new_ = numpy.asarray([5, 7, 9], "f4"), numpy.asarray([1, 2, 3], "f4")
    of: Any = {"sum": numpy.sum, "prod": numpy.prod, "mean": numpy.mean, "amax": max, "amin": min}[
        how
    ]
    first, second = ([5.0], [7.0]) if own else ([], [])
    expected = [of([*first, 1, 3]), of([*second, 2]), 9]
    found = run(p, x_, new_, numpy.asarray([0, 1, 0]))[0]
    numpy.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize(("mode", "of"), [(0, numpy.sum), (1, numpy.mean)])
def test_bags_of_rows(mode: int, of: Any) -> None:
    p = Exported()
    table = p.input("table", "f32", ["v", 3])
    p.output(
        p.call("aten.embedding_bag.default", 4, weight=table, indices=const(p, [1, 0, 2, 2]),
               offsets=const(p, [0, 1, 1], "offsets"), mode=mode)[0]
    )  # fmt: skip
    assert types(p) == ["f32 [3,3]"]
    table_ = numpy.arange(12, dtype="f4").reshape(4, 3)
    found = run(p, table_)[0]
    assert (found == [table_[1], [0, 0, 0], of(table_[[0, 2, 2]], 0)]).all()


def test_as_many_classes_as_there_are() -> None:
    p = Exported()
    p.output(p.call("aten.one_hot.default", self=p.input("x", "i64", ["n"])))
    assert types(p) == ["i64 [n,a + 1]"]
    assert (run(p, numpy.asarray([1, 0, 2]))[0] == numpy.eye(3)[[1, 0, 2]]).all()


def test_what_was_not_asked_for_is_empty() -> None:
    p = Exported()
    p.output(*p.call("aten._unique2.default", 3, self=p.input("x", "f32", ["n"])))
    assert types(p) == ["f32 [a]", "i64 [0]", "i64 [0]"]
