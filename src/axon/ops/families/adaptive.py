"""Pools whose windows follow from the sizes: all of the spatial dimensions, or a number of
parts."""

from __future__ import annotations

import math

from axon.ops.arrays import Array, Arrays, is_integer, wide
from axon.ops.axes import dims
from axon.ops.operator import Ints, Problem, Rule, operator
from axon.ops.padding import Number, TrueSizes
from axon.ops.sliding import MOST, sides_of
from axon.ops.traits import Padding, Traits


def _global_pool(keep: bool, spatial: int | None, where: str) -> Rule:
    if not keep:
        return f"t [n,c]@s -> t [n,c] where t : {where}"
    sides = sides_of(spatial, (1,), (0,), (1,))
    if isinstance(sides, Problem):
        return sides
    x = dims(["n", "c", *(side.input for side in sides)])
    return f"t {x} -> t {dims(['n', 'c', *('1' for _ in sides)])} where t : {where}"


@operator(Traits(padding=Padding(("n", "c"), reduced="lowest")))
def global_max_pool(*, keep: bool = False, spatial: int | None = None) -> Rule:
    """The largest element of each channel.

    - `keep`: leave the spatial dimensions there with size 1.

    >>> global_max_pool(x : f32 [n,c,h,w])
    f32 [n,c]
    """
    return _global_pool(keep, spatial, "num")


@global_max_pool.means
def _(xp: Arrays, x: Array, keep: bool) -> Array:
    least = xp.asarray(xp.iinfo(x.dtype).min if is_integer(xp, x) else -math.inf, dtype=x.dtype)
    return xp.max(x, axis=tuple(range(2, x.ndim)), keepdims=keep, initial=least)


@operator(Traits(padding=Padding(("n", "c"), reduced="zero")))
def global_avg_pool(*, keep: bool = False, spatial: int | None = None) -> Rule:
    """The mean of each channel.

    - `keep`: leave the spatial dimensions there with size 1.

    >>> global_avg_pool(x : f32 [n,c,h,w])
    f32 [n,c]
    >>> global_avg_pool(x : f32 [n,c,h,w], keep=true)
    f32 [n,c,1,1]
    """
    return _global_pool(keep, spatial, "float")


@global_avg_pool.means
def _(xp: Arrays, x: Array, keep: bool) -> Array:
    total = xp.sum(wide(xp, x), axis=tuple(range(2, x.ndim)), keepdims=keep)
    return xp.astype(total / math.prod(x.shape[2:]), x.dtype)


@global_avg_pool.padded
def _(xp: Arrays, true: TrueSizes, x: Array, keep: bool) -> Array:
    y, axes = wide(xp, x), tuple(range(2, x.ndim))
    count = true.count(xp, 0, axes, y.dtype)
    return xp.astype(xp.sum(y, axis=axes, keepdims=keep) / count, x.dtype)


def _adaptive(dimensions: int, where: str) -> Rule:
    if not 1 <= dimensions <= MOST:
        return Problem(f"there must be from 1 to {MOST} spatial dimensions, not {dimensions}")
    x, y = ([f"{name}{i}" for i in range(1, dimensions + 1)] for name in "xy")
    least = ", ".join(f"{size} >= 1" for size in x)
    return f"(t s@{dims(x)}, shape {dims(y)}) -> t s@{dims(y)} where {least}, t : {where}"


ADAPTIVE = Traits(padding=Padding(fills={"x*": "anything"}, made=("y*",)))


@operator(ADAPTIVE)
def adaptive_max_pool(*, dimensions: int = 2) -> Rule:
    """The largest element in each window along the last dimensions. The sizes that follow are the
    numbers of windows; they cover all elements, are as equal as can be, and overlap where they
    must.

    - `dimensions`: how many spatial dimensions there are.

    >>> adaptive_max_pool(x : f32 [n,c,7,9], [2,3])
    f32 [n,c,2,3]
    """
    return _adaptive(dimensions, "num")


@adaptive_max_pool.means
def _(xp: Arrays, x: Array, sizes: Ints, dimensions: int) -> Array:
    for axis, size in enumerate(sizes, x.ndim - dimensions):
        seen, _ = _shares(xp, x, axis, size)
        x = xp.max(seen, axis=axis + 1)
    return x


