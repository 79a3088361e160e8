"""Conditions on sizes that differ from row to row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from axon.backends.checks import CheckFailed, SizeVar, check, holds
from axon.backends.segments.frames import Counts, NotFlat
from axon.backends.segments.rows import by_row, innermost
from axon.solver.constraints import Origin
from axon.types.type import Relation


def check_rows(held: tuple[Relation, Origin, list[SizeVar]], sizes: Sequence[Any]) -> None:
    """A condition must hold in each row: it is tried for all of them at once."""
    frame = innermost(list(sizes))
    if frame is None:
        check(held, sizes)
        return
    if any(by_row(size) for size in sizes if isinstance(size, tuple)):
        raise NotFlat("a condition on shapes that differ")
    relation, origin, variables = held
    numbers = [size.into(frame).numbers if isinstance(size, Counts) else size for size in sizes]
    known = dict(zip(variables, numbers, strict=True))
    if holds(relation, dict(known)) is False:
        raise CheckFailed(relation, origin, known)
