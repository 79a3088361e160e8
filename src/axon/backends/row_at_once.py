"""Operators, and functions of rows, on all rows of ragged tensors at once (see `segments`).

Where there is no form for all rows, or a condition or a value is wrong, the result is None: the
rows are then taken one by one, and the error says which row is wrong. A bug is raised as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any

from axon.backends import ragged
from axon.backends.failures import is_expected
from axon.backends.ragged import Ragged, Row
from axon.backends.row_application import MOST_COMPILED, Lifted, Plan, is_varying
from axon.backends.row_groups import in_groups
from axon.backends.row_moves import is_batch
from axon.backends.segments.frames import NotFlat
from axon.backends.segments.groups import settled
from axon.backends.segments.mapping import map_flat
from axon.backends.segments.rows import Grouped
from axon.backends.segments.steps import apply
from axon.backends.segments.traced import Compiled, in_halves, places_of
from axon.backends.stepwise import Stepwise
from axon.ops.arrays import Arrays, Value
from axon.ops.traits import RowRule


def mapped(
    plan: Plan, xp: Arrays, function: Any, tensors: Sequence[Row], all_at_once: bool = False
) -> Value | None:
    """A function of the rows of some tensors."""
    if not isinstance(function, Lifted):
        return None
    if function.whole is None:
        plan.step.loops = function.why
        return None
    whole, sizes = function.whole, function.sizes
    count = len(function.values)

    def run(*args: Any) -> Value:
        return whole(*args[:count], *sizes, *args[count:])

    kind = sizes if all(type(size) is int for size in sizes) else None
    return _tried(plan, xp, run, kind, function.values, tensors, all_at_once)


def _tried(
    plan: Plan,
    xp: Any,
    function: Callable[..., Value],
    kind: Hashable,
    values: Sequence[Value],
    tensors: Sequence[Row],
    all_at_once: bool = False,
) -> Value | None:
    """A function of values and of rows. Where it is compiled, `kind` says on what it depends
    besides: it is compiled once for that. Nothing else goes `all_at_once`, and not in groups.
    """
    counts = set(map(len, tensors))
    if len(counts) != 1 or counts == {0}:
        return None
    if isinstance(xp, Stepwise):
        xp = xp.xp
    try:
        if xp.by_segments:
            each, step = partial(function, *values), plan.step
            return map_flat(each, tensors, plan.levels, xp, step, all_at_once)
        return in_halves(_compiled(plan, xp, function, kind, values, tensors), values, tensors)
    except Exception as problem:
        if not is_expected(problem, xp):
            raise
        failed = f"all rows at once are an error ({type(problem).__name__})"
        plan.step.loops = str(problem) if isinstance(problem, NotFlat) else failed
        return None


def _compiled(
    plan: Plan,
    xp: Any,
    function: Callable[..., Value],
    kind: Hashable,
    values: Sequence[Value],
    tensors: Sequence[Row],
) -> Compiled:
    if not hasattr(xp, "compiled"):
        raise NotFlat("the backend compiles them")
    if kind is None or any(isinstance(v, Ragged) for v in values):
        raise NotFlat("rows from outside the function")
    places = places_of(tensors)
    if places is None:
        raise NotFlat("rows that are not stored end to end")
    key = ("all rows", kind, places)
    made = plan.compiled.get(key)
    if made is None:
        if len(plan.compiled) >= MOST_COMPILED:
            plan.compiled.clear()
        made = plan.compiled[key] = Compiled(function, xp, places, plan.levels)
    assert isinstance(made, Compiled)
    return made


def applied(
    plan: Plan,
    xp: Arrays,
    args: Sequence[Any],
    attributes: dict[str, Any],
    all_at_once: bool = False,
) -> Value | None:
    """An operator on tensors of which some are ragged."""
    step = plan.step
    if any(isinstance(a, tuple) and is_varying(a) for a in args):
        return None
    functions = [a for a in args if isinstance(a, Lifted)]
    for each in functions:
        if (why := _unfit(each, xp)) is not None:
            step.loops = why
            return None
    rows, named, alone = _in_rows(plan, args, attributes)
    if not any(rows) or any(isinstance(a, Ragged) and not r for a, r in _pairs(args, rows)):
        return None

    tensors = [a for a, r in _pairs(args, rows) if r]
    arrays = [not r and hasattr(a, "dtype") for a, r in _pairs(args, rows)]
    rest = [None if r or is_array else a.all_rows if isinstance(a, Lifted) else a
            for a, r, is_array in zip(args, rows, arrays, strict=True)]  # fmt: skip

    def function(*given: Any) -> Value:
        values, each = iter(given), iter(given[sum(arrays) :])
        parts = [next(values) if is_array else a if not r else _one(next(each)) if alone
                 else next(each)
                 for a, r, is_array in zip(rest, rows, arrays, strict=True)]  # fmt: skip
        made = apply(step, xp, *parts, **named)
        return _first(made) if alone else made

    values = [a for a, is_array in zip(args, arrays, strict=True) if is_array]
    called = tuple((each.whole, each.sizes) for each in functions)
    others = tuple(None if isinstance(a, Lifted) else r for a, r in _pairs(args, rest))
    kind = (tuple(rows), others, called, tuple(named.items()), alone)
    return _tried(plan, xp, function, kind, values, tensors, all_at_once)


def _unfit(function: Lifted, xp: Any) -> str | None:
    """Why a function that is given to an operator cannot take all rows at once, if it cannot. What
    it uses from outside is a part of it, and so of what is compiled.
    """
    if function.whole is None:
        return function.why
    shared = xp.by_segments and not any(isinstance(value, Ragged) for value in function.values)
    if (function.values and not shared) or any(type(size) is not int for size in function.sizes):
        return "its function uses values from outside"
    return None


def grouped(
    plan: Plan, xp: Arrays, args: Sequence[Any], attributes: dict[str, Any]
) -> Value | None:
    """The same in groups of rows, where the library compiles for sizes."""
    if plan.padded is None or any(isinstance(a, tuple) and is_varying(a) for a in args):
        return None
    rows, named, alone = _in_rows(plan, args, attributes)
    if not any(rows) or any(isinstance(a, Ragged) and not r for a, r in _pairs(args, rows)):
        return None
    tensors = [a for a, r in _pairs(args, rows) if r]
    counts = set(map(len, tensors))
    if len(counts) > 1 or any(isinstance(tensor, tuple) for tensor in tensors):
        return None
    function = plan.padded.lifted(args, rows, named, alone)
    return None if function is None else in_groups(plan, xp, function, tensors, alone)


def _pairs(args: Sequence[Any], others: Sequence[Any]) -> list[tuple[Any, Any]]:
    return list(zip(args, others, strict=True))


def _in_rows(
    plan: Plan, args: Sequence[Any], attributes: dict[str, Any]
) -> tuple[list[bool], dict[str, Any], bool]:
    """Which operands the operator takes by rows, with what attributes, and whether each row as a
    batch of one: then axes are counted as in the entire tensor.
    """
    every = [True] * len(args)
    ranks = [len(a) if isinstance(a, tuple) else ragged.rank(a) for a in args]
    match plan.traits.rows:
        case RowRule.EVEN | RowRule.DRAWN:
            return [False], {}, False
        case RowRule.TRIANGLE if not is_batch(plan, args[0]):
            return [False], {}, False
        case RowRule.REDUCTION if plan.flat is not None:
            return [False], {}, False
        case RowRule.STACKED:
            return _less(every, attributes, ranks[0] + 1)
        case RowRule.AXES_INSERTED:
            return _less(every, attributes, ranks[0] + len(attributes["axis"]))
        case RowRule.AXES_REMOVED:
            return _less(every, attributes, ranks[0])
        case RowRule.JOINED if all(isinstance(a, Ragged) for a in args):
            return _less(every, attributes, ranks[0])
        case _ if plan.core is not None:
            return [rank == max(ranks) for rank in ranks], attributes, False
        case _:
            return [n > 0 for n in plan.batch], attributes, True


def _less(
    every: list[bool], attributes: dict[str, Any], rank: int
) -> tuple[list[bool], dict[str, Any], bool]:
    """The axes of a row: one less each; the first axis is none of a row."""
    axis = attributes["axis"]
    axes = [axis % rank] if isinstance(axis, int) else [each % rank for each in axis]
    if 0 in axes:
        return [False], {}, False
    less = tuple(each - 1 for each in axes)
    return every, {**attributes, "axis": less[0] if isinstance(axis, int) else less}, False


def _one(x: Any) -> Any:
    """Each row as a batch of one."""
    return _indexed(x, None)


def _first(value: Value) -> Value:
    """The only item of a batch of one."""
    return tuple(map(_first, value)) if isinstance(value, tuple) else _indexed(value, 0)


def _indexed(x: Any, index: Any) -> Any:
    if isinstance(x, Grouped):
        return settled(x.frame, [(members, part[index]) for members, part in x.parts])
    return x[index]
