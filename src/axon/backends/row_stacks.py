"""Rows of several sizes in one array, padded to a common one, and the way back.

All of it is done on the host, for all rows of a group at once where rows are stored end to end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from axon.backends.buckets import standing
from axon.backends.ragged import Ragged, Row, Varying, offsets_of
from axon.backends.ragged_host import host, put
from axon.backends.ragged_rows import rows_of
from axon.ops.arrays import Array, Value

Numbers = Any
"""An array of integers, one for each row, or an array with a row of them for each."""


def shapes_of(tensor: Row) -> Numbers:
    """The sizes of each row."""
    if not isinstance(tensor, Ragged):
        return numpy.tile(numpy.array(tensor.shape[1:], numpy.int64), (len(tensor), 1))
    if tensor.offsets is None:
        return numpy.array([row.shape for row in tensor.values], numpy.int64)
    inner = numpy.array(tensor.values.shape[1:], numpy.int64)
    return numpy.column_stack([tensor.lengths, numpy.tile(inner, (len(tensor), 1))])


class Source:
    """The rows of a tensor on the host, and their `shapes`; each `single` row is a batch of one."""

    def __init__(self, tensor: Row, single: bool = False) -> None:
        self.single = single
        shapes = shapes_of(tensor)
        ones = numpy.ones((len(shapes), int(single)), numpy.int64)
        self.shapes = numpy.concatenate([ones, shapes], axis=1)
        self.offsets = tensor.offsets if isinstance(tensor, Ragged) else None
        self.rows: Any = (
            tuple(map(host, tensor.values))
            if isinstance(tensor, Ragged) and tensor.offsets is None
            else host(tensor.values if isinstance(tensor, Ragged) else tensor)
        )

    def stack(self, members: Numbers, sizes: Sequence[int], fill: float) -> Array:
        """These rows in one array, each padded to these sizes."""
        inner = sizes[1:] if self.single else sizes
        made = self._stack(members, inner, fill)
        if made.shape[1:] != tuple(inner):  # sizes that agree by chance are padded, too
            more = [(0, size - own) for size, own in zip(inner, made.shape[1:], strict=True)]
            made = numpy.pad(made, [(0, 0), *more], constant_values=standing(made.dtype, fill))
        return made[:, None] if self.single else made

    def _stack(self, members: Numbers, sizes: Sequence[int], fill: float) -> Array:
        if isinstance(self.rows, tuple):
            dtype = self.rows[members[0]].dtype
            made = numpy.full((len(members), *sizes), standing(dtype, fill), dtype)
            for place, member in enumerate(members.tolist()):
                row = self.rows[member]
                made[place, ...][tuple(map(slice, row.shape))] = row
            return made
        if self.offsets is None:
            return self.rows[members]
        starts = self.offsets[members]
        lengths = self.offsets[members + 1] - starts
        places = numpy.arange(sizes[0])
        index = starts[:, None] + places
        last = len(self.rows) - 1
        if last < 0:
            return numpy.zeros((len(members), sizes[0], *self.rows.shape[1:]), self.rows.dtype)
        made = self.rows.take(numpy.minimum(index, last), axis=0)
        made[places >= lengths[:, None]] = standing(made.dtype, fill)
        return made


def assembled(
    count: int, parts: Sequence[tuple[Numbers, Value, Any]], which: Any, home: Any
) -> Value | None:
    """A tensor of so many rows. Of each part: the numbers of its rows, a stack of them, and their
    true sizes. `which` sizes vary; None where rows differ in others.
    """
    _, stack, _ = parts[0]
    if isinstance(stack, tuple):
        each = which if isinstance(which, tuple) else (which,) * len(stack)
        made = [
            assembled(count, [(m, s[i], sizes[i]) for m, s, sizes in parts], each[i], home)
            for i in range(len(stack))
        ]
        return None if any(item is None for item in made) else tuple(made)
    if which and which.sizes[0] and not any(which.sizes[1:]):
        return _packed(count, parts, home)
    if which:
        rows: list[Any] = [None] * count
        for members, stack, sizes in parts:
            for place, (member, own) in enumerate(
                zip(members.tolist(), sizes.tolist(), strict=True)
            ):
                rows[member] = stack[(place, *map(slice, own))]
        return _kept(rows, which, home)
    every = numpy.concatenate([sizes for _, _, sizes in parts])
    if (every != every[0]).any():
        return None
    whole = numpy.empty((count, *every[0].tolist()), stack.dtype)
    for members, stack, sizes in parts:
        whole[members] = stack[(slice(len(members)), *map(slice, sizes[0].tolist()))]
    return put(home, whole)


def _kept(rows: list[Array], which: Varying, home: Any) -> Ragged:
    made = rows_of(rows, which, rows[0])
    assert isinstance(made, Ragged)
    return made.put(home)


def _packed(count: int, parts: Sequence[tuple[Numbers, Value, Any]], home: Any) -> Ragged | None:
    """Rows end to end."""
    inner = parts[0][2][0, 1:]
    if any((sizes[:, 1:] != inner).any() for _, _, sizes in parts):
        return None
    lengths = numpy.empty(count, numpy.int64)
    for members, _, sizes in parts:
        lengths[members] = sizes[:, 0]
    offsets = offsets_of(lengths)
    made = numpy.empty((offsets[-1], *inner.tolist()), parts[0][1].dtype)
    for members, stack, sizes in parts:
        places = numpy.arange(stack.shape[1])
        true = places < sizes[:, :1]
        cut = stack[(slice(len(members)), slice(None), *map(slice, inner.tolist()))]
        made[(offsets[members][:, None] + places)[true]] = cut[true]
    return Ragged(put(home, made), offsets)
