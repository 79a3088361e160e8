"""Scattering, sampling, resizing and pooling, against NumPy in its simplest words."""

from __future__ import annotations

import itertools
from typing import Any

import numpy
import pytest

import axon
from tests.run.support import close, floats, on_both, plain


def run(call: str, params: str, *args: Any) -> Any:
    """On NumPy; that JAX agrees is tested with every example of every operator."""
    return plain(axon.compile(f"f = fn ({params}) {{ {call} }};").f(*args))


def run_both(call: str, params: str, *args: Any) -> Any:
    return plain(on_both(f"f = fn ({params}) {{ {call} }};", *args))


# --- scattering ------------------------------------------------------------------------------

COMBINE: dict[str, Any] = {
    "set": lambda old, new: new,
    "add": lambda old, new: old + new,
    "mul": lambda old, new: old * new,
    "min": min,
    "max": max,
}


@pytest.mark.parametrize("mode", COMBINE)
def test_scatter_elements(mode: str) -> None:
    x, new = floats(4, 3), floats(2, 3) + 1
    places = numpy.array([[0, -1, 2], [0, 3, 1]])
    expected = x.copy()
    for i, j in itertools.product(range(2), range(3)):
        at = places[i, j] % 4, j
        expected[at] = COMBINE[mode](expected[at], new[i, j])
    program = f'scatter_elements(x, i, new, mode="{mode}")'
    close(run(program, "x, i : i64 [2,3], new", x, places, new), expected)


@pytest.mark.parametrize("mode", COMBINE)
def test_scatter_nd(mode: str) -> None:
    x, new = floats(4, 3, 2), floats(3, 2) + 1
    places = numpy.array([[0, 1], [-1, 2], [0, 1]])
    expected = x.copy()
    for row, (i, j) in enumerate(places):
        for k in range(2):
            expected[i, j, k] = COMBINE[mode](expected[i, j, k], new[row, k])
    close(
        run(
            f'scatter_nd(x, i, new, axes=2, mode="{mode}")', "x, i : i64 [3,2], new", x, places, new
        ),
        expected,
    )


def test_gather_nd() -> None:
    x, places = floats(2, 4, 3, 5), numpy.array([[[1, 2], [-1, 0]], [[0, 0], [3, 1]]])
    expected = numpy.stack([x[b][places[b, :, 0], places[b, :, 1]] for b in range(2)])
    close(run("gather_nd(x, i, axes=2, batch=1)", "x, i : i64 [2,2,2]", x, places), expected)


def test_reverse_sequence() -> None:
    x, lengths = floats(3, 5, 2), numpy.array([0, 5, 3])
    expected = x.copy()
    for row, length in enumerate(lengths):
        expected[row, :length] = x[row, :length][::-1]
    close(run("reverse_sequence(x, n, time=1, batch=0)", "x, n : i64 [3]", x, lengths), expected)


# --- by order and by truth -------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(), (5,), (3, 4), (2, 0, 3), (2, 3, 2)])
def test_argwhere(shape: tuple[int, ...]) -> None:
    x = (numpy.random.default_rng(1).random(shape) < 0.5).astype("f4")
    close(run("argwhere(x)", f"x : f32 {list(shape)}", x), numpy.argwhere(x))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_distinct_rows(axis: int) -> None:
    x = numpy.random.default_rng(2).integers(0, 2, (6, 4, 2)).astype("i4")
    expected = numpy.unique(
        x, return_index=True, return_inverse=True, return_counts=True, axis=axis
    )
    found = run(f"distinct(x, axis={axis})", "x : i32 [n,m,k]", x)
    close(found, (expected[0], expected[1], expected[2].reshape(-1), expected[3]))


def test_distinct_in_the_order_of_appearance() -> None:
    x = numpy.array([3, 1, 3, 2, 1, numpy.nan, numpy.nan], "f4")
    found = run_both("distinct(x, ordered=false)", "x : f32 [n]", x)
    close(found[0], numpy.array([3, 1, 2, numpy.nan], "f4"))
    close(found[1:], tuple(map(numpy.array, ([0, 1, 3, 5], [0, 1, 0, 2, 1, 3, 3], [2, 2, 1, 2]))))


