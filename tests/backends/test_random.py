"""Random numbers: the published vectors of the generator, an implementation apart from Axon's,
JAX's own generator, and statistics. Keys are fixed, so that no test depends on chance.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import axon
from axon.backends import numpy_arrays
from axon.ops import OPERATORS
from axon.ops.threefry import encipher
from tests import threefry

KEYS = [(0, 0), (0, 7), (0xFFFFFFFF, 0xFFFFFFFF), (0x13198A2E, 0x03707344), (1, 0)]
ELEMENTS = {"f16": 2.0**-10, "bf16": 2.0**-7, "f32": 2.0**-23, "f64": 2.0**-52}
"""The float types, and the distance of their uniforms."""


@pytest.fixture(params=["numpy", "jax"])
def xp(request: pytest.FixtureRequest) -> Iterator[Any]:
    arrays: Any = numpy_arrays.ARRAYS
    if request.param == "jax":
        pytest.importorskip("jax")
        from axon.backends import jax_arrays

        arrays = jax_arrays.ARRAYS
    with arrays.context():
        yield arrays


def apply(xp: Any, name: str, key: tuple[int, int], *args: Any, **attributes: Any) -> Any:
    """The operator, compiled where the backend compiles, as NumPy's arrays."""
    operator = OPERATORS[name]
    assert operator.meaning is not None
    function: Callable[..., Any] = functools.partial(
        operator.meaning, xp, **(operator.defaults | attributes)
    )
    if xp is not numpy_arrays.ARRAYS:
        import jax

        sizes = [i for i, arg in enumerate(args, 1) if isinstance(arg, int | tuple)]
        function = jax.jit(function, static_argnums=sizes)
    made = function(np.array(key, np.uint32), *args)
    return tuple(map(np.asarray, made)) if isinstance(made, tuple) else np.asarray(made)


def chi_square(counts: Any, expected: Any) -> float:
    """How many standard deviations the statistic is away from its mean, about."""
    expected = np.broadcast_to(expected, np.shape(counts))
    free = np.size(counts) - 1
    found = float(((counts - expected) ** 2 / expected).sum())
    return (found - free) / math.sqrt(2 * free)


# --- the generator ---------------------------------------------------------------------------

PUBLISHED = [
    ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
    ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
    ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
]
"""Keys, blocks and results, from the known-answer tests of the authors' Random123."""


@pytest.mark.parametrize(("key", "block", "result"), PUBLISHED)
def test_the_published_vectors(
    xp: Any, key: tuple[int, int], block: tuple[int, int], result: tuple[int, int]
) -> None:
    words = [xp.asarray([word], dtype=xp.element("u32")) for word in (*key, *block)]
    made = encipher(numpy_arrays.ARRAYS, (words[0], words[1]), (words[2], words[3]))
    assert tuple(int(word[0]) for word in made) == result
    assert tuple(int(word) for word in threefry.block(key, *block)) == result


@pytest.mark.parametrize("key", KEYS)
def test_keys_and_uniforms_are_those_of_the_other_implementation(
    xp: Any, key: tuple[int, int]
) -> None:
    keys = np.stack(threefry.words(key, 100), axis=-1)
    np.testing.assert_array_equal(apply(xp, "split_key", key, 100), keys)
    for count, split in (
        (2, apply(xp, "split_key", key)),
        (5, apply(xp, "split_key", key, parts=5)),
    ):
        np.testing.assert_array_equal(np.stack(split), keys[:count])
    for shape in ((), (0,), (0, 3), (1,), (7, 3), (2, 1, 5)):
        made = apply(xp, "uniform", key, shape)
        np.testing.assert_array_equal(made, threefry.uniforms(key, shape))
        assert made.dtype == np.float32


