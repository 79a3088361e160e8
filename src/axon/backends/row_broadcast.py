"""Broadcasting where rows vary in size: on all values at once if aligned, else row by row."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy

from axon.backends import ragged
from axon.backends.ragged import Ragged, RaggedError, Row
from axon.backends.ragged_host import host, namespace
from axon.backends.ragged_rows import map_rows, rows_of, zeros_row
from axon.backends.row_application import Plan, blank_inside, is_varying
from axon.backends.row_levels import which
from axon.backends.row_sizes import RowSizes, at
from axon.ops.arrays import Arrays, Meaning, Value


def _rank(operand: Any) -> int:
    return len(operand) if isinstance(operand, tuple) else ragged.rank(operand)


def broadcast(
    plan: Plan,
    meaning: Meaning,
    xp: Arrays,
    args: Sequence[Any],
    attributes: dict[str, Any],
    level: int = 0,
) -> Value:
    """Apply elementwise, on all values at once where every argument is aligned with them. `level`
    is the number of dimensions of the result around this one.
    """
    if not any(map(is_varying, args)):
        return _in_a_row(plan, meaning, xp, args, attributes)
    rank = max(map(_rank, args))
    offsets = _aligned(args, rank) if plan.core == 0 else None
    if offsets is not None:
        values = [a.values if isinstance(a, Ragged) else a for a in args]
        return Ragged(broadcast(plan, meaning, xp, values, attributes, level + 1), offsets)
    outer = [_rank(a) == rank for a in args]
    count = max(_count(a) for a, by_row in zip(args, outer, strict=True) if by_row)
    if any(isinstance(a, tuple) for a in args):
        rows = [_parts(a, count) if by_row else [a] * count for a, by_row in _pairs(args, outer)]
        made = [
            broadcast(plan, meaning, xp, each, attributes, level + 1)
            for each in zip(*rows, strict=True)
        ]
        like = made[0] if made else _none(plan, meaning, xp, args, outer, attributes, level)
        return rows_of(made, which(plan.levels, level), like)
    stretched = [_stretch(a, count) for a, by_row in _pairs(args, outer) if by_row]

    def one(*each: Row) -> Value:
        given = iter(each)
        inner = [next(given) if by_row else a for a, by_row in _pairs(args, outer)]
        return broadcast(plan, meaning, xp, inner, attributes, level + 1)

    blank = blank_inside(plan.blank, level + 1)
    return map_rows(one, stretched, ragged_result=which(plan.levels, level), blank=blank)


def _in_a_row(
    plan: Plan, meaning: Meaning, xp: Arrays, args: Sequence[Any], attributes: dict[str, Any]
) -> Value:
    try:
        return meaning(xp, *args, **attributes)
    except (ValueError, TypeError):
        shapes = [a if isinstance(a, tuple) else tuple(a.shape) for a in args]
        wanted = next((a for a in args if isinstance(a, tuple)), None)
        if _fit([shape[: len(shape) - (plan.core or 0)] for shape in shapes], wanted):
            raise
    sizes = " and ".join(f"[{','.join(map(str, shape))}]" for shape in shapes)
    raise RaggedError(f"{plan.operator} is given rows of different sizes: {sizes}")


def _fit(shapes: list[tuple[int, ...]], wanted: tuple[int, ...] | None) -> bool:
    """Whether shapes broadcast, to the expected one if there is one."""
    try:
        return numpy.broadcast_shapes(*shapes) == wanted or wanted is None
    except ValueError:
        return False


def _pairs(args: Sequence[Any], outer: Sequence[bool]) -> list[tuple[Any, bool]]:
    return list(zip(args, outer, strict=True))


def _aligned(args: Sequence[Any], rank: int) -> Any:
    """The offsets that all ragged arguments share, if the others have no dimension of rows."""
    varying = [a for a in args if isinstance(a, Ragged)]
    if not varying or any(isinstance(a, tuple) for a in args):
        return None
    first = varying[0]
    if any(a.offsets is None or a.rank != rank for a in varying):
        return None
    if not all(isinstance(a, Ragged) or ragged.rank(a) <= rank - 2 for a in args):
        return None
    return first.offsets if all(ragged.same_rows(first, a) for a in varying[1:]) else None


def _count(operand: Any) -> int:
    return operand[0] if isinstance(operand, tuple) else len(operand)


def _parts(operand: Any, count: int) -> list[Any]:
    """The rows of a tensor, or of a shape, as many as there should be."""
    if isinstance(operand, tuple):
        return [tuple(at(size, i) for size in operand[1:]) for i in range(count)]
    rows = list(operand)
    return rows * count if len(rows) == 1 else rows


def _none(
    plan: Plan,
    meaning: Meaning,
    xp: Arrays,
    args: Sequence[Any],
    outer: Sequence[bool],
    attributes: dict[str, Any],
    level: int,
) -> Value:
    """A sample of a row, where there are none: as far as the type determines it, if rows of no
    elements do not.
    """
    given = [
        tuple(0 if isinstance(size, RowSizes) else size for size in a[1:])
        if isinstance(a, tuple)
        else zeros_row(a, 0)
        if by_row
        else a
        for a, by_row in _pairs(args, outer)
    ]
    with suppress(Exception):  # libraries raise errors of every type for sizes that do not fit
        return broadcast(plan, meaning, xp, given, attributes, level + 1)
    return blank_inside(plan.blank, level + 1)


def _stretch(tensor: Row, count: int) -> Row:
    """A tensor of one row as one of many."""
    if len(tensor) == count:
        return tensor
    if isinstance(tensor, Ragged):
        return tensor.take(numpy.zeros(count, numpy.int64))
    rows = host(tensor)
    return namespace(rows).broadcast_to(rows, (count, *tensor.shape[1:]))
