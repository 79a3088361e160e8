"""Normalisation: the same shape out as in."""

from __future__ import annotations

from math import inf, prod
from typing import Any

from axon.ops.arrays import Array, Arrays, wide
from axon.ops.axes import LIMIT, at, bad_axes
from axon.ops.operator import Extent, Ints, Problem, Rule, operator
from axon.ops.padding import TrueSizes
from axon.ops.traits import Attributes, Padding, Traits

MOST_AROUND = 1024
"""The most channels that a local norm takes together."""


def _along(axis: int) -> Rule:
    if problem := bad_axes((axis,)):
        return problem
    shape = at(axis, "n", tail="after")
    return f"t {shape} -> t {shape} where t : float"


def _scaled(name: str, arity: int, shape: str, size: str, most: int) -> Rule:
    """A tensor, and perhaps vectors that scale and move it along one dimension."""
    if not 1 <= arity <= most:
        extras = "a scale" if most == 2 else "a scale and a bias"
        return Problem(f"{name} takes a tensor and perhaps {extras}; {arity} arguments are given")
    vectors = f", t [{size}]" * (arity - 1)
    return f"(t {shape}{vectors}) -> t {shape} where t : float"


def _shifted(xp: Arrays, x: Array, axis: int) -> Array:
    """Moved so that the largest element along the axis is 0 and no exponential overflows."""
    return x - xp.stop_gradient(xp.max(x, axis=axis, keepdims=True, initial=-inf))


def _standard(
    xp: Arrays, x: Array, axes: Ints, epsilon: float, count: Any = None, inside: Array = None
) -> Array:
    """Brought to mean 0 and variance 1: of so many elements, and those `inside`, if some count."""
    count = prod(x.shape[i] for i in axes) if count is None else count
    away = x - xp.sum(x, axis=axes, keepdims=True) / count
    if inside is not None:
        away = xp.where(inside, away, 0)
    variance = xp.sum(away * away, axis=axes, keepdims=True) / count
    return away / xp.sqrt(variance + epsilon)


def _moved(xp: Arrays, x: Array, vectors: tuple[Array, ...], behind: int) -> Array:
    """Times the first vector plus the second, as far as they are given, along the dimension that
    has so many behind it."""
    for i, vector in enumerate(vectors):
        along = wide(xp, vector).reshape(vector.shape + (1,) * behind)
        x = x * along if i == 0 else x + along
    return x


@operator(Traits(padding=Padding(("after*",), {"n": "lowest"})))
def softmax(*, axis: int = -1) -> Rule:
    """Exponentials that add up to 1 along an axis.

    - `axis`: which one; the innermost if not given.

    >>> softmax(x : f32 [b,n])
    f32 [b,n]
    """
    return _along(axis)


@softmax.means
def _(xp: Arrays, x: Array, axis: int) -> Array:
    powers = xp.exp(_shifted(xp, wide(xp, x), axis))
    return xp.astype(powers / xp.sum(powers, axis=axis, keepdims=True), x.dtype)


@operator(Traits(padding=Padding(("after*",), {"n": "lowest"})))
def log_softmax(*, axis: int = -1) -> Rule:
    """The logarithm of `softmax`, computed so that nothing is lost.

    - `axis`: which one; the innermost if not given.

    >>> log_softmax(x : f32 [b,n], axis=1)
    f32 [b,n]
    """
    return _along(axis)


@log_softmax.means
def _(xp: Arrays, x: Array, axis: int) -> Array:
    y = _shifted(xp, wide(xp, x), axis)
    return xp.astype(y - xp.log(xp.sum(xp.exp(y), axis=axis, keepdims=True)), x.dtype)


def _last_padding(attributes: Attributes) -> Padding | str:
    if attributes["epsilon"] == 0:
        return "its epsilon is 0"
    return Padding(fills={"n": "zero", "along*": "zero"})


def _last(name: str, arity: int, axes: int, most: int) -> Rule:
    """A tensor whose last axes are normalised, and perhaps tensors of their shape that scale and
    move it."""
    if not 1 <= arity <= most:
        extras = "a scale" if most == 2 else "a scale and a bias"
        return Problem(f"{name} takes a tensor and perhaps {extras}; {arity} arguments are given")
    if not 1 <= axes <= LIMIT:
        return Problem(f"axes must be from 1 to {LIMIT}, not {axes}")
    last = "[n]" if axes == 1 else f"[{','.join(f'along{i}' for i in range(axes))}]"
    return f"(t s@{last}{f', t {last}' * (arity - 1)}) -> t s@{last} where t : float"


