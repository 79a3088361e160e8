"""What moves the elements of each row about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import prod
from typing import Any

import numpy

from axon.backends.segments.along import axes_of, in_rows
from axon.backends.segments.arrays import FlatArrays, inside, leaves, only, rule
from axon.backends.segments.frames import Counts, Frame, NotFlat, Segments
from axon.backends.segments.rows import (
    Rows,
    by_row,
    innermost,
    leave,
    lift,
    room,
    taken,
)
from axon.ops.arrays import Array

Below = Callable[..., Array]

# --- the order of the axes -----------------------------------------------------------------------


def permuted(xp: FlatArrays, x: Rows, order: Sequence[int]) -> Rows:
    """The axes of a row in another order."""
    if x.segments is None:
        return Rows(x.frame, xp.xp.transpose(x.values, (0, *(axis + 1 for axis in order))))
    inner = [axis - (axis > x.place) for axis in order if axis != x.place]
    elements = inside(x)
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
        return leave(x.frame, inserted(xp, inside(x), axis), x.segments, x.place + 1)
    return leave(x.frame, inserted(xp, inside(x), axis - 1), x.segments, x.place)


@rule("squeeze")
def _squeeze(xp: FlatArrays, below: Below, x: Any, axis: Any = None) -> Any:
    x = only(x)
    if axis is None:
        raise NotFlat("squeeze without an axis")
    for each in sorted(axes_of(axis, x.ndim), reverse=True):
        x = removed(xp, x, each)
    return x


def removed(xp: FlatArrays, x: Rows, axis: int) -> Rows:
    if x.segments is None:
        return Rows(x.frame, xp.xp.squeeze(x.values, axis=axis + 1))
    if axis == x.place:
        raise NotFlat("a size that differs is left out")
    inner = removed(xp, inside(x), axis - (axis > x.place))
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
    longer = Segments(x.segments.offsets * size)
    return Rows(x.frame, below(x.values, (x.segments.total * size,)), longer, 0)


def made_in(xp: FlatArrays, frame: Frame, shape: Sequence[Any], make: Callable[..., Array]) -> Rows:
    """Rows that are made in a shape with one size that differs, or none."""
    places = [i for i, size in enumerate(shape) if isinstance(size, Counts)]
    if len(places) > 1:
        raise NotFlat("a shape in which two sizes differ")
    if not places:
        room(frame, frame.count, shape, xp.xp.element("f64"))
        return Rows(frame, make((frame.count, *shape)))
    (place,) = places
    segments = shape[place].into(frame).rows()
    rest = (*shape[:place], *shape[place + 1 :])
    room(frame, segments.total, rest, xp.xp.element("f64"))
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


# --- parts ---------------------------------------------------------------------------------------


@rule("sliced")
def _sliced(xp: FlatArrays, below: Below, x: Any, index: tuple[Any, ...]) -> Any:
    x = only(x)
    if len(index) == 1 and hasattr(index[0], "dtype") and index[0].ndim:
        return _by_array(xp, x, index[0])
    taken_up = sum(part is not None and part is not Ellipsis for part in index)
    if Ellipsis not in index:
        index = (*index, Ellipsis)
    at = index.index(Ellipsis)
    index = (*index[:at], *[slice(None)] * (x.ndim - taken_up), *index[at + 1 :])
    axis = 0
    for part in index:
        if part is None:
            x = inserted(xp, x, axis)
            axis += 1
        elif isinstance(part, slice):
            x = x if part == slice(None) else cut(xp, x, axis, part)
            axis += 1
        elif type(part) is int:
            x = one(xp, x, axis, part)
        else:
            raise NotFlat("an index that differs")
    return x


def _by_array(xp: FlatArrays, x: Rows, index: Any) -> Any:
    if not isinstance(index, Rows) or index.ndim != 1:
        raise NotFlat("an array as an index")
    if xp.xp.kind(index.dtype) == "b":
        return xp.take(x, xp.nonzero(index)[0], axis=0)
    return xp.take(x, index, axis=0)


def cut(xp: FlatArrays, x: Rows, axis: int, part: slice) -> Rows:
    """A slice of each row along an axis."""
    if by_row((part.start, part.stop, part.step)):
        raise NotFlat("bounds that differ")
    if x.segments is None:
        index = (slice(None),) * (axis + 1) + (part,)
        return Rows(x.frame, xp.xp.sliced(x.values, index))
    if axis != x.place:
        inner = cut(xp, inside(x), axis - (axis > x.place), part)
        return leave(x.frame, inner, x.segments, x.place)
    first, count, step = _bounds(part, x.segments.lengths)
    segments = Segments.of_lengths(count)
    places = numpy.repeat(x.segments.starts + first, count) + step * segments.within
    return _chosen(xp, x, places, segments)


def _bounds(part: slice, lengths: Any) -> tuple[Any, Any, int]:
    """The first place of a slice in rows of these lengths, how many there are, and the step."""
    step = 1 if part.step is None else part.step
    low, high = (0, lengths) if step > 0 else (-1, lengths - 1)

    def bound(value: int | None, default: Any) -> Any:
        if value is None:
            return default + 0 * lengths
        return numpy.clip(value + lengths if value < 0 else value + 0 * lengths, low, high)

    start = bound(part.start, 0 if step > 0 else lengths - 1)
    stop = bound(part.stop, lengths if step > 0 else -1)
    count = numpy.maximum(-((start - stop) // step), 0)
    return start, count, step


def _chosen(xp: FlatArrays, x: Rows, index: Any, segments: Segments) -> Rows:
    """Other elements of each row."""
    if isinstance(x.values, Rows):
        from axon.backends.segments.rows import pick

        inner = pick(x.values, index, segments.elements(x.frame))
        return leave(x.frame, inner, segments, x.place)
    values = taken(xp.xp, x.values, index)
    length = int(segments.lengths[0]) if segments.count else 0
    if segments.count and bool((segments.lengths == length).all()):
        values = values.reshape(segments.count, length, *values.shape[1:])
        return Rows(x.frame, xp.xp.moveaxis(values, 1, 1 + x.place) if x.place else values)
    return Rows(x.frame, values, segments, x.place)


def one(xp: FlatArrays, x: Rows, axis: int, at: int) -> Rows:
    """One element of each row along an axis."""
    if x.segments is None:
        return Rows(x.frame, x.values[(slice(None),) * (axis + 1) + (at,)])
    if axis != x.place:
        inner = one(xp, inside(x), axis - (axis > x.place), at)
        return leave(x.frame, inner, x.segments, x.place - (axis < x.place))
    lengths = x.segments.lengths
    places = at + lengths if at < 0 else numpy.full(len(lengths), at)
    if ((places < 0) | (places >= lengths)).any():
        raise NotFlat("there is no such element")
    index = x.segments.starts + places
    if isinstance(x.values, Rows):
        from axon.backends.segments.rows import pick

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
        inner = _flipped(xp, below, inside(x), axis - (axis > x.place))
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
    index = _host(below(x.values != 0)[0])
    segments = Segments.of_lengths(numpy.bincount(x.segments.ids[index], minlength=x.frame.count))
    made = xp.xp.asarray(x.segments.within[index], dtype=xp.xp.element("i64"))
    return (Rows(x.frame, made, segments, 0),)


def _host(array: Any) -> Any:
    return array.detach().cpu().numpy() if hasattr(array, "detach") else numpy.asarray(array)


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
        room(numbers.frame, prod(leaf.values.shape), (size,), xp.xp.element("i8"))
        if along == 0:
            return leaves(numbers, lambda v: below(x, v, axis=0))
        if numbers.segments is not None:
            raise NotFlat("rows along a later axis")
        return Rows(numbers.frame, xp.xp.moveaxis(below(x, numbers.values, axis=along), along, 0))
    if not isinstance(numbers, Rows) and x.segments is None:
        return Rows(x.frame, below(x.values, numbers, axis=along + 1))
    if along != 0:
        if isinstance(numbers, Rows) or x.segments is None:
            raise NotFlat("rows along a later axis")
        if along == x.place:
            raise NotFlat("rows along a later axis")
        inner = _take(xp, below, inside(x), numbers, along - (along > x.place))
        moved = numbers.ndim - 1 if along < x.place else 0
        return leave(x.frame, inner, x.segments, x.place + moved)
    if x.segments is not None and x.place != 0 and not isinstance(numbers, Rows):
        inner = _take(xp, below, inside(x), numbers, 0)
        return leave(x.frame, inner, x.segments, x.place + numbers.ndim - 1)
    x = as_segments(xp, x, 0)
    return _of_row(xp, x, numbers)


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
    starts = segments.starts if rows is None else segments.starts[rows]
    lengths = segments.lengths if rows is None else segments.lengths[rows]
    index = in_rows(xp.xp, leaf.values, starts, lengths)
    room(frame, prod(index.shape), x.values.shape[1:], x.dtype)
    values = x.values

    def change(_: Array) -> Array:
        made = taken(xp.xp, values, index.reshape(-1))
        return made.reshape(*index.shape, *values.shape[1:])

    return leaves(numbers, change)


# --- side by side --------------------------------------------------------------------------------


@rule("concatenate")
def _concatenate(xp: FlatArrays, below: Below, parts: Any, axis: int = 0) -> Any:
    frame = innermost(parts)
    assert frame is not None
    rank = parts[0].ndim
    (along,) = axes_of(axis, rank)
    rows = [_as_rows(xp, part, frame) for part in parts]
    packed = [x for x in rows if x.segments is not None]
    if not packed:
        return Rows(frame, below([x.values for x in rows], axis=along + 1))
    if any(x.place != packed[0].place for x in packed):
        raise NotFlat("rows in which different sizes differ")
    if packed[0].place == along:
        return _behind(xp, below, frame, [as_segments(xp, x, along) for x in rows])
    segments = packed[0].segments
    assert segments is not None
    if len(packed) < len(rows) or any(
        x.segments is None or not segments.same(x.segments) for x in packed
    ):
        raise NotFlat("rows of different sizes")
    place = packed[0].place
    elements = segments.elements(frame)
    inner = [_re_entered(x, elements) for x in rows]
    made = _concatenate(xp, below, inner, along - (along > place))
    return leave(frame, made, segments, place)


def _re_entered(x: Rows, elements: Frame) -> Rows:
    inner = inside(x)
    return Rows(elements, inner.values, inner.segments, inner.place)


def _as_rows(xp: FlatArrays, x: Any, frame: Frame) -> Rows:
    if isinstance(x, Rows):
        return lift(x, frame)
    if by_row(x):
        raise NotFlat("rows in parts")
    room(frame, frame.count, x.shape, x.dtype)
    return Rows(frame, xp.xp.broadcast_to(x, (frame.count, *x.shape)))


def _behind(xp: FlatArrays, below: Below, frame: Frame, rows: Sequence[Rows]) -> Rows:
    """The elements of each row behind one another."""
    found = [x.segments for x in rows if x.segments is not None]
    if any(isinstance(x.values, Rows) for x in rows):
        raise NotFlat("rows of rows behind one another")
    lengths = found[0].lengths.copy()
    for each in found[1:]:
        lengths += each.lengths
    segments = Segments.of_lengths(lengths)
    order = numpy.empty(segments.total, numpy.int64)
    start, before = segments.starts.copy(), 0
    for each in found:
        order[numpy.repeat(start, each.lengths) + each.within] = before + numpy.arange(each.total)
        start += each.lengths
        before += each.total
    values = below([x.values for x in rows], axis=0)
    return Rows(frame, taken(xp.xp, values, order), segments, rows[0].place)


@rule("stack")
def _stack(xp: FlatArrays, below: Below, parts: Any, axis: int = 0) -> Any:
    (along,) = axes_of(axis, parts[0].ndim + 1)
    found = [part if hasattr(part, "ndim") else xp.xp.asarray(part) for part in parts]
    rows = [
        inserted(xp, x, along) if isinstance(x, Rows) else xp.xp.expand_dims(x, along)
        for x in found
    ]
    return xp.concatenate(rows, axis=along)


@rule("split")
def _split(xp: FlatArrays, below: Below, x: Any, places: Sequence[int], axis: int = 0) -> Any:
    x = only(x)
    (along,) = axes_of(axis, x.ndim)
    if by_row(places) or (x.segments is not None and along == x.place):
        raise NotFlat("a size that differs is split")
    ends = [0, *places, x.shape[along]]
    return [cut(xp, x, along, slice(first, last)) for first, last in pairwise(ends)]


@rule("pad")
def _pad(xp: FlatArrays, below: Below, x: Any, pairs: Any, **how: Any) -> Any:
    x = only(x)
    if by_row(pairs) or by_row(tuple(how.values())):
        raise NotFlat("what is padded differs")
    if x.segments is None:
        return Rows(x.frame, below(x.values, [(0, 0), *pairs], **how))
    pairs = list(pairs)
    ends = pairs.pop(x.place)
    inner = inside(x)
    if any(map(any, pairs)):
        inner = _pad(xp, below, inner, pairs, **how)
    made = leave(x.frame, inner, x.segments, x.place)
    if not any(ends):
        return made
    if how.get("mode", "constant") != "constant" or isinstance(inner.values, Rows):
        raise NotFlat("rows are padded with what is in them")
    value = xp.xp.asarray(how.get("constant_values", 0), dtype=x.dtype)
    rest = inner.values.shape[1:]

    def some(count: int) -> Rows:
        sizes = (x.frame.count * count, *rest)
        room(x.frame, sizes[0], rest, x.dtype)
        values = xp.xp.broadcast_to(value, sizes)
        return Rows(x.frame, values, Segments.even(x.frame.count, count), x.place)

    parts = [some(ends[0]), made, some(ends[1])]
    return _behind(xp, xp.xp.concatenate, x.frame, parts)


@rule("repeat")
def _repeat(xp: FlatArrays, below: Below, x: Any, times: Any, axis: int) -> Any:
    x = only(x)
    (along,) = axes_of(axis, x.ndim)
    if type(times) is not int:
        raise NotFlat("a number of times that differs")
    if x.segments is None:
        return Rows(x.frame, below(x.values, times, axis=along + 1))
    if along != x.place:
        inner = _repeat(xp, below, inside(x), times, along - (along > x.place))
        return leave(x.frame, inner, x.segments, x.place)
    if isinstance(x.values, Rows):
        raise NotFlat("rows of rows are repeated")
    room(x.frame, x.segments.total * times, x.values.shape[1:], x.dtype)
    made = below(x.values, times, axis=0)
    return Rows(x.frame, made, Segments(x.segments.offsets * times), x.place)


@rule("roll")
def _roll(xp: FlatArrays, below: Below, x: Any, by: Any, axis: Any = None) -> Any:
    x = only(x)
    if type(by) is not int or type(axis) is not int:
        raise NotFlat("rows are rolled along several axes")
    (along,) = axes_of(axis, x.ndim)
    if x.segments is None:
        return Rows(x.frame, below(x.values, by, axis=along + 1))
    if along != x.place:
        inner = _roll(xp, below, inside(x), by, along - (along > x.place))
        return leave(x.frame, inner, x.segments, x.place)
    if isinstance(x.values, Rows):
        raise NotFlat("rows of rows are rolled")
    lengths = numpy.repeat(x.segments.lengths, x.segments.lengths)
    starts = numpy.repeat(x.segments.starts, x.segments.lengths)
    index = starts + (x.segments.within - by) % numpy.maximum(lengths, 1)
    return Rows(x.frame, taken(xp.xp, x.values, index), x.segments, x.place)


@rule("tile")
def _tile(xp: FlatArrays, below: Below, x: Any, reps: Any) -> Any:
    x = only(x)
    if x.segments is not None or by_row(reps) or len(reps) > x.ndim:
        raise NotFlat("rows are laid side by side")
    return Rows(x.frame, below(x.values, tuple(reps)))


def _last_two(xp: FlatArrays, below: Below, x: Any, *args: Any, **named: Any) -> Any:
    x = only(x)
    if x.segments is not None or x.ndim < 2 or by_row(args) or by_row(tuple(named.values())):
        raise NotFlat("matrices whose sizes differ")
    return Rows(x.frame, below(x.values, *args, **named))


rule("tril", "triu")(_last_two)
