"""Normalisation: the same shape out as in."""

from __future__ import annotations

from axon.ops.axes import at, bad_axes
from axon.ops.operator import Extent, Problem, Rule, operator


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


@operator()
def softmax(*, axis: int = -1) -> Rule:
    """Exponentials that add up to 1 along an axis.

    - `axis`: which one; the innermost if not given.

    >>> softmax(x : f32 [b,n])
    f32 [b,n]
    """
    return _along(axis)


@operator()
def log_softmax(*, axis: int = -1) -> Rule:
    """The logarithm of `softmax`, computed so that nothing is lost.

    - `axis`: which one; the innermost if not given.

    >>> log_softmax(x : f32 [b,n], axis=1)
    f32 [b,n]
    """
    return _along(axis)


@operator(roles={"n": "normalised sizes"})
def layer_norm(arity: int, *, epsilon: float = 1e-5) -> Rule:
    """Bring the last axis to mean 0 and variance 1; then scale it and add a bias, if they are
    given.

    - `epsilon`: what is added to the variance before the division.

    >>> layer_norm(x : f32 [b,s,n], scale : f32 [n], bias : f32 [n])
    f32 [b,s,n]
    >>> layer_norm(x : f32 [b,n])
    f32 [b,n]
    """
    return _scaled("layer_norm", arity, "s@[n]", "n", 3)


@operator(roles={"n": "normalised sizes"})
def rms_norm(arity: int, *, epsilon: float = 1e-6) -> Rule:
    """Divide the last axis by the root of its mean square; then scale it, if a scale is given.

    - `epsilon`: what is added to the mean square before the division.

    >>> rms_norm(x : f32 [b,s,n], scale : f32 [n])
    f32 [b,s,n]
    """
    return _scaled("rms_norm", arity, "s@[n]", "n", 2)


@operator(roles={"c": "channels"})
def batch_norm(*, epsilon: float = 1e-5) -> Rule:
    """Normalise each channel of `[n,c,…]` by statistics that were collected before: x, scale, bias,
    mean, variance.

    - `epsilon`: what is added to the variance before the division.

    >>> batch_norm(x : f32 [n,3,h,w], g : f32 [3], b : f32 [3], m : f32 [3], v : f32 [3])
    f32 [n,3,h,w]
    """
    return "(t [n,c]@s, t [c], t [c], t [c], t [c]) -> t [n,c]@s where t : float"


@operator(roles={"c": "channels"})
def instance_norm(arity: int, *, epsilon: float = 1e-5) -> Rule:
    """Bring each channel of each instance of `[n,c,…]` to mean 0 and variance 1; scale and bias as
    in `layer_norm`.

    - `epsilon`: what is added to the variance before the division.

    >>> instance_norm(x : f32 [n,3,h,w], scale : f32 [3], bias : f32 [3])
    f32 [n,3,h,w]
    """
    return _scaled("instance_norm", arity, "[n,c]@s", "c", 3)


@operator(roles={"c": "channels"})
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


@operator()
def dropout(*, rate: float = 0.5) -> Rule:
    """What training leaves out at random; a trained network passes everything through.

    - `rate`: the share that is left out, from 0 to 1.

    >>> dropout(x : f32 [b,n], rate=0.1)
    f32 [b,n]
    """
    if not 0 <= rate <= 1:
        return Problem(f"rate is a share, from 0 to 1, not {rate:g}")
    return "t s -> t s"