@operator(
    Traits(scales=(2,), recomputed=True, padding=_last_padding), roles={"n": "normalised sizes"}
)
def layer_norm(arity: int, *, axes: int = 1, epsilon: float = 1e-5) -> Rule:
    """Bring the last axis to mean 0 and variance 1; then scale it and add a bias, if they are
    given.

    - `axes`: how many of the last axes are brought there together.
    - `epsilon`: what is added to the variance before the division.

    >>> layer_norm(x : f32 [b,s,n], scale : f32 [n], bias : f32 [n])
    f32 [b,s,n]
    >>> layer_norm(x : f32 [b,n])
    f32 [b,n]
    >>> layer_norm(x : f32 [b,h,w], scale : f32 [h,w], axes=2)
    f32 [b,h,w]
    """
    return _last("layer_norm", arity, axes, 3)


@layer_norm.means
def _(xp: Arrays, x: Array, *tensors: Array, axes: int, epsilon: float) -> Array:
    y = _standard(xp, wide(xp, x), tuple(range(-axes, 0)), epsilon)
    return xp.astype(_moved(xp, y, tensors, 0), x.dtype)


@layer_norm.padded
def _(xp: Arrays, true: TrueSizes, x: Array, *tensors: Array, axes: int, epsilon: float) -> Array:
    y, last = wide(xp, x), tuple(range(x.ndim - axes, x.ndim))
    count, inside = true.count(xp, 0, last, y.dtype), true.mask(xp, 0, last)
    return xp.astype(
        _moved(xp, _standard(xp, y, last, epsilon, count, inside), tensors, 0), x.dtype
    )


@operator(
    Traits(scales=(2,), recomputed=True, padding=_last_padding), roles={"n": "normalised sizes"}
)
def rms_norm(arity: int, *, axes: int = 1, epsilon: float = 1e-6) -> Rule:
    """Divide the last axis by the root of its mean square; then scale it, if a scale is given.

    - `axes`: how many of the last axes are taken together.
    - `epsilon`: what is added to the mean square before the division.

    >>> rms_norm(x : f32 [b,s,n], scale : f32 [n])
    f32 [b,s,n]
    >>> rms_norm(x : f32 [b,h,w], axes=2)
    f32 [b,h,w]
    """
    return _last("rms_norm", arity, axes, 2)


@rms_norm.means
def _(xp: Arrays, x: Array, *scale: Array, axes: int, epsilon: float) -> Array:
    y = wide(xp, x)
    count = prod(x.shape[x.ndim - axes :])
    mean = xp.sum(y * y, axis=tuple(range(-axes, 0)), keepdims=True) / count
    return xp.astype(_moved(xp, y / xp.sqrt(mean + epsilon), scale, 0), x.dtype)


@rms_norm.padded
def _(xp: Arrays, true: TrueSizes, x: Array, *scale: Array, axes: int, epsilon: float) -> Array:
    y = wide(xp, x)
    last = tuple(range(x.ndim - axes, x.ndim))
    count = true.count(xp, 0, last, y.dtype)
    mean = xp.sum(y * y, axis=last, keepdims=True) / count
    return xp.astype(_moved(xp, y / xp.sqrt(mean + epsilon), scale, 0), x.dtype)


@operator(Traits(scales=(2, 5), padding=Padding(("n", "c", "s"))), roles={"c": "channels"})
def batch_norm(*, epsilon: float = 1e-5) -> Rule:
    """Normalise each channel of `[n,c,…]` by statistics that were collected before: x, scale, bias,
    mean, variance.

    - `epsilon`: what is added to the variance before the division.

    >>> batch_norm(x : f32 [n,3,h,w], g : f32 [3], b : f32 [3], m : f32 [3], v : f32 [3])
    f32 [n,3,h,w]
    """
    return "(t [n,c]@s, t [c], t [c], t [c], t [c]) -> t [n,c]@s where t : float"


@batch_norm.means
def _(
    xp: Arrays, x: Array, scale: Array, bias: Array, mean: Array, variance: Array, epsilon: float
) -> Array:
    factor = wide(xp, scale) / xp.sqrt(wide(xp, variance) + epsilon)
    moved = _moved(xp, wide(xp, x), (factor, wide(xp, bias) - wide(xp, mean) * factor), x.ndim - 2)
    return xp.astype(moved, x.dtype)