@pytest.mark.parametrize("element", ELEMENTS)
def test_the_bits_are_those_of_jax(element: str) -> None:
    jax = pytest.importorskip("jax")
    dtype = numpy_arrays.element(element)
    with jax.enable_x64(True), jax.threefry_partitionable(True):
        for pair in KEYS:
            key = jax.random.wrap_key_data(np.array(pair, np.uint32), impl="threefry2x32")
            theirs = np.asarray(jax.random.uniform(key, (5, 7), dtype=dtype))
            mine = apply(numpy_arrays.ARRAYS, "uniform", pair, (5, 7), to=element)
            np.testing.assert_array_equal(mine, theirs)
            theirs = np.asarray(jax.random.key_data(jax.random.split(key, 9)))
            np.testing.assert_array_equal(apply(numpy_arrays.ARRAYS, "split_key", pair, 9), theirs)


@pytest.mark.parametrize("seed", [0, 7, -1, 2**31, 2**32 + 5, 2**63 - 1, -(2**63), 2**64 - 1])
def test_the_key_of_a_seed(seed: int) -> None:
    halves = [seed >> 32 & 0xFFFFFFFF, seed & 0xFFFFFFFF]
    made = axon.random_key(seed)
    assert made.dtype == np.uint32 and made.tolist() == halves
    for name in ("i8", "u8", "i16", "i32", "u32", "i64", "u64"):
        limits = np.iinfo(numpy_arrays.element(name))
        if limits.min <= seed <= limits.max:
            net = axon.compile(f"f = fn (n : {name}) {{ random_key(n) }};")
            given = np.asarray(seed, numpy_arrays.element(name))
            for backend in ("numpy", "jax"):
                assert np.asarray(net.on(backend).f(given)).tolist() == halves


def test_a_seed_has_64_bits() -> None:
    for seed in (2**64, -(2**63) - 1, 10**30):
        with pytest.raises(ValueError, match="a seed is an integer from"):
            axon.random_key(seed)
    with pytest.raises(TypeError):
        axon.random_key(0.5)  # type: ignore[arg-type]


def test_more_numbers_than_one_word_counts() -> None:
    """The upper word of a place counts too."""
    high, low = threefry.block((3, 4), [1, 1], [0, 5])
    block = (np.array([1, 1], np.uint32), np.array([0, 5], np.uint32))
    made = encipher(
        numpy_arrays.ARRAYS, (np.array([3], np.uint32), np.array([4], np.uint32)), block
    )
    np.testing.assert_array_equal(made, (high, low))
    assert set(high.tolist()).isdisjoint(threefry.words((3, 4), 100)[0].tolist())


# --- distributions ---------------------------------------------------------------------------


@pytest.mark.parametrize("element", ELEMENTS)
def test_uniforms_are_below_one_and_multiples_of_one_step(xp: Any, element: str) -> None:
    made = apply(xp, "uniform", (0, 1), (200, 100), to=element)
    assert made.dtype == numpy_arrays.element(element)
    wide = made.astype(np.float64)
    assert wide.min() >= 0 and wide.max() < 1
    steps = wide / ELEMENTS[element]
    np.testing.assert_array_equal(steps, np.floor(steps))
    assert abs(chi_square(np.bincount((wide * 64).astype(int).ravel(), minlength=64), 312.5)) < 3
    if element in ("f32", "f64"):
        assert len(np.unique(wide)) > 19_900


@pytest.mark.parametrize("seed", range(5))
def test_pairs_and_keys_are_independent(seed: int) -> None:
    """Neighbours of one key, and the same place of neighbouring keys."""
    made = apply(numpy_arrays.ARRAYS, "uniform", (0, seed), (100_000,))
    other = apply(numpy_arrays.ARRAYS, "uniform", (0, seed + 1), (100_000,))
    for a, b in ((made[:-1], made[1:]), (made, other)):
        counts, _, _ = np.histogram2d(a, b, bins=16, range=((0, 1), (0, 1)))
        assert abs(chi_square(counts, len(a) / 256)) < 4
        assert abs(np.corrcoef(a, b)[0, 1]) < 4 / math.sqrt(len(a))


def test_every_bit_is_one_half_of_the_time() -> None:
    high, low = threefry.words((0, 11), 100_000)
    keys = apply(numpy_arrays.ARRAYS, "split_key", (0, 11), 100_000)
    assert len({tuple(key) for key in keys.tolist()}) == 100_000
    for word in (keys[:, 0], keys[:, 1], high ^ low):
        for bit in range(32):
            share = float((word >> np.asarray(bit, word.dtype) & np.asarray(1, word.dtype)).mean())
            assert abs(share - 0.5) < 5 * 0.5 / math.sqrt(100_000)