def test_the_last_of_the_largest() -> None:
    x = numpy.array([[1, 3, 3], [2, 2, 0]], "f4")
    close(run("argmax(x, axis=1, last=true)", "x : f32 [n,m]", x), numpy.array([2, 1]))
    close(run("argmin(x, axis=1, last=true)", "x : f32 [n,m]", x), numpy.array([0, 2]))
    close(run("argmax(x, last=true)", "x : f32 [n,m]", x), numpy.array(2))


@pytest.mark.parametrize("kind", ["cumsum", "cumprod"])
@pytest.mark.parametrize("reverse", [False, True])
def test_without_the_element_itself(kind: str, reverse: bool) -> None:
    x = floats(3, 4)
    y = x[:, ::-1] if reverse else x
    first = numpy.full((3, 1), kind == "cumprod", "f4")
    expected = numpy.concatenate([first, getattr(numpy, kind)(y, axis=1)[:, :-1]], axis=1)
    call = f"{kind}(x, axis=1, exclusive=true, reverse={str(reverse).lower()})"
    close(run(call, "x : f32 [n,m]", x), expected[:, ::-1] if reverse else expected)
    assert run(call, "x : f32 [n,m]", x[:, :0]).shape == (3, 0)


# --- edges -----------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["edge", "reflect", "wrap"])
@pytest.mark.parametrize("by", [1, 3, 9])
def test_pad_with_what_is_there(mode: str, by: int) -> None:
    x = floats(3, 4)
    expected = numpy.pad(x, ((1, by), (0, by)), mode=mode)  # type: ignore[call-overload]
    close(run(f'pad(x, pad=[[1,{by}],[0,{by}]], mode="{mode}")', "x : f32 [n,m]", x), expected)


def test_pad_by_what_the_run_says() -> None:
    x, value = floats(3, 4), numpy.array(7, "f4")
    params = "x : f32 [n,m], by : i64 [4], v : f32"
    found = run_both("pad_by(x, by, v, axis=[1,0])", params, x, numpy.array([2, -1, -3, 2]), value)
    close(found, numpy.pad(x[1:, :1], ((0, 2), (2, 0)), constant_values=7))
    found = run_both("pad_by(x, by, v, axis=[1,0])", params, x, numpy.array([-9, 0, 0, 0]), value)
    assert found.shape == (3, 0)


@pytest.mark.parametrize(("size", "low"), [(2, 1), (3, 1), (5, 0)])
def test_the_middle_is_kept(size: int, low: int) -> None:
    x = floats(5, 2)
    close(run(f"center_crop_pad(x, [{size}], axis=0)", "x : f32 [n,m]", x), x[low : low + size])
    y = run("center_crop_pad(x, [8], axis=0)", "x : f32 [n,m]", x)
    close(y, numpy.pad(x, ((1, 2), (0, 0))))


# --- resizing --------------------------------------------------------------------------------


def interpolated(x: Any, size: int, place: Any) -> Any:
    """A vector at places between its elements."""
    return numpy.array([numpy.interp(place(i), range(len(x)), x) for i in range(size)], "f4")


@pytest.mark.parametrize("size", [1, 3, 5, 8, 10])
def test_linear_resize(size: int) -> None:
    x = floats(5)
    ways = {
        "half_pixel": lambda i: (i + 0.5) * 5 / size - 0.5,
        "asymmetric": lambda i: i * 5 / size,
        "align_corners": lambda i: i * 4 / max(size - 1, 1),
    }
    for coordinates, place in ways.items():
        call = f'resize(x, [{size}], axis=0, mode="linear", coordinates="{coordinates}")'
        close(run(call, "x : f32 [n]", x), interpolated(x, size, place))


