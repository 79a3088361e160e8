"""Dimensions of tensors whose rows vary: inserted, removed, or merged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from axon.backends import ragged
from axon.backends.ragged import Ragged, RaggedError, Row
from axon.backends.ragged_host import host, join
from axon.backends.ragged_rows import map_rows, rows_of
from axon.backends.row_application import Plan, blank_inside
from axon.backends.row_levels import which
from axon.ops.arrays import Array, Arrays, Meaning, Value
from axon.ops.levels import depth


def expand(
    plan: Plan, meaning: Meaning, xp: Arrays, x: Row, axes: Sequence[int], level: int = 0
) -> Value:
    if not isinstance(x, Ragged):
        return meaning(xp, x, axis=tuple(axes)) if axes else x
    if not axes:
        return x
    inner = [axis - 1 for axis in axes if axis]
    if axes[0] == 0:
        made = expand(plan, meaning, xp, x, inner, level + 1)
        return rows_of([made], which(plan.levels, level), made)
    return _rows_of(plan, x, lambda row: expand(plan, meaning, xp, row, inner, level + 1), level)


def squeeze(
    plan: Plan, meaning: Meaning, xp: Arrays, x: Row, axes: Sequence[int], level: int = 0
) -> Value:
    if not isinstance(x, Ragged):
        return meaning(xp, x, axis=tuple(axes)) if axes else x
    if not axes:
        return x
    inner = [axis - 1 for axis in axes if axis]
    if axes[0] == 0:
        return squeeze(plan, meaning, xp, x[0], inner, level)
    return _rows_of(plan, x, lambda row: squeeze(plan, meaning, xp, row, inner, level + 1), level)


def stack(
    plan: Plan, meaning: Meaning, xp: Arrays, parts: Sequence[Row], axis: int, level: int = 0
) -> Value:
    if not any(isinstance(part, Ragged) for part in parts):
        return meaning(xp, *parts, axis=axis)
    if axis == 0:
        return rows_of(list(parts), which(plan.levels, level), parts[0])
    return map_rows(
        lambda *rows: stack(plan, meaning, xp, rows, axis - 1, level + 1),
        parts,
        ragged_result=which(plan.levels, level),
        blank=blank_inside(plan.blank, level + 1),
    )


def _rows_of(plan: Plan, x: Ragged, function: Callable[[Row], Value], level: int) -> Value:
    blank = blank_inside(plan.blank, level + 1)
    return map_rows(function, [x], ragged_result=which(plan.levels, level), blank=blank)


def is_batch(plan: Plan, x: Ragged) -> bool:
    """Whether the matrices of a batch are arrays."""
    assert isinstance(plan.levels, tuple)
    return max(map(depth, plan.levels)) <= len(plan.levels) - 2


def one_matrix(
    plan: Plan, meaning: Meaning, xp: Arrays, x: Row, attributes: dict[str, Any], level: int = 0
) -> Value:
    """A matrix whose rows end early: the index of a row matters."""
    if not isinstance(x, Ragged):
        return meaning(xp, x, **attributes)
    if x.rank > 2:
        return _rows_of(
            plan, x, lambda row: one_matrix(plan, meaning, xp, row, attributes, level + 1), level
        )
    padded, _ = x.to_padded()
    return Ragged.from_padded(meaning(xp, padded, **attributes), lengths=x.lengths)


def reduce_flat(
    plan: Plan, meaning: Meaning, xp: Arrays, x: Ragged, attributes: dict[str, Any]
) -> Value:
    """A reduction of all values, or of all but the last dimensions, which do not vary."""
    front, axis = plan.flat or 0, attributes["axis"]
    rank = x.rank
    values = xp.asarray(_values(x, front))
    if axis is None:
        return meaning(xp, values, **attributes)
    more = sorted({a % rank for a in axis} - set(range(front)))
    axes = (0, *(a - front + 1 for a in more))
    made = meaning(xp, values, **{**attributes, "axis": axes})
    if not attributes["keep"]:
        return made
    return xp.reshape(made, (*(1,) * front, *made.shape[1:]))


def _values(x: Row, front: int) -> Array:
    """The values of some leading dimensions, as one dimension."""
    if not isinstance(x, Ragged):
        return host(x).reshape(-1, *x.shape[front:])
    if x.offsets is not None:
        return _values(x.values, front - 1)
    rows = x.on_host().values or (_sample(x),)
    return join("concatenate", [_values(row, front - 1) for row in rows])


def _sample(x: Ragged) -> Array:
    return host(x.empty_row)


def even(plan: Plan, tensor: Ragged) -> Array:
    """Rows that happen to have one size, as an array."""
    if not len(tensor):
        return tensor.xp.zeros([size or 0 for size in tensor.shape], tensor.dtype)
    padded, own = tensor.to_padded()
    if not bool(own.all()):
        sizes = list(dict.fromkeys(ragged.show_sizes(row.shape) for row in tensor))
        detail = f": the first is {sizes[0]}, another {sizes[1]}" if len(sizes) > 1 else ""
        raise RaggedError(f"{plan.operator} needs rows of one size here{detail}")
    return padded