@pytest.mark.parametrize("element", ELEMENTS)
def test_normal_numbers(xp: Any, element: str) -> None:
    made = apply(xp, "normal", (0, 2), (400, 100), to=element)
    assert made.dtype == numpy_arrays.element(element) and made.shape == (400, 100)
    x = made.astype(np.float64).ravel()
    count = len(x)
    for power, moment, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs((x**power).mean() - moment) < 4 * math.sqrt(variance / count)
    if element in ("f32", "f64"):
        assert kolmogorov(normal_below, x) < 1.63


def normal_below(x: Any) -> Any:
    """The probability of a normal number below x."""
    return 0.5 * (1 + numpy_arrays.ARRAYS.erf(x / math.sqrt(2)))


def kolmogorov(below: Callable[[Any], Any], x: Any) -> float:
    """The statistic of Kolmogorov and Smirnov: its median is 0.83, and one in 20 is above 1.36, one
    in 100 above 1.63, if `below` is the distribution of x.
    """
    count = len(x)
    expected = below(np.sort(x))
    over = (expected - np.arange(count) / count).max()
    under = (np.arange(1, count + 1) / count - expected).max()
    return float(max(over, under) * math.sqrt(count))


@pytest.mark.parametrize(
    ("name", "below"),
    [("uniform", lambda x: x), ("normal", normal_below)],
    ids=["uniform", "normal"],
)
def test_the_distribution_over_many_keys(name: str, below: Callable[[Any], Any]) -> None:
    found = [
        kolmogorov(below, apply(numpy_arrays.ARRAYS, name, (1, seed), (4000,)).astype(np.float64))
        for seed in range(200)
    ]
    assert 0.75 < np.median(found) < 0.91  # within three standard deviations
    assert np.mean(np.array(found) > 1.36) < 0.1


def test_normal_numbers_follow_from_the_uniforms() -> None:
    u, v = threefry.uniforms((0, 9), (2, 50)).astype(np.float64)
    expected = np.sqrt(-2 * np.log(u + 2.0**-24)) * np.cos(2 * np.pi * (v + 2.0**-24))
    made = apply(numpy_arrays.ARRAYS, "normal", (0, 9), (50,))
    np.testing.assert_allclose(made, expected, rtol=0, atol=1e-5)
    assert np.isfinite(apply(numpy_arrays.ARRAYS, "normal", (0, 9), (1_000_000,))).all()


RANGES = [
    (0, 1, "i64"), (0, 2, "u8"), (0, 256, "u8"), (-128, 128, "i8"), (-3, 4, "i32"),
    (5, 1000, "u16"), (0, 65_537, "i32"), (-(2**31), 2**31 - 1, "i32"), (0, 2**32 - 1, "u32"),
    (10, 2**31 + 11, "i64"), (2**63, 2**63 + 3, "u64"), (-(2**63), -(2**63) + 100_003, "i64"),
]  # fmt: skip


@pytest.mark.parametrize(("low", "high", "element"), RANGES)
def test_integers_are_64_bits_times_the_count(xp: Any, low: int, high: int, element: str) -> None:
    made = apply(xp, "randint", (0, 3), (50, 4), low=low, high=high, to=element)
    assert made.dtype == numpy_arrays.element(element)
    pairs = zip(*(word.tolist() for word in threefry.words((0, 3), 200)), strict=True)
    expected = [low + ((a << 32 | b) * (high - low) >> 64) for a, b in pairs]
    assert made.ravel().tolist() == expected


def test_integers_are_equally_likely() -> None:
    for count in (2, 6, 10, 97):
        made = apply(numpy_arrays.ARRAYS, "randint", (0, count), (100_000,), high=count)
        assert abs(chi_square(np.bincount(made, minlength=count), 100_000 / count)) < 3


