"""Conditions on sizes that differ from row to row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from axon.backends.checks import SizeVar, check
from axon.backends.segments.frames import Counts, NotFlat
from axon.backends.segments.rows import by_row, innermost
from axon.solver.constraints import Origin
from axon.types.type import Relation


def check_rows(held: tuple[Relation, Origin, list[SizeVar]], sizes: Sequence[Any]) -> None:
    """A condition must hold in each row: it is tried once for all rows with equal sizes."""
    frame = innermost(list(sizes))
    if frame is None:
        check(held, sizes)
        return
    if any(by_row(size) for size in sizes if isinstance(size, tuple)):
        raise NotFlat("a condition on shapes that differ")
    columns = [size.into(frame).numbers for size in sizes if isinstance(size, Counts)]
    for row in numpy.unique(numpy.stack(columns, axis=1), axis=0).tolist():
        numbers = iter(row)
        check(held, [next(numbers) if isinstance(size, Counts) else size for size in sizes])
