"""Bits, quantised numbers, signals and some functions of numbers, against plain computations."""

from __future__ import annotations

import math
from typing import Any

import numpy
import pytest

from tests.run.support import close, floats, on_both, plain

X = floats(3, 5) * 4


def of(call: str, *args: Any) -> Any:
    names = "xyzw"[: len(args)]
    return plain(on_both(f"f = fn ({', '.join(names)}) {{ {call} }};", *args))


# --- bits ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i4", "u8", "i8"])
def test_bits(dtype: str) -> None:
    x = numpy.array([0, 1, 5, 100, 77], dtype)
    y = numpy.array([[3], [127]], dtype)
    close(of("bit_and(x, y)", x, y), x & y)
    close(of("bit_or(x, y)", x, y), x | y)
    close(of("bit_xor(x, y)", x, y), x ^ y)
    close(of("bit_not(x)", x), ~x)


@pytest.mark.parametrize("bits", [8, 32, 64])
def test_shifts_as_python_shifts(bits: int) -> None:
    dtype = f"i{bits // 8}"
    numbers = [0, 1, -1, 5, -8, 2 ** (bits - 1) - 1, -(2 ** (bits - 1))]
    places = [0, 1, bits - 1, bits, 100, -1, -bits]
    down = [[x >> k if 0 <= k < bits else -(x < 0) for k in places] for x in numbers]
    up = [[_wrapped(x << k, bits) if 0 <= k < bits else 0 for k in places] for x in numbers]
    given = numpy.array(numbers, dtype)[:, None], numpy.array(places, dtype)
    made = of("shift_right(x, y), shift_left(x, y)", *given)
    close(made, (numpy.array(down, dtype), numpy.array(up, dtype)))


def _wrapped(x: int, bits: int) -> int:
    half = 1 << (bits - 1)
    return (x + half) % (2 * half) - half


def test_bit_cast() -> None:
    x = numpy.array([1.0, -2.5, numpy.inf], "f4")
    close(of("bit_cast(x, to=i32)", x), x.view("i4"))
    close(of("bit_cast(x, to=u8)", numpy.array([True, False])), numpy.array([1, 0], "u1"))


# --- numbers ---------------------------------------------------------------------------------


def test_fmod_has_the_sign_of_the_dividend() -> None:
    x, y = numpy.array([-7, 7, -7, 7, 5], "i4"), numpy.array([3, -3, -3, 3, 0], "i4")
    close(of("fmod(x, y)", x, y), numpy.array([-1, 1, -1, 1, 0], "i4"))
    close(of("fmod(x, y)", X, numpy.float32(1.5)), numpy.fmod(X, numpy.float32(1.5)))


@pytest.mark.parametrize(
    ("call", "function"),
    [
        ("celu(x, alpha=2)", lambda v: max(v, 0) + min(0, 2 * math.expm1(v / 2))),
        ("celu(x, alpha=-0.5)", lambda v: max(v, 0) + min(0, -0.5 * math.expm1(v / -0.5))),
        ("selu(x, alpha=2, scale=3)", lambda v: 3 * v if v > 0 else 6 * math.expm1(v)),
        (
            "shrink(x, threshold=1.5, bias=1)",
            lambda v: 0 if abs(v) <= 1.5 else v - math.copysign(1, v),
        ),
        ("thresholded_relu(x, threshold=2)", lambda v: v if v > 2 else 0),
        ("mish(x)", lambda v: v * math.tanh(math.log1p(math.exp(v)))),
        ("softsign(x)", lambda v: v / (1 + abs(v))),
        ("silu(x, alpha=3)", lambda v: v / (1 + math.exp(-3 * v))),
        ("asinh(x)", math.asinh),
    ],
)
def test_functions_of_a_number(call: str, function: Any) -> None:
    close(of(call, X), numpy.vectorize(function, otypes=[float])(X.astype("f8")).astype("f4"))


def test_isinf_of_one_sign() -> None:
    x = numpy.array([1, numpy.inf, -numpy.inf, numpy.nan], "f4")
    close(of("isinf(x, negative=false)", x), x == numpy.inf)
    close(of("isinf(x, positive=false)", x), x == -numpy.inf)
    close(of("isinf(x, positive=false, negative=false)", x), numpy.zeros(4, bool))


