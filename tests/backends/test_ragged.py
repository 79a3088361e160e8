"""A ragged tensor is its rows, however it is stored and whichever library holds the values."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import awkward  # type: ignore[import-untyped]
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from axon.backends.ragged import Ragged, RaggedError, concat, same_rows, split
from axon.backends.ragged_forms import (
    from_awkward,
    from_list,
    from_padded,
    to_awkward,
    to_list,
    to_padded,
)
from axon.backends.ragged_rows import groups, map_rows
from tests.budget import QUARTER

Lists = list[Any]

# Few sizes, so that the compiled functions of JAX are few.
LENGTHS = st.lists(st.integers(0, 3), max_size=4)


def counting(*lengths: int, inner: tuple[int, ...] = (), xp: Any = np) -> Ragged:
    """Rows of these lengths, with the numbers 0, 1, 2, … in them."""
    values = np.arange(sum(lengths) * int(np.prod(inner)), dtype=np.float32)
    offsets = np.cumsum([0, *lengths])
    return Ragged.from_packed(xp.asarray(values.reshape(-1, *inner)), offsets)


@st.composite
def packed(draw: st.DrawFn) -> Ragged:
    """`[n,*]` or `[n,*,2]`."""
    return counting(*draw(LENGTHS), inner=draw(st.sampled_from([(), (2,)])))


@st.composite
def unpacked(draw: st.DrawFn) -> Ragged:
    """`[n,*,*]`, each row an array."""
    sizes = draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=4))
    rows = [np.arange(a * b, dtype=np.float32).reshape(a, b) for a, b in sizes]
    return Ragged.from_rows(rows, like=np.zeros((0, 1), np.float32))


@st.composite
def nested(draw: st.DrawFn) -> Ragged:
    """`[n,*,*]`, each row ragged."""
    rows = draw(st.lists(packed().filter(lambda row: row.rank == 2), max_size=4))
    return Ragged.from_rows(rows, like=counting(1))


ANY = packed() | unpacked() | nested()


def equal(a: Ragged, b: Ragged) -> bool:
    return a.dtype == b.dtype and a.rank == b.rank and to_list(a) == to_list(b)


# --- what it is -----------------------------------------------------------------------------------


def test_rows_that_differ_in_their_first_size_are_packed() -> None:
    x = Ragged.from_rows([np.ones((2, 3)), np.zeros((0, 3)), np.ones((1, 3))])
    assert x.packed is not None
    assert x.packed[0].shape == (3, 3) and x.packed[1].tolist() == [0, 2, 2, 3]
    assert (len(x), x.rank, x.shape, x.dtype.name) == (3, 3, (3, None, 3), "float64")
    assert x.lengths.tolist() == [2, 0, 1]
    assert [row.shape for row in x.rows] == [(2, 3), (0, 3), (1, 3)]
    assert np.shares_memory(x[0], x.packed[0])
    assert x[-1].shape == (1, 3)
    with pytest.raises(IndexError):
        x[3]


def test_rows_that_differ_in_a_later_size_are_kept_as_they_are() -> None:
    x = Ragged.from_rows([np.ones((3, 2)), np.ones((3, 5))])
    assert x.packed is None
    assert (x.rank, x.shape, x.lengths.tolist()) == (3, (2, 3, None), [3, 3])


def test_rows_may_be_ragged() -> None:
    x = Ragged.from_rows([counting(1, 2, inner=(3,)), counting(0, 4, inner=(3,))])
    assert (x.rank, x.shape, x.packed) == (4, (2, 2, None, 3), None)
    assert [row.shape for row in x.rows] == [(2, None, 3), (2, None, 3)]
    assert x[1][1].shape == (4, 3)
    y = Ragged.from_rows([counting(1, 2, 3), counting(4)])
    assert y.shape == (2, None, None)


def test_an_array_beside_ragged_rows_is_a_row_of_equal_rows() -> None:
    x = Ragged.from_rows([counting(1, 2), np.zeros((2, 2), np.float32)])
    assert to_list(x) == [[[0.0], [1.0, 2.0]], [[0.0, 0.0], [0.0, 0.0]]]


def test_without_rows_a_row_says_of_what_type() -> None:
    x = Ragged.from_rows([], like=np.ones((4, 3), np.float32))
    assert (len(x), x.shape, x.dtype.name, x.rows) == (0, (0, None, 3), "float32", ())
    assert Ragged.from_rows([], like=counting(1, 2)).shape == (0, None, None)
    with pytest.raises(RaggedError, match="type of a row must be given"):
        Ragged.from_rows([])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([np.ones(2), np.ones((2, 2))], "some rows have rank 1, others 2"),
        ([np.ones(2), np.ones(2, np.int32)], "some rows are f64, others i32"),
        ([np.float32(1), np.float32(2)], "single values"),
        ([1.0, 2.0], "single values"),
    ],
)
def test_rows_that_make_no_tensor(rows: Lists, message: str) -> None:
    with pytest.raises(RaggedError, match=message):
        Ragged.from_rows(rows)


def test_a_row_is_an_array() -> None:
    with pytest.raises(TypeError, match=r"NumPy, JAX or PyTorch was expected, not \[1, 2\]"):
        Ragged.from_rows([[1, 2]])


@pytest.mark.parametrize(
    ("offsets", "message"),
    [
        ([1, 3], "the first offset is 1"),
        ([0, 2, 1, 3], "row 1 starts at 2 but ends at 1"),
        (np.array([0, 2**63 - 1, -2, 3]), "row 1 starts at 9223372036854775807 but ends at -2"),
        (np.array([0, 2**63, 3], np.uint64), "row 1 starts at 9223372036854775808 but ends at 3"),
        ([0, 2], "there are 3 values, but the last offset is 2"),
        ([0, 4], "there are 3 values, but the last offset is 4"),
        ([], "one more than there are rows"),
        ([0.0, 3.0], "a list of integers"),
        ([[0, 3]], "a list of integers"),
    ],
)
def test_malformed_offsets(offsets: Lists, message: str) -> None:
    with pytest.raises(RaggedError, match=message):
        Ragged.from_packed(np.ones(3), offsets)


def test_packed_rows_are_an_array() -> None:
    with pytest.raises(RaggedError, match="single value"):
        Ragged.from_packed(np.float32(3), [0, 1])


@QUARTER
@given(ANY)
def test_a_tensor_is_its_rows(x: Ragged) -> None:
    again = Ragged.from_rows(x.rows, like=x.empty_row)
    assert equal(again, x) and same_rows(again, x)
    assert again.shape == x.shape


@QUARTER
@given(packed())
def test_packed_and_back(x: Ragged) -> None:
    assert x.packed is not None
    again = Ragged.from_packed(*x.packed)
    assert again.values is x.values and again.offsets is x.offsets


def test_as_text() -> None:
    assert repr(counting(1, 2, inner=(2,))) == "Ragged f32 [2,*,2]: [[[0. 1.]], [[2. 3.] [4. 5.]]]"
    assert repr(counting(1, 0, 9, 1)) == "Ragged f32 [4,*]: [[0.], [], [1. 2. ... 8. 9.], …]"
    assert str(Ragged.from_rows([counting(1, 2)])) == "Ragged f32 [1,2,*]: [[[0.], [1. 2.]]]"
    short = Ragged.from_rows([jnp.ones(1, jnp.bfloat16)])
    assert repr(short) == "Ragged bf16 [1,*]: [[1]]"
    assert repr(from_list([[True]])) == "Ragged bool [1,*]: [[ True]]"


# --- other forms ----------------------------------------------------------------------------------


@QUARTER
@given(ANY)
def test_lists_and_back(x: Ragged) -> None:
    again = from_list(to_list(x), dtype=x.dtype)
    assert to_list(again) == to_list(x) and again.dtype == x.dtype


@pytest.mark.parametrize(
    ("rows", "shape"),
    [
        ([], (0, None)),
        ([[], []], (2, None)),
        ([[1], [2, 3]], (2, None)),
        ([[[1, 2]], [[3, 4], [5, 6]], []], (3, None, 2)),
        ([[], [[1, 2]]], (2, None, 2)),
        ([[[1, 2], [3]], [[4], [5]]], (2, 2, None)),
        ([[[1, 2, 3]], [[4], [5]]], (2, None, None)),
        ([np.ones((2, 3)), np.ones((1, 3))], (2, None, 3)),
        ([[np.ones(3)], []], (2, None, 3)),
        ([[[], [[1]]], [[], []]], (2, 2, None, None)),
    ],
)
def test_lists(rows: Lists, shape: tuple[int | None, ...]) -> None:
    assert from_list(rows).shape == shape


def test_the_element_type_of_lists() -> None:
    assert from_list([[], [1, 2]]).dtype == np.int64
    assert from_list([[1], [0.5]]).dtype == np.float64
    assert from_list([[], []]).dtype == np.float64
    assert from_list([[1], [2]], dtype=np.float32).dtype == np.float32
    assert from_list([np.ones(1, np.float32), np.ones(2, np.float32)]).dtype == np.float32


def test_lists_of_different_depths() -> None:
    for rows in ([[1], [[2]]], [[1, [2]]], [np.ones(2), [np.ones(2)]]):
        with pytest.raises(RaggedError, match="nested to different depths"):
            from_list(rows)
    with pytest.raises(RaggedError, match="single values"):
        from_list([1, 2])


@QUARTER
@given(packed())
def test_padded_and_back(x: Ragged) -> None:
    array, mask = to_padded(x, fill=7)
    room = max(x.lengths.tolist(), default=0)
    assert array.shape == (len(x), room, *x.values.shape[1:])
    assert mask.shape == (len(x), room) and mask.sum(axis=1).tolist() == x.lengths.tolist()
    assert (array[~mask] == 7).all()
    assert equal(from_padded(array, mask), x)
    assert equal(from_padded(array, lengths=x.lengths), x)


def test_dense_dimensions_before_the_padded_one() -> None:
    x = Ragged.from_rows([counting(1, 2, inner=(3,)), counting(0, 4, inner=(3,))])
    array, mask = to_padded(x)
    assert array.shape == (2, 2, 4, 3) and mask.shape == (2, 2, 4)
    assert equal(from_padded(array, mask), x)
    assert equal(from_padded(array, lengths=[[1, 2], [0, 4]]), x)
    assert from_padded(np.ones((2, 0, 5)), lengths=np.zeros((2, 0), int)).lengths.tolist() == [0, 0]


def test_padding_more_than_one_dimension() -> None:
    x = Ragged.from_rows([np.ones((3, 2)), np.ones((3, 1))])
    array, mask = to_padded(x)
    assert array.shape == mask.shape == (2, 3, 2)
    assert array.tolist() == mask.tolist() == [[[1, 1]] * 3, [[1, 0]] * 3]
    assert to_padded(from_list([[[1], [2, 3]], []]))[0].tolist() == [[[1, 0], [2, 3]], [[0, 0]] * 2]


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({}, "either a mask or lengths"),
        ({"mask": np.ones((2, 3), bool), "lengths": [1, 2]}, "either a mask or lengths"),
        ({"lengths": [1, 4]}, "from 0 to the padded size, 3"),
        ({"lengths": [-1, 2]}, "from 0 to the padded size, 3"),
        ({"lengths": [0.5, 2]}, "an integer"),
        ({"lengths": [1, 2, 3]}, r"lengths of \[3\] do not say how long the rows of \[2,3\] are"),
        ({"mask": np.ones((2, 3))}, r"a mask of \[2,3\] is bool .* but this is f64 \[2,3\]"),
        ({"mask": np.ones((2, 2), bool)}, r"but this is bool \[2,2\]"),
        ({"mask": np.ones(2, bool)}, r"but this is bool \[2\]"),
    ],
)
def test_malformed_padding(how: dict[str, Any], message: str) -> None:
    with pytest.raises(RaggedError, match=message):
        from_padded(np.ones((2, 3)), **how)


@QUARTER
@given(ANY)
def test_awkward_and_back(x: Ragged) -> None:
    array = to_awkward(x)
    assert awkward.to_list(array) == to_list(x)
    again = from_awkward(array)
    assert equal(again, x)


def test_what_is_regular_in_awkward_does_not_vary() -> None:
    x = counting(2, 0, 1, inner=(2, 3))
    array = to_awkward(x)
    assert str(array.type) == "3 * var * 2 * 3 * float32"
    assert from_awkward(array).shape == (3, None, 2, 3)
    assert from_awkward(awkward.Array([[[1, 2]], []])).shape == (2, None, None)
    regular = awkward.to_regular(awkward.Array([[[1], [2, 3]], [[], [4]]]), axis=1)
    assert from_awkward(regular).shape == (2, 2, None)
    assert from_awkward(awkward.from_numpy(np.ones((2, 3)))).shape == (2, None)
    assert from_awkward(awkward.Array([[], []])).shape == (2, None)
    assert to_list(from_awkward(awkward.Array([[1], [2, 3], [4]])[[2, 1]])) == [[4], [2, 3]]


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (awkward.Array([1, 2]), "with rows was expected, not 2"),
        (awkward.Array([["a"], []]), "this holds a string"),
        (awkward.Array([[1, None], []]), "numbers was expected"),
        (awkward.Array([[{"x": 1}]]), "this holds a RecordArray"),
        (awkward.Array([[np.datetime64("2020-01-01")]]), "this holds a NumpyArray"),
    ],
)
def test_awkward_arrays_of_other_things(array: Any, message: str) -> None:
    with pytest.raises(RaggedError, match=message):
        from_awkward(array)


def test_awkward_is_optional(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "awkward", None)
    with pytest.raises(ImportError, match="need the package awkward: pip install awkward"):
        to_awkward(counting(1))


# --- pointwise ------------------------------------------------------------------------------------


@QUARTER
@given(ANY)
def test_pointwise_is_row_by_row(x: Ragged) -> None:
    y = x.map_values(np.negative)
    assert y.offsets is x.offsets and same_rows(x, y)
    z = x.map_values(np.subtract, y)
    assert equal(z, x.map_values(lambda v: 2 * v))
    again = Ragged.from_rows(x.rows, like=x.empty_row)
    assert equal(x.map_values(np.add, again), z)


def test_the_same_rows_in_different_storage() -> None:
    plain = Ragged.from_rows([np.ones((2, 3)), np.ones((1, 3))])
    deep = Ragged.from_rows([split(np.ones((2, 3))), split(np.ones((1, 3)))])
    assert isinstance(deep.values, Ragged) and plain.packed
    assert same_rows(plain, deep) and same_rows(deep, plain)
    assert to_list(plain.map_values(np.add, deep)) == [[[2.0] * 3] * 2, [[2.0] * 3]]
    wide = Ragged.from_rows([np.ones((2, 3)), np.ones((1, 2))])
    deep_wide = Ragged.from_rows(split(row) for row in wide)
    assert same_rows(wide, deep_wide) and to_list(deep_wide.map_values(np.add, wide))
    assert not same_rows(plain, wide) and not same_rows(deep, wide)
    assert not same_rows(Ragged.from_rows([counting(1, 1)]), counting(2))
    none = Ragged.from_rows([], like=np.ones((1, 2))).map_values(np.add, deep.take([]))
    assert none.shape == (0, None, None)


def test_rows_of_different_sizes_do_not_meet() -> None:
    assert same_rows(counting(1, 2), counting(1, 2, inner=(3,)))
    assert not same_rows(counting(1, 2), counting(2, 1))
    assert not same_rows(counting(1, 2), counting(1, 2, 0))
    with pytest.raises(RaggedError, match="rows of different sizes"):
        counting(1, 2).map_values(np.add, counting(2, 1))
    with pytest.raises(RaggedError, match=r"of 3 values made \[\]"):
        counting(1, 2).map_values(np.sum)


# --- rows taken and joined ------------------------------------------------------------------------


@QUARTER
@given(ANY, st.data())
def test_taking_rows(x: Ragged, data: st.DataObject) -> None:
    indices = data.draw(st.lists(st.integers(0, len(x) - 1)) if len(x) else st.just([]))
    rows = to_list(x)
    assert to_list(x.take(indices)) == [rows[i] for i in indices]
    assert to_list(x.reverse()) == rows[::-1]
    assert to_list(x.take(slice(1, None))) == rows[1:]
    assert to_list(x.take([i % 2 == 0 for i in range(len(x))])) == rows[::2]
    assert x.take([]).dtype == x.dtype and x.take([]).rank == x.rank


def test_rows_are_taken_by_a_list() -> None:
    with pytest.raises(RaggedError, match=r"by a list of indices, not \[1,1\]"):
        counting(1, 2).take([[0]])
    with pytest.raises(IndexError):
        counting(1, 2).take([2])


@QUARTER
@given(ANY, ANY)
def test_joining_rows_below_each_other(x: Ragged, y: Ragged) -> None:
    if x.rank == y.rank:
        assert to_list(concat([x, y])) == to_list(x) + to_list(y)
        assert concat([x, y]).rank == x.rank


@QUARTER
@given(ANY)
def test_joining_rows_side_by_side(x: Ragged) -> None:
    rows = to_list(x)
    assert to_list(concat([x, x], axis=1)) == [row + row for row in rows]
    assert equal(concat([x, x], axis=1 - x.rank), concat([x, x], axis=1))
    if x.rank == 3:
        assert to_list(concat([x, x], axis=-1)) == [[part + part for part in row] for row in rows]


def test_joining_what_is_stored_differently() -> None:
    plain = Ragged.from_rows([np.ones((2, 1)), np.ones((1, 1))])
    deep = from_list([[[1.0, 2.0], [3.0]], [[4.0]]])
    assert to_list(concat([plain, deep], axis=2)) == [[[1, 1, 2], [1, 3]], [[1, 4]]]
    assert to_list(concat([plain, deep])) == to_list(plain) + to_list(deep)
    x = counting(1, 2, inner=(2,))
    beside = concat([x, counting(1, 2, inner=(1,))], axis=2)
    assert beside.shape == (2, None, 3) and beside.offsets is x.offsets
    none = [x.take([]), counting(1, inner=(1,)).take([])]
    assert concat(none).shape == (0, None, 2) and concat(none, axis=2).shape == (0, None, 3)


@pytest.mark.parametrize(
    ("parts", "axis", "message"),
    [
        ([], 0, "one or more"),
        ([counting(1), np.ones((1, 1))], 0, "ragged tensors are joined with ragged tensors"),
        ([counting(1), counting(1, inner=(2,))], 0, "some rows have rank 2, others 3"),
        ([counting(1), counting(1).map_values(np.isnan)], 0, "some rows are f32, others bool"),
        ([counting(1), counting(1)], 2, "of rank 2 has no axis 2"),
        ([counting(1), counting(1, 1)], 1, "tensors of 1 and 2 rows"),
        ([counting(1, inner=(2,)), counting(1, inner=(3,))], 1, r"rows of \[1,2\] and \[1,3\]"),
        ([counting(1, inner=(2,)), counting(3, inner=(2,))], 2, r"rows of \[1,2\] and \[3,2\]"),
    ],
)
def test_joining_what_does_not_fit(parts: Lists, axis: int, message: str) -> None:
    with pytest.raises(RaggedError, match=message):
        concat(parts, axis)


# --- functions on rows ----------------------------------------------------------------------------


def test_groups_come_in_order_of_appearance() -> None:
    found = [(length, rows.tolist()) for length, rows in groups([3, 1, 3, 0, 1])]
    assert found == [(3, [0, 2]), (1, [1, 4]), (0, [3])]
    assert groups([]) == []


@QUARTER
@given(LENGTHS, st.booleans())
def test_rows_in_groups_are_rows_one_by_one(lengths: list[int], tuples: bool) -> None:
    x, y = counting(*lengths, inner=(2,)), counting(*lengths)
    w = np.arange(len(lengths) * 2, dtype=np.float32).reshape(-1, 2)

    def scaled(a: Any, b: Any, c: Any) -> Any:
        rows = a * b[..., None] + c[..., None, :]
        return (rows, (c.sum(axis=-1), b)) if tuples else rows

    which = (True, (False, True)) if tuples else True
    one, many = (
        map_rows(scaled, [x, y, w], ragged_result=which, batched=batched)
        for batched in (None, scaled)
    )
    if tuples:
        assert equal(one[1][1], y) and equal(many[1][1], y)
        assert one[1][0].tolist() == many[1][0].tolist() == w.sum(axis=1).tolist()
        one, many = one[0], many[0]
    assert equal(one, many) and same_rows(one, x)


def test_few_sizes_are_compiled() -> None:
    lengths = [n % 3 for n in range(50)]
    seen: set[tuple[int, ...]] = set()

    def total(rows: Any) -> Any:
        seen.add(rows.shape)
        return rows.sum(axis=-1)

    def one_by_one(row: Any) -> Any:
        raise AssertionError("the rows are arrays, and go in groups")

    sums = map_rows(one_by_one, [counting(*lengths)], batched=total)
    assert seen == {(32, 0), (32, 1), (16, 2)}
    assert sums.tolist() == [sum(row) for row in to_list(counting(*lengths))]


def test_arrays_alone_are_one_group() -> None:
    sums = map_rows(np.sum, [np.ones((5, 2))], batched=lambda rows: rows.sum(axis=-1))
    assert sums.tolist() == [2.0] * 5


def test_rows_that_are_ragged_go_one_by_one() -> None:
    x = from_list([[[1.0], [2.0, 3.0]], [[4.0]]])
    back = map_rows(lambda row: row.reverse(), [x], ragged_result=True, batched=np.negative)
    assert to_list(back) == [[[2.0, 3.0], [1.0]], [[4.0]]]
    assert map_rows(len, [x]).tolist() == [2, 1]


def test_rows_in_tuple_storage_go_in_groups() -> None:
    x = Ragged.from_rows([np.ones((3, 2)), np.ones((3, 5)), 2 * np.ones((3, 2))])
    sums = map_rows(np.sum, [x], batched=lambda rows: rows.sum(axis=(1, 2)))
    assert sums.tolist() == [6.0, 15.0, 12.0]


def test_the_caller_says_whether_results_vary() -> None:
    x = counting(2, 2)
    assert map_rows(np.negative, [x]).shape == (2, 2)
    assert map_rows(np.negative, [x], ragged_result=True).shape == (2, None)
    with pytest.raises(RaggedError, match=r"their sizes vary: \[1\] and \[2\]"):
        map_rows(np.negative, [counting(1, 2)])
    assert map_rows(lambda row: counting(1, 2), [x]).shape == (2, 2, None)  # it is ragged anyway


def test_without_rows_the_function_is_asked_or_the_caller() -> None:
    x = counting(inner=(3,))
    assert map_rows(np.max, [x]).shape == (0,)
    assert map_rows(np.negative, [x], ragged_result=True).shape == (0, None, 3)
    assert map_rows(np.negative, [np.ones((0, 2))]).shape == (0, 2)
    deep = Ragged.from_rows([], like=counting(1))
    assert map_rows(lambda row: row, [deep], ragged_result=True).shape == (0, None, None)
    guarded: Callable[..., Any] = {}.__getitem__
    pair = map_rows(guarded, [x], like=(np.ones(2), np.float32(0)), ragged_result=(True, False))
    assert pair[0].shape == (0, None) and pair[1].shape == (0,) and pair[1].dtype == np.float32


def test_arguments_go_side_by_side() -> None:
    with pytest.raises(RaggedError, match="tensors of 2 and 3 rows"):
        map_rows(np.add, [counting(1, 2), np.ones(3)])
    with pytest.raises(RaggedError, match="one tensor or more"):
        map_rows(np.add, [])


# --- JAX ------------------------------------------------------------------------------------------


def test_jax_values_stay_with_jax() -> None:
    x = counting(2, 0, 1, inner=(2,), xp=jnp)
    assert all(isinstance(row, jax.Array) for row in x.rows)
    deep = Ragged.from_rows([x, x])
    wide = Ragged.from_rows([jnp.ones((3, 2)), jnp.ones((3, 1))])
    for y in (x, deep, wide):
        made = [
            y.map_values(jnp.exp), y.take([0]), y.reverse(), concat([y, y]), concat([y, y], 1),
            concat([y, y], -1), from_list(list(y)), Ragged.from_rows(y.rows), y.on_host().put(jnp),
            from_padded(*to_padded(x)),
        ]  # fmt: skip
        assert all(each.xp is jnp for each in made)
        assert y.on_host().xp is np and to_list(y.on_host()) == to_list(y)
        assert all(isinstance(each, jax.Array) for each in to_padded(y))
        assert equal(from_awkward(to_awkward(y)), y)
    mixed = concat([x, x.on_host()])
    assert mixed.xp is jnp and len(mixed) == 6
    assert split(jnp.ones((2, 3))).xp is jnp


def test_jax_values_do_not_change_with_the_array_they_came_from() -> None:
    space = np.zeros(1024 + 16, np.float32)
    start = -space.ctypes.data % 64 // 4  # where JAX would share the memory
    values = space[start : start + 1024]
    x = Ragged.from_packed(values, [0, 1, 1024]).put(jnp)
    values[0] = 5
    assert to_list(x)[0] == [0.0]


def test_a_compiled_function_sees_few_sizes() -> None:
    lengths = [n % 3 for n in range(50)]
    traced = []

    def body(row: Any, w: Any) -> Any:
        traced.append(row.shape)
        return row + w, (row * w).sum()

    batched = jax.jit(jax.vmap(body))
    args: Lists = [counting(*lengths, xp=jnp), jnp.arange(50.0)]
    rows, sums = map_rows(body, args, ragged_result=(True, False), batched=batched)
    assert traced == [(0,), (1,), (2,)]
    again = map_rows(body, args, ragged_result=(True, False))
    assert rows.xp is jnp and isinstance(sums, jax.Array)
    assert equal(rows, again[0]) and sums.tolist() == again[1].tolist()
    none = map_rows(body, [args[0].take([]), args[1][:0]], ragged_result=(True, False))
    assert none[0].xp is jnp and none[1].shape == (0,) and isinstance(none[1], jax.Array)


def test_gradients_go_through_rows() -> None:
    x = counting(2, 0, 1)

    def loss(values: Any) -> Any:
        rows = Ragged.from_packed(values, x.offsets)
        twice = concat([rows, rows.reverse()], axis=1)
        squares = twice.map_values(jnp.multiply, twice)
        assert "Tracer" in repr(squares)
        sums = map_rows(jnp.sum, [squares], batched=lambda rows: rows.sum(axis=1))
        return sums.sum()

    assert jax.grad(loss)(jnp.asarray(x.values)).tolist() == [0.0, 4.0, 8.0]
