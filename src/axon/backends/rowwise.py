"""Operators where the rows of a tensor vary in size: on all values at once if they can, else row by
row.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy

from axon.backends import ragged
from axon.backends.ragged import Ragged, Row
from axon.backends.ragged_rows import map_rows, rows_of
from axon.ops.arrays import Array, Arrays, Meaning, Value

MOST_COMPILED = 64


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """`rows` says which operands go row by row; `varying` which results vary in size, `may_vary`
    whether they do if an operand does. What broadcasts has a `core`: the number of dimensions at
    the end that do not. `compiled` keeps what a backend makes of a function that is mapped.
    """

    operator: str
    family: str
    rows: tuple[bool, ...]
    varying: Any
    may_vary: ragged.Varying | None = None
    core: int | None = None
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
    states = plan.family == "functional"  # there a tuple is a state, and not a shape
    if not states and any(isinstance(a, tuple) and _varies(a) for a in args):
        return _by_shape(plan, meaning, xp, args, attributes)
    if plan.family != "functional" and not any(isinstance(a, Ragged) for a in args):
        return meaning(xp, *args, **attributes)
    match plan.operator:
        case "map":
            function, *tensors = args
            varying = plan.varying or (
                plan.may_vary and any(isinstance(t, Ragged) for t in tensors)
            )
            return map_rows(
                function,
                tensors,
                ragged_result=varying,
                batched=_batched(plan, xp, function, tensors),
            )
        case "cond":
            condition, then, otherwise = args
            return then() if condition else otherwise()
        case "iterate" if not attributes["outputs"]:
            state, condition, function = args
            while condition(state):
                state = function(state)
            return state
        case "iterate":
            return _collect(plan, *args)
        case "loop":
            state, function, *tensors = args
            return _loop(plan, state, function, tensors)
        case "fold":
            state, function, *tensors = args
            for row in zip(*tensors, strict=True):
                state = function(state, *row)
            return state
        case "concat" if all(isinstance(a, Ragged) for a in args):
            return ragged.concat(args, attributes["axis"] % args[0].rank)
        case "measured" if not plan.varying:
            return _even(plan, args[0])
        case "stack" if attributes["axis"] == 0:
            return Ragged.from_rows(args)
        case "expand_dims" if attributes["axis"] == (0,):
            return Ragged.from_rows(args)
        case "tril" | "triu" if not plan.rows[0]:  # one matrix, whose rows end early
            padded, _ = args[0].to_padded()
            made = meaning(xp, padded, **attributes)
            return Ragged.from_padded(made, lengths=args[0].lengths)
    if plan.family == "functional" and not any(isinstance(a, Ragged) for a in args):
        return meaning(xp, *args, **attributes)
    if plan.family == "reductions" and attributes.get("axis", 0) is None and len(args) == 1:
        return meaning(xp, _all_values(xp, args[0]), **attributes)
    if plan.core is not None:
        return _broadcast(plan, meaning, xp, args, attributes)
    return _by_rows(plan, meaning, xp, args, attributes)


# --- broadcasting ----------------------------------------------------------------------------


def _broadcast(
    plan: Plan, meaning: Meaning, xp: Arrays, args: Sequence[Row], attributes: dict[str, Any]
) -> Value:
    """Element by element, on all values at once where every argument is aligned with them."""
    varying = [a for a in args if isinstance(a, Ragged)]
    if not varying:
        return meaning(xp, *args, **attributes)
    rank = max(ragged.rank(a) for a in args)
    first = varying[0]
    aligned = all(a.packed and a.rank == rank and ragged.same_rows(a, first) for a in varying)
    if (
        plan.core == 0
        and aligned
        and all(isinstance(a, Ragged) or ragged.rank(a) <= rank - 2 for a in args)
    ):
        values = [a.packed[0] if isinstance(a, Ragged) and a.packed else a for a in args]
        return Ragged(meaning(xp, *values, **attributes), first.offsets)
    count = max(len(a) for a in args if ragged.rank(a) == rank)
    outer = [ragged.rank(a) == rank for a in args]
    stretched = [_stretch(a, count) if by_row else a for a, by_row in zip(args, outer, strict=True)]
    rows = [a for a, by_row in zip(stretched, outer, strict=True) if by_row]

    def one(*each: Row) -> Value:
        given = iter(each)
        inner = [next(given) if by_row else a for a, by_row in zip(args, outer, strict=True)]
        return _broadcast(plan, meaning, xp, inner, attributes)

    return map_rows(one, rows, ragged_result=plan.varying or plan.may_vary)


def _stretch(tensor: Row, count: int) -> Row:
    """A tensor of one row as one of many."""
    if len(tensor) == count:
        return tensor
    if isinstance(tensor, Ragged):
        return tensor.take(numpy.zeros(count, numpy.int64))
    return numpy.broadcast_to(numpy.asarray(tensor), (count, *tensor.shape[1:]))


def _varies(shape: tuple[Any, ...]) -> bool:
    """Whether a shape has one size for each row."""
    return any(isinstance(size, numpy.ndarray) for size in shape)


def _by_shape(
    plan: Plan, meaning: Meaning, xp: Arrays, args: Sequence[Any], attributes: dict[str, Any]
) -> Value:
    """A tensor made in a shape that varies: each row in its own."""
    shape = next(a for a in args if isinstance(a, tuple) and _varies(a))
    if plan.operator not in ("zeros", "ones", "full", "broadcast_to"):
        raise ragged.RaggedError(f"{plan.operator} needs rows of one size here")

    def row(i: int) -> Value:
        sizes = tuple(int(n[i]) if isinstance(n, numpy.ndarray) else n for n in shape[1:])
        given = [
            sizes
            if a is shape
            else a[i if len(a) > 1 else 0]
            if hasattr(a, "dtype") and ragged.rank(a) == len(shape)
            else a
            for a in args
        ]
        return meaning(xp, *given, **attributes)

    vary = ragged.Varying(tuple(isinstance(n, numpy.ndarray) for n in shape[1:]))
    like = (
        None
        if shape[0]
        else meaning(xp, *[(0,) * len(shape[1:]) if a is shape else a for a in args], **attributes)
    )
    return Ragged.from_rows([row(i) for i in range(shape[0])], like, vary)


def _even(plan: Plan, tensor: Ragged) -> Array:
    """Rows that have one size after all, as an array."""
    if not len(tensor):
        return tensor.xp.zeros([size or 0 for size in tensor.shape], tensor.dtype)
    padded, own = tensor.to_padded()
    if not numpy.all(own):
        sizes = list(dict.fromkeys(ragged.show_sizes(row.shape) for row in tensor))
        told = f": the first is {sizes[0]}, another {sizes[1]}" if len(sizes) > 1 else ""
        raise ragged.RaggedError(f"{plan.operator} needs rows of one size here{told}")
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
    by_row = plan.rows
    if not any(isinstance(a, Ragged) for a in args):
        alone = (None,) * level
        given = [a[alone] if use and level else a for a, use in zip(args, by_row, strict=True)]
        return _only(meaning(xp, *given, **attributes), level)
    if any(isinstance(a, Ragged) and not use for a, use in zip(args, by_row, strict=True)):
        raise ragged.RaggedError(f"{plan.operator} needs rows of one size here")
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

    varying = plan.varying if isinstance(plan.varying, tuple) else plan.varying or plan.may_vary
    function = Lifted(one, outside, ())
    kind = (level, tuple(rest), tuple(attributes.items()))
    batched = _batched(plan, xp, function, tensors, kind)
    return map_rows(function, tensors, ragged_result=varying, batched=batched)


def _only(result: Value, level: int) -> Value:
    """What a batch of one gives, on its own."""
    if isinstance(result, tuple):
        return tuple(_only(part, level) for part in result)
    return result[(0,) * level] if level else result


def _loop(plan: Plan, state: Value, function: Callable[..., Any], tensors: Sequence[Row]) -> Value:
    now = state

    def step(*row: Row) -> Value:
        nonlocal now
        now, output = function(now, *row)
        return output

    varying = plan.varying[1] if isinstance(plan.varying, tuple) else False
    outputs = map_rows(step, tensors, ragged_result=varying)
    return (now if len(tensors[0]) else state), outputs


def _collect(
    plan: Plan, state: Value, condition: Callable[..., Any], function: Callable[..., Any]
) -> Value:
    """Step by step: how many rows there will be is not known before."""
    now, outputs = state, list[Value]()
    while condition(now):
        now, output = function(now)
        outputs.append(output)
    varying = plan.varying[1] if isinstance(plan.varying, tuple) else False
    like = outputs[0] if outputs else function(state)[1]
    return now, rows_of(outputs, varying, like)


def _batched(
    plan: Plan, xp: Arrays, function: Any, tensors: Sequence[Row], kind: Hashable = ()
) -> Callable[..., Value] | None:
    """The function on many rows at once, where the backend can do that; kept by `kind`."""
    vectorised = getattr(xp, "vectorised", None)
    if vectorised is None or not isinstance(function, Lifted):
        return None
    if any(isinstance(v, Ragged) for v in function.values):
        return None
    key = (function.sizes, kind)
    made = plan.compiled.get(key)
    if made is None:
        made = vectorised(function.function, len(function.values), function.sizes, len(tensors))
        if len(plan.compiled) >= MOST_COMPILED:
            plan.compiled.clear()
        plan.compiled[key] = made
    return lambda *rows: made(*function.values, *rows)


def _all_values(xp: Arrays, tensor: Row) -> Any:
    if not isinstance(tensor, Ragged):
        return tensor
    if tensor.packed:
        return tensor.packed[0]
    return xp.concatenate([xp.reshape(_all_values(xp, row), (-1,)) for row in tensor.rows])


# --- sizes -----------------------------------------------------------------------------------


def size_at(tensor: Row, axis: int, varying: bool) -> Any:
    """A size of a tensor: if it is `varying`, one number for each row."""
    if not isinstance(tensor, Ragged):
        return tensor.shape[axis]
    axis = axis % tensor.rank
    if axis == 0:
        return len(tensor)
    if not varying:
        row = tensor[0] if len(tensor) else tensor.empty_row
        return size_at(row, axis - 1, False)
    found = [numpy.atleast_1d(size_at(row, axis - 1, True)) for row in tensor.rows]
    return numpy.concatenate(found) if found else numpy.zeros(0, numpy.int64)


def count(tensor: Row) -> int:
    """How many elements a tensor has."""
    if not isinstance(tensor, Ragged):
        return int(numpy.prod(tensor.shape, dtype=object))
    return sum(count(row) for row in tensor.rows) if tensor.packed is None else count(tensor.values)


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
