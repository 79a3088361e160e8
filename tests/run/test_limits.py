"""Values and sizes at the limits: the right value, or an error that says where; on both backends.

What is absurd is refused before an array library sees it: NumPy may wrap around, and XLA may end
the process.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy
import pytest

import axon
from axon.ops.memory import LARGEST, Refused, check_fits, shown
from tests.run.support import BACKENDS, on_both

VAST = 99999999999999999999


def refused(program: str, *args: Any, kind: type[axon.AxonError] = axon.RunError) -> str:
    """What is said where `f` is called, the same on both backends."""
    said = set()
    for backend in BACKENDS:
        with pytest.raises(kind) as caught:
            axon.compile(program, backend=backend).f(*args)
        said.add(str(caught.value))
    assert len(said) == 1, said
    return said.pop()


# --- sizes ----------------------------------------------------------------------------------------

TOO_LARGE = {
    "zeros": f"fn (x : f32) {{ zeros([{VAST}]) }}",
    "none of them": f"fn (x : f32) {{ zeros([0,{VAST}]) }}",
    "ones": f"fn (x : f32) {{ ones([2,{VAST}]) }}",
    "full": f"fn (x : f32) {{ full([{VAST}], x) }}",
    "eye": "fn (x : f32) { eye(99999999999) }",
    "range": f"fn (x : f32) {{ range({VAST}) }}",
    "the last range": "fn (x : f32) { range(9223372036854775807) }",
    "range with a start": "fn (x : f32) { range(1, 9223372036854775807, step=2) }",
    "tile": f"fn (x : f32) {{ tile(full([2], x), reps=[{VAST}]) }}",
    "repeat": f"fn (x : f32) {{ repeat(full([2], x), times={VAST}) }}",
    "broadcast_to": f"fn (x : f32) {{ broadcast_to(x, [3,{VAST}]) }}",
    "pad": f"fn (x : f32) {{ pad(full([2], x), before={VAST}) }}",
    "conv": f"fn (x : f32) {{ y = full([1,1,2,2], x); conv(y, y, pad={VAST}) }}",
    "window": f"fn (x : f32) {{ max_pool(full([1,1,2,2], x), window={VAST}, pad={VAST - 1}) }}",
    "upsample": f"fn (x : f32) {{ upsample(full([1,1,2,2], x), scale={VAST}) }}",
    "resize": f"fn (x : f32) {{ resize(full([1,1,2,2], x), [{VAST},2]) }}",
    "one_hot": f"fn (x : f32) {{ one_hot(range(3), depth={VAST}) }}",
    "product": "fn (x : f32) { y = full([30000000], x); expand_dims(y, axis=1) + y }",
    "matrix": "fn (x : f32) { y = full([30000000,1], x); matmul(y, transpose(y)) }",
    "in a map": f"fn (x : f32) {{ map(fn (r) {{ r + sum(zeros([{VAST}])) }}, full([2], x)) }}",
    "in a call": f"fn (x : f32) {{ g(x) }}; g = fn (x) {{ zeros([{VAST}]) }}",
    "arange": "fn (x : f32) { arange(0f * x, 1e30, 1e-30) }",
}


@pytest.mark.parametrize("name", TOO_LARGE)
def test_an_array_that_is_too_large(name: str) -> None:
    text = TOO_LARGE[name]
    first, _, second = text.partition("; g = ")
    said = refused((f"g = {second}; " if second else "") + f"f = {first};", 1.0)
    assert "error[AX406]: an array of shape [" in said
    assert "--> program.axon:1:" in said


@pytest.mark.parametrize("size", [3000000, 10**15])
def test_sizes_that_are_arguments(size: int) -> None:
    assert "AX406" in refused("f = fn (k : dim n) { zeros([k,k,k]) };", size)
    assert "AX406" in refused("f = fn (k : i64) { zeros([k,k,k]) };", size)
    assert "AX406" in refused("f = fn (k : i64 [3]) { ones(k) };", numpy.full(3, size))


def test_what_is_large_and_there_is_no_memory_for() -> None:
    net = axon.compile("f = fn (k : dim n) { zeros([k]) };")
    with pytest.raises(axon.RunError, match=r"error\[AX406\]: there is not enough memory"):
        net.f(10**13)
    with pytest.raises(axon.RunError, match="there is not enough memory"):
        net.on("jax").f(10**13)


def test_a_result_that_jax_cannot_make() -> None:
    """It fails after the call has come back, which the command line waits for."""
    net = axon.compile("f = fn (k : dim n) { x = zeros([k,1]); matmul(x, transpose(x)) };")
    function = net.on("jax").function("f")
    assert function is not None
    with pytest.raises(axon.RunError, match="not enough memory"):
        function.finished(function(1000000))


ON_THE_WAY = {
    "attention": "dot_product_attention(x, x, x)",
    "in a map": "map(fn (y) { s = x + y; dot_product_attention(s, s, s) }, zeros([2]))",
    "in a loop": "fold(x, fn (s, y) { dot_product_attention(s, s, s) + y }, zeros([2]))",
    "in a branch": "cond(c, fn () { dot_product_attention(x, x, x) }, fn () { x })",
}


@pytest.mark.parametrize("name", ON_THE_WAY)
def test_what_an_operator_makes_on_its_way_on_jax(name: str) -> None:
    """As many scores as pairs of places: more than XLA can count, which would end the process."""
    net = axon.compile(
        f"f = fn (k : dim n, c : bool) {{ x = zeros([1,1,k,1]); sum({ON_THE_WAY[name]}) }};",
        backend="jax",
    )
    with pytest.raises(axon.RunError, match=r"4000000000,4000000000\] would take more than"):
        net.f(4 * 10**9, True)
    assert float(net.f(4, True)) == 0


def test_dimensions() -> None:
    lists = ",".join(str(i) for i in range(40))
    twice = f"f = fn (x : f32) {{ expand_dims(expand_dims(x, axis=[{lists}]), axis=[{lists}]) }};"
    assert "an array would have 80 dimensions; there can be at most 64" in refused(twice, 1.0)
    once = f"f = fn (x : f32) {{ expand_dims(x, axis=[{lists}]) }};"
    assert on_both(once, 1.0).ndim == 40


def test_rows_that_no_array_can_have() -> None:
    """The code for a structure of rows, some of which vary, is made before sizes are compared."""
    net = axon.compile(
        f"f = fn (x : f32 [n,*], y : f32 [n,{1 << 63}]) {{"
        " map(fn (r) { { s = sum(r.x) + r.y, r = r.x } }, { x = x, y = y }) };"
    )
    with pytest.raises(axon.ArgumentError, match=f"should be {1 << 63}"):
        net.f([[1.0], [1.0, 2.0]], numpy.zeros((2, 3), "f4"))


def test_room() -> None:
    check_fits((LARGEST // 4,), 4)
    check_fits((0, LARGEST // 4), 4)
    for shape in [(LARGEST // 4 + 1,), (0, LARGEST), (1 << 24, 1 << 24), (1,) * 65, (10**5000,)]:
        with pytest.raises(Refused):
            check_fits(shape, 4)


def test_numbers_with_many_digits() -> None:
    assert shown(12345) == "12345"
    assert shown(-(10**5000)) == "about -10**5000"
    said = refused("f = fn (k : dim n) { zeros([k]) };", 10**5000, kind=axon.ArgumentError)
    assert "it is about 10**5000, and a size is expected" in said


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_size_as_a_number_that_does_not_fit(backend: str) -> None:
    net = axon.compile("f = fn (x : i8 [n]) { x + size(x) };", backend=backend)
    assert net.f(numpy.zeros(100, "i1")).tolist() == [100] * 100
    with pytest.raises(axon.RunError, match="the size 300 does not fit into i8"):
        net.f(numpy.zeros(300, "i1"))


# --- attributes -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "use",
    [
        "tile(x, reps=[{}])", "pad(x, before={})", "roll(x, by={})", "slice(x, start={})",
        "slice(x, stop=-{})", "repeat(x, times={})", "sum(x, axis={})",
    ],
)  # fmt: skip
def test_an_attribute_beyond_all_sizes(use: str) -> None:
    said = refused(
        f"f = fn (x : f32 [n]) {{ {use.format('9' * 4000)} }};", [1.0], kind=axon.ProgramError
    )
    assert "this number is too large" in said


def test_attributes_that_are_only_large() -> None:
    x = numpy.arange(3, dtype="f4")

    def both(use: str) -> Any:
        return on_both(f"f = fn (x : f32 [n]) {{ {use} }};", x)

    assert both(f"slice(x, start={VAST})").tolist() == []
    assert both(f"slice(x, stop={VAST})").tolist() == [0, 1, 2]
    assert both(f"roll(x, by={VAST + 2})").tolist() == numpy.roll(x, 2).tolist()
    m = numpy.ones((2, 3), "f4")
    for k, lower, upper in ((VAST, 6, 0), (-VAST, 0, 6)):
        program = f"f = fn (x : f32 [m,n]) {{ sum(tril(x, k={k})), sum(triu(x, k={k})) }};"
        assert [float(total) for total in on_both(program, m)] == [lower, upper]


def test_a_dimension_that_is_too_large_is_told_once() -> None:
    product = "*".join(["n"] * 80)
    said = refused(f"f = fn (x : f32 [{product}]) {{ x }};", [1.0], kind=axon.ProgramError)
    assert said.count("error[") == 1


# --- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["__debug__", "__builtins__", "__places__", "__name__", "True", "False", "class", "lambda",
     "len", "xp", "prod", "print", "match", "__"],
)  # fmt: skip
def test_names_that_python_keeps(name: str) -> None:
    net = axon.compile(f"{name} = fn (x) {{ x + x }}; f = fn (x) {{ {name}(x) }};")
    assert float(net[name](2.0)) == float(net.f(2.0)) == 4.0
    local = f"f = fn ({name}) {{ y = {name} + 1; {name}' = y + {name}; {name}' }};"
    assert float(axon.compile(local).f(2.0)) == 5.0


def test_a_parameter_called_debug() -> None:
    assert float(on_both("f = fn (__debug__ : f32) { y = __debug__ + 1; y };", 1.0)) == 2.0


# --- sizes that are expressions -------------------------------------------------------------------


def test_a_square() -> None:
    program = "f = fn (x : f32 [n*n]) { x };"
    for size in (0, 1, 4, 9, 10**6):
        assert on_both(program, numpy.zeros(size, "f4")).size == size
    for size in (2, 3, 8, 10**6 + 1):
        said = refused(program, numpy.zeros(size, "f4"), kind=axon.ArgumentError)
        assert f"size 0 of `x` is {size}, and should be n*n" in said


def test_a_size_that_a_root_decides() -> None:
    assert on_both("f = fn (x : f32 [n*n]) { zeros([n]) };", numpy.zeros(9, "f4")).shape == (3,)
    program = "f = fn (x : f32 [n*m], y : f32 [m+1]) { zeros([n,m]) };"
    assert on_both(program, numpy.zeros(6, "f4"), numpy.zeros(4, "f4")).shape == (2, 3)
    refused(program, numpy.zeros(6, "f4"), numpy.zeros(5, "f4"), kind=axon.ArgumentError)


@pytest.mark.parametrize(
    ("size", "fits"),
    [("n*n*n-n", {0, 6, 24}), ("2*(n/2)", {0, 2, 4, 6}), ("n*n+n", {0, 2, 6}),
     ("3*n+(n/2)", {0, 3, 7}), ("n*n-6*n+9", {0, 1, 4, 9})],
)  # fmt: skip
def test_expressions_with_one_unknown(size: str, fits: set[int]) -> None:
    net = axon.compile(f"f = fn (x : f32 [{size}]) {{ x }};")
    for given in range(8):
        x = numpy.zeros(given, "f4")
        if given in fits:
            assert net.f(x).size == given
        else:
            with pytest.raises(axon.ArgumentError):
                net.f(x)


def test_a_division_by_a_size_that_is_zero() -> None:
    said = refused("f = fn (k : dim n) { zeros([10/n]) };", 0, kind=axon.ArgumentError)
    assert "error[AX107]: a size is divided by n, which is 0" in said


# --- nothing there, and windows -------------------------------------------------------------------


def test_a_position_needs_something() -> None:
    net = axon.compile("f = fn (x : f32 [n,m]) { argmax(x, axis=1) }; g = fn (x) { argmin(x) };")
    assert net.f.signature == "f32 [n,m] -> i64 [n] where m >= 1"
    assert net.g.signature == "t a -> i64 where size(a) >= 1"
    assert net.f(numpy.zeros((0, 2), "f4")).shape == (0,)
    for backend in BACKENDS:
        with pytest.raises(axon.ArgumentError, match="m >= 1"):
            net.on(backend).f(numpy.zeros((2, 0), "f4"))
        with pytest.raises(axon.ArgumentError, match="does not hold"):
            net.on(backend).g(numpy.zeros((2, 0), "f4"))


def test_the_largest_of_nothing_is_what_no_element_is_less_than() -> None:
    assert (
        on_both("f = fn (x) { max(x, axis=0) };", numpy.zeros((0, 2), "f4")).tolist()
        == [-math.inf] * 2
    )


WINDOWS = {
    "conv(x, zeros([1,1,3,3]))": (3, 2),
    "conv(x, zeros([1,1,2,2]), dilation=3)": (4, 3),
    "conv(x, zeros([1,1,5,5]), pad=1)": (3, 2),
    "conv(x, zeros([1,1,3,3]), stride=2)": (3, 2),
    "max_pool(x, window=3, stride=2)": (3, 2),
    "avg_pool(x, window=3, pad=1)": (1, 0),
    "lp_pool(x, window=2, dilation=2)": (3, 2),
    "argmax_pool(x, window=2)": (2, 1),
    "max_pool(x, window=4, stride=2, ceil_mode=true)": (3, 2),
    "deform_conv(x, zeros([1,1,3,3]), zeros([1,18,h-2,w-2]))": (3, 2),
}


@pytest.mark.parametrize("use", WINDOWS)
def test_a_window_that_does_not_fit(use: str) -> None:
    least, less = WINDOWS[use]
    program = f"f = fn (x : f32 [1,1,h,w]) {{ {use} }};"
    assert on_both(program, numpy.ones((1, 1, least, least), "f4")).size
    for shape in ((1, 1, least, less), (1, 1, less, least)):
        refused(program, numpy.ones(shape, "f4"), kind=axon.ArgumentError)
    if "h-2" not in use:
        known = program.replace("h,w", f"{less},{less}")
        with pytest.raises(axon.ProgramError, match="the window is larger than the padded input"):
            axon.compile(known)


def test_columns_that_no_window_saw() -> None:
    net = axon.compile("f = fn (x : f32 [n,k,l]) { col2im(x, [4,5], [2,2]) };")
    assert net.f.signature == "f32 [n,k,12] -> f32 [n,k/4,4,5] where k mod 4 = 0"
    with pytest.raises(axon.ProgramError, match="the window is larger"):
        axon.compile("f = fn (x : f32 [n,k,l]) { col2im(x, [4,5], [7,2]) };")


# --- element types --------------------------------------------------------------------------------


def test_bits_are_cast_to_as_many_bits() -> None:
    for given, to in (("i32", "i8"), ("f32", "f64"), ("bf16", "i32"), ("bool", "i16")):
        with pytest.raises(axon.ProgramError, match="bit_cast"):
            axon.compile(f"f = fn (x : {given} [n]) {{ bit_cast(x, to={to}) }};")
    general = axon.compile("f = fn (x) { bit_cast(x, to=f32) };")
    assert general.f(numpy.array([0x3F800000], "u4")).tolist() == [1.0]
    for backend in BACKENDS:
        with pytest.raises(axon.ArgumentError, match="bit_cast"):
            general.on(backend).f(numpy.zeros(2, "i8"))


@pytest.mark.parametrize("mask", ["i64", "i32", "u8", "f32", "bool"])
def test_masks_of_every_element_type(mask: str) -> None:
    program = (
        f"f = fn (q, k, v, m : {mask} [2,l]) {{ dot_product_attention(q, k, v, m, scale=1) }};"
    )
    q, k = numpy.ones((1, 1, 2, 3), "f4"), numpy.ones((1, 1, 4, 3), "f4")
    v = numpy.arange(4, dtype="f4").reshape(1, 1, 4, 1)
    m = numpy.array([[0, 1], [1, 0]])
    found = on_both(program, q, k, v, m.astype(bool) if mask == "bool" else m.tolist())
    if mask == "bool":
        assert found.ravel().tolist() == [1.0, 0.0]
    else:
        weight = math.e / (1 + math.e)
        assert numpy.allclose(found.ravel(), [weight, 1 - weight])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("elem", ["i1", "u1", "i2", "u4", "i8", "u8"])
def test_shrink_does_not_wrap(backend: str, elem: str) -> None:
    low, high = int(numpy.iinfo(elem).min), int(numpy.iinfo(elem).max)
    xs = sorted({low, low + 1, high - 1, high, *range(max(low, -3), 4)})
    for threshold, bias in ((1, 1), (0.5, 1.5), (3, -2.5), (0.5, 1e30)):
        program = f"f = fn (x) {{ shrink(x, threshold={threshold}, bias={bias}) }};"
        found = axon.compile(program, backend=backend).f(numpy.array(xs, elem))
        t, b = Fraction(threshold), Fraction(bias)
        exact = [math.trunc(x + b if x < -t else x - b if x > t else 0) for x in xs]
        assert numpy.asarray(found).tolist() == [min(max(y, low), high) for y in exact]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("elem", ["i1", "u1", "i4", "i8", "u8"])
def test_quantising_what_does_not_fit(backend: str, elem: str) -> None:
    net = axon.compile("f = fn (x, z) { quantise(x, 0.5, z) };", backend=backend)
    back = axon.compile("f = fn (x, z) { dequantise(x, 0.5f, z) };", backend=backend)
    low, high = int(numpy.iinfo(elem).min), int(numpy.iinfo(elem).max)
    xs = [0.0, 1.0, -1.0, 0.25, 1e30, -1e30, math.inf, -math.inf, math.nan, 2.0**62, -(2.0**62)]
    for zero in (low, 5, high):
        z = numpy.array(zero, elem)
        found = numpy.asarray(net.f(numpy.array(xs, "f4"), z)).tolist()
        moved = [0 if x != x else x / 0.5 if math.isinf(x) else round(x / 0.5) for x in xs]
        assert found == [int(min(max(y + zero, low), high)) for y in moved]
        whole = numpy.array([low, 0, 5, high], elem)
        expected = [numpy.float32(int(x) - zero) * numpy.float32(0.5) for x in whole]
        assert numpy.asarray(back.f(whole, z)).tolist() == expected


def test_casts_of_what_is_no_number() -> None:
    x = numpy.array([math.nan, math.inf, -math.inf, 1e30, -1e30, 1.9, -1.9], "f4")
    for elem, low, high in (("i32", -(2**31), 2**31 - 1), ("u64", 0, 2**64 - 1)):
        found = on_both(f"f = fn (x) {{ cast(x, to={elem}) }};", x).tolist()
        assert found == [0, high, low, high, low, 1, max(-1, low)]


@pytest.mark.parametrize("scale", [math.inf, -math.inf, math.nan, 0.0, -1.0, 1e38, 1e20])
def test_scales_that_make_no_size(scale: float) -> None:
    program = "f = fn (x : f32 [1,1,4,4], s : f32 [2]) { rescale(x, s) };"
    scales = numpy.array([1, scale], "f4")
    assert "AX406" in refused(program, numpy.ones((1, 1, 4, 4), "f4"), scales)


def test_ranges_without_an_end() -> None:
    program = "f = fn (a : f32, b, c) { arange(a, b, c) };"
    for bounds in ((0.0, math.inf, 1.0), (math.nan, 1.0, 1.0), (0.0, 1.0, 0.0), (0.0, 1e30, 1e-30)):
        assert "AX406" in refused(program, *bounds)
    whole = "f = fn (a : i64, b, c) { arange(a, b, c) };"
    assert on_both(whole, 2**63 - 3, 2**63 - 1, 1).tolist() == [2**63 - 3, 2**63 - 2]
    near = "f = fn (x : f32) { range(9223372036854775805, 9223372036854775807) };"
    assert on_both(near, 1.0).tolist() == [2**63 - 3, 2**63 - 2]
    beyond = "f = fn (x : f32) { range(9223372036854775807, 9223372036854775810) };"
    assert "do not fit into i64" in refused(beyond, 1.0)


# --- values ---------------------------------------------------------------------------------------


def test_a_transposed_convolution_touches_only_what_it_covers() -> None:
    filters = numpy.array([[[[math.nan, 0.5], [math.nan, 3]]]], "f4")
    found = on_both("f = fn (x, k) { conv_transpose(x, k, stride=2) };", [[[[3.0]]]], filters)
    assert numpy.array_equal(found, [[[[math.nan, 1.5], [math.nan, 9]]]], equal_nan=True)
    corner = numpy.array([[[[math.nan, 0.5], [2, 3]]]], "f4")
    ones = numpy.ones((1, 1, 2, 2), "f4")
    found = on_both("f = fn (x, k) { conv_transpose(x, k) };", ones, corner)
    n = math.nan
    expected = numpy.array([[[[n, n, 0.5], [n, n, 3.5], [2, 5, 3]]]])
    assert numpy.array_equal(found, expected, equal_nan=True)


def test_a_transposed_convolution_is_the_same_both_ways() -> None:
    random = numpy.random.default_rng(0)
    x = random.normal(size=(2, 4, 3, 5)).astype("f4")
    filters = random.normal(size=(4, 3, 3, 2)).astype("f4")
    program = (
        "f = fn (x, k) "
        "{ conv_transpose(x, k, stride=2, pad=1, output_pad=1, dilation=2, groups=2) };"
    )
    finite = on_both(program, x, filters)
    filters[0, 0, 0, 0] = math.nan
    found = on_both(program, x, filters)
    touched = numpy.isnan(found)
    assert 0 < touched.sum() < found.size
    assert numpy.allclose(found[~touched], finite[~touched], atol=1e-5)


def test_places_outside_touch_nothing() -> None:
    x = numpy.full((1, 1, 2, 2), math.nan, "f4")
    grid = numpy.array([[[[3.0, 3.0], [-5.0, 0.0], [math.inf, 0.0]]]], "f4")
    for mode in ("nearest", "linear", "cubic"):
        found = on_both(f'f = fn (x, g) {{ grid_sample(x, g, mode="{mode}") }};', x, grid)
        assert found.ravel().tolist() == [0, 0, 0]


def test_cubic_samples_beyond_the_border() -> None:
    """Each of the elements around a place is brought in, not the place (as onnxruntime has it)."""
    x = numpy.arange(4, dtype="f4").reshape(1, 1, 1, 4)
    xs = [-1.25, -1.05, -0.9, 1.1, 1.3, 9.0, -9.0, 1e30]
    grid = numpy.array([[[[x, 0.0] for x in xs]]], "f4")
    program = 'f = fn (x, g) { grid_sample(x, g, mode="cubic", padding="border") };'
    found = on_both(program, x, grid).ravel()

    def curve(d: float) -> float:
        a = -0.75
        near = (a + 2) * d**3 - (a + 3) * d**2 + 1
        return near if d <= 1 else a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a if d < 2 else 0

    expected = []
    for at in xs:
        place = min(max(((at + 1) * 4 - 1) / 2, -9.0), 9.0)
        first = math.floor(place)
        taps = range(first - 1, first + 3)
        expected.append(sum(curve(abs(place - t)) * min(max(t, 0), 3) for t in taps))
    assert numpy.allclose(found, expected, atol=1e-5)


# --- what is given --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "given", "text"),
    [
        ("f = fn (x : i64 [n]) { x };", [2**63, -1], "9223372036854775808 does not fit into i64"),
        ("f = fn (x : i64 [n]) { x };", [2**70], "does not fit into i64"),
        ("f = fn (x) { x };", [2**70, 1], "does not fit into i64"),
        ("f = fn (x : f32) { x };", 10**5000, "about 10**5000 does not fit into f32"),
        ("f = fn (x : u8) { x };", 10**5000, "about 10**5000 does not fit into u8"),
        ("f = fn (x : i64 [n]) { x };", [1.5], "it has fractions"),
        ("f = fn (x) { x };", [None], "not an array of numbers"),
    ],
    ids=range(7),
)
def test_numbers_that_do_not_fit(program: str, given: Any, text: str) -> None:
    assert text in refused(program, given, kind=axon.ArgumentError)


def test_integers_where_floats_are_wanted() -> None:
    assert float(on_both("f = fn (x : f32) { x };", 10**22)) == numpy.float32(1e22)


def test_no_rows_of_an_absurd_size() -> None:
    rows = f"f = fn (x : f32 [n,*,{VAST}]) {{ x }};"
    assert "would take more than" in refused(rows, [], kind=axon.ArgumentError)


def test_a_shape_with_two_open_parts() -> None:
    """Which of the sizes is in the middle, nothing says; and nobody asks."""
    program = "f = fn (x : f32 p@[n]@q, y : f32 [n]) { x, y };"
    x, y = on_both(program, numpy.ones((2, 3, 4), "f4"), numpy.ones(3, "f4"))
    assert (x.shape, y.shape) == ((2, 3, 4), (3,))
    assert on_both("f = fn (x : f32 p@[n]@q) { x };", numpy.ones((2, 3), "f4")).shape == (2, 3)


def test_nesting_without_an_end() -> None:
    lists: Any = [1.0]
    tuples: Any = 1.0
    for _ in range(3000):
        lists, tuples = [lists], (tuples,)
    for given in (lists, tuples):
        assert "nested" in refused("f = fn (x) { x };", given, kind=axon.ArgumentError)
    rows = "f = fn (x : f32 [n,*]) { x };"
    assert "nested" in refused(rows, lists, kind=axon.ArgumentError)


@pytest.mark.parametrize(
    "given", [None, ["f32 [n]"], b"f32", object(), {1: 2}, numpy.zeros(3, "c8")]
)
def test_what_is_no_type_and_no_value_is_refused(given: Any) -> None:
    function = axon.compile("f = fn (x) { x + x };").f
    with pytest.raises(axon.ArgumentError, match="`x` must be a type, such as"):
        function.specialize(x=given)


def test_a_value_of_another_type_is_refused() -> None:
    with pytest.raises(axon.ArgumentError, match=r"cannot be called with x : \{\}"):
        axon.compile("f = fn (x) { x + x };").f.specialize(x={})
