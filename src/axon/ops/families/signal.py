"""Signals: Fourier transforms, and the windows and filters that go with them.

A complex number is two numbers in the last dimension: its real and its imaginary part.
"""

from __future__ import annotations

import math

from axon.ops.arrays import Array, Arrays, wide
from axon.ops.axes import append, at, bad_axes
from axon.ops.memory import Refused
from axon.ops.operator import Element, Extent, Problem, Rule, operator
from axon.ops.traits import Padding, Traits


def _complex(xp: Arrays, x: Array) -> Array:
    """The numbers of the last dimension, which goes."""
    x = wide(xp, x)
    return x[..., 0] if x.shape[-1] == 1 else x[..., 0] + 1j * x[..., 1]


def _parts(xp: Arrays, z: Array, dtype: object) -> Array:
    """The other way: the parts of complex numbers, in a last dimension."""
    return xp.astype(xp.stack([xp.real(z), xp.imag(z)], axis=-1), dtype)


# --- transforms ------------------------------------------------------------------------------


@operator(Traits(padding=Padding(reason="the transform of a longer signal is another one")))
def dft(
    arity: int,
    *,
    axis: int = -1,
    size: Extent | None = None,
    inverse: bool = False,
    onesided: bool = False,
) -> Rule:
    """The discrete Fourier transform along an axis. The last dimension has the real part, or the
    real and the imaginary part. A second argument is an axis that is known at run time.

    - `axis`: which one, the dimension of the parts not counted; the last if not given. Negative
      axes count from the back.
    - `size`: cut the axis off there, or fill it up with zeros.
    - `inverse`: the inverse transform.
    - `onesided`: only the first half and one more, which tell the rest of a real signal's
      transform; inverse, a real signal from them.

    >>> dft(x : f32 [b,8,1])
    f32 [b,8,2]
    >>> dft(x : f32 [b,10,1], onesided=true)
    f32 [b,6,2]
    >>> dft(x : f32 [b,10,2], size=16, inverse=true)
    f32 [b,16,2]
    """
    last = "1" if inverse and onesided else "2"
    if arity == 2 and (onesided or size is not None):
        return f"(t s@[c], i []) -> t ?r@[{last}] where rank(?r) = rank(s), t : float, i : int"
    if arity == 2:
        return "(t s@[c], i []) -> t s@[2] where t : float, i : int"
    if problem := bad_axes((axis,)):
        return problem
    if arity != 1:
        return Problem(f"dft takes a tensor and perhaps an axis; {arity} arguments are given")
    if isinstance(size, int) and size < 1:
        return Problem("size must be at least 1")
    length = str(size) if size is not None else "2*n-2" if inverse and onesided else "n"
    if onesided and not inverse:
        length = f"({length})/2+1"
    x = append(at(axis, "n", tail="after"), "[after_c]")
    y = append(at(axis, length, tail="after"), f"[{last}]")
    least = 2 if inverse and onesided and size is None else 1
    return f"t {x} -> t {y} where n >= {least}, after_c >= 1, 2 >= after_c, t : float"


