"""Numbers as small integers: `x` is stored as the integer next to `x / scale + zero`."""

from __future__ import annotations

from axon.ops.arrays import Array, Arrays, to_integers, wide
from axon.ops.operator import Rule, operator
from axon.ops.traits import POINTWISE, Padding, Traits


def _stored(xp: Arrays, x: Array, scale: Array, zero: Array) -> Array:
    """Rounded, halves to the even integer, and brought in where it does not fit.

    Integers are counted modulo 2**64, so that every type has room: what is above the zero point up
    to the largest, and below it down to the least.
    """
    u64 = xp.element("u64")
    top = 1 << (8 * u64.itemsize)
    least, most = (
        xp.asarray(int(bound) % top, dtype=u64)
        for bound in (xp.iinfo(zero.dtype).min, xp.iinfo(zero.dtype).max)
    )
    steps = xp.rint(x / scale)
    middle = _modular(xp, zero)
    up = xp.minimum(to_integers(xp, steps, u64), most - middle)
    down = xp.minimum(to_integers(xp, -steps, u64), middle - least)
    return xp.astype(xp.where(steps < 0, middle - down, middle + up), zero.dtype)


def _modular(xp: Arrays, x: Array) -> Array:
    """Integers modulo 2**64."""
    signed = xp.astype(x, xp.element("i64")) if xp.kind(x.dtype) == "i" else x
    return xp.astype(signed, xp.element("u64"))


@operator(POINTWISE)
def quantise() -> Rule:
    """Numbers as integers of the type of the third argument: `x / scale`, rounded, halves to the
    even one, plus the zero point; what does not fit is brought in. The shapes broadcast.

    >>> quantise(x : f32 [b,n], scale : f32, zero : u8)
    u8 [b,n]
    >>> quantise(x : f32 [c,n], scale : f32 [c,1], zero : i32 [c,1])
    i32 [c,n]
    """
    return "(a p, t q, u r) -> u broadcast(p,q,r) where a : num, t : float, u : int"


@quantise.means
def _(xp: Arrays, x: Array, scale: Array, zero: Array) -> Array:
    scale = wide(xp, scale)
    return _stored(xp, xp.astype(wide(xp, x), scale.dtype), scale, zero)


@operator(POINTWISE)
def dequantise() -> Rule:
    """The numbers that integers stand for: `(x - zero) * scale`. The shapes broadcast.

    >>> dequantise(x : u8 [b,n], scale : f32, zero : u8)
    f32 [b,n]
    """
    return "(u p, t q, u r) -> t broadcast(p,q,r) where t : float, u : int"


@dequantise.means
def _(xp: Arrays, x: Array, scale: Array, zero: Array) -> Array:
    factor = wide(xp, scale)
    ahead = xp.astype(_modular(xp, x) - _modular(xp, zero), factor.dtype)
    behind = xp.astype(_modular(xp, zero) - _modular(xp, x), factor.dtype)
    return xp.astype(xp.where(x >= zero, ahead, -behind) * factor, scale.dtype)


@operator(Traits(padding=Padding(fills={"after*": "zero"})))
def quantise_range() -> Rule:
    """Numbers as 8 bits that span the range of those that are there, and zero: the integers, the
    scale and the zero point.

    >>> quantise_range(x : f32 [b,n])
    (u8 [b,n], f32, u8)
    """
    return "t after -> (u8 after, t [], u8 []) where t : float"


@quantise_range.means
def _(xp: Arrays, x: Array) -> tuple[Array, Array, Array]:
    y = wide(xp, x)
    none = xp.zeros((), dtype=y.dtype)
    low = xp.min(y, initial=none)
    high = xp.max(y, initial=none)
    scale = (high - low) / 255
    scale = xp.astype(xp.where(scale == 0, xp.ones_like(scale), scale), y.dtype)
    zero = to_integers(xp, xp.rint(-low / scale), xp.element("u8"))
    return _stored(xp, y, scale, zero), xp.astype(scale, x.dtype), zero
