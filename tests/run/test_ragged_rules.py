"""Ragged values, one by one: sizes, rows of rows, what an argument may be, and the one rule for the
sizes of rows that meet.
"""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import axon
from tests.run.support import BACKENDS, close, on_both, plain

NESTED = [[[1, 2], [3]], [[4]]]


def lists_of(value: Any) -> Any:
    return value.to_list() if isinstance(value, axon.Ragged) else numpy.asarray(value).tolist()


def refused(program: str) -> bool:
    return any(d.code == "AX105" for d in axon.check_text(program).diagnostics)


# --- shapes and rows of rows ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("v + zeros(shape(v))", NESTED),
        ("broadcast_to(2f, shape(v))", [[[2, 2], [2]], [[2]]]),
        ("v + full(shape(v), 1f)", [[[2, 3], [4]], [[5]]]),
        ("map(fn (r) { r + zeros(shape(r)) }, v)", NESTED),
        ("sum(v, axis=-1)", [[3, 3], [4]]),
        ("mean(v, axis=2)", [[1.5, 3], [4]]),
        ("mean(v, axis=-1)", [[1.5, 3], [4]]),
        ("max(v, axis=-1)", [[2, 3], [4]]),
        ("min(v, axis=-1)", [[1, 3], [4]]),
        ("max(v, axis=-1, keep=true)", [[[2], [3]], [[4]]]),
        ("argmax(v, axis=-1)", [[1, 0], [0]]),
        ("index(v, i=0, axis=-1)", [[1, 3], [4]]),
        ("prod(v, axis=-1)", [[2, 3], [4]]),
        ("reverse(v, axis=-1)", [[[2, 1], [3]], [[4]]]),
        ("map(fn (r) { map(fn (q) { unique(q) }, r) }, v) + v", [[[2, 4], [6]], [[8]]]),
        ("map(fn (r) { map(reverse, r) }, v)", [[[2, 1], [3]], [[4]]]),
        ("stack(v, v)", [NESTED, NESTED]),
        ("expand_dims(v, axis=1)", [[NESTED[0]], [NESTED[1]]]),
    ],
)
def test_rows_of_rows(body: str, expected: Any) -> None:
    made = on_both(f"f = fn (v : f32 [n,*,*]) {{ {body} }};", NESTED)
    assert lists_of(made) == expected


def test_a_function_of_a_name_takes_rows_of_rows() -> None:
    for g in ("g = fn (r) { sum(r, axis=-1) };", "g = fn (r : f32 [n,*]) { sum(r, axis=-1) };"):
        made = on_both(g + " f = fn (v : f32 [n,*,*]) { map(g, v) };", NESTED)
        assert lists_of(made) == [[3, 3], [4]]


def test_rows_that_are_matrices_and_rows_that_are_not() -> None:
    """A type does not tell them apart: what needs matrices is refused before it runs."""
    net = axon.compile("f = fn (v : f32 [n,*,*]) { map(fn (r) { transpose(r) }, v) };")
    assert net.f([[[1, 2], [3, 4]], [[5]]]).to_list() == [[[1, 3], [2, 4]], [[5]]]
    with pytest.raises(axon.ArgumentError) as found:
        net.f(NESTED)
    assert [d.code for d in found.value.diagnostics] == ["AX105"]
    assert net.f([[[1, 2], [3, 4]], [[5]]]).to_list() == [[[1, 3], [2, 4]], [[5]]]


def test_no_rows() -> None:
    program = "f = fn (x : f32 [n,*]) { sum(map(fn (row) { expand_dims(row, axis=0) }, x)) };"
    assert on_both(program, []) == 0
    assert on_both("f = fn (x : f32 [n,3,*]) { sum(x, axis=-1) };", []).shape == (0, 3)
    made = on_both("f = fn (x : f32 [n,*,3]) { sum(x, axis=-1) };", [[], []])
    assert made.to_list() == [[], []]


@pytest.mark.parametrize(
    "body",
    [
        "tile(x, reps=[2,1])",
        "pad(x, before=1)",
        "pad(x, pad=[[1,1],[0,0]])",
        "sum(x, axis=0)",
        "layer_norm(x, axes=2)",
        "quantise_range(x)",
        "dft(x)",
        "resize(x, [5,6])",
        "sum(transpose(x), axis=0)",
        "repeat(x, times=2)",
    ],
)
def test_the_checker_refuses_what_cannot_run(body: str) -> None:
    assert refused(f"f = fn (x : f32 [n,*]) {{ {body} }};")


def test_sizes_that_are_values_beside_rows_that_vary() -> None:
    """JAX compiles no operator for them."""
    x = [numpy.arange(n * 4, dtype=numpy.float32).reshape(n, 4) for n in (2, 3, 3)]
    head = "f = fn (x : f32 [n,*,4], a : i64 [1], b : i64 [1])"
    made = on_both(
        f"{head} {{ slice_by(x, a, b, axes=2) }};", x, numpy.array([1]), numpy.array([3])
    )
    assert lists_of(made) == [row[:, 1:3].tolist() for row in x]
    images = [row.reshape(-1, 2, 2) for row in x]
    program = "f = fn (x : f32 [n,*,2,2], s : f32 [2]) { rescale(x, s) };"
    made = on_both(program, images, numpy.array([2, 1], numpy.float32))
    assert lists_of(made)[0][0] == [[0, 1], [0, 1], [2, 3], [2, 3]]


