"""How an operator is applied to rows that vary, and the form of its results."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from axon.backends.ragged import Ragged, Row
from axon.backends.ragged_host import namespace, zeros
from axon.backends.ragged_rows import rows_of
from axon.backends.row_levels import which
from axon.backends.row_sizes import RowSizes
from axon.backends.segments.steps import Step
from axon.ops.arrays import Array, Arrays, Value
from axon.ops.levels import LevelTree
from axon.ops.traits import Traits

MOST_COMPILED = 64

GROUPS = "; rows of equal size go together, and each size is compiled for"


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """How an operator is applied to rows; its name is for messages. `batch` is, for each operand,
    how many of its first dimensions are those of the result, `levels` where sizes of the result
    vary. A broadcasting operator has a `core`: the number of dimensions at the end that do not
    broadcast. A `flat` reduction treats so many leading dimensions as one. `blank` is a result
    without elements, as far as its type is known. `step` is the operator as it is applied to all
    rows at once, and `compiled` caches what a backend makes of a mapped function. `padded` are its
    `OperatorRows`, where rows may be padded.
    """

    operator: str
    traits: Traits
    batch: tuple[int, ...]
    levels: LevelTree
    core: int | None
    flat: int | None
    blank: Value | None
    step: Step
    padded: Any = None
    compiled: dict[Hashable, Callable[..., Value]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Lifted:
    """A function and what it uses from outside: values, then sizes, then its arguments. `whole` is
    the same function of all rows at once; if there is none, `why` says for what reason. `padded` is
    a `RowFunction`, where rows may be padded.
    """

    function: Callable[..., Value]
    values: tuple[Value, ...]
    sizes: tuple[Any, ...]
    whole: Callable[..., Value] | None = None
    why: str = ""
    padded: Any = None

    def __call__(self, *rows: Row) -> Value:
        return self.function(*self.values, *self.sizes, *rows)

    def all_rows(self, *rows: Any) -> Value:
        assert self.whole is not None
        return self.whole(*self.values, *self.sizes, *rows)


def is_varying(operand: Any) -> bool:
    """Whether an operand has rows that vary, or is a shape with a size for each row."""
    if isinstance(operand, tuple):
        return any(isinstance(size, RowSizes) for size in operand)
    return isinstance(operand, Ragged)


def blank_inside(blank: Value | None, level: int) -> Value | None:
    """A row, `level` dimensions in, of a result without elements."""
    if isinstance(blank, tuple):
        return tuple(blank_inside(part, level) for part in blank)
    return None if blank is None else zeros(namespace(blank), blank.shape[level:], blank.dtype)


def as_levels(value: Value, levels: LevelTree, level: int = 0) -> Value:
    """A value in the form that the levels require: an array may have to become rows."""
    if isinstance(levels, list):
        return tuple(as_levels(v, part) for v, part in zip(value, levels, strict=True))
    varying = which(levels, level)
    if varying is None or isinstance(value, Ragged):
        return value
    rows = [as_levels(row, levels, level + 1) for row in value]
    return rows_of(rows, varying, as_levels(blank_row(value), levels, level + 1))


def blank_row(array: Array) -> Array:
    """A row of an array that may have none."""
    return zeros(namespace(array), array.shape[1:], array.dtype)


def batched(
    plan: Plan, xp: Arrays, function: Any, tensors: Sequence[Row], kind: Hashable = ()
) -> Callable[..., Value] | None:
    """The function on many rows at once, where the backend supports that; cached by `kind`."""
    vectorised = getattr(xp, "vectorised", None)
    if vectorised is None or not isinstance(function, Lifted):
        return None
    if any(isinstance(v, Ragged) for v in function.values):
        return None
    if any(isinstance(size, RowSizes) for size in function.sizes):
        return None
    key = (function.sizes, kind)
    if plan.step.loops and not plan.step.loops.endswith(GROUPS):
        plan.step.loops += GROUPS
    made = plan.compiled.get(key)
    if made is None:
        made = vectorised(function.function, len(function.values), function.sizes, len(tensors))
        if len(plan.compiled) >= MOST_COMPILED:
            plan.compiled.clear()
        plan.compiled[key] = made
    return lambda *rows: made(*function.values, *rows)
