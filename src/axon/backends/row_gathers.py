"""What `row_stacks` does, of arrays that JAX traces: by gathering, which is derived."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from axon.backends.buckets import standing
from axon.backends.ragged import Ragged, Row, offsets_of
from axon.backends.ragged_rows import rows_of
from axon.backends.row_stacks import Numbers, shapes_of
from axon.backends.segments.rows import taken
from axon.ops.arrays import Array, Value


class TracedSource:
    """The rows of a tensor, and their `shapes`; each `single` row is a batch of one."""

    def __init__(self, xp: Any, tensor: Row, single: bool = False) -> None:
        self.xp = xp
        self.single = single
        self.shapes = shapes_of(tensor, single)
        self.offsets = tensor.offsets if isinstance(tensor, Ragged) else None
        self.rows = tensor.values if isinstance(tensor, Ragged) else tensor

    def stack(self, members: Numbers, sizes: Sequence[int], fill: float) -> Array:
        """These rows in one array, each padded to these sizes. Rows that fill up the number, and
        what is behind a row, have no derivative: in a padded program that may be anything.
        """
        xp, inner = self.xp, sizes[1:] if self.single else sizes
        own = self.shapes[members, int(self.single) :]
        made = self._stack(members, inner)
        ones = [1] * len(inner)
        once = numpy.append([True], members[1:] != members[:-1]).reshape(-1, *ones)
        if not once.all():
            made = xp.where(once, made, xp.stop_gradient(made))
        true: Any = True
        for axis, size in enumerate(inner):
            places = numpy.arange(size).reshape(-1, *[1] * (len(inner) - axis - 1))
            true = true & (places < own[:, axis].reshape(-1, *ones))
        if not numpy.all(true):
            other = standing(made.dtype, fill) if fill else xp.stop_gradient(made)
            made = xp.where(true, made, other)
        return made[:, None] if self.single else made

    def _stack(self, members: Numbers, sizes: Sequence[int]) -> Array:
        if isinstance(self.rows, tuple):
            rows = [self._padded(self.xp.asarray(self.rows[i]), sizes) for i in members]
            return self.xp.stack(rows)
        if self.offsets is None:
            made = self._taken(self.rows, members)
        elif not len(self.rows):
            made = self.xp.zeros((len(members), *sizes[:1], *self.rows.shape[1:]), self.rows.dtype)
        else:
            index = self.offsets[members][:, None] + numpy.arange(sizes[0])
            made = self._taken(self.rows, numpy.minimum(index, len(self.rows) - 1))
        return self._padded(made, (len(members), *sizes))

    def _taken(self, array: Array, index: Numbers) -> Array:
        return taken(self.xp, self.xp.asarray(array), index)

    def _padded(self, array: Array, shape: Sequence[int]) -> Array:
        if tuple(array.shape) == tuple(shape):
            return array
        around = [(0, size - own) for size, own in zip(shape, array.shape, strict=True)]
        return self.xp.pad(array, around)


def gathered(
    xp: Any, count: int, parts: Sequence[tuple[Numbers, Value, Any]], which: Any
) -> Value | None:
    """A tensor of so many rows, as in `row_stacks.assembled`."""
    _, stack, _ = parts[0]
    if isinstance(stack, tuple):
        each = which if isinstance(which, tuple) else (which,) * len(stack)
        made = [
            gathered(xp, count, [(m, s[i], sizes[i]) for m, s, sizes in parts], each[i])
            for i in range(len(stack))
        ]
        return None if any(item is None for item in made) else tuple(made)
    if which and any(which.sizes[1:]):
        rows: list[Any] = [None] * count
        for members, stack, sizes in parts:
            for place, member in enumerate(members.tolist()):
                row = xp.take(stack, place, axis=0)  # compiled once, whichever row it is
                rows[member] = row[tuple(map(slice, sizes[place].tolist()))]
        return rows_of(rows, which, rows[0])
    first = 1 if which else 0
    inner = parts[0][2][0, first:].tolist()
    if any((sizes[:, first:] != inner).any() for _, _, sizes in parts):
        return None
    flat = []
    index: list[Any] = [None] * count
    begin = 0
    for members, stack, sizes in parts:
        cut = stack[(slice(None),) * (1 + first) + tuple(map(slice, inner))]
        room = cut.shape[1] if first else 1
        flat.append(cut.reshape(-1, *inner))
        for place, member in enumerate(members.tolist()):
            length = int(sizes[place, 0]) if first else 1
            index[member] = begin + place * room + numpy.arange(length)
        begin += len(cut) * room
    values = taken(xp, xp.concatenate(flat), numpy.concatenate(index))
    if not first:
        return values
    return Ragged(values, offsets_of([len(each) for each in index]))