def test_bernoulli(xp: Any) -> None:
    p = np.array([0, 0.1, 0.5, 0.9, 1], np.float32)
    made = apply(xp, "bernoulli", (0, 4), np.broadcast_to(p, (20_000, 5)))
    assert made.dtype == bool
    share = made.mean(0)
    assert share[0] == 0 and share[4] == 1
    assert (np.abs(share - p) <= 4 * np.sqrt(p * (1 - p) / 20_000)).all()
    np.testing.assert_array_equal(made, threefry.uniforms((0, 4), (20_000, 5)) < p)
    for element in ("f16", "bf16", "f64"):
        drawn = apply(
            xp, "bernoulli", (0, 4), np.full((2000,), 0.25, numpy_arrays.element(element))
        )
        assert abs(drawn.mean() - 0.25) < 0.04


@pytest.mark.parametrize("axis", [-1, 0])
def test_categorical(xp: Any, axis: int) -> None:
    p = np.array([0.1, 0.2, 0, 0.4, 0.3], np.float32)
    logits = np.log(p) + 7
    given = np.broadcast_to(logits, (40_000, 5))
    made = apply(xp, "categorical", (0, 5), given if axis else given.T, axis=axis)
    assert made.dtype == np.int64 and made.shape == (40_000,)
    counts = np.bincount(made, minlength=5)
    assert counts[2] == 0
    assert abs(chi_square(counts[p > 0], 40_000 * p[p > 0])) < 3


def test_a_permutation_has_every_number_once(xp: Any) -> None:
    for count in (0, 1, 2, 100, 5000):
        made = apply(xp, "permutation", (0, 6), count)
        assert made.dtype == np.int64
        np.testing.assert_array_equal(np.sort(made), np.arange(count))
        high, low = threefry.words((0, 6), count)
        order = sorted(range(count), key=lambda i: (high[i], low[i]))
        np.testing.assert_array_equal(made, order)


def test_permutations_are_equally_likely() -> None:
    found: dict[tuple[int, ...], int] = {}
    for key in apply(numpy_arrays.ARRAYS, "split_key", (0, 8), 6000).tolist():
        made = tuple(apply(numpy_arrays.ARRAYS, "permutation", tuple(key), 3).tolist())
        found[made] = found.get(made, 0) + 1
    assert len(found) == 6
    assert abs(chi_square(np.array(list(found.values())), 1000)) < 3


# --- dropout ---------------------------------------------------------------------------------


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("rate", [0.0, 0.25, 0.5, 0.9])
def test_dropout_leaves_out_and_divides(xp: Any, element: str, rate: float) -> None:
    x = np.linspace(1, 2, 6000).reshape(60, 100).astype(numpy_arrays.element(element))
    operator = OPERATORS["dropout"].meaning
    assert operator is not None
    made = np.asarray(operator(xp, x, np.array([0, 7], np.uint32), rate=rate))
    assert made.dtype == x.dtype
    kept = threefry.uniforms((0, 7), x.shape) >= np.float32(rate)  # whatever the element type
    np.testing.assert_array_equal(made != 0, kept)
    wide = x.astype(np.float64)[kept] / (1 - rate)
    near = {"f16": 1e-3, "bf16": 8e-3, "f32": 1e-6, "f64": 1e-15}[element]
    np.testing.assert_allclose(made.astype(np.float64)[kept], wide, rtol=near)
    assert abs(kept.mean() - (1 - rate)) <= 4 * math.sqrt(rate * (1 - rate) / x.size)


def test_dropout_drops_what_is_not_a_number() -> None:
    net = axon.compile("f = fn (x, k) { dropout(x, key=k) };")
    made = net.f(np.full(100, np.nan, np.float32), axon.random_key(0))
    assert 20 < (made == 0).sum() < 80 and np.isnan(made[made != 0]).all()


def test_dropout_without_a_key_passes_everything() -> None:
    net = axon.compile("f = fn (x) { dropout(x, rate=0.9) };")
    for x in (np.arange(5), np.array([True, False]), np.ones((2, 3), np.float32)):
        np.testing.assert_array_equal(net.f(x), x)