def test_what_moves_other_axes_is_fine() -> None:
    x = [[[1, 2, 3]], [[4]]]
    made = on_both("f = fn (x : f32 [n,1,*]) { tile(x, reps=[2,1]) };", x)
    assert made.to_list() == [[[1, 2, 3]] * 2, [[4]] * 2]
    assert refused("f = fn (x : f32 [n,c,*]) { transpose(x, perm=[1,0,2]) };")
    made = on_both("f = fn (x : f32 [n,*]) { pad(x, pad=[[0,0],[1,0]]) };", [[1, 2], [3]])
    assert made.to_list() == [[0, 1, 2], [0, 3]]


def test_a_size_that_is_used_outside_is_another_one_in_each_row() -> None:
    program = "f = fn (x : f32 [n,*]) { x + zeros(shape(x)) + map(fn (r) { r * size(r) }, x) };"
    assert on_both(program, [[1, 2], [3]]).to_list() == [[3, 6], [6]]


# --- rows that meet -------------------------------------------------------------------------------

MEET = ["x + y", "map(fn (a, b) { a + b }, x, y)", "where(x > y, x, y)",
        "map(fn (a, b) { where(a > b, a, b) }, x, y)"]  # fmt: skip


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("body", MEET)
def test_one_rule_for_rows_that_meet(body: str, backend: str) -> None:
    """A row of one element is not stretched, outside a `map` nor in it."""
    program = f"f = fn (x : f32 [n,*], y : f32 [n,*]) {{ {body} }};"
    f = axon.compile(program, backend=backend).f
    with pytest.raises(axon.RunError, match="AX404"):
        f([[1, 2], [3]], [[1], [3]])
    with pytest.raises(axon.RunError, match="AX404"):
        f([[1], [3]], [[], [3]])
    assert len(f([[1, 2], []], [[3, 0], []])) == 2


def test_sizes_of_rows_of_rows_are_compared_with_those_of_rows() -> None:
    program = "f = fn (x : f32 [n,*,*], y : f32 [n,*,*]) { x + y };"
    even = [[[1, 2], [3, 4]], [[5]]]
    nested = axon.Ragged.from_rows([axon.Ragged.from_list(r, "f4") for r in even])
    assert on_both(program, nested, even).to_list() == [[[2, 4], [6, 8]], [[10]]]
    with pytest.raises(axon.RunError, match="AX404"):
        axon.compile(program).f(NESTED, [[[1, 2], [3, 4]], [[4]]])


# --- what an argument may be ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("elem", "numbers"),
    [
        ("i64", [1.5, 2]),
        ("i64", [1.0, 2]),
        ("i64", [float("inf"), 2]),
        ("i64", [float("nan")]),
        ("bool", [2]),
        ("bool", [True, 0.5]),
        ("u8", [300]),
        ("u8", [-1]),
        ("i8", [128]),
        ("i32", [2**40]),
        ("i64", [2**70]),
        ("f32", ["a"]),
        ("f32", [None]),
        ("f32", [{}]),
        ("f32", [1j]),
        ("i64", [2**63, -1]),
    ],
    ids=str,
)
def test_lists_are_taken_as_strictly_as_for_arrays(elem: str, numbers: list[Any]) -> None:
    """With the same sentence."""
    dense = axon.compile(f"f = fn (x : {elem} [n]) {{ x }};").f
    with pytest.raises(axon.ArgumentError) as expected:
        dense(numbers)
    for type_, given in (("[n,*]", [numbers, []]), ("[n,*,*]", [[numbers], [[], []]])):
        with pytest.raises(axon.ArgumentError) as found:
            axon.compile(f"f = fn (x : {elem} {type_}) {{ x }};").f(given)
        assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("given", [[1, 2], [[1], 2], [[1], [[2]]], [[[1]], [[[2]]]], [[[1]], [2]]])
def test_lists_of_other_depths(given: Any) -> None:
    f = axon.compile("f = fn (x : f32 [n,*]) { x }; g = fn (x : f32 [n,*,*]) { x };")
    with pytest.raises(axon.ArgumentError):
        f.f(given)
    with pytest.raises(axon.ArgumentError):
        f.g(given)


def test_numbers_that_fit() -> None:
    made = axon.compile("f = fn (x : u8 [n,*]) { x };").f([[0, 255], []])
    assert made.dtype == numpy.uint8 and made.to_list() == [[0, 255], []]
    made = axon.compile("f = fn (x : bool [n,*]) { x };").f([[True, 0], [1]])
    assert made.to_list() == [[True, False], [True]]
    made = axon.compile("f = fn (x : t [n,*]) { x };").f([[1], [2.5, 3]])
    assert made.dtype == numpy.float32


def test_rows_may_be_even_by_chance() -> None:
    """However they are stored."""
    awkward = pytest.importorskip("awkward")
    net = axon.compile(
        "f = fn (x : f32 [n,*,2]) { sum(x, axis=1) }; g = fn (x : f32 [n,2,*]) { sum(x, axis=2) };"
    )
    rows = awkward.values_astype(awkward.Array([[[1, 2], [3, 4]], [[5, 6], [7, 8]]]), "float32")
    close(plain(net.f(rows)), numpy.array([[4, 6], [12, 14]], "f4"))
    close(plain(net.g(rows)), numpy.array([[3, 7], [11, 15]], "f4"))
    array = numpy.arange(8, dtype="f4").reshape(2, 2, 2)
    close(plain(net.f(array)), array.sum(1))
    close(plain(net.g(array)), array.sum(2))
