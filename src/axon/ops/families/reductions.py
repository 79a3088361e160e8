"""Reductions: an axis, several, or all of them go (or stay with size 1).

`max` and `min` are two operators each: of one tensor the reduction, of two the strict maximum of
the paper.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from math import inf
from math import prod as prod_of

from axon.ops.arrays import Array, Arrays, is_integer, wide
from axon.ops.axes import at, bad_axes, place
from axon.ops.operator import Ints, Problem, Rule, operator
from axon.ops.padding import TrueSizes
from axon.ops.traits import Attributes, Padding, RowRule, Traits


def _reduction(
    axis: Ints | None, keep: bool, elem: str = "t", result: str = "t", where: str = ""
) -> Rule:
    """From `elem` over a shape to `result` over what is left of it."""
    condition = f" where {where}" if where else ""
    if axis is None:
        if keep:
            return Problem("keep=true needs the axes by name: give axis=… as well")
        return f"{elem} s -> {result} []{condition}"
    if problem := bad_axes(axis):
        return problem
    if not axis:
        return Problem("the list of axes is empty; leave `axis` out to reduce over all of them")
    names = ["d"] if len(axis) == 1 else [f"r{i}" for i in range(1, len(axis) + 1)]
    kept = ["1" if keep else ""] * len(axis)
    whole, rest = place(axis, names, tail="after"), place(axis, kept, tail="after")
    return f"{elem} {whole} -> {result} {rest}{condition}"


def _position(axis: int | None, keep: bool) -> Rule:
    """The index of something along one axis, or in the flat tensor: there must be something."""
    some = "size(s) >= 1" if axis is None else "d >= 1"
    return _reduction(None if axis is None else (axis,), keep, "t", "i64", f"{some}, t : num")


def _along(axis: int) -> Rule:
    """Same shape; one axis is special."""
    if problem := bad_axes((axis,)):
        return problem
    shape = at(axis, "n", tail="after")
    return f"t {shape} -> t {shape} where t : num"


def _count(x: Array, axis: Ints | None) -> int:
    """How many elements go into one of the result."""
    return prod_of(x.shape if axis is None else [x.shape[i] for i in axis])


def _mean(xp: Arrays, x: Array, axis: Ints | None, keep: bool) -> Array:
    return xp.sum(x, axis=axis, keepdims=keep) / _count(x, axis)


def _max(xp: Arrays, x: Array, axis: Ints | None, keep: bool) -> Array:
    """Where there is nothing, what no element is less than."""
    low = xp.asarray(xp.iinfo(x.dtype).min if is_integer(xp, x) else -inf, dtype=x.dtype)
    return xp.max(x, axis=axis, keepdims=keep, initial=low)


def _min(xp: Arrays, x: Array, axis: Ints | None, keep: bool) -> Array:
    high = xp.asarray(xp.iinfo(x.dtype).max if is_integer(xp, x) else inf, dtype=x.dtype)
    return xp.min(x, axis=axis, keepdims=keep, initial=high)


def _place(
    xp: Arrays,
    find: Callable[..., Array],
    x: Array,
    axis: int | None,
    keep: bool,
    last: bool,
) -> Array:
    seen = xp.flip(wide(xp, x), axis=axis) if last else wide(xp, x)
    found = xp.astype(find(seen, axis=axis, keepdims=keep), xp.element("i64"))
    size = prod_of(x.shape) if axis is None else x.shape[axis]
    return size - 1 - found if last else found


def _norm_padding(attributes: Attributes) -> Padding | str:
    p = attributes["p"]
    assert isinstance(p, float | int)
    if p != -inf and p < 0:
        return "a negative power of what is padding"
    return Padding(("after*",), reduced="highest" if p == -inf else "zero")


def _argmax_padding(attributes: Attributes) -> Padding | str:
    if attributes["last"]:
        return "of elements that are equal it takes the last"
    return Padding(("after*", "s"), reduced="lowest")


def _argmin_padding(attributes: Attributes) -> Padding | str:
    found = _argmax_padding(attributes)
    return found if isinstance(found, str) else found._replace(reduced="highest")


def _axes(x: Array, axis: Ints | None) -> Ints:
    return tuple(i % x.ndim for i in (builtins.range(x.ndim) if axis is None else axis))


@operator(Traits(rows=RowRule.REDUCTION, padding=Padding(("after*",), reduced="zero")))
def sum(*, axis: Ints | None = None, keep: bool = False) -> Rule:
    """Add up the elements along axes.

    - `axis`: one axis or a list; all if not given. Negative axes count from the back.
    - `keep`: leave the axes there with size 1.

    >>> sum(x : f32 [n,3])
    f32
    >>> sum(x : f32 [b,n,k], axis=1)
    f32 [b,k]
    >>> sum(x : f32 [b,c,h,w], axis=[2,3], keep=true)
    f32 [b,c,1,1]
    """
    return _reduction(axis, keep, where="t : num")


@sum.means
def _(xp: Arrays, x: Array, axis: Ints | None, keep: bool) -> Array:
    y = wide(xp, x)
    return xp.astype(xp.sum(y, axis=axis, keepdims=keep, dtype=y.dtype), x.dtype)


@operator(Traits(rows=RowRule.REDUCTION, padding=Padding(("after*",), reduced="one")))
def prod(*, axis: Ints | None = None, keep: bool = False) -> Rule:
    """Multiply the elements along axes.

    - `axis`: one axis or a list; all if not given. Negative axes count from the back.
    - `keep`: leave the axes there with size 1.

    >>> prod(x : i64 [2,3], axis=0)
    i64 [3]
    """
    return _reduction(axis, keep, where="t : num")


@prod.means
def _(xp: Arrays, x: Array, axis: Ints | None, keep: bool) -> Array:
    y = wide(xp, x)
    return xp.astype(xp.prod(y, axis=axis, keepdims=keep, dtype=y.dtype), x.dtype)


@operator(Traits(rows=RowRule.REDUCTION, padding=Padding(("after*",), reduced="zero")))
def mean(*, axis: Ints | None = None, keep: bool = False) -> Rule:
    """The mean of the elements along axes.

    - `axis`: one axis or a list; all if not given. Negative axes count from the back.
    - `keep`: leave the axes there with size 1.

    >>> mean(x : f32 [b,n], axis=-1, keep=true)
    f32 [b,1]
    """
    return _reduction(axis, keep, where="t : float")


@mean.means
def _(xp: Arrays, x: Array, axis: Ints | None, keep: bool) -> Array:
    return xp.astype(_mean(xp, wide(xp, x), axis, keep), x.dtype)


@mean.padded
def _(xp: Arrays, true: TrueSizes, x: Array, axis: Ints | None, keep: bool) -> Array:
    y = wide(xp, x)
    count = true.count(xp, 0, _axes(x, axis), y.dtype)
    return xp.astype(xp.sum(y, axis=axis, keepdims=keep) / count, x.dtype)


@operator(Traits(rows=RowRule.REDUCTION, padding=Padding(("after*",), reduced="zero")))
def variance(*, axis: Ints | None = None, keep: bool = False, correction: int = 0) -> Rule:
    """The mean of the squared distances from the mean.

    - `axis`: one axis or a list; all if not given. Negative axes count from the back.
    - `keep`: leave the axes there with size 1.
    - `correction`: how much less than the number of elements to divide by; 1 gives the estimate
      from a sample.

    >>> variance(x : f32 [b,n], axis=0)
    f32 [n]
    """
    return _reduction(axis, keep, where="t : float")


@variance.means
def _(xp: Arrays, x: Array, axis: Ints | None, keep: bool, correction: int) -> Array:
    y = wide(xp, x)
    away = y - _mean(xp, y, axis, True)
    squares = xp.sum(away * away, axis=axis, keepdims=keep)
    return xp.astype(squares / builtins.max(_count(y, axis) - correction, 0), x.dtype)


@variance.padded
def _(
    xp: Arrays, true: TrueSizes, x: Array, axis: Ints | None, keep: bool, correction: int
) -> Array:
    y, axes = wide(xp, x), _axes(x, axis)
    count = true.count(xp, 0, axes, y.dtype)
    away = y - xp.sum(y, axis=axis, keepdims=True) / count
    inside = true.mask(xp, 0, axes)
    away = away if inside is None else xp.where(inside, away, 0)
    squares = xp.sum(away * away, axis=axis, keepdims=keep)
    less = builtins.max(count - correction, 0) if isinstance(count, int) else None
    return xp.astype(
        squares / (xp.maximum(count - correction, 0) if less is None else less), x.dtype
    )


@operator(Traits(rows=RowRule.REDUCTION, padding=_norm_padding))
def norm(*, axis: Ints | None = None, keep: bool = False, p: float = 2.0) -> Rule:
    """The p-norm: the p-th root of the sum of the absolute values' p-th powers.

    - `axis`: one axis or a list; all if not given. Negative axes count from the back.
    - `keep`: leave the axes there with size 1.
    - `p`: which norm; 1, 2 and inf are the usual ones.

    >>> norm(x : f32 [b,n], axis=-1)
    f32 [b]
    """
    return _reduction(axis, keep, where="t : float")


@norm.means
def _(xp: Arrays, x: Array, axis: Ints | None, keep: bool, p: float) -> Array:
    sizes = xp.abs(wide(xp, x))
    if p == inf:
        return xp.astype(xp.max(sizes, axis=axis, keepdims=keep, initial=0), x.dtype)
    if p == -inf:
        return xp.astype(_min(xp, sizes, axis, keep), x.dtype)
    if p == 0:
        return xp.astype(xp.sum(sizes != 0, axis=axis, keepdims=keep), x.dtype)
    return xp.astype(xp.sum(sizes**p, axis=axis, keepdims=keep) ** (1 / p), x.dtype)


@operator(Traits(rows=RowRule.REDUCTION, padding=Padding(("after*",), reduced="lowest")))
def logsumexp(*, axis: Ints | None = None, keep: bool = False) -> Rule:
    """The logarithm of the sum of the exponentials, computed so that it does not overflow.

    - `axis`: one axis or a list; all if not given. Negative axes count from the back.
    - `keep`: leave the axes there with size 1.

    >>> logsumexp(x : f32 [b,n], axis=-1)
    f32 [b]
    """
    return _reduction(axis, keep, where="t : float")


@logsumexp.means
def _(xp: Arrays, x: Array, axis: Ints | None, keep: bool) -> Array:
    y = wide(xp, x)
    top = _max(xp, y, axis, True)
    top = xp.where(xp.isfinite(top), top, 0)
    total = xp.sum(xp.exp(y - top), axis=axis, keepdims=keep)
    return xp.astype(xp.log(total) + top.reshape(total.shape), x.dtype)


@operator(
    Traits(
        pointwise=True,
        rows=RowRule.REDUCTION,
        array_reduction="max",
        broadcasting_form="maximum",
        padding=Padding(("after*",), reduced="lowest"),
    ),
    roles={"s": "shapes"},
)
def max(arity: int, *, axis: Ints | None = None, keep: bool = False) -> Rule:
    """Of two tensors of one shape, the larger elements; of one tensor, the largest elements along
    axes.

    - `axis` (of one tensor): one axis or a list; all if not given. Negative axes count from the
      back.
    - `keep` (of one tensor): leave the axes there with size 1.

    >>> max(x : f32 [n], y : f32 [n])
    f32 [n]
    >>> max(x : f32 [b,n], axis=1)
    f32 [b]
    """
    return _largest("max", arity, axis, keep)


@max.means
def _(xp: Arrays, *parts: Array, axis: Ints | None, keep: bool) -> Array:
    return xp.maximum(*parts) if len(parts) == 2 else _max(xp, parts[0], axis, keep)


@operator(
    Traits(
        pointwise=True,
        rows=RowRule.REDUCTION,
        array_reduction="min",
        broadcasting_form="minimum",
        padding=Padding(("after*",), reduced="highest"),
    ),
    roles={"s": "shapes"},
)
def min(arity: int, *, axis: Ints | None = None, keep: bool = False) -> Rule:
    """Of two tensors of one shape, the smaller elements; of one tensor, the smallest elements along
    axes.

    - `axis` (of one tensor): one axis or a list; all if not given. Negative axes count from the
      back.
    - `keep` (of one tensor): leave the axes there with size 1.

    >>> min(x : f32 [n], y : f32 [n])
    f32 [n]
    >>> min(x : f32 [b,n], axis=-1, keep=true)
    f32 [b,1]
    """
    return _largest("min", arity, axis, keep)


@min.means
def _(xp: Arrays, *parts: Array, axis: Ints | None, keep: bool) -> Array:
    return xp.minimum(*parts) if len(parts) == 2 else _min(xp, parts[0], axis, keep)


def _largest(name: str, arity: int, axis: Ints | None, keep: bool) -> Rule:
    if arity == 1:
        return _reduction(axis, keep, where="t : num")
    if arity != 2:
        return Problem(f"{name} takes one tensor, or two of one shape; {arity} are given")
    if axis is not None or keep:
        return Problem(f"{name} of two tensors has no axis; `axis` and `keep` are for one tensor")
    return "(t s, t s) -> t s where t : num"


@operator(Traits(rows=RowRule.REDUCTION, padding=Padding(("after*",), reduced="false")))
def any(*, axis: Ints | None = None, keep: bool = False) -> Rule:
    """Is one of the elements along axes true?

    - `axis`: one axis or a list; all if not given. Negative axes count from the back.
    - `keep`: leave the axes there with size 1.

    >>> any(x : bool [b,n], axis=1)
    bool [b]
    """
    return _reduction(axis, keep, "bool", "bool")


@any.means
def _(xp: Arrays, x: Array, axis: Ints | None, keep: bool) -> Array:
    return xp.any(x, axis=axis, keepdims=keep)


@operator(Traits(rows=RowRule.REDUCTION, padding=Padding(("after*",), reduced="true")))
def all(*, axis: Ints | None = None, keep: bool = False) -> Rule:
    """Are all the elements along axes true?

    - `axis`: one axis or a list; all if not given. Negative axes count from the back.
    - `keep`: leave the axes there with size 1.

    >>> all(x : bool [b,n])
    bool
    """
    return _reduction(axis, keep, "bool", "bool")


@all.means
def _(xp: Arrays, x: Array, axis: Ints | None, keep: bool) -> Array:
    return xp.all(x, axis=axis, keepdims=keep)


@operator(Traits(rows=RowRule.REDUCTION, padding=_argmax_padding))
def argmax(*, axis: int | None = None, keep: bool = False, last: bool = False) -> Rule:
    """Where the largest element is, the first of them: its index along an axis, or in the flattened
    tensor.

    - `axis`: which one; without it the tensor is taken as flat. Negative axes count from the back.
    - `keep`: leave the axis there with size 1.
    - `last`: the last of them instead.

    >>> argmax(x : f32 [b,8], axis=-1)
    i64 [b]
    """
    return _position(axis, keep)


@argmax.means
def _(xp: Arrays, x: Array, axis: int | None, keep: bool, last: bool) -> Array:
    return _place(xp, xp.argmax, x, axis, keep, last)


@argmax.padded
def _(xp: Arrays, true: TrueSizes, x: Array, axis: int | None, keep: bool, last: bool) -> Array:
    found = _place(xp, xp.argmax, x, axis, keep, last)
    return found if axis is not None else _renumbered(true, x, found)


@operator(Traits(rows=RowRule.REDUCTION, padding=_argmin_padding))
def argmin(*, axis: int | None = None, keep: bool = False, last: bool = False) -> Rule:
    """Where the smallest element is, the first of them: its index along an axis, or in the
    flattened tensor.

    - `axis`: which one; without it the tensor is taken as flat. Negative axes count from the back.
    - `keep`: leave the axis there with size 1.
    - `last`: the last of them instead.

    >>> argmin(x : f32 [4,n,k], axis=0)
    i64 [n,k]
    """
    return _position(axis, keep)


@argmin.means
def _(xp: Arrays, x: Array, axis: int | None, keep: bool, last: bool) -> Array:
    return _place(xp, xp.argmin, x, axis, keep, last)


@argmin.padded
def _(xp: Arrays, true: TrueSizes, x: Array, axis: int | None, keep: bool, last: bool) -> Array:
    found = _place(xp, xp.argmin, x, axis, keep, last)
    return found if axis is not None else _renumbered(true, x, found)


def _renumbered(true: TrueSizes, x: Array, number: Array) -> Array:
    """The number of an element in the flat tensor of the true ones."""
    total, stride = number * 0, 1
    for padded, size in zip(reversed(x.shape), reversed(true.of(0)), strict=True):
        total = total + number % padded * stride
        number, stride = number // padded, stride * size
    return total


@operator(Traits(padding=Padding(("after*",), {"n": "zero"})))
def cumsum(*, axis: int = 0, exclusive: bool = False, reverse: bool = False) -> Rule:
    """The sum of all elements up to each one along an axis.

    - `axis`: which one; the outermost if not given. Negative axes count from the back.
    - `exclusive`: without the element itself.
    - `reverse`: from the other end.

    >>> cumsum(x : f32 [n,k], axis=1)
    f32 [n,k]
    """
    return _along(axis)


@cumsum.means
def _(xp: Arrays, x: Array, axis: int, exclusive: bool, reverse: bool) -> Array:
    return _so_far(xp, xp.cumsum, 0, x, axis, exclusive, reverse)


@operator(Traits(padding=Padding(("after*",), {"n": "one"})))
def cumprod(*, axis: int = 0, exclusive: bool = False, reverse: bool = False) -> Rule:
    """The product of all elements up to each one along an axis.

    - `axis`: which one; the outermost if not given. Negative axes count from the back.
    - `exclusive`: without the element itself.
    - `reverse`: from the other end.

    >>> cumprod(x : f32 [n,k])
    f32 [n,k]
    """
    return _along(axis)


@cumprod.means
def _(xp: Arrays, x: Array, axis: int, exclusive: bool, reverse: bool) -> Array:
    return _so_far(xp, xp.cumprod, 1, x, axis, exclusive, reverse)


def _so_far(
    xp: Arrays,
    combine: Callable[..., Array],
    neutral: int,
    x: Array,
    axis: int,
    exclusive: bool,
    reverse: bool,
) -> Array:
    """All elements up to each one along an axis, combined."""
    y = xp.flip(wide(xp, x), axis=axis) if reverse else wide(xp, x)
    if exclusive and x.shape[axis]:
        before = (*[slice(None)] * (axis % x.ndim), slice(-1))
        none = xp.full_like(y[(*before[:-1], slice(1))], neutral)
        y = xp.concatenate([none, y[before]], axis=axis)
    y = combine(y, axis=axis, dtype=y.dtype)
    return xp.astype(xp.flip(y, axis=axis) if reverse else y, x.dtype)