def test_the_gradient_of_dropout() -> None:
    jax = pytest.importorskip("jax")
    net = axon.compile("loss = fn (x : f32 [b,n], k) { sum(dropout(x, key=k, rate=0.25) * x) };")
    x, key = np.arange(1, 13, dtype=np.float32).reshape(3, 4), axon.random_key(5)
    slope = jax.jit(jax.grad(net.loss.jax))(x, key)
    kept = threefry.uniforms((0, 5), (3, 4)) >= 0.25
    np.testing.assert_allclose(slope, np.where(kept, 2 * x / 0.75, 0), rtol=1e-6)
    assert 0 < kept.sum() < 12


# --- in programs -----------------------------------------------------------------------------

PROGRAM = """
draw = fn (k : u32 [2]) {
  a, b, c = split_key(k, parts=3);
  uniform(a, [3,4]), randint(b, [5], low=-2, high=9), permutation(c, 6)
};
each = fn (k, n) { map(fn (k) { uniform(k, [4]) }, split_key(k, n)) };
deep = fn (x : f32 [b,n], w : f32 [l,n,n], k) {
  fold(x, fn (x, w, k) { dropout(x @ w, key=k) }, w, split_key(k, l))
};
walk = fn (k : u32 [2], steps : f32 [n]) {
  loop(k, fn (k, step) { now, next = split_key(k); next, uniform(now, []) * step }, steps)
};
ragged = fn (x : f32 [n,*], k) {
  map(fn (row, k) { dropout(row, key=k) }, x, split_key(k, n))
};
words = fn (x : f32 [b,v], k) { randint(k, [b], high=v) };
bytes = fn (x : f32 [v], k) { randint(k, [2], high=v, to=u8) };
huge = fn (n, k) { uniform(k, [n,n]) };
fixed = fn (x : f32 [4]) { x + uniform(random_key(3), [4]) };
"""


@pytest.fixture(scope="module")
def net() -> Any:
    return axon.compile(PROGRAM)


def test_programs_draw_the_same_on_both_backends(net: Any) -> None:
    key, jax = axon.random_key(12), net.on("jax")
    for mine, theirs in zip(net.draw(key), jax.draw(key), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    np.testing.assert_array_equal(net.each(key, 3), jax.each(key, 3))
    keys = np.stack(threefry.words((0, 12), 3), axis=-1).tolist()
    rows = [threefry.uniforms(tuple(k), (4,)) for k in keys]
    np.testing.assert_array_equal(net.each(key, 3), rows)
    steps = np.ones(5, np.float32)
    for mine, theirs in zip(net.walk(key, steps), jax.walk(key, steps), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert len(set(net.walk(key, steps)[1].tolist())) == 5
    x, w = np.ones((2, 3), np.float32), np.stack([np.eye(3, dtype=np.float32)] * 4)
    np.testing.assert_array_equal(net.deep(x, w, key), jax.deep(x, w, key))
    expected = threefry.uniforms((0, 3), (4,))
    for backend in (net, jax):
        np.testing.assert_array_equal(backend.fixed(np.zeros(4, np.float32)), expected)


def test_rows_that_vary_have_keys_of_their_own(net: Any) -> None:
    rows = [[1.0] * 5, [], [1.0] * 9]
    keys = np.stack(threefry.words((0, 12), 3), axis=-1).tolist()
    expected = [
        threefry.dropout(tuple(k), np.array(row, np.float32), 0.5)
        for k, row in zip(keys, rows, strict=True)
    ]
    for backend in ("numpy", "jax"):
        made = net.on(backend).ragged(rows, axon.random_key(12))
        for mine, row in zip(made, expected, strict=True):
            np.testing.assert_array_equal(np.asarray(mine), row)


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_what_cannot_be_drawn_is_an_error(net: Any, backend: str) -> None:
    on, key = net.on(backend), axon.random_key(0)
    with pytest.raises(axon.ArgumentError, match="v >= 1"):
        on.words(np.ones((2, 0), np.float32), key)
    with pytest.raises(axon.RunError, match="not all integers from 0 up to 300 fit"):
        on.bytes(np.ones(300, np.float32), key)
    assert on.bytes(np.ones(256, np.float32), key).dtype == np.uint8
    with pytest.raises(axon.RunError, match="would take more than"):
        on.huge(10**9, key)
