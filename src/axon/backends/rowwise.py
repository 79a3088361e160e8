"""Operators on tensors whose rows vary in size: on all values at once if possible, else row by row.

A value is a `Ragged` exactly where its levels vary (see `graph/levels.py`), and an array elsewhere;
rows that agree in size by chance make no difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from axon.backends import ragged
from axon.backends.failures import NotASize
from axon.backends.ragged import Ragged, RaggedError, Row
from axon.backends.ragged_host import host
from axon.backends.ragged_rows import map_rows, rows_of
from axon.backends.row_application import Lifted, Plan, batched, blank_inside, is_varying
from axon.backends.row_at_once import applied, grouped
from axon.backends.row_broadcast import broadcast
from axon.backends.row_functions import functional
from axon.backends.row_levels import which
from axon.backends.row_moves import even, expand, is_batch, one_matrix, reduce_flat, squeeze, stack
from axon.backends.row_sizes import RowSizes, at, rows_among
from axon.ops.arrays import Arrays, Meaning, Value
from axon.ops.traits import RowRule


def apply(plan: Plan, meaning: Meaning, xp: Arrays, *args: Any, **attributes: Any) -> Value:
    if plan.traits.calls is not None:
        return functional(plan, plan.traits.calls, xp, args, attributes)
    if not any(map(is_varying, args)):
        return meaning(xp, *args, **attributes)
    made = applied(plan, xp, args, attributes)
    if made is None:
        made = grouped(plan, xp, args, attributes)
    if made is not None:
        return made
    match plan.traits.rows:
        case RowRule.JOINED if all(isinstance(a, Ragged) for a in args):
            return ragged.concat(args, attributes["axis"] % args[0].rank)
        case RowRule.EVEN:
            return even(plan, args[0])
        case RowRule.STACKED:
            return stack(plan, meaning, xp, args, attributes["axis"] % (ragged.rank(args[0]) + 1))
        case RowRule.AXES_INSERTED:
            rank = args[0].rank + len(attributes["axis"])
            axes = sorted(axis % rank for axis in attributes["axis"])
            return expand(plan, meaning, xp, args[0], axes)
        case RowRule.AXES_REMOVED:
            axes = sorted(axis % args[0].rank for axis in attributes["axis"])
            return squeeze(plan, meaning, xp, args[0], axes)
        case RowRule.TRIANGLE if not is_batch(plan, args[0]):
            return one_matrix(plan, meaning, xp, args[0], attributes)
        case RowRule.REDUCTION if plan.flat is not None:
            return reduce_flat(plan, meaning, xp, args[0], attributes)
        case _ if plan.core is not None:
            return broadcast(plan, meaning, xp, args, attributes)
        case _:
            return _by_rows(plan, meaning, xp, args, attributes)


# --- row by row ------------------------------------------------------------------------------


def _by_rows(
    plan: Plan,
    meaning: Meaning,
    xp: Arrays,
    args: Sequence[Any],
    attributes: dict[str, Any],
    level: int = 0,
) -> Value:
    """A batch of rows, each as a batch of one: axes are counted as in the entire tensor."""
    if not any(map(is_varying, args)):
        given = [_alone(a, min(level, n)) for a, n in zip(args, plan.batch, strict=True)]
        return _only(meaning(xp, *given, **attributes), level)
    by_row = [n > level for n in plan.batch]
    if any(isinstance(a, Ragged) and not use for a, use in zip(args, by_row, strict=True)):
        raise RaggedError(f"{plan.operator} needs rows of one size here")
    if any(is_varying(a) for a in args if isinstance(a, tuple)):
        return _by_shape(plan, meaning, xp, args, attributes, level)
    tensors = [a for a, use in zip(args, by_row, strict=True) if use]
    # what all rows share: arrays are arguments of the function, the rest is part of it
    arrays = [hasattr(a, "dtype") and not use for a, use in zip(args, by_row, strict=True)]
    outside = tuple(a for a, is_array in zip(args, arrays, strict=True) if is_array)
    rest = [None if hasattr(a, "dtype") else a for a in args]

    def one(*every: Row) -> Value:
        given, rows = iter(every[: len(outside)]), iter(every[len(outside) :])
        parts = [
            next(rows) if use else next(given) if is_array else a
            for a, use, is_array in zip(rest, by_row, arrays, strict=True)
        ]
        return _by_rows(plan, meaning, xp, parts, attributes, level + 1)

    function = Lifted(one, outside, ())
    kind = (level, tuple(rest), tuple(attributes.items()))
    together = batched(plan, xp, function, tensors, kind)
    return map_rows(
        function,
        tensors,
        ragged_result=which(plan.levels, level),
        batched=together,
        blank=blank_inside(plan.blank, level + 1),
    )


def _alone(operand: Any, count: int) -> Any:
    """An operand with `count` leading dimensions of size 1."""
    if isinstance(operand, tuple):
        return (*(1,) * count, *operand)
    return operand[(None,) * count] if count and hasattr(operand, "dtype") else operand


def _by_shape(
    plan: Plan,
    meaning: Meaning,
    xp: Arrays,
    args: Sequence[Any],
    attributes: dict[str, Any],
    level: int,
) -> Value:
    """A tensor made in a shape that varies: each row in its own."""
    shape = next(a for a in args if isinstance(a, tuple) and is_varying(a))
    if rows_among(shape[1:]) not in (None, shape[0]):
        raise RaggedError(f"{plan.operator} is given a shape of {shape[0]} rows, which it has not")

    def made(index: int | None) -> Value:
        sizes = [
            (0 if isinstance(n, RowSizes) else n) if index is None else at(n, index)
            for n in shape[1:]
        ]
        given = [tuple(sizes) if a is shape else a for a in args]
        return _by_rows(plan, meaning, xp, given, attributes, level + 1)

    rows = [made(i) for i in range(shape[0])]
    return rows_of(rows, which(plan.levels, level), rows[0] if rows else made(None))


def _only(result: Value, level: int) -> Value:
    """The only item of the result for a batch of one."""
    if isinstance(result, tuple):
        return tuple(_only(part, level) for part in result)
    return result[(0,) * level] if level else result


# --- sizes -----------------------------------------------------------------------------------


def count(tensor: Row) -> int:
    """The number of elements of a tensor."""
    if not isinstance(tensor, Ragged):
        return int(numpy.prod(tensor.shape, dtype=object))
    return sum(count(row) for row in tensor.rows) if tensor.packed is None else count(tensor.values)


def measure(array: Any, least: int, more: bool) -> tuple[int, ...]:
    """The numbers in an array, as sizes: so many, or more where that is allowed."""
    numbers = tuple(int(n) for n in host(array).reshape(-1).tolist())
    for number in numbers:
        if number < 0:
            raise NotASize(f"a size was computed to be {number}, below zero")
    if len(numbers) < least or (len(numbers) > least and not more):
        rank = f"{least} or more" if more else f"{least}"
        raise NotASize(
            f"a shape was computed to be {_list(numbers)}, and its rank should be {rank}"
        )
    return numbers


def agree(found: Any, known: Any) -> None:
    """A size, or a part of a shape, that is read from an array must equal the known one."""
    if found != known:
        raise NotASize(f"a size was computed to be {_list(found)}, and should be {_list(known)}")


def _list(sizes: Any) -> str:
    return f"[{','.join(map(str, sizes))}]" if isinstance(sizes, tuple) else str(sizes)
