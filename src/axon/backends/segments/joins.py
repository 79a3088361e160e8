"""What each row has side by side, behind one another, repeated or padded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy

from axon.backends.segments.along import axes_of
from axon.backends.segments.arrays import FlatArrays, only, rule
from axon.backends.segments.frames import Counts, Frame, NotFlat, Segments
from axon.backends.segments.moves import inserted
from axon.backends.segments.parts import as_segments, cut, of_rows
from axon.backends.segments.rows import (
    Rows,
    by_row,
    check_room,
    enter,
    innermost,
    leave,
    lift,
    rows_of,
    taken,
)
from axon.backends.segments.traced_sizes import raw
from axon.ops.arrays import Array

Below = Callable[..., Array]


@rule("concatenate")
def _concatenate(xp: FlatArrays, below: Below, parts: Any, axis: int = 0) -> Any:
    frame = innermost(parts)
    assert frame is not None
    rank = parts[0].ndim
    (along,) = axes_of(axis, rank)
    rows = [rows_of(part, frame) for part in parts]
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
    inner = enter(x)
    return Rows(elements, inner.values, inner.segments, inner.place)


def _behind(xp: FlatArrays, below: Below, frame: Frame, rows: Sequence[Rows]) -> Rows:
    """The elements of each row behind one another."""
    found = [x.segments for x in rows if x.segments is not None]
    if any(isinstance(x.values, Rows) for x in rows):
        raise NotFlat("rows of rows behind one another")
    lengths: Any = found[0].lengths
    for each in found[1:]:
        lengths = lengths + each.lengths
    segments = Segments.of_lengths(lengths)
    values = below([x.values for x in rows], axis=0)
    if segments.traced:
        order = _traced_order(xp.xp, segments, found)
        return Rows(frame, taken(xp.xp, values, order), segments, rows[0].place)
    order = numpy.empty(segments.total, numpy.int64)
    start, before = segments.starts.copy(), 0
    for each in found:
        order[numpy.repeat(start, each.lengths) + each.within] = before + numpy.arange(each.total)
        start += each.lengths
        before += each.total
    return Rows(frame, taken(xp.xp, values, order), segments, rows[0].place)


def _traced_order(xp: Any, segments: Segments, parts: Sequence[Segments]) -> Array:
    """Where each element comes from. Those of no row go nowhere."""
    order = xp.zeros(segments.total, dtype=xp.element("i64"))
    start: Any = segments.starts
    before = 0
    for each in parts:
        places = raw(numpy.repeat(start, each.lengths) + each.within)
        true = xp.asarray(each.placed(xp, "ids")) < each.count
        places = xp.where(true, places, segments.total)
        order = xp.put(order, (places,), before + xp.arange(each.total), "set")
        start = start + each.lengths
        before += each.total
    return order


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
    x, pairs = of_rows(x, pairs), list(pairs)
    value = how.get("constant_values", 0)
    own = by_row(value)
    if x.segments is None:
        differ = [axis for axis, ends in enumerate(pairs) if by_row(ends) or (own and any(ends))]
        if not differ:
            return Rows(x.frame, below(x.values, [(0, 0), *pairs], **how))
        x = as_segments(xp, x, differ[0])
    assert x.segments is not None
    before, behind = pairs.pop(x.place)
    pairs = [tuple(end.one(x.frame) if isinstance(end, Counts) else end for end in ends)
             for ends in pairs]  # fmt: skip
    inner = enter(x)
    if any(map(any, pairs)):
        inner = _pad(xp, below, inner, pairs, **how)
    made = leave(x.frame, inner, x.segments, x.place)
    if not by_row((before, behind)) and not before and not behind:
        return made
    if isinstance(inner.values, Rows):
        raise NotFlat("rows of rows are padded")
    mode = how.get("mode", "constant")
    first, last = (_lengths(x.frame, end) for end in (before, behind))
    if mode != "constant":
        return _continued(xp, made, first, last, mode)
    value = lift(value, x.frame).values if own else xp.xp.asarray(value, dtype=x.dtype)
    rest = inner.values.shape[1:]

    def some(segments: Segments) -> Rows:
        check_room(x.frame, segments.total, rest, x.dtype)
        each = value
        if own:
            each = taken(xp.xp, value, segments.placed(xp.xp, "ids"))
            each = each.reshape(segments.total, *(1,) * len(rest))
        values = xp.xp.broadcast_to(each, (segments.total, *rest))
        return Rows(x.frame, values, segments, x.place)

    return _behind(xp, xp.xp.concatenate, x.frame, [some(first), made, some(last)])


def _lengths(frame: Frame, count: Any) -> Segments:
    """So many elements in each row."""
    if isinstance(count, Counts):
        return count.into(frame).rows()
    return Segments.even(frame.count, count)


def _continued(xp: FlatArrays, x: Rows, before: Segments, behind: Segments, mode: str) -> Rows:
    """Rows with elements around them that stand in them."""
    assert x.segments is not None
    if x.segments.traced or x.segments.any_empty:
        raise NotFlat("rows are padded with what is in them")
    segments = Segments.of_lengths(before.lengths + x.segments.lengths + behind.lengths)
    sizes = numpy.repeat(x.segments.lengths, segments.lengths)
    place = segments.within - numpy.repeat(before.lengths, segments.lengths)
    match mode:
        case "edge":
            place = numpy.clip(place, 0, sizes - 1)
        case "wrap":
            place = place % sizes
        case _:
            assert mode == "reflect"
            turn = numpy.maximum(2 * (sizes - 1), 1)
            place = place % turn
            place = numpy.minimum(place, turn - place) * (sizes > 1)
    check_room(x.frame, segments.total, x.values.shape[1:], x.dtype)
    index = numpy.repeat(x.segments.starts, segments.lengths) + place
    return Rows(x.frame, taken(xp.xp, x.values, index), segments, x.place)


@rule("repeat")
def _repeat(xp: FlatArrays, below: Below, x: Any, times: Any, axis: int) -> Any:
    x = only(x)
    (along,) = axes_of(axis, x.ndim)
    if type(times) is not int:
        raise NotFlat("a number of times that differs")
    if x.segments is None:
        return Rows(x.frame, below(x.values, times, axis=along + 1))
    if along != x.place:
        inner = _repeat(xp, below, enter(x), times, along - (along > x.place))
        return leave(x.frame, inner, x.segments, x.place)
    if isinstance(x.values, Rows):
        raise NotFlat("rows of rows are repeated")
    check_room(x.frame, x.segments.total * times, x.values.shape[1:], x.dtype)
    made = below(x.values, times, axis=0)
    return Rows(x.frame, made, x.segments.times(times), x.place)


@rule("roll")
def _roll(xp: FlatArrays, below: Below, x: Any, by: Any, axis: Any = None) -> Any:
    x = only(x)
    if type(by) is not int or type(axis) is not int:
        raise NotFlat("rows are rolled along several axes")
    (along,) = axes_of(axis, x.ndim)
    if x.segments is None:
        return Rows(x.frame, below(x.values, by, axis=along + 1))
    if along != x.place:
        inner = _roll(xp, below, enter(x), by, along - (along > x.place))
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
    if by_row(reps) or len(reps) > x.ndim or (x.segments is not None and 0 in reps):
        raise NotFlat("rows are laid side by side")
    if x.segments is not None:
        for axis, times in enumerate(reps, x.ndim - len(reps)):
            x = only(xp.concatenate([x] * times, axis=axis)) if times > 1 else x
        return x
    return Rows(x.frame, below(x.values, tuple(reps)))


def _last_two(xp: FlatArrays, below: Below, x: Any, *args: Any, **named: Any) -> Any:
    x = only(x)
    if x.segments is not None or x.ndim < 2 or by_row(args) or by_row(tuple(named.values())):
        raise NotFlat("matrices whose sizes differ")
    return Rows(x.frame, below(x.values, *args, **named))


rule("tril", "triu")(_last_two)