@adaptive_max_pool.padded
def _(xp: Arrays, true: TrueSizes, x: Array, sizes: Ints, dimensions: int) -> Array:
    known = true.of(0)
    for axis, size in enumerate(sizes, x.ndim - dimensions):
        seen, _ = _true_shares(xp, x, axis, size, known[axis], true.result(axis, size))
        x = xp.max(seen, axis=axis + 1)
    return x


@operator(ADAPTIVE)
def adaptive_avg_pool(*, dimensions: int = 2) -> Rule:
    """The mean of each window along the last dimensions. The sizes that follow are the numbers of
    windows, which are those of `adaptive_max_pool`.

    - `dimensions`: how many spatial dimensions there are.

    >>> adaptive_avg_pool(x : f32 [n,c,7,9], [2,3])
    f32 [n,c,2,3]
    >>> adaptive_avg_pool(x : f32 [n,c,9], [4], dimensions=1)
    f32 [n,c,4]
    """
    return _adaptive(dimensions, "float")


@adaptive_avg_pool.means
def _(xp: Arrays, x: Array, sizes: Ints, dimensions: int) -> Array:
    y = wide(xp, x)
    for axis, size in enumerate(sizes, x.ndim - dimensions):
        y = _means(xp, y, axis, *_shares(xp, y, axis, size))
    return xp.astype(y, x.dtype)


@adaptive_avg_pool.padded
def _(xp: Arrays, true: TrueSizes, x: Array, sizes: Ints, dimensions: int) -> Array:
    y, known = wide(xp, x), true.of(0)
    for axis, size in enumerate(sizes, x.ndim - dimensions):
        shares = _true_shares(xp, y, axis, size, known[axis], true.result(axis, size))
        y = _means(xp, y, axis, *shares)
    return xp.astype(y, x.dtype)


def _means(xp: Arrays, y: Array, axis: int, seen: Array, counts: Array) -> Array:
    """The means of windows, of which as many elements count."""
    inside = xp.arange(seen.shape[axis + 1])[None, :] < counts[:, None]
    upright = (1,) * (y.ndim - axis - 1)
    inside = xp.reshape(inside, (*inside.shape, *upright))
    total = xp.sum(xp.where(inside, seen, 0), axis=axis + 1)
    return total / xp.reshape(xp.astype(counts, y.dtype), (-1, *upright))


def _shares(xp: Arrays, x: Array, axis: int, count: int) -> tuple[Array, Array]:
    """The windows along an axis, as an axis behind it, and how many elements each has: what is
    beyond the end of one is its last element again.
    """
    size = x.shape[axis]
    numbers = xp.arange(count, dtype=xp.element("i64"))
    starts = numbers * size // max(count, 1)
    counts = ((numbers + 1) * size + count - 1) // max(count, 1) - starts
    most = min(-(-size // max(count, 1)) + (size % max(count, 1) != 0), size)
    numbered = xp.arange(most, dtype=xp.element("i64"))[None, :]
    seen = starts[:, None] + xp.minimum(numbered, counts[:, None] - 1)
    return xp.take(x, seen, axis=axis), counts


def _true_shares(
    xp: Arrays, x: Array, axis: int, count: int, size: Number, made: Number
) -> tuple[Array, Array]:
    """The same where the axis truly has a size, and gets one, that may be less. Windows that are
    padding have one element.
    """
    whole = x.shape[axis]
    numbers = xp.arange(count, dtype=xp.element("i64"))
    parts = max(made, 1) if isinstance(made, int) else xp.maximum(made, 1)
    starts = numbers * size // parts
    counts = xp.maximum(((numbers + 1) * size + made - 1) // parts - starts, 1)
    most = min(-(-whole // parts) + 1, whole) if isinstance(parts, int) else whole
    numbered = xp.arange(most, dtype=xp.element("i64"))[None, :]
    seen = starts[:, None] + xp.minimum(numbered, counts[:, None] - 1)
    return xp.take(x, xp.clip(seen, 0, max(whole - 1, 0)), axis=axis), counts
