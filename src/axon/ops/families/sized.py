"""Sizes, axes and bounds that are values: what they are is known at run time."""

from __future__ import annotations

import math
from typing import Any

from axon.ops.arrays import Array, Arrays, is_integer, wide
from axon.ops.axes import bad_axes, dims, place
from axon.ops.memory import Refused
from axon.ops.operator import Ints, Problem, Rule, operator
from axon.ops.traits import Padding, RowRule, Traits


def _axes(values: Array, rank: int) -> list[int]:
    """Axes counted from the front, each in range and there once."""
    found = [int(value) for value in values]
    for axis in found:
        if not -rank <= axis < rank:
            raise Refused(f"there is no axis {axis} among {rank}")
    counted = [axis % rank for axis in found]
    if len(set(counted)) < len(counted):
        raise Refused("the same axis is given twice")
    return counted


# --- shapes ----------------------------------------------------------------------------------


@operator(Traits(core=0, padding=Padding(made=("*",))))
def expand() -> Rule:
    """Stretch a tensor to a shape that stretches with it: a size of 1 is stretched on either side.
    (`broadcast_to` stretches only the tensor.)

    >>> expand(x : f32 [4,1], [1,3])
    f32 [4,3]
    """
    return "(t p, shape q) -> t broadcast(p,q)"


@expand.means
def _(xp: Arrays, x: Array, shape: Ints) -> Array:
    return xp.broadcast_to(x, xp.broadcast_shapes(x.shape, shape))


@operator(Traits(rows=RowRule.EVEN))
def measured(*, axis: Ints = ()) -> Rule:
    """The same tensor, with sizes that are known at run time: what is asked of them is checked
    where the tensor is measured, and asked of nothing else. In a function that may not be called,
    nothing is asked until it is. Rows of a ragged tensor that have one size after all are an array.

    - `axis`: the axes that are measured; without it all are, and the rank is too.

    >>> measured(x : f32 [n,3], axis=0)
    f32 [?a,3]
    >>> squeeze(measured(x : f32 [1,3], axis=0), axis=0)
    f32 [3]
    """
    if not axis:
        return "t after -> t ?r"
    if problem := bad_axes(axis):
        return problem
    numbers = [str(i) for i, _ in enumerate(axis)] if len(axis) > 1 else [""]
    before, after = (
        place(axis, [f"{name}{number}" for number in numbers], tail="after") for name in ("n", "?k")
    )
    return f"t {before} -> t {after}"


@measured.means
def _(xp: Arrays, x: Array, axis: Ints) -> Array:
    return x


@operator(Traits(padding=Padding(("*",))))
def ensure_shape(arity: int, *, sizes: Ints = ()) -> Rule:
    """A tensor as it is, of which the shape is known: it is the first argument, or has some
    `sizes`. What only the run knows of it, the run checks.

    - `sizes`: one for each dimension; -1 is any.

    >>> ensure_shape([4,3], measured(x : f32 [4,3], axis=0))
    f32 [4,3]
    >>> ensure_shape(x : f32 [n,3], sizes=[-1,3])
    f32 [n,3]
    """
    if arity == 2 and not sizes:
        return "(shape s, t after) -> t s where after = s"
    if arity != 1 or any(size < -1 for size in sizes):
        return Problem("ensure_shape takes a shape and a tensor, or a tensor with sizes=[-1,3]")
    shape = dims(f"n{i}" if size == -1 else str(size) for i, size in enumerate(sizes))
    return f"t {shape} -> t {shape}"


@ensure_shape.means
def _(xp: Arrays, *given: Array, sizes: Ints) -> Array:
    return given[-1]


@operator(Traits(padding=Padding(reason="its sizes are computed with")))
def reshaped_sizes(*, zero: bool = False) -> Rule:
    """The sizes that a list with open places means for a tensor, to give them to `reshape`: -1 is
    what is left for that place, and 0 the size that the tensor has there.

    - `zero`: a 0 is a size of zero.

    >>> reshaped_sizes(x : f32 [2,n,6], sizes : i64 [2])
    i64 [2]
    """
    return "(t after, i [k]) -> i64 [k] where i : int"


@reshaped_sizes.means
def _(xp: Arrays, x: Array, sizes: Array, zero: bool) -> Array:
    sizes = xp.astype(sizes, xp.element("i64"))
    if not zero:
        mine = (*x.shape, *[0] * sizes.shape[0])[: sizes.shape[0]]
        sizes = xp.where(sizes == 0, xp.asarray(mine, dtype=sizes.dtype), sizes)
    open_ = sizes == -1
    others = xp.prod(xp.where(open_, xp.ones_like(sizes), sizes))
    left = math.prod(x.shape) // xp.maximum(others, xp.ones_like(others))
    first = open_ & (xp.cumsum(xp.astype(open_, sizes.dtype)) == 1)
    return xp.where(first, left, sizes)


@operator()
def expand_dims_by() -> Rule:
    """Insert dimensions of size 1, at axes that are known at run time.

    >>> expand_dims_by(x : f32 [2,3], axes : i64 [1])
    f32 [?a,?b,?c]
    """
    return "(t after, i [k]) -> t ?r where rank(?r) = rank(after)+k, i : int"


@expand_dims_by.means
def _(xp: Arrays, x: Array, axes: Array) -> Array:
    return xp.expand_dims(x, tuple(_axes(axes, x.ndim + axes.shape[0])))


