"""Operators whose sizes, axes and bounds are values: what they give is what NumPy gives."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import axon
from tests.run.support import BACKENDS, close, floats, on_both, plain

X = floats(2, 3, 4)


def ints(*items: int) -> Any:
    return numpy.array(items, "i8")


def of(call: str, *args: Any, x: str = "f32 [a,b,c]", lists: str = "i64 [k]") -> Any:
    """What a call of x, s, t, … gives; s, t, … are lists of integers."""
    names = "stuv"[: len(args) - 1]
    params = "".join(f", {name} : {lists}" for name in names)
    return plain(on_both(f"f = fn (x : {x}{params}) {{ {call} }};", *args))


@pytest.mark.parametrize(
    ("sizes", "shape"),
    [((6, 4), (6, 4)), ((-1,), (24,)), ((0, -1), (2, 12)), ((2, 0, 2, -1), (2, 3, 2, 2))],
)
def test_sizes_with_open_places(sizes: tuple[int, ...], shape: tuple[int, ...]) -> None:
    made = of("reshape(x, reshaped_sizes(x, s))", X, ints(*sizes))
    close(made, X.reshape(shape))


def test_a_zero_can_be_a_size() -> None:
    none = floats(0, 3, 4)
    made = of("reshape(x, reshaped_sizes(x, s, zero=true))", none, ints(3, 0))
    close(made, none.reshape(3, 0))
    close(of("reshaped_sizes(x, s)", none, ints(0, -1)), ints(0, 0))


def test_sizes_that_do_not_fit_are_an_error_that_says_so() -> None:
    program = "f = fn (x : f32 [a,b,c], s : i64 [k]) { reshape(x, reshaped_sizes(x, s)) };"
    for backend in BACKENDS:
        with pytest.raises(axon.RunError, match="reshape needs it"):
            axon.compile(program, backend=backend).f(X, ints(5, -1))


def test_a_shape_that_is_ensured_is_checked_by_the_run() -> None:
    program = "f = fn (x : f32 [n], c : bool [n]) { ensure_shape([2], compress(x, c)) };"
    x, mask = floats(3), numpy.array([True, False, True])
    close(plain(on_both(program, x, mask)), x[mask])
    for backend in BACKENDS:
        with pytest.raises(axon.RunError, match="ensure_shape"):
            axon.compile(program, backend=backend).f(x, ~mask)


def test_sizes_that_are_ensured_are_those_of_the_argument() -> None:
    program = "f = fn (x : f32 s) { ensure_shape(x, sizes=[-1,3,-1]) };"
    close(plain(on_both(program, X)), X)
    with pytest.raises(axon.AxonError):
        axon.compile(program).f(X[0])


@pytest.mark.parametrize(("before", "after"), [(-1, 2), (1, -2), (-1, -1), (-3, 0)])
def test_negative_pads_cut_off(before: int, after: int) -> None:
    made = on_both(f"f = fn (x : f32 [3]) {{ pad(x, before={before}, after={after}) }};", floats(3))
    low, high = max(-before, 0), 3 - max(-after, 0)
    pads = (max(before, 0), max(after, 0))
    close(plain(made), numpy.pad(floats(3)[low:high], pads))


def test_elements_as_those_of_another_tensor() -> None:
    program = "f = fn (x : f32 s, y : t r) { cast_like(x, y) };"
    close(plain(on_both(program, X * 5, ints(1))), (X * 5).astype("i8"))
    with numpy.errstate(all="ignore"):
        close(plain(on_both(program, X, numpy.array(True))), X.astype(bool))


@pytest.mark.parametrize("axes", [(0,), (3,), (-1,), (1, 2), (2, 0), (-1, 0)])
def test_dimensions_of_one_at_axes_of_the_run(axes: tuple[int, ...]) -> None:
    wider = numpy.expand_dims(X, axes)
    close(of("expand_dims_by(x, s)", X, ints(*axes)), wider)
    rank = ",".join("abcdef"[: wider.ndim])
    close(of("squeeze_by(x, s)", wider, ints(*axes), x=f"f32 [{rank}]"), X)
    close(of("squeeze_by(x)", wider, x=f"f32 [{rank}]"), X)


def test_the_rank_is_inferred_where_the_list_has_a_length() -> None:
    net = axon.compile("f = fn (x : f32 [a,b,c], s : i64 [2]) { expand_dims_by(x, s) };")
    assert str(net.f.signature) == "(f32 [a,b,c], i64 [2]) -> f32 [?d,?e,?f,?g,?h]"


@pytest.mark.parametrize("axes", [(0,), (-1,), (0, 2), (2, 1, 0), ()])
def test_reductions_along_axes_of_the_run(axes: tuple[int, ...]) -> None:
    over: Any = axes or None
    calls = "sum(join_axes(x, s), axis=-1), max(join_axes(x, s), axis=-1)"
    total, most = of(calls, X, ints(*axes))
    close(total, X.sum(over, keepdims=True))
    close(most, X.max(over, keepdims=True))
    nothing = of("sum(join_axes(x, s, none=true), axis=-1)", X, ints(*axes))
    close(nothing, X.sum(axes, keepdims=True))


@pytest.mark.parametrize(
    ("starts", "stops", "steps", "axes"),
    [
        ((1,), (3,), (1,), (1,)),
        ((-3, 0), (1000, -1), (1, 2), (2, 0)),
        ((5, -1), (-(2**62), 0), (-2, -1), (1, 2)),
        ((3,), (1,), (1,), (-1,)),
    ],
)
def test_slices_with_bounds_of_the_run(starts: Any, stops: Any, steps: Any, axes: Any) -> None:
    index = [slice(None)] * 3
    for start, stop, step, axis in zip(starts, stops, steps, axes, strict=True):
        index[axis] = slice(start, stop, step)
    lists = [ints(*part) for part in (starts, stops, steps, axes)]
    close(of("slice_by(x, s, t, u, v)", X, *lists), X[tuple(index)])
    known = f"slice_by(x, s, t, u, axes={list(axes)})"
    close(of(known, X, *lists[:3], lists=f"i64 [{len(axes)}]"), X[tuple(index)])


@pytest.mark.parametrize(
    ("call", "given"),
    [
        ("expand_dims_by(x, s)", (5,)),
        ("expand_dims_by(x, s)", (1, 1)),
        ("squeeze_by(x, s)", (1,)),
        ("join_axes(x, s)", (3,)),
        ("join_axes(x, s)", (0, -3)),
        ("slice_by(x, s, s, s, s)", (0,)),
    ],
)
def test_axes_that_are_not_there(call: str, given: tuple[int, ...]) -> None:
    for backend in BACKENDS:
        net = axon.compile(f"f = fn (x : f32 [a,b,c], s : i64 [k]) {{ {call} }};", backend=backend)
        with pytest.raises(axon.RunError):
            net.f(X, ints(*given))


@pytest.mark.parametrize("shape", [(1, 3, 1), (4,), (5, 2, 3, 4), (1,)])
def test_expand(shape: tuple[int, ...]) -> None:
    whole = numpy.broadcast_shapes((2, 3, 4), shape)
    close(
        of("expand(x, s)", X, ints(*shape), lists=f"i64 [{len(shape)}]"),
        X + numpy.zeros(whole, "f4"),
    )


@pytest.mark.parametrize(
    ("start", "stop", "step", "dtype"),
    [(0, 5, 1, "i4"), (10, 4, -2, "i8"), (1, 5, 1.5, "f4"), (3, 3, 1, "f8"), (5, 0, 2, "i8")],
)
def test_arange(start: float, stop: float, step: float, dtype: str) -> None:
    elem = {"i4": "i32", "i8": "i64", "f4": "f32", "f8": "f64"}[dtype]
    program = f"f = fn (a : {elem}, b : {elem}, c : {elem}) {{ arange(a, b, c) }};"
    args = [numpy.array(n, dtype) for n in (start, stop, step)]
    close(plain(on_both(program, *args)), numpy.arange(start, stop, step).astype(dtype))


def test_a_range_without_an_end() -> None:
    net = axon.compile("f = fn (a : f32, b : f32, c : f32) { arange(a, b, c) };")
    for args in ((0, 1, 0), (0, numpy.inf, 1)):
        with pytest.raises(axon.RunError):
            net.f(*(numpy.float32(n) for n in args))
