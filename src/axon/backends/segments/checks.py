"""Conditions on sizes that differ from row to row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from axon.backends.checks import CheckFailed, SizeVar, check, holds
from axon.backends.row_sizes import varies
from axon.backends.segments.frames import Counts, Frame, NotFlat
from axon.backends.segments.groups import parted, sizes_of, some_rows
from axon.backends.segments.rows import by_row, innermost
from axon.backends.segments.traced_sizes import Given, Traced, as_long, known_of
from axon.solver.constraints import Origin
from axon.types.type import Relation

Held = tuple[Relation, Origin, list[SizeVar]]


def check_rows(held: Held, sizes: Sequence[Any]) -> None:
    """A condition must hold in each row: it is tried for all of them at once."""
    frame = innermost(list(sizes))
    if frame is None:
        check(held, sizes)
        return
    if any(map(varies, sizes)):
        raise NotFlat("a condition on sizes of rows from outside")
    if any(by_row(size) for size in sizes if isinstance(size, tuple)):
        _check_shapes(held, sizes, frame)
        return
    numbers = [size.into(frame).numbers if isinstance(size, Counts) else size for size in sizes]
    trace = next((each.trace for each in numbers if isinstance(each, Traced)), None)
    if trace is None:
        _check(held, numbers)
        return
    on_host = [known_of(each) for each in numbers]

    def question(given: Given) -> bool:
        _check(held, as_long([part(given) for part in on_host]))
        return True

    trace.ask(question)


def _check_shapes(held: Held, sizes: Sequence[Any], frame: Frame) -> None:
    """The same of shapes: for all rows that have the same ones."""
    columns = sizes_of(sizes, frame)
    if any(isinstance(column, Traced) for column in columns):
        raise NotFlat("a condition on shapes that differ")
    for members in parted(frame, numpy.stack(columns, axis=1)):
        part = Frame(frame.arrays, len(members), frame, members)
        check(held, [some_rows(size, members, part, frame) for size in sizes])


def _check(held: Held, numbers: Sequence[Any]) -> None:
    relation, origin, variables = held
    known = dict(zip(variables, numbers, strict=True))
    if holds(relation, dict(known)) is False:
        raise CheckFailed(relation, origin, known)