@dft.means
def _(
    xp: Arrays,
    x: Array,
    *axes: Array,
    axis: int,
    size: int | None,
    inverse: bool,
    onesided: bool,
) -> Array:
    axis = int(axes[0]) if axes else axis
    z = _complex(xp, x)
    if not -z.ndim <= axis < z.ndim:
        raise Refused(f"there is no axis {axis} in a signal of {z.ndim} dimensions")
    if inverse and onesided:
        count = size if size is not None else 2 * (z.shape[axis] - 1)
        return xp.astype(xp.fft.irfft(z, n=count, axis=axis)[..., None], x.dtype)
    if inverse:
        return _parts(xp, xp.fft.ifft(z, n=size, axis=axis), x.dtype)
    made = xp.fft.fft(z, n=size, axis=axis)
    if onesided:
        index = (*[slice(None)] * (axis % made.ndim), slice(made.shape[axis] // 2 + 1), ...)
        made = made[index]
    return _parts(xp, made, x.dtype)


@operator(
    Traits(padding=Padding(("b",), {"n": "zero"}, made=("~*",))), roles={"k": "lengths of frames"}
)
def stft(*, step: Extent, onesided: bool = True) -> Rule:
    """The Fourier transforms of the frames of a signal, each multiplied by a window: what sounds
    when. `x : [b,n,1]` or `[b,n,2]`, and a window as long as a frame.

    - `step`: how far it is from one frame to the next.
    - `onesided`: only the first half and one more of each transform.

    >>> stft(x : f32 [b,128,1], window : f32 [16], step=8)
    f32 [b,15,9,2]
    """
    if isinstance(step, int) and step < 1:
        return Problem("step must be at least 1")
    bins = "k/2+1" if onesided else "k"
    frames = (
        f"(n-k)/{step}+1" if isinstance(step, int) or step.isidentifier() else f"(n-k)/({step})+1"
    )
    return (
        f"(t [b,n,c], t [k]) -> t [b,{frames},{bins},2] "
        "where n >= k, k >= 1, c >= 1, 2 >= c, t : float"
    )


@stft.means
def _(xp: Arrays, x: Array, window: Array, step: int, onesided: bool) -> Array:
    size = window.shape[0]
    count = (x.shape[1] - size) // step + 1
    step = min(step, x.shape[1])  # farther than that there is no second frame
    starts = xp.arange(count, dtype=xp.element("i64")) * step
    places = starts[:, None] + xp.arange(size, dtype=xp.element("i64"))
    frames = xp.take(_complex(xp, x), places, axis=1) * wide(xp, window)
    made = xp.fft.fft(frames, axis=-1)
    return _parts(xp, made[..., : size // 2 + 1] if onesided else made, x.dtype)


# --- windows and filters ---------------------------------------------------------------------


def _window(xp: Arrays, n: int, factors: tuple[float, ...], periodic: bool, to: Element) -> Array:
    """A sum of cosines with signs that change: the first is the mean."""
    around = n if periodic else n - 1
    angle = xp.arange(n, dtype=xp.element("f64")) * (2 * math.pi / max(around, 1))
    signed = (factor * (-1) ** i * xp.cos(i * angle) for i, factor in enumerate(factors))
    return xp.astype(sum(signed), xp.element(to))


@operator()
def hann_window(*, periodic: bool = True, to: Element = "f32") -> Rule:
    """A window that rises from 0 to 1 and falls back, as a cosine does.

    - `periodic`: one that another can follow; else both ends are 0.
    - `to`: the element type.

    >>> hann_window(16)
    f32 [16]
    """
    return f"dim n -> {to} [n]"


@hann_window.means
def _(xp: Arrays, n: int, periodic: bool, to: Element) -> Array:
    return _window(xp, n, (0.5, 0.5), periodic, to)


@operator()
def hamming_window(*, periodic: bool = True, to: Element = "f32") -> Rule:
    """A `hann_window` that stays above 0, so that less of a tone leaks into the next ones.

    - `periodic`: one that another can follow; else both ends are alike.
    - `to`: the element type.

    >>> hamming_window(16)
    f32 [16]
    """
    return f"dim n -> {to} [n]"


@hamming_window.means
def _(xp: Arrays, n: int, periodic: bool, to: Element) -> Array:
    return _window(xp, n, (25 / 46, 21 / 46), periodic, to)


@operator()
def blackman_window(*, periodic: bool = True, to: Element = "f32") -> Rule:
    """A window of two cosines, narrower than a `hann_window`.

    - `periodic`: one that another can follow; else both ends are 0.
    - `to`: the element type.

    >>> blackman_window(16, periodic=false)
    f32 [16]
    """
    return f"dim n -> {to} [n]"


@blackman_window.means
def _(xp: Arrays, n: int, periodic: bool, to: Element) -> Array:
    return _window(xp, n, (0.42, 0.5, 0.08), periodic, to)


@operator()
def mel_filters(*, to: Element = "f32") -> Rule:
    """A matrix that takes the bins of a one-sided spectrum to bands of equal width for the ear:
    how many bands, the size of the transform, the samples in a second, and the lowest and the
    highest frequency.

    - `to`: the element type.

    >>> mel_filters(8, 16, 8000, low : f32, high : f32)
    f32 [9,8]
    """
    return (
        f"(dim n, dim size, dim rate, t [], t []) -> {to} [size/2+1,n] where rate >= 1, t : float"
    )


@mel_filters.means
def _(xp: Arrays, n: int, size: int, rate: int, low: Array, high: Array, to: Element) -> Array:
    first, last = (
        2595 * xp.log10(1 + xp.astype(wide(xp, f), xp.element("f64")) / 700) for f in (low, high)
    )
    mels = xp.arange(n + 2, dtype=xp.element("f64")) * ((last - first) / (n + 2)) + first
    edges = xp.floor((size + 1) * (700 * (10 ** (mels / 2595) - 1)) / rate)
    left, middle, right = edges[:n], edges[1 : n + 1], edges[2:]
    bins = xp.arange(size // 2 + 1, dtype=xp.element("f64"))[:, None]
    up, down = middle - left, right - middle
    rising = xp.where(up > 0, (bins - left) / xp.maximum(up, 1), bins == middle)
    falling = (right - bins) / xp.maximum(down, 1)
    inside = xp.where(bins <= middle, xp.where(bins >= left, rising, 0), falling)
    return xp.astype(xp.where(bins < right, inside, bins == middle).clip(0), xp.element(to))
