"""What has been computed of where rows start, kept for all tensors that have these rows: a batch is
mapped more than once, and its results are mapped again.

It is small, a number for each row. What has a number for each element is not kept here.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy

from axon.ops.arrays import Array

Offsets = numpy.ndarray[tuple[int], numpy.dtype[numpy.int64]]


class RowFacts:
    """Of one list of offsets: the lengths of the rows, and the offsets on a device."""

    __slots__ = ("_lengths", "_placed")

    def __init__(self) -> None:
        self._lengths: Offsets | None = None
        self._placed: dict[Hashable, Array] = {}

    def __reduce__(self) -> tuple[type[RowFacts], tuple[()]]:
        """What is copied or stored finds out anew."""
        return RowFacts, ()

    def lengths(self, offsets: Offsets) -> Offsets:
        if self._lengths is None:
            self._lengths = numpy.diff(offsets)
            self._lengths.flags.writeable = False
        return self._lengths

    def placed(self, xp: Any, offsets: Offsets) -> Array:
        """Where a library has its arrays. What it makes while it traces a program is not kept."""
        key = xp.place()
        found = self._placed.get(key) if key is not None else None
        if found is None:
            found = xp.asarray(offsets)
            if key is not None:
                self._placed[key] = found
        return found
