"""A function of rows that a compiler traces: where the rows begin is traced too, so that it is
compiled once for a number of rows and a bucket of elements, whatever the rows are.

What asks where a row begins, or how long it is, cannot be traced: such a function goes another way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

from axon.backends.ragged import Ragged, Row
from axon.backends.ragged_host import host, put
from axon.backends.row_levels import which
from axon.backends.segments.along import padded_lengths
from axon.backends.segments.arrays import FlatArrays
from axon.backends.segments.calls import rows_of
from axon.backends.segments.frames import Frame, NotFlat, Segments
from axon.backends.segments.rows import Rows
from axon.ops.arrays import Array, Value
from axon.ops.levels import LevelTree

LEAST = 64


class TracedSegments(Segments):
    """Rows end to end, and then elements of no row, which have a number behind that of all rows."""

    def __init__(self, count: int, ids: Array, lengths: Array) -> None:
        self.count = count
        self.total = int(ids.shape[0])
        self._placed, self._frames, self._counts = {}, {}, {}
        self.__dict__.update(ids=ids, lengths=lengths, any_empty=True)

    def __getattr__(self, name: str) -> Any:
        raise NotFlat(f"{name} of rows that are traced")

    @property
    def starts(self) -> Any:
        raise NotFlat("where a row begins, traced")

    @property
    def within(self) -> Any:
        raise NotFlat("the place in a row, traced")

    def same(self, other: Segments) -> bool:
        return self is other


class Compiled:
    """A function of rows, compiled. `places` are, for each tensor, which of the lists of row sizes
    it has; None where nothing varies.
    """

    def __init__(
        self,
        function: Callable[..., Value],
        xp: Any,
        places: Sequence[int | None],
        levels: LevelTree,
    ) -> None:
        self.function = function
        self.places = tuple(places)
        self.levels = levels
        self.flat = FlatArrays(xp)
        self.run = xp.compiled(self._traced)
        self.kinds: Any = None

    def __call__(self, values: Sequence[Value], tensors: Sequence[Row]) -> Value:
        lists: list[Segments] = []
        for tensor, place in zip(tensors, self.places, strict=True):
            if place == len(lists):
                lists.append(Segments(tensor.offsets))
        bucket = max(LEAST, *(int(padded_lengths(numpy.array(each.total + 1))) for each in lists))
        arrays = [
            tensor if place is None else _padded(tensor.values, bucket)
            for tensor, place in zip(tensors, self.places, strict=True)
        ]
        ids = [numpy.pad(each.ids, (0, bucket - each.total), constant_values=each.count)
               for each in lists]  # fmt: skip
        made = self.run(tuple(values), tuple(arrays), tuple(ids), [s.lengths for s in lists])
        return self._cut(made, self.kinds, lists)

    def _traced(self, values: Any, arrays: Any, ids: Any, lengths: Any) -> Any:
        count = next(
            array.shape[0] if place is None else lengths[place].shape[0]
            for array, place in zip(arrays, self.places, strict=True)
        )
        frame = Frame(self.flat, count)
        segments = [TracedSegments(count, i, n) for i, n in zip(ids, lengths, strict=True)]
        rows = [
            Rows(frame, array) if place is None else Rows(frame, array, segments[place])
            for array, place in zip(arrays, self.places, strict=True)
        ]
        made, self.kinds = self._result(self.function(*values, *rows), self.levels, frame, segments)
        return made

    def _result(
        self, value: Value, levels: LevelTree, frame: Frame, segments: list[TracedSegments]
    ) -> tuple[Any, Any]:
        """The arrays of a result, and which row sizes each of them has."""
        if isinstance(value, tuple):
            assert isinstance(levels, list)
            parts = [self._result(v, part, frame, segments)
                     for v, part in zip(value, levels, strict=True)]  # fmt: skip
            return tuple(made for made, _ in parts), tuple(kind for _, kind in parts)
        rows, varying = rows_of(value, frame), which(levels)
        if rows.segments is None and varying is None:
            return rows.values, None
        found = next((i for i, each in enumerate(segments) if each is rows.segments), None)
        plain = varying is not None and varying.sizes[0] and not any(varying.sizes[1:])
        if found is None or not plain or rows.place or isinstance(rows.values, Rows):
            raise NotFlat("rows of other sizes, traced")
        return rows.values, found

    def _cut(self, made: Any, kinds: Any, lists: Sequence[Segments]) -> Value:
        if isinstance(kinds, tuple):
            return tuple(self._cut(m, kind, lists) for m, kind in zip(made, kinds, strict=True))
        if kinds is None:
            return made
        segments = lists[kinds]
        values = put(self.flat.xp.library, host(made)[: segments.total])
        return Ragged(values, segments.offsets)


def _padded(values: Array, bucket: int) -> Array:
    """With zeros behind; on the host, since a compiler would see every size."""
    seen = host(values)
    whole = numpy.zeros((bucket, *seen.shape[1:]), seen.dtype)
    whole[: len(seen)] = seen
    return whole


def places_of(tensors: Sequence[Row]) -> tuple[int | None, ...] | None:
    """Which of the tensors have the same rows; None if they are not all packed, or arrays."""
    found: list[Any] = []
    places: list[int | None] = []
    for tensor in tensors:
        if not isinstance(tensor, Ragged):
            places.append(None)
            continue
        if tensor.packed is None:
            return None
        offsets: Any = tensor.offsets
        at = next((i for i, o in enumerate(found) if o is offsets or numpy.array_equal(o, offsets)),
                  len(found))  # fmt: skip
        if at == len(found):
            found.append(offsets)
        places.append(at)
    return tuple(places) if found else None
