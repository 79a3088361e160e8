"""Reductions: an axis, several, or all of them go (or stay with size 1).

`max` and `min` are two operators each: of one tensor the reduction, of two the strict maximum of
the paper (D3).
"""

from __future__ import annotations

from axon.ops.axes import at, bad_axes, place
from axon.ops.operator import Ints, Problem, Rule, operator


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
    """The index of something along one axis, or in the flat tensor."""
    return _reduction(None if axis is None else (axis,), keep, "t", "i64", "t : num")


def _along(axis: int) -> Rule:
    """Same shape; one axis is special."""
    if problem := bad_axes((axis,)):
        return problem
    shape = at(axis, "n", tail="after")
    return f"t {shape} -> t {shape} where t : num"


@operator()
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


@operator()
def prod(*, axis: Ints | None = None, keep: bool = False) -> Rule:
    """Multiply the elements along axes.

    - `axis`: one axis or a list; all if not given. Negative axes count from the back.
    - `keep`: leave the axes there with size 1.

    >>> prod(x : i64 [2,3], axis=0)
    i64 [3]
    """
    return _reduction(axis, keep, where="t : num")


@operator()
def mean(*, axis: Ints | None = None, keep: bool = False) -> Rule:
    """The mean of the elements along axes.

    - `axis`: one axis or a list; all if not given. Negative axes count from the back.
    - `keep`: leave the axes there with size 1.

    >>> mean(x : f32 [b,n], axis=-1, keep=true)
    f32 [b,1]
    """
    return _reduction(axis, keep, where="t : float")


@operator()
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


@operator()
def norm(*, axis: Ints | None = None, keep: bool = False, p: float = 2.0) -> Rule:
    """The p-norm: the p-th root of the sum of the absolute values' p-th powers.

    - `axis`: one axis or a list; all if not given. Negative axes count from the back.
    - `keep`: leave the axes there with size 1.
    - `p`: which norm; 1, 2 and inf are the usual ones.

    >>> norm(x : f32 [b,n], axis=-1)
    f32 [b]
    """
    return _reduction(axis, keep, where="t : float")


@operator()
def logsumexp(*, axis: Ints | None = None, keep: bool = False) -> Rule:
    """The logarithm of the sum of the exponentials, computed so that it does not overflow.

    - `axis`: one axis or a list; all if not given. Negative axes count from the back.
    - `keep`: leave the axes there with size 1.

    >>> logsumexp(x : f32 [b,n], axis=-1)
    f32 [b]
    """
    return _reduction(axis, keep, where="t : float")


@operator(roles={"s": "shapes"})
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


@operator(roles={"s": "shapes"})
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


def _largest(name: str, arity: int, axis: Ints | None, keep: bool) -> Rule:
    if arity == 1:
        return _reduction(axis, keep, where="t : num")
    if arity != 2:
        return Problem(f"{name} takes one tensor, or two of one shape; {arity} are given")
    if axis is not None or keep:
        return Problem(f"{name} of two tensors has no axis; `axis` and `keep` are for one tensor")
    return "(t s, t s) -> t s where t : num"


@operator()
def any(*, axis: Ints | None = None, keep: bool = False) -> Rule:
    """Is one of the elements along axes true?

    - `axis`: one axis or a list; all if not given. Negative axes count from the back.
    - `keep`: leave the axes there with size 1.

    >>> any(x : bool [b,n], axis=1)
    bool [b]
    """
    return _reduction(axis, keep, "bool", "bool")


@operator()
def all(*, axis: Ints | None = None, keep: bool = False) -> Rule:
    """Are all the elements along axes true?

    - `axis`: one axis or a list; all if not given. Negative axes count from the back.
    - `keep`: leave the axes there with size 1.

    >>> all(x : bool [b,n])
    bool
    """
    return _reduction(axis, keep, "bool", "bool")


@operator()
def argmax(*, axis: int | None = None, keep: bool = False) -> Rule:
    """Where the largest element is, the first of them: its index along an axis, or in the flattened
    tensor.

    - `axis`: which one; without it the tensor is taken as flat. Negative axes count from the back.
    - `keep`: leave the axis there with size 1.

    >>> argmax(x : f32 [b,n], axis=-1)
    i64 [b]
    """
    return _position(axis, keep)


@operator()
def argmin(*, axis: int | None = None, keep: bool = False) -> Rule:
    """Where the smallest element is, the first of them: its index along an axis, or in the
    flattened tensor.

    - `axis`: which one; without it the tensor is taken as flat. Negative axes count from the back.
    - `keep`: leave the axis there with size 1.

    >>> argmin(x : f32 [b,n,k], axis=0)
    i64 [n,k]
    """
    return _position(axis, keep)


@operator()
def cumsum(*, axis: int = 0) -> Rule:
    """The sum of all elements up to each one along an axis.

    - `axis`: which one; the outermost if not given. Negative axes count from the back.

    >>> cumsum(x : f32 [n,k], axis=1)
    f32 [n,k]
    """
    return _along(axis)


@operator()
def cumprod(*, axis: int = 0) -> Rule:
    """The product of all elements up to each one along an axis.

    - `axis`: which one; the outermost if not given. Negative axes count from the back.

    >>> cumprod(x : f32 [n,k])
    f32 [n,k]
    """
    return _along(axis)
