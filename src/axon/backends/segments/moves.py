"""What moves the elements of each row about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy

from axon.backends.segments import tiled
from axon.backends.segments.along import axes_of
from axon.backends.segments.arrays import FlatArrays, only, rule
from axon.backends.segments.frames import Counts, Frame, NotFlat
from axon.backends.segments.rows import (
    Rows,
    by_row,
    check_room,
    enter,
    innermost,
    leave,
)
from axon.ops.arrays import Array

Below = Callable[..., Array]

# --- the order of the axes -----------------------------------------------------------------------


def permuted(xp: FlatArrays, x: Rows, order: Sequence[int]) -> Rows:
    """The axes of a row in another order."""
    if x.segments is None:
        return Rows(x.frame, xp.xp.transpose(x.values, (0, *(axis + 1 for axis in order))))
    inner = [axis - (axis > x.place) for axis in order if axis != x.place]
    elements = enter(x)
    if inner != list(range(len(inner))):
        elements = permuted(xp, elements, inner)
    return leave(x.frame, elements, x.segments, list(order).index(x.place))


@rule("transpose")
def _transpose(xp: FlatArrays, below: Below, x: Any, axes: Sequence[int] | None = None) -> Any:
    x = only(x)
    order = range(x.ndim)[::-1] if axes is None else axes_of(axes, x.ndim)
    return permuted(xp, x, list(order))


@rule("swapaxes")
def _swapaxes(xp: FlatArrays, below: Below, x: Any, a: int, b: int) -> Any:
    x = only(x)
    order = list(range(x.ndim))
    a, b = axes_of([a, b], x.ndim)
    order[a], order[b] = order[b], order[a]
    return permuted(xp, x, order)


@rule("moveaxis")
def _moveaxis(xp: FlatArrays, below: Below, x: Any, source: int, to: int) -> Any:
    x = only(x)
    source, to = axes_of([source, to], x.ndim)
    order = [axis for axis in range(x.ndim) if axis != source]
    order.insert(to, source)
    return permuted(xp, x, order)


@rule("expand_dims")
def _expand_dims(xp: FlatArrays, below: Below, x: Any, axis: Any) -> Any:
    x = only(x)
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    for each in sorted(axes_of(axes, x.ndim + len(axes))):
        x = inserted(xp, x, each)
    return x


def inserted(xp: FlatArrays, x: Rows, axis: int) -> Rows:
    """A dimension of size 1 in each row."""
    if x.segments is None:
        return Rows(x.frame, xp.xp.expand_dims(x.values, axis + 1))
    if axis <= x.place:
        return leave(x.frame, inserted(xp, enter(x), axis), x.segments, x.place + 1)
    return leave(x.frame, inserted(xp, enter(x), axis - 1), x.segments, x.place)


@rule("squeeze")
def _squeeze(xp: FlatArrays, below: Below, x: Any, axis: Any = None) -> Any:
    x = only(x)
    if axis is None:
        axis = [each for each, size in enumerate(x.shape) if size == 1]
    for each in sorted(axes_of(axis, x.ndim), reverse=True):
        x = removed(xp, x, each)
    return x


def removed(xp: FlatArrays, x: Rows, axis: int) -> Rows:
    if x.segments is None:
        return Rows(x.frame, xp.xp.squeeze(x.values, axis=axis + 1))
    if axis == x.place:
        if x.segments.traced or not (x.segments.lengths == 1).all():
            raise NotFlat("a size that differs is left out")
        inner = enter(x)
        return Rows(x.frame, inner.values, inner.segments, inner.place)
    inner = removed(xp, enter(x), axis - (axis > x.place))
    return leave(x.frame, inner, x.segments, x.place - (axis < x.place))


# --- shapes --------------------------------------------------------------------------------------


@rule("reshape")
def _reshape(xp: FlatArrays, below: Below, x: Any, shape: Any) -> Any:
    shape = (shape,) if isinstance(shape, int | Counts) else tuple(shape)
    if not isinstance(x, Rows):
        raise NotFlat("an array gets a shape that differs")
    if x.segments is None:
        if by_row(shape):
            raise NotFlat("a shape that differs")
        return Rows(x.frame, below(x.values, (x.frame.count, *shape)))
    if isinstance(x.values, Rows):
        raise NotFlat("rows of rows get another shape")
    before, behind = x.shape[: x.place], x.shape[x.place + 1 :]
    counts = x.segments.counts(x.frame)
    for place, size in enumerate(shape):
        first, last = shape[:place], shape[place + 1 :]
        if not counts.same(size) or by_row(first + last):
            continue
        if prod(first) == prod(before) and prod(last) == prod(behind):
            made = below(x.values, (x.segments.total, *first, *last))
            return Rows(x.frame, made, x.segments, place)
    if x.place or len(shape) != 1:
        raise NotFlat("rows get another shape")
    size = prod(behind)
    if not (shape[0] == -1 if type(shape[0]) is int else (counts * size).same(shape[0])):
        raise NotFlat("rows get another shape")
    values = below(x.values, (x.segments.total * size,))
    return Rows(x.frame, values, x.segments.times(size), 0)


def made_in(xp: FlatArrays, frame: Frame, shape: Sequence[Any], make: Callable[..., Array]) -> Any:
    """Rows that are made in a shape with one size that differs, or none; or the last two do."""
    places = [i for i, size in enumerate(shape) if isinstance(size, Counts)]
    if places == [len(shape) - 2, len(shape) - 1] and frame.tilings is not None:
        return tiled.made_in(xp, frame, shape, make)
    if len(places) > 1:
        raise NotFlat("a shape in which two sizes differ")
    if not places:
        check_room(frame, frame.count, shape, xp.xp.element("f64"))
        return Rows(frame, make((frame.count, *shape)))
    (place,) = places
    segments = shape[place].into(frame).rows()
    rest = (*shape[:place], *shape[place + 1 :])
    check_room(frame, segments.total, rest, xp.xp.element("f64"))
    return Rows(frame, make((segments.total, *rest)), segments, place)


@rule("zeros", "ones")
def _filled(xp: FlatArrays, below: Below, shape: Any, dtype: Any = None) -> Any:
    shape = (shape,) if isinstance(shape, Counts) else tuple(shape)
    frame = innermost(shape)
    assert frame is not None
    return made_in(xp, frame, shape, lambda whole: below(whole, dtype=dtype))


@rule("arange")
def _arange(xp: FlatArrays, below: Below, *bounds: Any, dtype: Any = None) -> Any:
    stop = bounds[0] if len(bounds) == 1 else bounds[1]
    if len(bounds) > 1 and not (type(bounds[0]) is int and bounds[0] == 0):
        raise NotFlat("a range of rows that begins elsewhere")
    if len(bounds) > 2 and not (type(bounds[2]) is int and bounds[2] == 1):
        raise NotFlat("a range of rows with steps")
    if not isinstance(stop, Counts):
        raise NotFlat("a range to a value")
    segments = stop.rows()
    made = xp.xp.asarray(segments.within, dtype=dtype or xp.xp.element("i64"))
    return Rows(stop.frame, made, segments, 0)


@rule("broadcast_to")
def _broadcast_to(xp: FlatArrays, below: Below, x: Any, shape: Any) -> Any:
    shape = tuple(shape)
    if isinstance(x, Rows) and _has_shape(x, shape):
        return x
    frame = innermost([x, shape])
    assert frame is not None
    two = len(shape) > 1 and all(isinstance(size, Counts) for size in shape[-2:])
    if two and frame.tilings is not None and not by_row(x) and not getattr(x, "ndim", 0):
        return tiled.filled(xp, frame, shape, x)
    like = made_in(xp, frame, shape, lambda whole: xp.xp.zeros(whole, dtype=xp.xp.element("i8")))

    def stretch(values: Any, beside: Array) -> Array:
        wanted = numpy.broadcast_shapes(tuple(values.shape), tuple(beside.shape))
        return xp.xp.broadcast_to(values, wanted)

    made = xp.pointwise(stretch, x if hasattr(x, "dtype") else xp.xp.asarray(x), like)
    if made.ndim != len(shape):
        raise NotFlat("a shape of another rank")
    return made


def _has_shape(x: Rows, shape: tuple[Any, ...]) -> bool:
    mine = x.shape
    return len(mine) == len(shape) and all(
        a.same(b) if isinstance(a, Counts) else type(b) is int and a == b
        for a, b in zip(mine, shape, strict=True)
    )
