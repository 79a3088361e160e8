"""Some of the rows together, and what they have as one value again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from axon.backends.segments.arrays import in_tiles
from axon.backends.segments.frames import Counts, Frame, Index, NotFlat, Segments
from axon.backends.segments.rows import ByRow, Grouped, Rows, lift, pick, taken


def even_rows(x: Rows, chosen: Index, frame: Frame) -> Rows:
    """Some rows of one size, with that size as a dimension."""
    if x.segments is None:
        return pick(x, chosen, frame)
    if isinstance(x.values, Rows):
        raise NotFlat("rows of rows")
    lengths = x.segments.lengths[chosen]
    size = int(lengths[0])
    xp = frame.arrays.xp
    index = x.segments.starts[chosen][:, None] + numpy.arange(size)
    values = taken(xp, x.values, index.reshape(-1))
    values = values.reshape(len(chosen), size, *values.shape[1:])
    return Rows(frame, xp.moveaxis(values, 1, 1 + x.place) if x.place else values)


def settled(frame: Frame, parts: Sequence[tuple[Index, Rows]]) -> Any:
    """Rows in parts as one value, where at most one size differs."""
    xp = frame.arrays.xp
    found = [part for _, part in parts]
    if any(part.segments is not None and isinstance(part.values, Rows) for part in found):
        raise NotFlat("rows of rows, in parts")
    if len({part.ndim for part in found}) > 1:
        raise NotFlat("rows of several ranks")
    if any(part.segments is not None for part in found):
        alike = _alike(found)
        if len({(part.place, part.values.shape[1:]) for part in alike}) == 1:
            return _end_to_end(frame, [(m, p) for (m, _), p in zip(parts, alike, strict=True)])
        parts = [each for members, part in parts for each in _of_sizes(members, part)]
        found = [part for _, part in parts]
    shapes = [part.shape for part in found]
    different = [i for i, sizes in enumerate(zip(*shapes, strict=True)) if len(set(sizes)) > 1]
    if len(different) > 1:
        return Grouped(frame, parts)
    if different:
        found = [_as_segments(part, different[0]) for part in found]
        return _end_to_end(frame, [(m, p) for (m, _), p in zip(parts, found, strict=True)])
    if len(parts) == 1:  # all rows, in their order
        return Rows(frame, found[0].values)
    values = xp.concatenate([part.values for part in found], axis=0)
    order = numpy.empty(frame.count, numpy.int64)
    order[numpy.concatenate([members for members, _ in parts])] = numpy.arange(frame.count)
    return Rows(frame, taken(xp, values, order))


def _of_sizes(members: Index, x: Rows) -> list[tuple[Index, Rows]]:
    """Rows in parts of one size."""
    if x.segments is None:
        return [(members, x)]
    if x.segments.traced:
        raise NotFlat("rows that vary in different sizes")
    arrays = x.frame.arrays
    return [
        (members[chosen], even_rows(x, chosen, Frame(arrays, len(chosen))))
        for chosen in parted(x.frame, x.segments.lengths)
    ]


def _alike(parts: Sequence[Rows]) -> list[Rows]:
    place = next(part.place for part in parts if part.segments is not None)
    return [part if part.segments is not None else _as_segments(part, place) for part in parts]


def _as_segments(x: Rows, place: int) -> Rows:
    """A dimension as rows of equal size."""
    xp = x.frame.arrays.xp
    values = xp.moveaxis(x.values, place + 1, 1) if place else x.values
    count, size = values.shape[:2]
    flat = xp.reshape(values, (count * size, *values.shape[2:]))
    return Rows(x.frame, flat, Segments.even(count, size), place)


def _end_to_end(frame: Frame, parts: Sequence[tuple[Index, Rows]]) -> Rows:
    xp = frame.arrays.xp
    lengths = numpy.zeros(frame.count, numpy.int64)
    starts = numpy.zeros(frame.count, numpy.int64)
    before = 0
    for members, part in parts:
        assert part.segments is not None
        lengths[members] = part.segments.lengths
        starts[members] = part.segments.starts + before
        before += part.segments.total
    segments = Segments.of_lengths(lengths)
    values = xp.concatenate([part.values for _, part in parts], axis=0)
    order = segments.within + numpy.repeat(starts, lengths)
    return Rows(frame, taken(xp, values, order), segments, parts[0][1].place)


def sizes_of(args: Sequence[Any], frame: Frame) -> list[Any]:
    """The sizes of what is given that differ, for each row."""
    found: list[Any] = []
    for arg in args:
        if isinstance(arg, tuple | list):
            found += sizes_of(arg, frame)
        elif isinstance(arg, Counts):
            found.append(arg.into(frame).numbers)
        elif isinstance(arg, ByRow | Grouped):
            if nested(arg):
                raise NotFlat("rows of rows")
            if in_tiles(arg):
                raise NotFlat("matrices in tiles, in groups")
            found += sizes_of(arg.shape, frame)
    return found


def nested(x: Any) -> bool:
    return isinstance(x, Rows) and isinstance(x.values, Rows)


def parted(frame: Frame, keys: Any) -> list[Index]:
    """The rows with equal keys together, in their order."""
    keys = numpy.asarray(keys).reshape(frame.count, -1)
    order = numpy.lexsort(keys.T[::-1])
    ordered = keys[order]
    changes = (ordered[1:] != ordered[:-1]).any(axis=1)
    return numpy.split(order, numpy.flatnonzero(changes) + 1)


def some_rows(x: Any, members: Index, frame: Frame, whole: Frame) -> Any:
    """What some of the rows have, of any value."""
    if isinstance(x, tuple | list):
        return type(x)(some_rows(item, members, frame, whole) for item in x)
    if isinstance(x, Counts):
        numbers = x.into(whole).numbers[members]
        same = len(numbers) and (numbers == numbers[0]).all()
        return int(numbers[0]) if same else Counts(frame, numbers)
    if isinstance(x, Grouped):
        return _of_parts(x, members, frame, whole)
    if isinstance(x, ByRow) and not isinstance(x, Rows):
        raise NotFlat("some of the matrices in tiles")
    if not isinstance(x, Rows):
        return x
    x = lift(x, whole)
    if x.segments is None:
        return pick(x, members, frame)
    lengths = x.segments.lengths[members]
    one = len(lengths) and (lengths == lengths[0]).all() and not isinstance(x.values, Rows)
    return even_rows(x, members, frame) if one else pick(x, members, frame)


def _of_parts(x: Grouped, members: Index, frame: Frame, whole: Frame) -> Rows:
    """Rows that are all in one part."""
    if x.frame is not whole:
        raise NotFlat("rows in parts, further in")
    for mine, part in x.parts:
        if mine is members:
            return Rows(frame, part.values, part.segments, part.place)
    for mine, part in x.parts:
        places = numpy.searchsorted(mine, members)
        inside = places < len(mine)
        if inside.all() and (mine[places] == members).all():
            return pick(part, places, frame)
    raise NotFlat("rows in other parts")