def test_nearest_resize() -> None:
    x = floats(2, 6)
    close(run("resize(x, scale=[1,0.5])", "x : f32 [n,m]", x), x[:, ::2])
    close(run("resize(x, scale=3, axis=1)", "x : f32 [n,m]", x), numpy.repeat(x, 3, axis=1))
    call = 'resize(x, [4], axis=1, coordinates="asymmetric", rounding="ceil")'
    close(run(call, "x : f32 [n,m]", x), x[:, [0, 2, 3, 5]])
    whole = numpy.arange(6).reshape(1, 6)
    close(run("resize(x, scale=2, axis=1)", "x : i64 [n,m]", whole), whole.repeat(2, axis=1))


def test_a_size_that_f32_rounds() -> None:
    """10 times what f32 makes of 0.7 is 7 in f32, and less than 7 otherwise."""
    x = floats(1, 10)
    assert run_both("resize(x, scale=0.7, axis=1)", "x : f32 [n,m]", x).shape == (1, 7)
    scales = numpy.array([0.7], "f4")
    found = run_both("rescale(x, s, axis=1)", "x : f32 [n,m], s : f32 [1]", x, scales)
    close(found, run_both("resize(x, scale=0.7, axis=1)", "x : f32 [n,m]", x))


def test_antialias_of_half_the_size_is_a_mean() -> None:
    x = numpy.arange(8, dtype="f4")
    found = run('resize(x, [4], axis=0, mode="linear", antialias=true)', "x : f32 [n]", x)
    taps = numpy.array([1, 3, 3, 1]) / 8
    inner = [taps @ x[i - 1 : i + 3] for i in (2, 4)]
    close(found[1:3], numpy.array(inner, "f4"))


@pytest.mark.parametrize("aspect", ["not_larger", "not_smaller"])
def test_one_scale_for_all_axes(aspect: str) -> None:
    x = floats(4, 8)
    shape = run(f'resize(x, [8,4], aspect="{aspect}")', "x : f32 [n,m]", x).shape
    assert shape == ((2, 4) if aspect == "not_larger" else (8, 16))


# --- sampling --------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("corners", ["true", "false"])
@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (1, 2, 3, 4, 5)])
def test_the_grid_that_changes_nothing(mode: str, corners: str, shape: tuple[int, ...]) -> None:
    x, count = floats(*shape), len(shape) - 2
    theta = numpy.tile(numpy.eye(count, count + 1, dtype="f4"), (shape[0], 1, 1))
    sizes = ",".join(map(str, shape[2:]))
    call = (
        f"grid_sample(x, affine_grid(theta, [{sizes}], dimensions={count}, "
        f'align_corners={corners}), mode="{mode}", padding="reflection", align_corners={corners})'
    )
    params = f"x : f32 {list(shape)}, theta : f32 [{shape[0]},{count},{count + 1}]"
    numpy.testing.assert_allclose(run(call, params, x, theta), x, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("padding", "expected"), [("zeros", [0, 0]), ("border", [0, 2]), ("reflection", [1, 1])]
)
def test_what_is_outside(padding: str, expected: list[int]) -> None:
    x = numpy.arange(3, dtype="f4").reshape(1, 1, 1, 3)
    grid = numpy.array([[-2, 0], [2, 0]], "f4").reshape(1, 1, 2, 2)  # one element beyond
    call = f'grid_sample(x, g, padding="{padding}", align_corners=true)'
    found = run(call, "x : f32 [n,c,h,w], g : f32 [n,a,b,2]", x, grid)
    close(found.reshape(-1), numpy.array(expected, "f4"))


