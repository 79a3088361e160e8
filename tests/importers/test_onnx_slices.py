"""What is cut and put together again has the size that it had, and sizes that are numbers."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import axon
from axon.types import dim as dims
from axon.types.variables import DimVar
from tests.importers.onnx_models import (
    INT64,
    import_model,
    infer_model,
    ints,
    model,
    node,
    scalar,
    value,
)

X = numpy.arange(30, dtype="f4").reshape(2, 15)
CUT = {"zero": ints(0), "one": ints(1), "two": ints(2), "most": ints(1 << 40)}


def shape(made: Any, name: str = "y") -> Any:
    report = infer_model(made, "m")
    assert report.ok
    return report.tensors[name].shape


# --- cut and put together --------------------------------------------------------------------


@pytest.mark.parametrize("by", ["one", "two"])
def test_a_roll_keeps_the_size(by: str) -> None:
    nodes = [
        node("Slice", f"x {by} most one", "a"),
        node("Slice", f"x zero {by} one", "b"),
        node("Concat", "a b", "c", axis=1),
        node("Add", "c x", "y"),
    ]
    made = model(nodes, {"x": ["b", "n"]}, {"y": None}, CUT)
    assert shape(made, "c") == shape(made) == ("b", "n")
    rolled = numpy.roll(X, -int(CUT[by][0]), axis=1)
    assert numpy.array_equal(axon.from_onnx(made).model(X), rolled + X)


def test_a_roll_by_a_remainder_keeps_the_size() -> None:
    """Exporters take the shift modulo the size."""
    nodes = [
        node("Shape", "x", "s", start=1),
        node("Mod", "two s", "by"),
        node("Slice", "x by s one", "a"),
        node("Slice", "x zero by one", "b"),
        node("Concat", "a b", "y", axis=1),
    ]
    made = model(nodes, {"x": ["b", "n"]}, {"y": None}, CUT)
    assert shape(made) == ("b", "n")
    assert "n >= 1" in infer_model(made, "m").guards
    assert numpy.array_equal(axon.from_onnx(made).model(X), numpy.roll(X, -2, axis=1))


def test_differences_have_the_size_of_what_they_are_of() -> None:
    """One element is put in front, and neighbours are compared."""
    nodes = [
        node("Slice", "x zero one one", "first"),
        node("Concat", "first x", "c", axis=1),
        node("Slice", "c zero last one", "a"),
        node("Slice", "c one most one", "b"),
        node("Sub", "b a", "y"),
    ]
    made = model(nodes, {"x": ["b", "n"]}, {"y": None}, {**CUT, "last": ints(-1)})
    assert shape(made) == ("b", "n")
    assert axon.from_onnx(made).model(X).shape == (2, 15)


# --- the laws behind it ----------------------------------------------------------------------

N, M = DimVar("n", 1), DimVar("m", 1)


def test_a_remainder_is_between_zero_and_the_size() -> None:
    rest = dims.mod(M, N)
    assert dims.is_nonnegative(rest)
    assert dims.is_nonnegative(dims.sub(dims.sub(N, 1), rest))
    assert not dims.is_nonnegative(dims.sub(rest, 1))
    assert not dims.is_nonnegative(dims.sub(dims.sub(N, 2), rest))


def test_rounded_up_to_a_multiple_is_no_less() -> None:
    half = dims.floordiv(dims.add(N, 1), 2)
    whole = dims.scale(4, dims.floordiv(dims.add(half, 3), 4))
    assert dims.is_nonnegative(dims.sub(whole, half))
    assert dims.is_nonnegative(dims.sub(dims.add(half, 3), whole))
    assert not dims.is_nonnegative(dims.sub(dims.add(half, 2), whole))


def test_the_smaller_and_the_larger_are_both() -> None:
    low, high = dims.minimum(N, M), dims.maximum(N, M)
    both = dims.add(dims.scale(2, low), dims.scale(3, high))
    assert dims.added_up(both) == dims.add(high, dims.scale(2, dims.add(N, M)))
    assert dims.added_up(dims.sub(high, low)) == dims.sub(high, low)
    assert dims.added_up(5) == 5


def test_an_extremum_that_is_one_of_the_inner() -> None:
    inner = dims.minimum(N, dims.sub(dims.scale(2, N), 1))
    assert dims.maximum(inner, 0) == N
    assert dims.maximum(dims.minimum(N, dims.sub(dims.scale(2, N), 2)), 0) != N  # 1 would be 0
    inner = dims.maximum(dims.scale(-1, N), dims.sub(1, dims.scale(2, N)))
    assert dims.minimum(inner, 0) == dims.scale(-1, N)


# --- numbers ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "number", "size"),
    [("Sqrt", 16, 4), ("Sqrt", 17, 4), ("Floor", 2.5, 2), ("Ceil", 2.5, 3), ("Sqrt", -1, None)],
)
def test_functions_of_numbers(op: str, number: float, size: int | None) -> None:
    nodes = [
        node(op, "w", "f"),
        node("Cast", "f", "i", to=INT64),
        node("ConstantOfShape", "i", "y"),
    ]
    made = model(nodes, {"x": []}, {"y": None}, {"w": numpy.array([number], "f4")})
    (found,) = shape(made)
    assert found == size if size is not None else isinstance(found, str)


@pytest.mark.parametrize(
    ("base", "power", "size"),
    [(16, 0.5, 4), (17, 0.5, None), (1.5, 2, 2), (3, 3, 27), (1e30, 2, None), (2, -1, None)],
)
def test_powers_that_are_exact(base: float, power: float, size: int | None) -> None:
    nodes = [
        node("Pow", "w p", "f"),
        node("Cast", "f", "i", to=INT64),
        node("ConstantOfShape", "i", "y"),
    ]
    weights = {"w": numpy.array([base], "f4"), "p": numpy.array([power], "f4")}
    (found,) = shape(model(nodes, {"x": []}, {"y": None}, weights))
    assert found == size if size is not None else isinstance(found, str)


@pytest.mark.parametrize(("at", "sizes"), [(1, (2, 15)), (0, (6, 5)), (-2, (6, 5)), (7, (2, 5))])
def test_repeats_by_a_one_hot(at: int, sizes: tuple[int, ...]) -> None:
    """Ones but for one place: how many times to repeat along one dimension."""
    nodes = [node("OneHot", "at depth values", "hot"), node("Tile", "x repeats", "y")]
    nodes.insert(1, node("Reshape", "hot flat", "repeats"))
    weights = {"at": ints(at), "depth": scalar(2), "values": ints(1, 3), "flat": ints(-1)}
    made = model(nodes, [value("x", [2, 5])], {"y": None}, weights)
    assert shape(made) == sizes


# --- from the end ----------------------------------------------------------------------------


def last(start: str, size: str, inputs: Any) -> Any:
    """The last columns: as many as a size says."""
    nodes = [
        node("Shape", size, "s", start=1),
        node("Add", f"s {start}", "more"),
        node("Neg", "more", "from"),
        node("Slice", "x from most one", "y"),
    ]
    return model(nodes, inputs, {"y": None}, CUT)


@pytest.mark.parametrize("size", [0, 1, 15])
def test_all_columns_counted_from_the_end(size: int) -> None:
    made = last("zero", "x", {"x": ["b", "n"]})
    assert shape(made) == ("b", "n")
    x = X[:, :size]
    assert numpy.array_equal(axon.from_onnx(made).model(x), x)


@pytest.mark.parametrize("size", [0, 1, 9])
def test_some_columns_counted_from_the_end(size: int) -> None:
    made = last("one", "z", {"x": ["b", "n"], "z": ["b", "k"]})
    assert shape(made) == ("b", "min(k+1,n)")
    found = axon.from_onnx(made).model(X, X[:, :size])
    assert numpy.array_equal(found, X[:, -(size + 1) :])


@pytest.mark.parametrize("size", [0, 1, 9, 15])
def test_none_counted_from_the_end_is_all(size: int) -> None:
    """-0 is where the front is."""
    made = last("zero", "z", {"x": ["b", "n"], "z": ["b", "k"]})
    imported = import_model(made, "m")
    shapes: Any = [imported.type(name).shape for name in "xzy"]  # type: ignore[union-attr]
    (_, n), (_, k), (_, columns) = shapes
    truth = X[:, -size:]
    assert dims.evaluate(columns, {n: 15, k: size}) == truth.shape[1]
    assert numpy.array_equal(axon.from_onnx(made).model(X, X[:, :size]), truth)


@pytest.mark.parametrize("size", [0, 1, 2, 15])
def test_all_but_the_last(size: int) -> None:
    """Of nothing that is -1, which is where nothing ends, too."""
    nodes = [
        node("Shape", "x", "s", start=1),
        node("Sub", "s one", "less"),
        node("Slice", "x zero less one", "a"),
        node("Slice", "x less most one", "b"),
        node("Concat", "b a", "y", axis=1),
    ]
    made = model(nodes, {"x": ["b", "n"]}, {"y": None}, CUT)
    assert shape(made, "a") == ("b", "max(n-1,0)")
    assert shape(made, "b") == ("b", "min(n,1)")
    x = X[:, :size]
    assert numpy.array_equal(axon.from_onnx(made).model(x), numpy.roll(x, 1, axis=1))


def test_a_bound_that_is_not_understood_leaves_the_other_axes() -> None:
    nodes = [
        node("Shape", "x", "s", start=1),
        node("Sub", "two s", "from"),
        node("Concat", "one from", "starts", axis=0),
        node("Concat", "two most", "ends", axis=0),
        node("Slice", "x starts ends axes", "y"),
    ]
    made = model(nodes, {"x": [2, "n"]}, {"y": None}, {**CUT, "axes": ints(0, 1)})
    rows, columns = shape(made)
    assert rows == 1 and columns not in (2, "n")
    for size in (1, 3, 15):
        x = X[:, :size]
        assert numpy.array_equal(axon.from_onnx(made).model(x), x[1:2, 2 - size :])


def test_a_mask_of_so_many_rows_is_cut_where_a_cache_ends() -> None:
    """What a run asks of one axis tells the size of the other."""
    nodes = [
        node("Shape", "past", "p", start=1),
        node("Shape", "x", "n", start=1),
        node("Add", "p n", "all"),
        node("Slice", "mask p all zero", "rows"),
        node("Slice", "rows none all one", "cut"),
        node("Unsqueeze", "x two", "column"),
        node("Concat", "past x", "keys", axis=1),
        node("Unsqueeze", "keys one", "row"),
        node("Mul", "column row", "scores"),
        node("Add", "scores cut", "y"),
    ]
    weights = {**CUT, "none": ints(0), "mask": numpy.ones((16, 16), "f4")}
    made = model(nodes, {"past": ["b", "k"], "x": ["b", "n"]}, {"y": None}, weights)
    assert shape(made) == ("b", "n", "k + n")
    assert infer_model(made, "m").where == ("k + n <= 16",)
    found = axon.from_onnx(made).model(X[:, :5], X[:, :3])
    assert found.shape == (2, 3, 8)
    with pytest.raises(axon.ArgumentError):
        axon.from_onnx(made).model(X, X)
