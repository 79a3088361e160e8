"""Operators where the rows of a tensor vary in size: on all values at once if they can, else row by
row.

A value is a `Ragged` where its levels say so (see `graph/levels.py`), and an array where they do
not; rows that agree in size by chance make no difference.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy

from axon.backends import ragged
from axon.backends.ragged import Ragged, RaggedError, Row
from axon.backends.ragged_rows import map_rows, rows_of, zeros_row
from axon.backends.row_sizes import RowSizes, at, rows_among
from axon.ops.arrays import Array, Arrays, Meaning, Value
from axon.ops.levels import LevelTree

MOST_COMPILED = 64


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """How an operator takes rows. `batch` says of each operand how many of its first dimensions are
    those of the result, `levels` where sizes of the result vary. What broadcasts has a `core`: the
    number of dimensions at the end that do not. A reduction that is `flat` takes so many dimensions
    at the front as one. `blank` is a result without elements, as far as its type is known, and
    `compiled` keeps what a backend makes of a function that is mapped.
    """

    operator: str
    family: str
    batch: tuple[int, ...]
    levels: LevelTree
    core: int | None = None
    flat: int | None = None
    blank: Value | None = None
    compiled: dict[Hashable, Callable[..., Value]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Lifted:
    """A function and what it uses from around it: values, then sizes, then its arguments."""

    function: Callable[..., Value]
    values: tuple[Value, ...]
    sizes: tuple[Any, ...]

    def __call__(self, *rows: Row) -> Value:
        return self.function(*self.values, *self.sizes, *rows)


def apply(plan: Plan, meaning: Meaning, xp: Arrays, *args: Any, **attributes: Any) -> Value:
    if plan.family == "functional" and plan.operator not in ("reduce", "scan"):
        return _functional(plan, meaning, xp, args, attributes)
    if not any(map(_varies, args)):
        return meaning(xp, *args, **attributes)
    match plan.operator:
        case "concat" if all(isinstance(a, Ragged) for a in args):
            return ragged.concat(args, attributes["axis"] % args[0].rank)
        case "measured":
            return _even(plan, args[0])
        case "stack":
            return _stack(plan, meaning, xp, args, attributes["axis"] % (args[0].rank + 1))
        case "expand_dims":
            rank = args[0].rank + len(attributes["axis"])
            axes = sorted(axis % rank for axis in attributes["axis"])
            return _expand(plan, meaning, xp, args[0], axes)
        case "squeeze":
            axes = sorted(axis % args[0].rank for axis in attributes["axis"])
            return _squeeze(plan, meaning, xp, args[0], axes)
        case "tril" | "triu" if not _is_batch(plan, args[0]):
            return _one_matrix(plan, meaning, xp, args[0], attributes)
    if plan.flat is not None:
        return _flat(plan, meaning, xp, args[0], attributes)
    if plan.core is not None:
        return _broadcast(plan, meaning, xp, args, attributes)
    return _by_rows(plan, meaning, xp, args, attributes)


def _varies(operand: Any) -> bool:
    """Whether an operand has rows that vary, or is a shape with a size for each row."""
    if isinstance(operand, tuple):
        return any(isinstance(size, RowSizes) for size in operand)
    return isinstance(operand, Ragged)


def _which(levels: LevelTree, level: int = 0) -> Any:
    """Which sizes of the rows vary, in a tensor that stands in so many dimensions of the result."""
    if isinstance(levels, list):
        return tuple(_which(part, level) for part in levels)
    sizes = tuple(size > level for size in levels[level + 1 :])
    return ragged.Varying(sizes) if any(sizes) else None


def _inside(blank: Value | None, level: int) -> Value | None:
    """A row of a row of … of a result without elements."""
    if isinstance(blank, tuple):
        return tuple(_inside(part, level) for part in blank)
    return None if blank is None else numpy.empty(blank.shape[level:], blank.dtype)


def _as_levels(value: Value, levels: LevelTree, level: int = 0) -> Value:
    """A value that may be an array where another one would have rows: as the other one."""
    if isinstance(levels, list):
        return tuple(_as_levels(v, part) for v, part in zip(value, levels, strict=True))
    which = _which(levels, level)
    if which is None or isinstance(value, Ragged):
        return value
    rows = [_as_levels(row, levels, level + 1) for row in value]
    return rows_of(rows, which, _as_levels(_blank(value), levels, level + 1))


def _blank(array: Array) -> Array:
    """A row of an array that may have none."""
    return numpy.zeros(array.shape[1:], array.dtype)


# --- functions -------------------------------------------------------------------------------


def _functional(
    plan: Plan, meaning: Meaning, xp: Arrays, args: Sequence[Any], attributes: dict[str, Any]
) -> Value:
    match plan.operator:
        case "map":
            function, *tensors = args
            batched = _batched(plan, xp, function, tensors)
            return map_rows(
                function,
                tensors,
                ragged_result=_which(plan.levels),
                batched=batched,
                blank=_inside(plan.blank, 1),
            )
        case "cond":
            condition, then, otherwise = args
            return _as_levels(then() if condition else otherwise(), plan.levels)
        case "iterate" if not attributes["outputs"]:
            state, condition, function = args
            state = _as_levels(state, plan.levels)
            while condition(state):
                state = _as_levels(function(state), plan.levels)
            return state
        case "iterate":
            return _collect(plan, *args)
        case "loop":
            state, function, *tensors = args
            return _loop(plan, state, function, tensors)
        case "fold":
            state, function, *tensors = args
            state = _as_levels(state, plan.levels)
            for row in zip(*tensors, strict=True):
                state = _as_levels(function(state, *row), plan.levels)
            return state
        case _:
            return meaning(xp, *args, **attributes)


def _loop(plan: Plan, state: Value, function: Callable[..., Any], tensors: Sequence[Row]) -> Value:
    assert isinstance(plan.levels, list)
    levels, made = plan.levels
    state = now = _as_levels(state, levels)

    def step(*row: Row) -> Value:
        nonlocal now
        after, output = function(now, *row)
        now = _as_levels(after, levels)
        return output

    blank = None if plan.blank is None else _inside(plan.blank[1], 1)
    outputs = map_rows(step, tensors, ragged_result=_which(made), blank=blank)
    return (now if len(tensors[0]) else state), outputs


def _collect(
    plan: Plan, state: Value, condition: Callable[..., Any], function: Callable[..., Any]
) -> Value:
    """Step by step: how many rows there will be is not known before."""
    assert isinstance(plan.levels, list)
    levels, made = plan.levels
    state = now = _as_levels(state, levels)
    outputs = list[Value]()
    while condition(now):
        after, output = function(now)
        now = _as_levels(after, levels)
        outputs.append(output)
    like = outputs[0] if outputs else function(state)[1]
    return now, rows_of(outputs, _which(made), like)


# --- broadcasting ----------------------------------------------------------------------------


def _rank(operand: Any) -> int:
    return len(operand) if isinstance(operand, tuple) else ragged.rank(operand)


def _broadcast(
    plan: Plan,
    meaning: Meaning,
    xp: Arrays,
    args: Sequence[Any],
    attributes: dict[str, Any],
    level: int = 0,
) -> Value:
    """Element by element, on all values at once where every argument is aligned with them. `level`
    is how many dimensions of the result this is in.
    """
    if not any(map(_varies, args)):
        return meaning(xp, *args, **attributes)
    rank = max(map(_rank, args))
    offsets = _aligned(args, rank) if plan.core == 0 else None
    if offsets is not None:
        values = [a.values if isinstance(a, Ragged) else a for a in args]
        return Ragged(_broadcast(plan, meaning, xp, values, attributes, level + 1), offsets)
    outer = [_rank(a) == rank for a in args]
    count = max(_count(a) for a, by_row in zip(args, outer, strict=True) if by_row)
    if any(isinstance(a, tuple) for a in args):
        rows = [_parts(a, count) if by_row else [a] * count for a, by_row in _pairs(args, outer)]
        made = [
            _broadcast(plan, meaning, xp, each, attributes, level + 1)
            for each in zip(*rows, strict=True)
        ]
        like = made[0] if made else _none(plan, meaning, xp, args, outer, attributes, level)
        return rows_of(made, _which(plan.levels, level), like)
    stretched = [_stretch(a, count) for a, by_row in _pairs(args, outer) if by_row]

    def one(*each: Row) -> Value:
        given = iter(each)
        inner = [next(given) if by_row else a for a, by_row in _pairs(args, outer)]
        return _broadcast(plan, meaning, xp, inner, attributes, level + 1)

    blank = _inside(plan.blank, level + 1)
    return map_rows(one, stretched, ragged_result=_which(plan.levels, level), blank=blank)


def _pairs(args: Sequence[Any], outer: Sequence[bool]) -> list[tuple[Any, bool]]:
    return list(zip(args, outer, strict=True))


def _aligned(args: Sequence[Any], rank: int) -> Any:
    """The offsets that all ragged arguments share, if the others do not reach as far as rows."""
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
    """What a row would be, where there are none: as far as the type knows, if rows of no elements
    do not tell.
    """
    given = [
        tuple(0 if isinstance(size, RowSizes) else size for size in a[1:])
        if isinstance(a, tuple)
        else zeros_row(a, 0)
        if by_row
        else a
        for a, by_row in _pairs(args, outer)
    ]
    with suppress(Exception):
        return _broadcast(plan, meaning, xp, given, attributes, level + 1)
    return _inside(plan.blank, level + 1)


def _stretch(tensor: Row, count: int) -> Row:
    """A tensor of one row as one of many."""
    if len(tensor) == count:
        return tensor
    if isinstance(tensor, Ragged):
        return tensor.take(numpy.zeros(count, numpy.int64))
    return numpy.broadcast_to(numpy.asarray(tensor), (count, *tensor.shape[1:]))


# --- dimensions put in and taken away --------------------------------------------------------


def _expand(
    plan: Plan, meaning: Meaning, xp: Arrays, x: Row, axes: Sequence[int], level: int = 0
) -> Value:
    if not isinstance(x, Ragged):
        return meaning(xp, x, axis=tuple(axes)) if axes else x
    if not axes:
        return x
    inner = [axis - 1 for axis in axes if axis]
    if axes[0] == 0:
        made = _expand(plan, meaning, xp, x, inner, level + 1)
        return rows_of([made], _which(plan.levels, level), made)
    return _rows_of(plan, x, lambda row: _expand(plan, meaning, xp, row, inner, level + 1), level)


def _squeeze(
    plan: Plan, meaning: Meaning, xp: Arrays, x: Row, axes: Sequence[int], level: int = 0
) -> Value:
    if not isinstance(x, Ragged):
        return meaning(xp, x, axis=tuple(axes)) if axes else x
    if not axes:
        return x
    inner = [axis - 1 for axis in axes if axis]
    if axes[0] == 0:
        return _squeeze(plan, meaning, xp, x[0], inner, level)
    return _rows_of(plan, x, lambda row: _squeeze(plan, meaning, xp, row, inner, level + 1), level)


def _stack(
    plan: Plan, meaning: Meaning, xp: Arrays, parts: Sequence[Row], axis: int, level: int = 0
) -> Value:
    if not any(isinstance(part, Ragged) for part in parts):
        return meaning(xp, *parts, axis=axis)
    which = _which(plan.levels, level)
    if axis == 0:
        return rows_of(list(parts), which, parts[0])
    return map_rows(
        lambda *rows: _stack(plan, meaning, xp, rows, axis - 1, level + 1),
        parts,
        ragged_result=which,
        blank=_inside(plan.blank, level + 1),
    )


def _rows_of(plan: Plan, x: Ragged, function: Callable[[Row], Value], level: int) -> Value:
    blank = _inside(plan.blank, level + 1)
    return map_rows(function, [x], ragged_result=_which(plan.levels, level), blank=blank)


def _is_batch(plan: Plan, x: Ragged) -> bool:
    """Whether the matrices of a batch are arrays."""
    assert isinstance(plan.levels, tuple)
    return max(plan.levels) <= len(plan.levels) - 2


def _one_matrix(
    plan: Plan, meaning: Meaning, xp: Arrays, x: Row, attributes: dict[str, Any], level: int = 0
) -> Value:
    """A matrix whose rows end early: it matters which row it is."""
    if not isinstance(x, Ragged):
        return meaning(xp, x, **attributes)
    if x.rank > 2:
        return _rows_of(
            plan, x, lambda row: _one_matrix(plan, meaning, xp, row, attributes, level + 1), level
        )
    padded, _ = x.to_padded()
    return Ragged.from_padded(meaning(xp, padded, **attributes), lengths=x.lengths)


def _flat(plan: Plan, meaning: Meaning, xp: Arrays, x: Ragged, attributes: dict[str, Any]) -> Value:
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
    """The values of some dimensions at the front, as one dimension."""
    if not isinstance(x, Ragged):
        return numpy.asarray(x).reshape(-1, *x.shape[front:])
    if x.offsets is not None:
        return _values(x.values, front - 1)
    rows = x.on_host().values or (_sample(x),)
    return numpy.concatenate([_values(row, front - 1) for row in rows])


def _sample(x: Ragged) -> Array:
    return numpy.asarray(x.empty_row)


def _even(plan: Plan, tensor: Ragged) -> Array:
    """Rows that have one size after all, as an array."""
    if not len(tensor):
        return tensor.xp.zeros([size or 0 for size in tensor.shape], tensor.dtype)
    padded, own = tensor.to_padded()
    if not numpy.all(own):
        sizes = list(dict.fromkeys(ragged.show_sizes(row.shape) for row in tensor))
        told = f": the first is {sizes[0]}, another {sizes[1]}" if len(sizes) > 1 else ""
        raise RaggedError(f"{plan.operator} needs rows of one size here{told}")
    return padded


# --- row by row ------------------------------------------------------------------------------


def _by_rows(
    plan: Plan,
    meaning: Meaning,
    xp: Arrays,
    args: Sequence[Any],
    attributes: dict[str, Any],
    level: int = 0,
) -> Value:
    """A batch of rows, each as a batch of one: axes are counted as in the whole."""
    if not any(map(_varies, args)):
        given = [_alone(a, min(level, n)) for a, n in zip(args, plan.batch, strict=True)]
        return _only(meaning(xp, *given, **attributes), level)
    by_row = [n > level for n in plan.batch]
    if any(isinstance(a, Ragged) and not use for a, use in zip(args, by_row, strict=True)):
        raise RaggedError(f"{plan.operator} needs rows of one size here")
    if any(_varies(a) for a in args if isinstance(a, tuple)):
        return _by_shape(plan, meaning, xp, args, attributes, level)
    tensors = [a for a, use in zip(args, by_row, strict=True) if use]
    # what is the same for all rows: arrays are given to the function, the rest is part of it
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
    batched = _batched(plan, xp, function, tensors, kind)
    return map_rows(
        function,
        tensors,
        ragged_result=_which(plan.levels, level),
        batched=batched,
        blank=_inside(plan.blank, level + 1),
    )


def _alone(operand: Any, count: int) -> Any:
    """An operand with so many dimensions of size 1 before its own."""
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
    shape = next(a for a in args if isinstance(a, tuple) and _varies(a))
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
    return rows_of(rows, _which(plan.levels, level), rows[0] if rows else made(None))


def _only(result: Value, level: int) -> Value:
    """What a batch of one gives, on its own."""
    if isinstance(result, tuple):
        return tuple(_only(part, level) for part in result)
    return result[(0,) * level] if level else result


def _batched(
    plan: Plan, xp: Arrays, function: Any, tensors: Sequence[Row], kind: Hashable = ()
) -> Callable[..., Value] | None:
    """The function on many rows at once, where the backend can do that; kept by `kind`."""
    vectorised = getattr(xp, "vectorised", None)
    if vectorised is None or not isinstance(function, Lifted):
        return None
    if any(isinstance(v, Ragged) for v in function.values):
        return None
    if any(isinstance(size, RowSizes) for size in function.sizes):
        return None
    key = (function.sizes, kind)
    made = plan.compiled.get(key)
    if made is None:
        made = vectorised(function.function, len(function.values), function.sizes, len(tensors))
        if len(plan.compiled) >= MOST_COMPILED:
            plan.compiled.clear()
        plan.compiled[key] = made
    return lambda *rows: made(*function.values, *rows)


# --- sizes -----------------------------------------------------------------------------------


class NotASize(Exception):
    """What was computed to be a size, or a shape, cannot be one; the sentence says why."""


def measure(array: Any, least: int, more: bool) -> tuple[int, ...]:
    """The numbers in an array, as sizes: so many, or more where that is allowed."""
    numbers = tuple(int(n) for n in numpy.asarray(array).reshape(-1))
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
    """A size, or a part of a shape, that an array says must be the one that is known."""
    if found != known:
        raise NotASize(f"a size was computed to be {_list(found)}, and should be {_list(known)}")


def _list(sizes: Any) -> str:
    return f"[{','.join(map(str, sizes))}]" if isinstance(sizes, tuple) else str(sizes)