def test_deform_conv_without_offsets_is_a_convolution() -> None:
    x, f = floats(2, 4, 6, 7), floats(6, 2, 3, 2)
    how = "stride=[2,1], pad=[1,0], dilation=[1,2], groups=2"
    expected = run(f"conv(x, f, {how})", "x : f32 [2,4,6,7], f : f32 [6,2,3,2]", x, f)
    offset = numpy.zeros((2, 2 * 2 * 6, *expected.shape[2:]), "f4")
    params = f"x : f32 [2,4,6,7], f : f32 [6,2,3,2], o : f32 {list(offset.shape)}"
    found = run(f"deform_conv(x, f, o, {how}, offset_groups=2)", params, x, f, offset)
    numpy.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_the_offset_of_one_row_looks_one_row_further() -> None:
    x, f = floats(1, 1, 5, 5), numpy.ones((1, 1, 1, 1), "f4")
    offset = numpy.zeros((1, 2, 5, 5), "f4")
    offset[:, 0] = 1
    params = "x : f32 [1,1,5,5], f : f32 [1,1,1,1], o : f32 [1,2,5,5]"
    found = run("deform_conv(x, f, o)", params, x, f, offset)
    close(found, numpy.pad(x[:, :, 1:], ((0, 0), (0, 0), (0, 1), (0, 0))))


# --- regions ---------------------------------------------------------------------------------


def test_roi_align_of_whole_elements() -> None:
    """One sample in the middle of each element."""
    x = floats(2, 3, 6, 6)
    regions, image = numpy.array([[1, 2, 4, 5], [0, 0, 6, 6]], "f4"), numpy.array([1, 0])
    params = "x : f32 [2,3,6,6], r : f32 [2,4], i : i64 [2]"
    found = run_both("roi_align(x, r, i, size=[3,3], sampling=1)", params, x, regions, image)
    close(found[0], x[1, :, 2:5, 1:4])
    close(found[1], x[0, :, :5:2, :5:2] * 0 + x[0].reshape(3, 3, 2, 3, 2).mean((2, 4)))
    none = run_both(
        "roi_align(x, r, i, size=[3,3])",
        "x : f32 [2,3,6,6], r : f32 [k,4], i : i64 [k]",
        x,
        regions[:0],
        image[:0],
    )
    assert none.shape == (0, 3, 3, 3)


def test_the_largest_of_each_part() -> None:
    x = floats(2, 3, 6, 7)
    regions = numpy.array([[1, 0, 4, 5], [2.4, 1, 2.4, 9], [9, 9, 9, 9]], "f4")
    image = numpy.array([1, 0, 0])
    params = "x : f32 [2,3,6,7], r : f32 [3,4], i : i64 [3]"
    found = run("roi_pool(x, r, i, size=[3,2])", params, x, regions, image)
    close(found[0], x[1, :, :, 1:5].reshape(3, 3, 2, 2, 2).max((2, 4)))
    parts = [x[0, :, 1:4, 2], x[0, :, 4:7, 2]]
    close(found[1, :, :2, 0], numpy.stack([part.max(1) for part in parts], axis=1))
    close(found[1, :, 2], numpy.zeros((3, 2), "f4"))
    close(found[2], numpy.zeros((3, 3, 2), "f4"))


def test_boxes_that_overlap() -> None:
    boxes = numpy.array([[[0, 0, 2, 2], [0, 0, 2, 1.9], [5, 5, 6, 6], [3, 3, 1, 1]]], "f4")
    scores = numpy.array([[[0.5, 0.9, 0.1, 0.7]]], "f4")
    params = "b : f32 [1,4,4], s : f32 [1,1,4], m : i64, o : f32, l : f32"
    args = boxes, scores, numpy.array(9), numpy.array(0.5, "f4"), numpy.array(0.2, "f4")
    close(
        run_both("non_max_suppression(b, s, m, o, l)", params, *args),
        numpy.array([[0, 0, 1], [0, 0, 3]]),
    )
    bare = run_both("non_max_suppression(b, s, m)", params, *args)
    close(bare, numpy.array([[0, 0, 1], [0, 0, 2]]))


# --- pools and blocks ------------------------------------------------------------------------


def windows(x: Any, size: int, stride: int, pad: int, value: float) -> Any:
    """All windows of the last dimension, as one dimension more."""
    x = numpy.pad(x, ((0, 0),) * (x.ndim - 1) + ((pad, pad),), constant_values=value)
    count = (x.shape[-1] - size) // stride + 1
    return numpy.stack([x[..., i * stride : i * stride + size] for i in range(count)], axis=-2)