def test_det() -> None:
    x = floats(4, 3, 3)
    close(of("det(x)", x), numpy.linalg.det(x))


# --- quantised -------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "i4"])
def test_quantise_and_back(dtype: str) -> None:
    limits = numpy.iinfo(dtype)
    x = numpy.array([0, 0.5, 1.5, -2.5, 3e9, -3e9, numpy.inf, -numpy.inf, numpy.nan], "f4")
    zero = numpy.array(7, dtype)
    expected = [
        7 + round(float(v)) if abs(v) < 1e3 else limits.max if v > 0 else limits.min for v in x[:-1]
    ]
    made = of("quantise(x, y, z)", x, numpy.float32(1), zero)
    clipped = [min(max(v, limits.min), limits.max) for v in expected]
    close(made, numpy.array([*clipped, 7], dtype))
    back = of("dequantise(x, y, z)", made[:4], numpy.float32(0.5), zero)
    close(back, ((made[:4].astype("i8") - 7) * 0.5).astype("f4"))


def test_quantise_range() -> None:
    for x in (X, X * 0, numpy.abs(X) + 3, floats(0, 2)):
        y, scale, zero = of("quantise_range(x)", x)
        assert y.dtype == zero.dtype == numpy.uint8
        back = (y.astype("f4") - zero.astype("f4")) * scale
        assert numpy.all(numpy.abs(back - x) <= scale * 0.51)


# --- signals ---------------------------------------------------------------------------------


def _as_parts(z: Any) -> Any:
    return numpy.stack([z.real, z.imag], -1).astype("f4")


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
def test_dft(axis: int) -> None:
    x = floats(4, 6, 2)
    z = x[..., 0] + 1j * x[..., 1]
    close(of(f"dft(x, axis={axis})", x), _as_parts(numpy.fft.fft(z, axis=axis)))
    close(of(f"dft(x, axis={axis}, inverse=true)", x), _as_parts(numpy.fft.ifft(z, axis=axis)))
    close(of(f"dft(x, axis={axis}, size=9)", x), _as_parts(numpy.fft.fft(z, n=9, axis=axis)))
    real = x[..., :1]
    half = numpy.fft.rfft(real[..., 0], axis=axis)
    close(of(f"dft(x, axis={axis}, onesided=true)", real), _as_parts(half))
    back = of(f"dft(x, axis={axis}, onesided=true, inverse=true)", _as_parts(half))
    close(back, real)
    close(of("dft(x, y, onesided=true)", real, numpy.int64(axis)), _as_parts(half))


def test_stft() -> None:
    x, window = floats(2, 20, 1), floats(6)
    frames = [x[:, i : i + 6, 0] * window for i in range(0, 15, 4)]
    whole = numpy.fft.fft(numpy.stack(frames, 1))
    close(of("stft(x, y, step=4, onesided=false)", x, window), _as_parts(whole))
    close(of("stft(x, y, step=4)", x, window), _as_parts(whole[..., :4]))


@pytest.mark.parametrize(
    ("name", "true"),
    [("hann", numpy.hanning), ("blackman", numpy.blackman)],
)
def test_windows_of_numpy(name: str, true: Any) -> None:
    for n in (1, 2, 7, 16):
        program = f"f = fn (n : i64) {{ {name}_window(n, periodic=false, to=f64) }};"
        if n > 1:
            close(plain(on_both(program, numpy.int64(n))), true(n))
        program = f"f = fn (n : i64) {{ {name}_window(n) }};"
        close(plain(on_both(program, numpy.int64(n))), true(n + 1)[:n].astype("f4"))


def test_mel_filters() -> None:
    program = "f = fn (a : f32, b : f32) { mel_filters(4, 32, 8000, a, b, to=f64) };"
    made = plain(on_both(program, numpy.float32(0), numpy.float32(4000)))
    assert made.shape == (17, 4)
    assert (made >= 0).all() and (made <= 1).all()
    assert (made.max(0) == 1).all(), "each band has a top"
    peaks = made.argmax(0)
    assert (numpy.diff(peaks) > 0).all(), "and a place of its own"
