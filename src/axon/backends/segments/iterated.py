"""What goes on as long as a condition holds: a step of all rows that go on, then the next one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from axon.backends.segments.arrays import CALLING, FlatArrays, only
from axon.backends.segments.calls import Function, as_rows, chosen, each, merged, stacked
from axon.backends.segments.frames import Frame, Index, NotFlat, Segments
from axon.backends.segments.rows import Rows, innermost, rows_of
from axon.ops.arrays import Value

Ended = list[tuple[Index, Value]]

Step = Callable[[Value, Frame, Index], Value]


def _go_on(
    xp: FlatArrays, state: Value, frame: Frame, condition: Function, step: Step
) -> tuple[Ended, Index]:
    """The last states of the rows that end together, and how many steps each row has. A step takes
    the states of the rows that go on, their frame, and which they are.
    """
    whole, members = frame, numpy.arange(frame.count)
    state, steps = as_rows(state, whole), numpy.zeros(frame.count, numpy.int64)
    ended: Ended = []
    while True:
        found = rows_of(condition(state), frame).numbers()
        if not found.all():
            stop, go = numpy.flatnonzero(~found), numpy.flatnonzero(found)
            ended.append((members[stop], chosen(state, stop)))
            members = members[go]
            if not len(members):
                return ended, steps
            frame = Frame(xp, len(members), whole, members)
            state = chosen(state, go, frame)
        state = as_rows(step(state, frame, members), frame)
        steps[members] += 1


def _frame(state: Value, condition: Function, function: Function) -> Frame | None:
    """The rows that go on, if there is a value of each of them in the state, in the condition or in
    what a step makes.
    """
    going = condition(state)
    found = innermost([state, going])
    return found if found is not None or not going else innermost([function(state)])


def _iterate(
    xp: FlatArrays, below: Any, state: Value, condition: Function, function: Function
) -> Value:
    traced = hasattr(xp.xp, "compiled")
    whole = innermost([state]) if traced else _frame(state, condition, function)
    if whole is None:
        return below(state, condition, function)
    ended, _ = _go_on(xp, state, whole, condition, lambda state, *_: function(state))
    return merged(whole, ended)


def _collect(
    xp: FlatArrays, below: Any, state: Value, condition: Function, function: Function
) -> Value:
    """The same with outputs: those of each row stand end to end. Rows without any have the sizes of
    what there would be.
    """
    if hasattr(xp.xp, "compiled"):
        raise NotFlat("the number of steps differs")
    whole = _frame(state, condition, function)
    if whole is None:
        return below(state, condition, function)
    outputs: list[tuple[Index, Value]] = []

    def step(state: Value, frame: Frame, members: Index) -> Value:
        after, output = function(state)
        outputs.append((members, as_rows(output, frame)))
        return after

    first = as_rows(state, whole)
    ended, steps = _go_on(xp, first, whole, condition, step)
    segments = Segments.of_lengths(steps)
    elements = Frame(xp, segments.total, whole, segments=segments)
    none = numpy.flatnonzero(steps == 0)
    if len(none):
        some = Frame(xp, len(none), whole, none)
        like = as_rows(function(chosen(first, none, some))[1], some)
    if outputs:
        places = [(segments.starts[rows] + i, made) for i, (rows, made) in enumerate(outputs)]
        made = merged(elements, places)
    else:
        made = each(lambda x: _nothing(x, elements), like)
    size = int(steps[0]) if (steps == steps[0]).all() else None
    return merged(whole, ended), each(lambda x: stacked(only(x), whole, segments, size), made)


def _nothing(x: Rows, frame: Frame) -> Rows:
    if x.segments is not None:
        raise NotFlat("no element in any row")
    return Rows(frame, x.values[:0])


CALLING.update(iterate=_iterate, collect=_collect)
