"""Parts of what each row has: slices, elements by number, those that are not zero."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy

from axon.backends.segments.along import axes_of, check_elements, in_rows
from axon.backends.segments.arrays import FlatArrays, leaves, only, rule
from axon.backends.segments.frames import Counts, NotFlat, Segments
from axon.backends.segments.moves import inserted
from axon.backends.segments.rows import (
    Rows,
    by_row,
    check_room,
    enter,
    innermost,
    leave,
    lift,
    on_host,
    pick,
    rows_of,
    taken,
)
from axon.backends.segments.traced_sizes import Traced
from axon.ops.arrays import Array

Below = Callable[..., Array]


def of_rows(x: Any, *others: Any) -> Rows:
    """What is the same for all rows as a value of each, where something else differs."""
    frame = innermost(others)
    return only(x) if by_row(x) or frame is None else rows_of(x, frame)


@rule("sliced")
def _sliced(xp: FlatArrays, below: Below, x: Any, index: tuple[Any, ...]) -> Any:
    x = of_rows(x, index)
    if len(index) == 1 and hasattr(index[0], "dtype") and index[0].ndim:
        return _by_array(xp, x, index[0])
    if hasattr(index[0], "dtype") and all(type(part) in (int, slice) for part in index[1:]):
        return _by_array(xp, _sliced(xp, below, x, (slice(None), *index[1:])), index[0])
    if len(index) > 1 and any(hasattr(part, "dtype") for part in index[1:]):
        return _by_places(xp, x, index)
    taken_up = sum(part is not None and part is not Ellipsis for part in index)
    at = next((i for i, part in enumerate(index) if part is Ellipsis), len(index))
    index = (*index[:at], *[slice(None)] * (x.ndim - taken_up), *index[at + 1 :])
    axis = 0
    for part in index:
        if part is None:
            x = inserted(xp, x, axis)
            axis += 1
        elif isinstance(part, slice):
            bounds = (part.start, part.stop, part.step)
            x = x if all(bound is None for bound in bounds) else cut(xp, x, axis, part)
            axis += 1
        elif type(part) is int:
            x = one(xp, x, axis, part)
        else:
            raise NotFlat("an index that differs")
    return x


def _by_array(xp: FlatArrays, x: Rows, index: Any) -> Any:
    mask = xp.xp.kind(index.dtype) == "b"
    if index.ndim != 1 or (mask and not isinstance(index, Rows)):
        raise NotFlat("an array as an index")
    if mask:
        return xp.take(x, xp.nonzero(index)[0], axis=0)
    return xp.take(x, index, axis=0)


def _by_places(xp: FlatArrays, x: Rows, index: tuple[Any, ...]) -> Any:
    """Elements by their places along the last two axes."""
    *before, down, across = index
    if any(part != slice(None) for part in before) or not x.ndim == len(index) >= 2:
        raise NotFlat("an index that differs")
    first = x.ndim - 2
    x = as_segments(xp, x, first) if x.segments is None else x
    assert x.segments is not None
    if x.place < first or isinstance(x.values, Rows) or x.segments.traced:
        raise NotFlat("an index that differs")
    place, other = (down, across) if x.place == first else (across, down)
    size = x.values.shape[-1]
    other = xp.where(other < 0, other + size, other)
    if not xp.all((other >= 0) & (other < size)):
        raise NotFlat("there is no such element")
    place = xp.where(place < 0, place + x.shape[x.place], place) * size + other
    values = xp.xp.moveaxis(x.values, -1, 1)
    values = values.reshape(x.segments.total * size, *values.shape[2:])
    flat = Rows(x.frame, values, x.segments.times(size))
    made = _of_row(xp, flat, place)
    for axis in range(first):
        made = xp.moveaxis(made, place.ndim + axis, axis)
    return made


def cut(xp: FlatArrays, x: Rows, axis: int, part: slice) -> Rows:
    """A slice of each row along an axis."""
    if by_row(part):
        x, part = _bounded(xp, x, axis, part)
    if x.segments is None:
        index = (slice(None),) * (axis + 1) + (part,)
        return Rows(x.frame, xp.xp.sliced(x.values, index))
    if axis != x.place:
        inner = cut(xp, enter(x), axis - (axis > x.place), part)
        return leave(x.frame, inner, x.segments, x.place)
    first, count, step = _bounds(part, x.segments.lengths)
    segments = Segments.of_lengths(count)
    places = numpy.repeat(x.segments.starts + first, count) + step * segments.within
    if segments.traced:
        return _traced(xp, x, places, segments, _most(part))
    return _chosen(xp, x, places, segments)


def _bounded(xp: FlatArrays, x: Rows, axis: int, part: slice) -> tuple[Rows, slice]:
    """Rows that differ in the size of which each has a slice of its own, and the bounds as numbers
    of each; the step is one of all of them, and so are the bounds where another size differs.
    """
    differ = x.segments is None or axis == x.place

    def bound(end: Any) -> Any:
        if not isinstance(end, Counts):
            return end
        return end.into(x.frame).numbers if differ else end.one(x.frame)

    start, stop = bound(part.start), bound(part.stop)
    step = part.step.one(x.frame) if isinstance(part.step, Counts) else part.step
    return as_segments(xp, x, axis) if differ else x, slice(start, stop, step)


def _bounds(part: slice, lengths: Any) -> tuple[Any, Any, int]:
    """The first place of a slice in rows of these lengths, how many there are, and the step."""
    step = 1 if part.step is None else part.step
    low, high = (0, lengths) if step > 0 else (-1, lengths - 1)

    def bound(value: Any, default: Any) -> Any:
        if value is None:
            return default + 0 * lengths
        if isinstance(value, numpy.ndarray):
            return numpy.clip(numpy.where(value < 0, value + lengths, value), low, high)
        return numpy.clip(value + lengths if value < 0 else value + 0 * lengths, low, high)

    start = bound(part.start, 0 if step > 0 else lengths - 1)
    stop = bound(part.stop, lengths if step > 0 else -1)
    count = numpy.maximum(-((start - stop) // step), 0)
    return start, count, step


def _most(part: slice) -> int | None:
    """How many elements a slice has of a row that is long enough, if there is a limit."""
    long, longer = _bounds(part, numpy.array([1 << 40, (1 << 40) + 1]))[1].tolist()
    return long if long == longer else None


def _traced(xp: FlatArrays, x: Rows, index: Any, segments: Segments, most: int | None) -> Rows:
    """Other elements of each row: of one size where that cannot be another one."""
    if isinstance(x.values, Rows):
        inner = pick(x.values, index, segments.elements(x.frame))
        return leave(x.frame, inner, segments, x.place)
    values = taken(xp.xp, x.values, index)
    if most is None or not (segments.lengths == most).all():
        return Rows(x.frame, values, segments, x.place)
    places = segments.placed(xp.xp, "starts")[:, None] + numpy.arange(most)
    values = taken(xp.xp, values, places)
    return Rows(x.frame, xp.xp.moveaxis(values, 1, 1 + x.place) if x.place else values)


def _chosen(xp: FlatArrays, x: Rows, index: Any, segments: Segments) -> Rows:
    """Other elements of each row."""
    if isinstance(x.values, Rows):
        inner = pick(x.values, index, segments.elements(x.frame))
        return leave(x.frame, inner, segments, x.place)
    values = taken(xp.xp, x.values, index)
    if segments.count and bool((segments.lengths == segments.lengths[0]).all()):
        length = int(segments.lengths[0])
        values = values.reshape(segments.count, length, *values.shape[1:])
        return Rows(x.frame, xp.xp.moveaxis(values, 1, 1 + x.place) if x.place else values)
    return Rows(x.frame, values, segments, x.place)


def one(xp: FlatArrays, x: Rows, axis: int, at: int) -> Rows:
    """One element of each row along an axis."""
    if x.segments is None:
        return Rows(x.frame, x.values[(slice(None),) * (axis + 1) + (at,)])
    if axis != x.place:
        inner = one(xp, enter(x), axis - (axis > x.place), at)
        return leave(x.frame, inner, x.segments, x.place - (axis < x.place))
    lengths = x.segments.lengths
    places = at + lengths if at < 0 else at + 0 * lengths
    if ((places < 0) | (places >= lengths)).any():
        raise NotFlat("there is no such element")
    index = x.segments.starts + places
    if isinstance(x.values, Rows):
        return pick(x.values, index, x.frame)
    return Rows(x.frame, taken(xp.xp, x.values, index))


@rule("flip")
def _flip(xp: FlatArrays, below: Below, x: Any, axis: Any = None) -> Any:
    x = only(x)
    for each in axes_of(axis, x.ndim):
        x = _flipped(xp, below, x, each)
    return x


def _flipped(xp: FlatArrays, below: Below, x: Rows, axis: int) -> Rows:
    if x.segments is None:
        return Rows(x.frame, below(x.values, axis=axis + 1))
    if axis != x.place:
        inner = _flipped(xp, below, enter(x), axis - (axis > x.place))
        return leave(x.frame, inner, x.segments, x.place)
    ends = x.segments.starts + x.segments.lengths - 1
    index = numpy.repeat(ends, x.segments.lengths) - x.segments.within
    if isinstance(x.values, Rows):
        raise NotFlat("rows of rows the other way round")
    return Rows(x.frame, taken(xp.xp, x.values, index), x.segments, x.place)


@rule("nonzero")
def _nonzero(xp: FlatArrays, below: Below, x: Any) -> Any:
    x = as_segments(xp, only(x), 0)
    assert x.segments is not None
    if x.ndim != 1 or isinstance(x.values, Rows):
        raise NotFlat("places in more than one dimension")
    index = on_host(below(x.values != 0)[0])
    segments = Segments.of_lengths(numpy.bincount(x.segments.ids[index], minlength=x.frame.count))
    made = xp.xp.asarray(x.segments.within[index], dtype=xp.xp.element("i64"))
    return (Rows(x.frame, made, segments, 0),)


def as_segments(xp: FlatArrays, x: Rows, axis: int) -> Rows:
    """Rows whose size along an axis differs, even if it does not."""
    if x.segments is not None:
        if x.place != axis:
            raise NotFlat("another size differs")
        return x
    values = xp.xp.moveaxis(x.values, axis + 1, 1) if axis else x.values
    count, size = values.shape[:2]
    flat = values.reshape(count * size, *values.shape[2:])
    return Rows(x.frame, flat, Segments.even(count, size), axis)


@rule("take")
def _take(xp: FlatArrays, below: Below, x: Any, numbers: Any, axis: int | None = None) -> Any:
    rank = getattr(x, "ndim", 0)
    if axis is None and rank != 1:
        raise NotFlat("elements of a row taken flat")
    (along,) = axes_of(axis, rank)
    if not isinstance(x, Rows):
        numbers = only(numbers)
        size = x.dtype.itemsize * prod(x.shape[:along] + x.shape[along + 1 :])
        leaf = numbers
        while isinstance(leaf.values, Rows):
            leaf = leaf.values
        check_room(numbers.frame, prod(leaf.values.shape), (size,), xp.xp.element("i8"))
        if along == 0:
            return leaves(numbers, lambda v: below(x, v, axis=0))
        if numbers.segments is not None:
            raise NotFlat("rows along a later axis")
        return Rows(numbers.frame, xp.xp.moveaxis(below(x, numbers.values, axis=along), along, 0))
    if not isinstance(numbers, Rows) and x.segments is None:
        return Rows(x.frame, below(x.values, numbers, axis=along + 1))
    if along != 0:
        if isinstance(numbers, Rows) and numbers.ndim == 1:
            return _moved_back(xp, _of_row(xp, _in_front(xp, x, along), numbers), along)
        if isinstance(numbers, Rows) or x.segments is None:
            raise NotFlat("rows along a later axis")
        if along == x.place:
            raise NotFlat("rows along a later axis")
        inner = _take(xp, below, enter(x), numbers, along - (along > x.place))
        moved = numbers.ndim - 1 if along < x.place else 0
        return leave(x.frame, inner, x.segments, x.place + moved)
    if x.segments is not None and x.place != 0 and not isinstance(numbers, Rows):
        inner = _take(xp, below, enter(x), numbers, 0)
        return leave(x.frame, inner, x.segments, x.place + numbers.ndim - 1)
    x = as_segments(xp, x, 0)
    return _of_row(xp, x, numbers)


def _in_front(xp: FlatArrays, x: Rows, axis: int) -> Rows:
    """An axis whose size differs, as the first one."""
    x = as_segments(xp, x, axis)
    return Rows(x.frame, x.values, x.segments, 0)


def _moved_back(xp: FlatArrays, x: Rows, axis: int) -> Rows:
    """The first axis in its place again."""
    if x.segments is None:
        return Rows(x.frame, xp.xp.moveaxis(x.values, 1, axis + 1))
    return Rows(x.frame, x.values, x.segments, axis)


def _of_row(xp: FlatArrays, x: Rows, numbers: Any) -> Rows:
    """The elements of a row, by numbers of its own."""
    segments = x.segments
    if segments is None or isinstance(x.values, Rows):
        raise NotFlat("rows of rows by number")
    if not isinstance(numbers, Rows):
        numbers = Rows(x.frame, xp.xp.broadcast_to(numbers, (x.frame.count, *numbers.shape)))
    frame = numbers.frame if numbers.frame.depth > x.frame.depth else x.frame
    numbers = lift(numbers, frame)
    rows = None if frame is x.frame else frame.rows_of(x.frame)
    leaf = numbers
    while leaf.segments is not None:
        rows = leaf.segments.ids if rows is None else rows[leaf.segments.ids]
        if not isinstance(leaf.values, Rows):
            break
        leaf = leaf.values
    if numbers.place:
        raise NotFlat("numbers whose later size differs")
    starts, lengths = segments.starts, segments.lengths
    if isinstance(rows, Traced):
        starts, lengths = (
            taken(xp.xp, segments.placed(xp.xp, name), rows) for name in ("starts", "lengths")
        )
    elif rows is not None:
        starts, lengths = starts[rows], lengths[rows]
    check_elements(xp.xp, segments, numbers.segments)
    index = in_rows(xp.xp, leaf.values, starts, lengths)
    check_room(frame, prod(index.shape), x.values.shape[1:], x.dtype)
    values = x.values

    def change(_: Array) -> Array:
        made = taken(xp.xp, values, index.reshape(-1))
        return made.reshape(*index.shape, *values.shape[1:])

    return leaves(numbers, change)