@operator()
def squeeze_by(arity: int) -> Rule:
    """Leave out dimensions of size 1: all of them, or those at axes that are known at run time.

    >>> squeeze_by(x : f32 [2,1,1], axes : i64 [1])
    f32 [?a,?b]
    """
    if arity == 1:
        return "t after -> t ?r"
    if arity != 2:
        return Problem(f"squeeze_by takes a tensor and perhaps axes; {arity} arguments are given")
    return "(t after, i [k]) -> t ?r where rank(?r) = rank(after)-k, i : int"


@squeeze_by.means
def _(xp: Arrays, x: Array, *axes: Array) -> Array:
    if not axes:
        return xp.squeeze(x)
    found = _axes(axes[0], x.ndim)
    for axis in found:
        if x.shape[axis] != 1:
            raise Refused(f"the axis {axis} has size {x.shape[axis]}, not 1")
    return xp.squeeze(x, axis=tuple(found))


@operator()
def join_axes(*, none: bool = False) -> Rule:
    """The elements along some axes, joined in one axis at the end; the axes stay with size 1. What
    reduces the last axis then reduces those that are known at run time.

    - `none`: an empty list of axes means none of them, and not all.

    >>> join_axes(x : f32 [2,3,n], axes : i64 [1])
    f32 [?a,?b,?c,?d]
    >>> sum(join_axes(x : f32 [2,3,4], axes : i64 [1]), axis=-1)
    f32 [?a,?b,?c]
    """
    return "(t after, i [k]) -> t ?r@[?m] where rank(?r) = rank(after), i : int"


@join_axes.means
def _(xp: Arrays, x: Array, axes: Array, none: bool) -> Array:
    joined = sorted(_axes(axes, x.ndim))
    if not joined and not none:
        joined = list(range(x.ndim))
    left = [axis for axis in range(x.ndim) if axis not in joined]
    sizes = [1 if axis in joined else x.shape[axis] for axis in range(x.ndim)]
    last = math.prod(x.shape[axis] for axis in joined)
    return xp.reshape(xp.transpose(x, (*left, *joined)), (*sizes, last))


# --- bounds ----------------------------------------------------------------------------------


@operator(roles={"k": "numbers of axes"})
def slice_by(arity: int, *, axes: Ints = ()) -> Rule:
    """Parts along several axes, from starts up to and without stops that are known at run time:
    negative bounds count from the end, and bounds that lie outside are brought in. A fourth
    argument has the steps, and a fifth the axes.

    - `axes`: the axes, if they are known.

    >>> slice_by(x : f32 [n,5,8], starts : i64 [1], stops : i64 [1], axes=1)
    f32 [n,?a,8]
    >>> slice_by(x : f32 [2,5,6], a : i64 [1], b : i64 [1], step : i64 [1], axes : i64 [1])
    f32 [?a,?b,?c]
    """
    if arity == 5 and not axes:
        ints = ", ".join(["i [k]"] * 4)
        return f"(t after, {ints}) -> t ?r where rank(?r) = rank(after), i : int"
    if arity not in (3, 4) or not axes:
        return Problem(
            "slice_by takes a tensor, starts, stops and perhaps steps with axes=…, or axes too"
        )
    if problem := bad_axes(axes):
        return problem
    ints = ", ".join([f"i [{len(axes)}]"] * (arity - 1))
    whole = place(axes, [f"n{i}" for i, _ in enumerate(axes)], tail="after")
    parts = place(axes, [f"?k{i}" for i, _ in enumerate(axes)], tail="after")
    return f"(t {whole}, {ints}) -> t {parts} where i : int"


@slice_by.means
def _(xp: Arrays, x: Array, starts: Array, stops: Array, *more: Array, axes: Ints) -> Array:
    along = list(axes) if axes else _axes(more[1], x.ndim)
    steps = [xp.integer(step) for step in more[0]] if more else [1] * len(along)
    bounds = [[xp.integer(end) for end in ends] for ends in (starts, stops)]
    index: list[Any] = [slice(None)] * x.ndim
    for i, start, stop, step in zip(along, *bounds, steps, strict=True):
        if step == 0:
            raise Refused("the step of a slice is 0")
        index[i] = slice(start, stop, step)
    return xp.sliced(x, tuple(index))


@operator()
def arange() -> Rule:
    """The numbers from the first up to and without the second, by steps of the third. How many
    there are is known at run time.

    >>> arange(start : f32, stop : f32, step : f32)
    f32 [?a]
    """
    return "(t [], t [], t []) -> t [?k] where t : num"


@arange.means
def _(xp: Arrays, start: Array, stop: Array, step: Array) -> Array:
    low, high, by = (wide(xp, xp.asarray(number)) for number in (start, stop, step))
    if by == 0:
        raise Refused("the step of a range is 0")
    if is_integer(xp, low):
        count = -((xp.integer(low) - xp.integer(high)) // xp.integer(by))
    else:
        low64, high64, by64 = (xp.astype(number, xp.element("f64")) for number in (low, high, by))
        steps = (high64 - low64) / by64
        if not xp.isfinite(steps):
            raise Refused("a range has no end")
        count = xp.integer(xp.ceil(steps))
    places = xp.astype(xp.arange(max(count, 0), dtype=xp.element("i64")), low.dtype)
    return xp.astype(low + places * by, start.dtype)
