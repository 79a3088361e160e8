"""What each backend brings to the array namespace, against loops that spell it out."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

from axon.backends import numpy_arrays
from axon.ops.arrays import Array

ELEMENTS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64")


@pytest.fixture(params=["numpy", "jax"])
def xp(request: pytest.FixtureRequest) -> Iterator[Any]:
    arrays: Any = numpy_arrays.ARRAYS
    if request.param == "jax":
        pytest.importorskip("jax")
        from axon.backends import jax_arrays

        arrays = jax_arrays.ARRAYS
    with arrays.context():
        yield arrays


def some(*shape: int, element: str = "f64", seed: int = 0) -> Array:
    """Small integers, so that sums are exact in every element type."""
    values = np.random.default_rng(seed).integers(0, 4, shape)
    return values.astype(numpy_arrays.element(element))


def same(found: Array, expected: Array, rtol: float = 0) -> None:
    found = np.asarray(found)
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found.astype("f8"), expected.astype("f8"), rtol=rtol, atol=rtol)


# --- the namespace ---------------------------------------------------------------------------


def test_nothing_is_set_for_the_rest_of_the_process() -> None:
    jax = pytest.importorskip("jax")
    from axon.backends import jax_arrays

    arrays: Any = jax_arrays.ARRAYS
    before = jax.config.jax_enable_x64, jax.config.jax_default_matmul_precision
    with arrays.context():
        assert arrays.zeros(3).dtype == "float64"
    assert before == (jax.config.jax_enable_x64, jax.config.jax_default_matmul_precision)


def test_elements(xp: Any) -> None:
    for name in ("bool", *ELEMENTS):
        bits = int(name.lstrip("boluif") or 8)
        made = xp.zeros((2,), dtype=xp.element(name))
        assert made.dtype == xp.element(name)
        assert made.dtype.itemsize * 8 == bits, name
    assert xp.element("bf16").name == "bfloat16"


def test_bf16_on_numpy_asks_for_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(ImportError, match="ml_dtypes"):
        numpy_arrays.element("bf16")


@pytest.mark.parametrize("element", ELEMENTS)
def test_products_keep_the_element_type(xp: Any, element: str) -> None:
    x, y = some(2, 3, element=element), some(3, 4, element=element, seed=1)
    exact = (x.astype("f8") @ y.astype("f8")).astype(x.dtype)
    same(xp.matmul(xp.asarray(x), xp.asarray(y)), exact)
    same(xp.einsum("ij, jk -> ik", xp.asarray(x), xp.asarray(y)), exact)
    same(xp.einsum("ij->", xp.asarray(x)), x.astype("f8").sum().astype(x.dtype))


def test_integer_powers_of_any_size(xp: Any) -> None:
    base = np.array([[3], [-2], [7]])
    exponent = np.array([0, 1, 5, 127, 128, 300, 2**62 + 1])
    exact = [[(b**e if e < 400 else pow(b, e, 2**64)) for e in exponent.tolist()] for b in (3, 7)]
    wrapped = np.array([[v % 2**64 for v in row] for row in exact], np.uint64).astype(np.int64)
    found = np.asarray(xp.power(xp.asarray(base), xp.asarray(exponent)))
    assert (found[[0, 2]] == wrapped).all()
    assert found[1].tolist() == [1, -2, -32, 0, 0, 0, 0]


# --- the error function ----------------------------------------------------------------------


def test_erf(xp: Any) -> None:
    edges = [0.46875, 4.0, 6.0]
    near = [math.nextafter(e, way) for e in edges for way in (0, math.inf)]
    x = np.concatenate([np.linspace(-7, 7, 9001), edges, near, [1e-300, -0.0, math.inf, -math.inf]])
    exact = np.array([math.erf(value) for value in x])
    found = np.asarray(xp.erf(xp.asarray(x)))
    np.testing.assert_allclose(found, exact, rtol=1e-15, atol=0)
    assert math.copysign(1, found[-3]) == -1
    assert np.isnan(np.asarray(xp.erf(xp.asarray(np.float64("nan")))))


@pytest.mark.parametrize(("element", "rtol"), [("f32", 3e-7), ("f16", 1e-3), ("bf16", 8e-3)])
def test_erf_keeps_the_element_type(xp: Any, element: str, rtol: float) -> None:
    x = np.linspace(-3, 3, 24).astype(numpy_arrays.element(element)).reshape(2, 3, 4)
    exact = np.vectorize(math.erf)(x.astype("f8")).astype(x.dtype)
    same(xp.erf(xp.asarray(x)), exact, rtol)
    assert xp.erf(xp.asarray(x[:, :0])).shape == (2, 0, 4)


# --- put -------------------------------------------------------------------------------------


@pytest.mark.parametrize("element", ["i32", "u8", "bf16", "f32", "f64"])
@pytest.mark.parametrize(
    ("mode", "rows", "expected"),
    [
        ("set", [1, -1], [[9, 9], [3, 1], [1, 5]]),
        ("add", [1, -2], [[9, 9], [6, 10], [3, 5]]),
        ("mul", [1, -2], [[9, 9], [6, 20], [3, 5]]),
        ("min", [1, -2], [[9, 9], [1, 1], [3, 5]]),
        ("max", [1, -2], [[9, 9], [3, 5], [3, 5]]),
    ],
)
def test_put(xp: Any, mode: str, rows: list[int], expected: list[list[int]], element: str) -> None:
    kind = xp.element(element)
    x = xp.asarray([[9, 9], [2, 4], [3, 5]], dtype=kind)
    values = xp.asarray([[3, 1], [1, 5]], dtype=kind)
    found = xp.put(x, (np.array(rows), slice(None)), values, mode)
    same(found, np.array(expected).astype(kind))
    same(x, np.array([[9, 9], [2, 4], [3, 5]]).astype(kind))


# --- convolutions ----------------------------------------------------------------------------


def naive_conv(
    x: Array,
    filters: Array,
    *,
    stride: tuple[int, ...],
    pad: tuple[tuple[int, int], ...],
    dilation: tuple[int, ...],
    groups: int,
    spread: tuple[int, ...],
) -> Array:
    """Element by element, from the definition."""
    window, each = filters.shape[2:], filters.shape[1]
    room = [(n - 1) * g + 1 + a + b for n, g, (a, b) in zip(x.shape[2:], spread, pad, strict=True)]
    places = [
        (n - d * (k - 1) - 1) // s + 1
        for n, d, k, s in zip(room, dilation, window, stride, strict=True)
    ]
    result = np.zeros((len(x), len(filters), *places))
    for at in product(*map(range, result.shape)):
        first = at[1] // (len(filters) // groups) * each
        for c, *offset in product(range(each), *map(range, window)):
            place = [
                p * s + o * d - a
                for p, s, o, d, (a, _) in zip(at[2:], stride, offset, dilation, pad, strict=True)
            ]
            index = [divmod(p, g) for p, g in zip(place, spread, strict=True)]
            if all(r == 0 and 0 <= q < n for (q, r), n in zip(index, x.shape[2:], strict=True)):
                seen = x[(at[0], first + c, *(q for q, _ in index))]
                result[at] += float(seen) * float(filters[(at[1], c, *offset)])
    return result.astype(x.dtype)


CONVOLUTIONS: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ((2, 3, 7), (4, 3, 3), {}),
    ((2, 4, 9), (6, 2, 3), {"stride": (2,), "pad": ((2, 1),), "groups": 2, "dilation": (2,)}),
    ((1, 2, 4), (2, 1, 3), {"spread": (3,), "pad": ((2, 3),), "groups": 2}),
    ((1, 2, 6), (1, 2, 3), {"spread": (2,), "pad": ((-1, 2),)}),
    ((1, 2, 6), (1, 2, 3), {"pad": ((2, -2),)}),
    ((2, 3, 5, 6), (4, 3, 3, 2), {"stride": (1, 2), "pad": ((1, 1), (0, 1))}),
    ((1, 4, 6, 6), (4, 1, 3, 3), {"groups": 4, "dilation": (1, 2), "pad": ((1, 1), (2, 2))}),
    ((2, 2, 3, 4), (3, 2, 2, 2), {"spread": (2, 3), "stride": (1, 2), "pad": ((1, 0), (1, 1))}),
    ((1, 2, 3, 4, 3), (2, 1, 2, 2, 2), {"groups": 2, "pad": ((1, 0), (0, 0), (0, 1))}),
    ((1, 2, 4, 4, 4), (2, 2, 2, 1, 2), {"stride": (2, 1, 1), "dilation": (1, 1, 2)}),
    ((1, 1, 3, 3, 3, 3), (2, 1, 2, 2, 2, 2), {}),
]


def options(count: int, given: dict[str, Any]) -> dict[str, Any]:
    ones = (1,) * count
    plain = {"stride": ones, "dilation": ones, "spread": ones, "pad": ((0, 0),) * count}
    return plain | {"groups": 1} | given


@pytest.mark.parametrize(("x", "filters", "given"), CONVOLUTIONS)
def test_conv(xp: Any, x: tuple[int, ...], filters: tuple[int, ...], given: dict[str, Any]) -> None:
    how = options(len(x) - 2, given)
    a, f = some(*x, element="f32"), some(*filters, element="f32", seed=1)
    same(xp.conv(xp.asarray(a), xp.asarray(f), **how), naive_conv(a, f, **how), 1e-6)


@pytest.mark.parametrize("element", ELEMENTS)
def test_conv_keeps_the_element_type(xp: Any, element: str) -> None:
    how = options(1, {"pad": ((1, 1),)})
    a, f = some(1, 2, 5, element=element), some(2, 2, 3, element=element, seed=1)
    same(xp.conv(xp.asarray(a), xp.asarray(f), **how), naive_conv(a, f, **how))


def test_conv_in_parts(xp: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numpy_arrays, "CHUNK", 100)
    how = options(2, {"pad": ((1, 1), (1, 1))})
    a, f = some(5, 2, 4, 4, element="f32"), some(3, 2, 3, 3, element="f32", seed=1)
    same(xp.conv(xp.asarray(a), xp.asarray(f), **how), naive_conv(a, f, **how), 1e-6)


@pytest.mark.parametrize(
    ("x", "filters", "result"),
    [
        ((0, 2, 5, 5), (3, 2, 3, 3), (0, 3, 3, 3)),
        ((2, 0, 5, 5), (3, 0, 3, 3), (2, 3, 3, 3)),
        ((2, 2, 5, 5), (0, 2, 3, 3), (2, 0, 3, 3)),
        ((2, 2, 2, 5), (3, 2, 3, 3), (2, 3, 0, 3)),
        ((2, 2, 0, 5), (3, 2, 1, 3), (2, 3, 0, 3)),
        ((2, 2, 1, 5), (3, 2, 3, 3), (2, 3, 0, 3)),
    ],
)
def test_conv_of_nothing(
    xp: Any, x: tuple[int, ...], filters: tuple[int, ...], result: tuple[int, ...]
) -> None:
    how = options(2, {})
    a, f = some(*x, element="f32"), some(*filters, element="f32")
    same(xp.conv(xp.asarray(a), xp.asarray(f), **how), np.zeros(result, "f4"))


# --- windows ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["max", "sum"])
@pytest.mark.parametrize(
    ("shape", "size", "given"),
    [
        ((2, 3, 7), (3,), {}),
        ((2, 7), (2,), {"stride": (2,), "pad": ((1, 1),)}),
        ((9,), (3,), {"stride": (2,), "dilation": (2,), "pad": ((2, 3),)}),
        ((2, 5, 6), (3, 2), {"stride": (2, 3), "pad": ((1, 2), (0, 1))}),
        ((1, 2, 5, 6, 4), (2, 2, 3), {"dilation": (1, 2, 1)}),
        ((4,), (4,), {}),
    ],
)
def test_windows(
    xp: Any, kind: str, shape: tuple[int, ...], size: tuple[int, ...], given: dict[str, Any]
) -> None:
    how = options(len(size), given)
    del how["groups"], how["spread"]
    x = some(*shape, element="f32") - 5
    rest = len(shape) - len(size)
    neutral = -np.inf if kind == "max" else 0
    padded = np.pad(x, [(0, 0)] * rest + list(how["pad"]), constant_values=neutral)
    places = [
        (n - d * (k - 1) - 1) // s + 1
        for n, d, k, s in zip(
            padded.shape[rest:], how["dilation"], size, how["stride"], strict=True
        )
    ]
    expected = np.zeros((*shape[:rest], *places), "f4")
    for at in product(*map(range, expected.shape)):
        seen = padded[at[:rest]]
        for i, p in enumerate(at[rest:]):
            along = p * how["stride"][i] + how["dilation"][i] * np.arange(size[i])
            seen = seen.take(along, axis=i)
        expected[at] = seen.max() if kind == "max" else seen.sum()
    same(xp.windows(kind, xp.asarray(x), size=size, **how), expected)


@pytest.mark.parametrize("element", ELEMENTS)
def test_windows_keep_the_element_type(xp: Any, element: str) -> None:
    x = np.array([[3, 1, 2]]).astype(xp.element(element))
    how: dict[str, Any] = {"size": (2,), "stride": (1,), "pad": ((1, 1),), "dilation": (1,)}
    same(xp.windows("max", xp.asarray(x), **how), np.array([[3, 3, 2, 2]]).astype(x.dtype))
    same(xp.windows("sum", xp.asarray(x), **how), np.array([[3, 4, 3, 2]]).astype(x.dtype))
    for empty, places in [(x[:0], (0, 4)), (x[:, :0], (1, 1))]:
        assert xp.windows("max", xp.asarray(empty), **how).shape == places


# --- rows ------------------------------------------------------------------------------------


def test_map(xp: Any) -> None:
    x, y = some(3, 2, element="f32"), some(3, element="i32", seed=1)
    found = xp.map(lambda a, b: (a * 2, (b + 1, a.sum())), xp.asarray(x), xp.asarray(y))
    same(found[0], x * 2)
    same(found[1][0], y + 1)
    same(found[1][1], x.sum(axis=1))
    same(xp.map(lambda a: xp.ones((2,), dtype="float32"), xp.asarray(x)), np.ones((3, 2), "f4"))


def test_map_over_nothing(xp: Any) -> None:
    x = xp.zeros((0, 2), dtype=xp.element("f32"))
    for like in (None, lambda: (xp.zeros((0, 3, 2), "float32"), xp.zeros((0,), "int32"))):
        found = xp.map(lambda a: (xp.stack([a, a, a]), xp.sum(a).astype("int32")), x, like=like)
        same(found[0], np.zeros((0, 3, 2), "f4"))
        same(found[1], np.zeros(0, "i4"))


def test_loop(xp: Any) -> None:
    x = some(4, 2, element="f32")

    def step(state: Any, a: Array, b: Array) -> Any:
        total, count = state
        return (total + a, count + 1), (total * b, count)

    start = (xp.zeros(2, dtype="float32"), xp.asarray(0, dtype="int32"))
    (total, count), (products, counts) = xp.loop(start, step, xp.asarray(x), xp.asarray(x))
    same(total, x.sum(axis=0))
    same(count, np.asarray(4, "i4"))
    same(products, (np.cumsum(x, axis=0) - x) * x)
    same(counts, np.arange(4, dtype="i4"))


def test_loop_over_nothing(xp: Any) -> None:
    state = xp.ones(2, dtype="float32")
    for like in (None, lambda: xp.zeros((0, 2, 3), "float32")):
        last, outputs = xp.loop(
            state,
            lambda s, a: (s + a[:2], xp.multiply(s[:, None], a)),
            xp.zeros((0, 3), dtype="float32"),
            like=like,
        )
        same(last, np.ones(2, "f4"))
        same(outputs, np.zeros((0, 2, 3), "f4"))