@operator(Traits(scales=(2,), padding=Padding(("n", "c"), {"s": "zero"})), roles={"c": "channels"})
def instance_norm(arity: int, *, epsilon: float = 1e-5) -> Rule:
    """Bring each channel of each instance of `[n,c,…]` to mean 0 and variance 1; scale and bias as
    in `layer_norm`.

    - `epsilon`: what is added to the variance before the division.

    >>> instance_norm(x : f32 [n,3,h,w], scale : f32 [3], bias : f32 [3])
    f32 [n,3,h,w]
    """
    return _scaled("instance_norm", arity, "[n,c]@s", "c", 3)


@instance_norm.means
def _(xp: Arrays, x: Array, *vectors: Array, epsilon: float) -> Array:
    y = _standard(xp, wide(xp, x), tuple(range(2, x.ndim)), epsilon)
    return xp.astype(_moved(xp, y, vectors, x.ndim - 2), x.dtype)


@instance_norm.padded
def _(xp: Arrays, true: TrueSizes, x: Array, *vectors: Array, epsilon: float) -> Array:
    y, axes = wide(xp, x), tuple(range(2, x.ndim))
    count, inside = true.count(xp, 0, axes, y.dtype), true.mask(xp, 0, axes)
    y = _standard(xp, y, axes, epsilon, count, inside)
    return xp.astype(_moved(xp, y, vectors, x.ndim - 2), x.dtype)


GROUPED = Padding(("n",), {"s": "zero"}, reason="groups of more channels would be others")


@operator(Traits(scales=(2,), padding=GROUPED), roles={"c": "channels"})
def group_norm(arity: int, *, groups: Extent, epsilon: float = 1e-5) -> Rule:
    """Bring each group of channels of `[n,c,…]` to mean 0 and variance 1; scale and bias as in
    `layer_norm`.

    - `groups`: how many; the number of channels must be a multiple of it.
    - `epsilon`: what is added to the variance before the division.

    >>> group_norm(x : f32 [n,32,h,w], scale : f32 [32], bias : f32 [32], groups=8)
    f32 [n,32,h,w]
    """
    if isinstance(groups, int) and groups < 1:
        return Problem("groups must be at least 1")
    channels = "c" if groups == 1 else f"{groups}*c"
    return _scaled("group_norm", arity, f"[n,{channels}]@s", channels, 3)


@group_norm.means
def _(xp: Arrays, x: Array, *vectors: Array, groups: int, epsilon: float) -> Array:
    y = wide(xp, x).reshape(x.shape[0], groups, x.shape[1] // groups, *x.shape[2:])
    y = _standard(xp, y, tuple(range(2, y.ndim)), epsilon).reshape(x.shape)
    return xp.astype(_moved(xp, y, vectors, x.ndim - 2), x.dtype)


@group_norm.padded
def _(xp: Arrays, true: TrueSizes, x: Array, *vectors: Array, groups: int, epsilon: float) -> Array:
    y = wide(xp, x).reshape(len(x), groups, x.shape[1] // groups, *x.shape[2:])
    axes = tuple(range(2, x.ndim))
    count = true.count(xp, 0, axes, y.dtype) * (x.shape[1] // groups)
    inside = true.mask(xp, 0, axes)
    y = _standard(xp, y, (2, *(axis + 1 for axis in axes)), epsilon, count, inside)
    return xp.astype(_moved(xp, y.reshape(x.shape), vectors, x.ndim - 2), x.dtype)


@operator(Traits(padding=Padding(("n", "s"), {"c": "zero"})), roles={"c": "channels"})
def local_response_norm(
    *, size: int, alpha: float = 1e-4, beta: float = 0.75, bias: float = 1.0
) -> Rule:
    """Divide each channel of `[n,c,…]` by `(bias + alpha * m) ** beta`, where m is the mean square
    of the channels around it; those that are not there count as zeros.

    - `size`: how many channels are taken together; of an even number one more is behind.
    - `alpha`, `beta`, `bias`: the numbers in the formula.

    >>> local_response_norm(x : f32 [n,c,h,w], size=3)
    f32 [n,c,h,w]
    """
    if not 1 <= size <= MOST_AROUND:
        return Problem(f"size must be from 1 to {MOST_AROUND}, not {size}")
    return "t [n,c]@s -> t [n,c]@s where t : float"


@local_response_norm.means
def _(xp: Arrays, x: Array, size: int, alpha: float, beta: float, bias: float) -> Array:
    y = wide(xp, x)
    before, channels = (size - 1) // 2, x.shape[1]
    around = [(0, 0), (before, size - 1 - before)] + [(0, 0)] * (x.ndim - 2)
    squares = xp.pad(y * y, around)
    total = xp.zeros_like(y)
    for first in range(size):
        total = total + squares[:, first : first + channels]
    return xp.astype(y / (bias + alpha / size * total) ** beta, x.dtype)
