"""Functions that are called inside a function of rows: for the elements of each row all at once,
step by step for all rows that go on, or on both sides of a condition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy

from axon.backends.segments.arrays import CALLING, FlatArrays, only, rule
from axon.backends.segments.frames import Frame, Index, NotFlat, Segments, Unrelated
from axon.backends.segments.groups import settled
from axon.backends.segments.parts import as_segments
from axon.backends.segments.rows import (
    Rows,
    by_row,
    enter,
    innermost,
    leave,
    lift,
    pick,
    rows_of,
    taken,
)
from axon.backends.segments.scanned import scanned, suits
from axon.ops.arrays import Value

Function = Callable[..., Value]


def each(function: Callable[[Any], Any], value: Value) -> Value:
    """A function on the tensors of a value."""
    if isinstance(value, tuple):
        return tuple(each(function, part) for part in value)
    return function(value)


def _side_by_side(xp: FlatArrays, tensors: Sequence[Any]) -> tuple[list[Rows], int | None]:
    """The tensors of all rows; and the number of their own rows where that is one number."""
    frame = innermost(tensors)
    if frame is None:
        raise NotFlat("a function inside uses what differs")
    found = [rows_of(x, frame) for x in tensors]
    if all(x.segments is None for x in found):
        (size,) = {int(x.values.shape[1]) for x in found}
        return found, size
    found = [as_segments(xp, x, 0) for x in found]
    first = found[0].segments
    assert first is not None
    for x in found[1:]:
        if x.segments is None or not first.same(x.segments):
            raise NotFlat("rows of different sizes side by side")
    return found, None


def _again(frame: Frame, found: Unrelated) -> Frame:
    """The frame that a function was called in, if it goes through what stands further out and uses
    what stands in there: then it goes through that for each row there.
    """
    for other in found.frames:
        if other is not frame and other.within(frame):
            return other
    raise found


def calling(name: str) -> Callable[[Any], Any]:
    def register(found: Any) -> Any:
        CALLING[name] = found
        return found

    return register


def _stacked_values(xp: FlatArrays, values: Sequence[Value]) -> Value:
    if isinstance(values[0], tuple):
        return tuple(_stacked_values(xp, part) for part in zip(*values, strict=True))
    return xp.stack(values, axis=0)


def _of_each(xp: FlatArrays, made: Value, tensors: Sequence[Any]) -> Sequence[Any] | None:
    """What all rows share, as something of each row that a function of it makes: where a loop over
    it would be compiled step by step.
    """
    frame = innermost([made])
    if frame is None or not hasattr(xp.xp, "compiled"):
        return None
    return [rows_of(x, frame) for x in tensors]


@calling("map")
def _map(xp: FlatArrays, below: Any, function: Function, *tensors: Any, like: Any = None) -> Value:
    if by_row(tensors):
        return _map_of_rows(xp, function, tensors)
    if not len(tensors[0]):
        return below(function, *tensors, like=like)
    first = function(*(x[0] for x in tensors))
    if not by_row(first):
        return below(function, *tensors, like=like)
    if (own := _of_each(xp, first, tensors)) is not None:
        return _map_of_rows(xp, function, own)
    rest = (function(*(x[i] for x in tensors)) for i in range(1, len(tensors[0])))
    return _stacked_values(xp, [first, *rest])


def _map_of_rows(xp: FlatArrays, function: Function, tensors: Sequence[Any]) -> Value:
    found, size = _side_by_side(xp, tensors)
    try:
        return _each_element(xp, function, found, size)
    except Unrelated as problem:
        frame = _again(found[0].frame, problem)
    return _each_element(xp, function, [lift(x, frame) for x in found], size)


def _each_element(
    xp: FlatArrays, function: Function, tensors: Sequence[Rows], size: int | None
) -> Value:
    found = [as_segments(xp, x, 0) for x in tensors]
    segments, frame = found[0].segments, found[0].frame
    assert segments is not None
    elements = Frame(xp, segments.total, frame, segments=segments)
    made = function(*(_own(enter(x), elements) for x in found))
    return each(lambda x: stacked(rows_of(x, elements), frame, segments, size), made)


def stacked(rows: Rows, frame: Frame, segments: Segments, size: int | None) -> Rows:
    """What the elements have, as rows."""
    if size is None or rows.segments is not None:
        return leave(frame, rows, segments, 0)
    return Rows(frame, rows.values.reshape(frame.count, size, *rows.values.shape[1:]))


def _own(x: Rows, frame: Frame) -> Rows:
    return Rows(frame, x.values, x.segments, x.place)


@calling("loop")
def _loop(
    xp: FlatArrays, below: Any, state: Value, function: Function, *tensors: Any, like: Any = None
) -> tuple[Value, Value]:
    if by_row(tensors):
        return _loop_of_rows(xp, state, function, tensors, like)
    usual: Callable[[], tuple[Value, Value]] = partial(below, state, function, *tensors, like=like)
    if not len(tensors[0]):
        return usual()
    after, first = function(state, *(x[0] for x in tensors))
    if not by_row((state, after, first)):
        return usual()
    if (own := _of_each(xp, (state, after, first), tensors)) is not None:
        return _loop_of_rows(xp, state, function, own, like)
    outputs = [first]
    for i in range(1, len(tensors[0])):
        after, output = function(after, *(x[i] for x in tensors))
        outputs.append(output)
    return after, _stacked_values(xp, outputs)


def _loop_of_rows(
    xp: FlatArrays, state: Value, function: Function, tensors: Sequence[Any], like: Any
) -> tuple[Value, Value]:
    found, size = _side_by_side(xp, tensors)
    whole = innermost([state, *found])
    assert whole is not None
    found = [lift(x, whole) for x in found]
    try:
        return _step_by_step(xp, state, function, found, size, like)
    except Unrelated as problem:
        frame = _again(whole, problem)
    return _step_by_step(xp, state, function, [lift(x, frame) for x in found], size, like)


def _step_by_step(
    xp: FlatArrays,
    state: Value,
    function: Function,
    tensors: Sequence[Rows],
    size: int | None,
    like: Callable[[], Value] | None,
) -> tuple[Value, Value]:
    """One element of each row after another, for all rows that have one more; the longest rows
    stand first, so these are always the first ones.
    """
    found = [as_segments(xp, x, 0) for x in tensors]
    whole, segments = found[0].frame, found[0].segments
    assert segments is not None
    if hasattr(xp.xp, "by_ids") and suits(segments):
        state, made = scanned(xp, state, function, found, segments)
        return state, each(lambda x: stacked(x, whole, segments, size), made)
    order = numpy.argsort(-segments.lengths, kind="stable")
    frame, count = Frame(xp, whole.count, whole, order), whole.count
    state = each(lambda x: pick(rows_of(x, whole), order, frame), state)
    ended: list[tuple[Index, Value]] = []
    outputs: list[tuple[Index, Value]] = []
    for step in range(int(segments.lengths.max(initial=0))):
        more = int(numpy.count_nonzero(segments.lengths > step))
        if more < count:
            ended.append((order[more:count], chosen(state, numpy.arange(more, count))))
            frame, count = Frame(xp, more, whole, order[:more]), more
            state = chosen(state, numpy.arange(more), frame)
        places = segments.starts[order[:count]] + step
        after, output = function(state, *(_element(x, places, frame) for x in found))
        state = as_rows(after, frame)
        outputs.append((places, as_rows(output, frame)))
    ended.append((order[:count], state))
    elements = Frame(xp, segments.total, whole, segments=segments)
    if outputs:
        made = merged(elements, outputs)
    elif like is None or by_row(nothing := like()):
        raise NotFlat("no element in any row")
    else:
        made = each(lambda x: Rows(elements, x), nothing)
    return merged(whole, ended), each(lambda x: stacked(only(x), whole, segments, size), made)


def chosen(value: Value, index: Index, frame: Frame | None = None) -> Value:
    """Some of the rows, as those of another frame."""

    def some(x: Rows) -> Rows:
        return pick(x, index, frame or Frame(x.frame.arrays, len(index)))

    return each(some, value)


def as_rows(value: Value, frame: Frame) -> Value:
    return each(lambda x: rows_of(x, frame), value)


def _element(x: Rows, places: Index, frame: Frame) -> Rows:
    if isinstance(x.values, Rows):
        return pick(x.values, places, frame)
    return Rows(frame, taken(frame.arrays.xp, x.values, places))


def merged(frame: Frame, parts: Sequence[tuple[Index, Value]]) -> Value:
    first = parts[0][1]
    if isinstance(first, tuple):
        return tuple(
            merged(frame, [(members, value[i]) for members, value in parts])
            for i in range(len(first))
        )
    return settled(frame, [(members, only(value)) for members, value in parts])


@rule("cond")
def _cond(xp: FlatArrays, below: Any, condition: Any, then: Function, otherwise: Function) -> Value:
    """Both, and of each row the one that its condition chooses."""
    return either(xp, only(condition), then(), otherwise())


def either(xp: FlatArrays, condition: Rows, a: Value, b: Value) -> Value:
    """Of each row the one or the other."""
    if isinstance(a, tuple):
        return tuple(either(xp, condition, x, y) for x, y in zip(a, b, strict=True))
    frame = innermost([a, b, condition])
    assert frame is not None
    one, other = rows_of(a, frame), rows_of(b, frame)
    mine = lift(condition, frame)
    known = not hasattr(xp.xp, "compiled")  # before a compiled program runs, no condition is
    if known and not _alike(one, other) and one.ndim == other.ndim and one.dtype == other.dtype:
        return _of_either(mine, one, other)
    for _ in range(one.ndim):
        mine = xp.expand_dims(mine, -1)
    if not _alike(one, other):
        raise NotFlat("the sides of a condition have different sizes")
    return xp.where(mine, one, other)


def _of_either(condition: Rows, one: Rows, other: Rows) -> Any:
    """The rows of one of two values each, whose sizes are not the same."""
    found = condition.numbers()
    parts = []
    for value, members in ((one, numpy.flatnonzero(found)), (other, numpy.flatnonzero(~found))):
        if len(members):
            parts.append((members, pick(value, members, Frame(value.frame.arrays, len(members)))))
    return settled(condition.frame, parts)


def _alike(a: Rows, b: Rows) -> bool:
    if a.ndim != b.ndim or a.dtype != b.dtype or (a.segments is None) != (b.segments is None):
        return False
    if a.segments is None or b.segments is None:
        return tuple(a.values.shape) == tuple(b.values.shape)
    if a.place != b.place or not a.segments.same(b.segments):
        return False
    if isinstance(a.values, Rows) and isinstance(b.values, Rows):
        return _alike(a.values, b.values)
    if isinstance(a.values, Rows) or isinstance(b.values, Rows):
        return False
    return tuple(a.values.shape[1:]) == tuple(b.values.shape[1:])
