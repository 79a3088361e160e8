"""A loop over the elements of each row as one loop of the program, for libraries that compile: the
first elements of all rows, then the second ones. A row that has ended keeps its state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from axon.backends.segments.arrays import FlatArrays
from axon.backends.segments.frames import Frame, NotFlat, Segments
from axon.backends.segments.rows import Rows, by_row, check_room, lift, taken
from axon.ops.arrays import Array, Value

WASTE = 16
"""How many times as many steps as there are elements all rows may take together."""


def suits(segments: Segments) -> bool:
    """Whether rows are alike enough in size."""
    return segments.is_level(WASTE)


def scanned(
    xp: FlatArrays,
    state: Value,
    function: Callable[..., Any],
    tensors: Sequence[Rows],
    segments: Segments,
) -> tuple[Value, Value]:
    """The states in the end, and the outputs of all elements."""
    frame, steps = tensors[0].frame, segments.longest
    if not steps or any(isinstance(x.values, Rows) for x in tensors):
        raise NotFlat("no element in any row, or rows of rows")
    segments.settle()
    names = ("starts", "lengths", "ids", "within")
    starts, lengths, ids, within = (xp.xp.asarray(segments.placed(xp.xp, name)) for name in names)
    start = _each(lambda x: _values(x, frame), state)
    last = max(segments.total - 1, 0)

    def step(now: Value, number: Array) -> tuple[Value, Value]:
        """What has ended computes its first step again: nothing that no row has computed."""
        open_ = number < lengths
        places = xp.xp.clip(starts + xp.xp.where(open_, number, 0), 0, last)
        given = [Rows(frame, taken(xp.xp, x.values, places)) for x in tensors]
        before = _chosen(xp.xp, open_, now, start)
        after, output = function(_each(lambda v: Rows(frame, v), before), *given)
        after = _each(lambda x: _values(x, frame), after)
        if _shapes(after) != _shapes(now):
            raise NotFlat("a state whose size changes")
        return _chosen(xp.xp, open_, after, now), _each(lambda x: _values(x, frame), output)

    now, outputs = xp.xp.loop(start, step, xp.xp.arange(steps))
    index = within * frame.count + ids

    def packed(values: Array) -> Rows:
        check_room(frame, steps * frame.count, values.shape[2:], values.dtype)
        whole = values.reshape(steps * frame.count, *values.shape[2:])
        return Rows(segments.elements(frame), taken(xp.xp, whole, index))

    return _each(lambda v: Rows(frame, v), now), _each(packed, outputs)


def _each(function: Callable[[Any], Any], value: Value) -> Value:
    if isinstance(value, tuple):
        return tuple(_each(function, part) for part in value)
    return function(value)


def _values(x: Any, frame: Frame) -> Array:
    """An array with what each row has."""
    if isinstance(x, Rows):
        x = lift(x, frame)
        if x.segments is not None:
            raise NotFlat("a state whose size differs")
        return x.values
    if by_row(x) or not hasattr(x, "dtype"):
        raise NotFlat("something else than the elements of rows")
    check_room(frame, frame.count, x.shape, x.dtype)
    return frame.arrays.xp.broadcast_to(x, (frame.count, *x.shape))


def _shapes(value: Value) -> Any:
    return tuple(map(_shapes, value)) if isinstance(value, tuple) else tuple(value.shape)


def _chosen(xp: Any, open_: Array, one: Value, other: Value) -> Value:
    """Of the rows that go on the one, of the others the other."""
    if isinstance(one, tuple):
        return tuple(_chosen(xp, open_, a, b) for a, b in zip(one, other, strict=True))
    return xp.where(open_.reshape(-1, *(1,) * (one.ndim - 1)), one, other)