def test_lp_pool() -> None:
    x = floats(2, 3, 9)
    seen = windows(x, 3, 2, 1, 0)
    for p in (1, 2, 3):
        expected = (numpy.abs(seen) ** p).sum(-1) ** (1 / p)
        close(
            run(f"lp_pool(x, window=[3], stride=[2], pad=[1], p={p})", "x : f32 [n,c,w]", x),
            expected,
        )


def test_argmax_pool_is_where_max_pool_looks() -> None:
    x = floats(2, 3, 7, 6)
    how = "window=[3,2], stride=[2,1], pad=[1,0], dilation=[1,2], ceil_mode=true"
    params = "x : f32 [n,c,h,w]"
    best, where = (run(f"{name}(x, {how})", params, x) for name in ("max_pool", "argmax_pool"))
    close(x.reshape(-1)[where], best)
    columns = run(f"argmax_pool(x, {how}, columns=true)", params, x)
    close(x.transpose(0, 1, 3, 2).reshape(-1)[columns], best)


def test_same_lower_puts_the_odd_one_in_front() -> None:
    x, f = floats(1, 1, 5), numpy.ones((1, 1, 2), "f4")
    found = run('conv(x, f, pad="same_lower")', "x : f32 [n,c,w], f : f32 [k,c,r]", x, f)
    close(found, numpy.pad(x, ((0, 0), (0, 0), (1, 0)))[:, :, :-1] + x)


def test_blocks_there_and_back() -> None:
    x = floats(2, 3, 4, 6)
    for first in ("true", "false"):
        how = f"block=2, blocks_first={first}"
        call = f"depth_to_space(space_to_depth(x, {how}), {how})"
        close(run(call, "x : f32 [2,3,4,6]", x), x)
    first = run("space_to_depth(x, block=2)", "x : f32 [2,3,4,6]", x)
    close(first[:, :3], x[:, :, ::2, ::2])


def test_col2im_adds_up_what_windows_saw() -> None:
    x = floats(1, 2, 4, 5)
    columns, count = [], numpy.zeros((4, 5), "f4")
    for i, j in itertools.product(range(3), range(4)):
        columns.append(x[0, :, i : i + 2, j : j + 2].reshape(-1))
        count[i : i + 2, j : j + 2] += 1
    seen = numpy.stack(columns, axis=1)[None]
    close(run("col2im(x, [4,5], [2,2])", "x : f32 [n,k,l]", seen), x * count)


def test_im2col_lists_what_windows_see() -> None:
    x = floats(2, 3, 5, 6)
    options = "window=[2,3], stride=[2,1], pad=[1,0], dilation=[1,2]"
    padded = numpy.pad(x, [(0, 0), (0, 0), (1, 1), (0, 0)])
    columns = [
        padded[:, :, i : i + 2, j : j + 5 : 2].reshape(2, -1)
        for i, j in itertools.product(range(0, 6, 2), range(2))
    ]
    expected = numpy.stack(columns, axis=2)
    close(run_both(f"im2col(x, {options})", "x : f32 [n,c,h,w]", x), expected)


@pytest.mark.parametrize("sizes", [(7, 9), (3, 4), (2, 10), (6, 12), (1, 5)])
@pytest.mark.parametrize(("kind", "function"), [("max", numpy.max), ("avg", numpy.mean)])
def test_adaptive_pools_cover_all(kind: str, function: Any, sizes: tuple[int, int]) -> None:
    x, expected = floats(2, 3, *sizes), numpy.zeros((2, 3, 3, 4), "f4")
    for i, j in itertools.product(range(3), range(4)):
        rows, columns = (
            slice(at * size // count, -(-(at + 1) * size // count))
            for at, size, count in zip((i, j), sizes, (3, 4), strict=True)
        )
        expected[:, :, i, j] = function(x[:, :, rows, columns], axis=(2, 3))
    close(run_both(f"adaptive_{kind}_pool(x, [3,4])", "x : f32 [n,c,h,w]", x), expected)
