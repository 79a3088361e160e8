"""A function of rows applied to all rows of some tensors at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy

from axon.backends.ragged import Ragged, Row, Varying, concat, part
from axon.backends.ragged_host import join
from axon.backends.ragged_rows import rows_of
from axon.backends.row_levels import which
from axon.backends.segments.frames import Frame, InParts, NotFlat, Segments, TooLarge
from axon.backends.segments.groups import parted, settled, sizes_of, some_rows
from axon.backends.segments.namespace import flat_arrays
from axon.backends.segments.parts import as_segments
from axon.backends.segments.rows import Grouped, Rows, by_row, enter, leave, taken
from axon.backends.segments.rows import rows_of as as_rows
from axon.backends.segments.steps import NEAR, Step, reassembled
from axon.ops.arrays import Array, Value
from axon.ops.levels import LevelTree


def map_flat(
    function: Callable[..., Value],
    tensors: Sequence[Row],
    levels: LevelTree,
    xp: Any,
    step: Step,
    all_at_once: bool = False,
) -> Value:
    """The function on all rows, the results as rows of tensors. Where a value of all of them would
    be too large, on one half after the other. If `all_at_once`, not on groups of equal size.
    """
    parts: list[Value] = []
    todo = [(0, len(tensors[0]))]
    while todo:
        first, last = todo.pop()
        frame = Frame(flat_arrays(xp), last - first, undivided=True, whole=all_at_once)
        if step.in_tiles and (xp.tiled or hasattr(xp, "attention_of_rows")):
            frame.tilings = []
        whole = (first, last) == (0, len(tensors[0]))
        some = tensors if whole else [part(tensor, first, last) for tensor in tensors]
        try:
            parts.append(stored(frame, _called(function, frame, some, step), levels))
        except TooLarge:
            middle = (first + last) // 2
            todo += [(middle, last), (first, middle)]
        except NotFlat:
            if not frame.tilings:
                raise
            step.in_tiles = False  # the function makes of matrices what they are not tiled for
            todo.append((first, last))
    return parts[0] if len(parts) == 1 else joined(parts)


def _called(
    function: Callable[..., Value], frame: Frame, tensors: Sequence[Row], step: Step
) -> Value:
    """The function on all rows; or on those of equal sizes together, one part after another. The
    step remembers which of the two it is.
    """
    given = [_given(frame, tensor) for tensor in tensors]
    if not step.in_parts:
        try:
            return function(*given)
        except InParts:
            step.in_parts = True
    keys = sizes_of(given, frame)
    frame.undivided = False
    if not keys:
        return function(*given)
    parts = []
    sizes = numpy.stack(keys, axis=1)
    for members in parted(frame, sizes):
        most = max(1, NEAR // max(1, int(sizes[members[0]].max()) ** 2))
        for first in range(0, len(members), most):
            some = members[first : first + most]
            part = Frame(frame.arrays, len(some))
            parts.append((some, function(*(some_rows(x, some, part, frame) for x in given))))
    return reassembled(frame, parts)


def joined(parts: Sequence[Value]) -> Value:
    if isinstance(parts[0], tuple):
        return tuple(map(joined, zip(*parts, strict=True)))
    if isinstance(parts[0], Ragged):
        return concat(parts)
    return join("concatenate", parts)


# --- from tensors --------------------------------------------------------------------------------


def _given(frame: Frame, tensor: Row) -> Any:
    if not isinstance(tensor, Ragged):
        return Rows(frame, tensor)
    if tensor.offsets is not None:
        segments = Segments(tensor.offsets, tensor.facts)
        if not isinstance(tensor.values, Ragged):
            return Rows(frame, tensor.values, segments)
        inner = _given(segments.elements(frame), tensor.values)
        if not isinstance(inner, Rows):
            raise NotFlat("rows of several sizes, in rows")
        return Rows(frame, inner, segments)
    xp = frame.arrays.xp
    parts = [
        (members, Rows(Frame(frame.arrays, len(members)), _stacked(xp, tensor.values, members)))
        for members in parted(frame, numpy.array([row.shape for row in tensor.values]))
    ]
    return settled(frame, parts)


def _stacked(xp: Any, rows: Sequence[Array], members: Any) -> Array:
    return xp.stack([rows[i] for i in members])


# --- to tensors ----------------------------------------------------------------------------------


def stored(frame: Frame, value: Value, levels: LevelTree) -> Value:
    """A value of rows in the form that its levels ask for."""
    if isinstance(value, tuple):
        assert isinstance(levels, list)
        return tuple(stored(frame, item, part) for item, part in zip(value, levels, strict=True))
    varying = which(levels)
    if any(1 in over for over in levels[2:]) and not _is_nested(value):
        value = _as_nested(frame, value, levels)
    if isinstance(value, Grouped):
        return _row_by_row(frame, value, varying)
    if not isinstance(value, Rows) or value.segments is None:
        rows = value if isinstance(value, Rows) and value.frame is frame else as_rows(value, frame)
        if not by_row(value):
            every = numpy.arange(frame.count)  # a copy for each row
            rows = Rows(frame, taken(frame.arrays.xp, rows.values, every))
        if varying is None:
            return rows.values
        if varying.sizes[0] and not any(varying.sizes[1:]):
            return _packed(as_segments(frame.arrays, rows, 0))
        return _row_by_row(frame, rows, varying)
    if value.frame is not frame:
        raise NotFlat("rows of another frame")
    if varying is None:
        return _even(frame, value)
    if isinstance(value.values, Rows) and any(1 in over for over in levels[2:]):
        return _with_rows(_nested(value.values), value.segments)
    if varying.sizes[0] and not any(varying.sizes[1:]) and not isinstance(value.values, Rows):
        return _packed(value)
    return _row_by_row(frame, value, varying)


def _is_nested(x: Value) -> bool:
    """Whether the rows of rows have sizes of their own."""
    return isinstance(x, Rows) and isinstance(x.values, Rows) and x.values.segments is not None


def _as_nested(frame: Frame, x: Value, levels: LevelTree) -> Rows:
    """Rows of rows of which none differ here, as if they did."""
    one = 1 in levels[2] and not any(1 in over for over in levels[3:])
    if not one or not isinstance(x, Rows) or x.frame is not frame:
        raise NotFlat("rows of rows, none of which differ here")
    whole = as_segments(frame.arrays, x, 0)
    assert whole.segments is not None
    return leave(frame, as_segments(frame.arrays, enter(whole), 0), whole.segments, 0)


def _packed(x: Rows) -> Ragged:
    assert x.segments is not None
    if x.place:
        raise NotFlat("a later size differs")
    return _with_rows(x.values, x.segments)


def _with_rows(values: Row, segments: Segments) -> Ragged:
    return Ragged(values, segments.offsets, facts=segments.facts)


def _nested(x: Rows) -> Row:
    if x.segments is None:
        return x.values
    if isinstance(x.values, Rows):
        if x.place:
            raise NotFlat("a later size differs")
        return _with_rows(_nested(x.values), x.segments)
    return _packed(x)


def _even(frame: Frame, x: Rows) -> Array:
    """Rows of one size, as their type says, as an array."""
    if isinstance(x.values, Rows):
        raise NotFlat("rows of rows where nothing should vary")
    lengths = set(x.segments.lengths.tolist()) if x.segments is not None else set()
    if len(lengths) != 1:
        raise NotFlat("sizes that differ where none should")
    made = x.values.reshape(frame.count, *lengths, *x.values.shape[1:])
    return frame.arrays.xp.moveaxis(made, 1, 1 + x.place) if x.place else made


def _row_by_row(frame: Frame, x: Rows | Grouped, varying: Varying | None) -> Value:
    """The rows as arrays of their own: that is how a tensor is stored in which a later size
    differs.
    """
    rows: list[Any] = [None] * frame.count
    if isinstance(x, Grouped):
        for members, some in x.parts:
            for index, row in zip(members.tolist(), _rows(some), strict=True):
                rows[index] = row
    else:
        rows = _rows(x)
    return rows_of(rows, varying, rows[0])


def _rows(x: Rows) -> list[Array]:
    if x.segments is None:
        return list(x.values)
    xp = x.frame.arrays.xp
    ends = x.segments.offsets.tolist()
    if isinstance(x.values, Rows):
        return _matrices(x, x.values, ends)
    cuts = [x.values[a:b] for a, b in pairwise(ends)]
    return [xp.moveaxis(row, 0, x.place) for row in cuts] if x.place else cuts


def _matrices(x: Rows, inner: Rows, ends: list[int]) -> list[Array]:
    """Rows whose own rows have one size each."""
    if inner.segments is None or isinstance(inner.values, Rows) or inner.place or x.place:
        raise NotFlat("rows of rows of rows")
    found = []
    for first, last in pairwise(ends):
        sizes = set(inner.segments.lengths[first:last].tolist())
        if len(sizes) != 1:
            raise NotFlat("rows of rows where each should be a matrix")
        begin, end = inner.segments.offsets[first], inner.segments.offsets[last]
        values = inner.values[int(begin) : int(end)]
        found.append(values.reshape(last - first, *sizes, *values.shape[1:]))
    return found
