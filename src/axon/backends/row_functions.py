"""Operators that call a function for the rows of tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from axon.backends.ragged import Row
from axon.backends.ragged_rows import map_rows, rows_of
from axon.backends.row_application import Plan, as_levels, batched, blank_inside
from axon.backends.row_at_once import mapped
from axon.backends.row_groups import in_groups
from axon.backends.row_levels import which
from axon.ops.arrays import Arrays, Value
from axon.ops.traits import Calls


def functional(
    plan: Plan, calls: Calls, xp: Arrays, args: Sequence[Any], attributes: dict[str, Any]
) -> Value:
    match calls:
        case Calls.EACH_ROW:
            function, *tensors = args
            made = mapped(plan, xp, function, tensors)
            if made is not None:
                return made
            made = in_groups(plan, xp, function, tensors)
            if made is not None:
                return made
            together = batched(plan, xp, function, tensors)
            return map_rows(
                function,
                tensors,
                ragged_result=which(plan.levels),
                batched=together,
                blank=blank_inside(plan.blank, 1),
            )
        case Calls.BRANCH:
            condition, then, otherwise = args
            return as_levels(then() if condition else otherwise(), plan.levels)
        case Calls.WHILE if not attributes["outputs"]:
            state, condition, function = args
            state = as_levels(state, plan.levels)
            while condition(state):
                state = as_levels(function(state), plan.levels)
            return state
        case Calls.WHILE:
            return _collect(plan, *args)
        case Calls.STATE_AND_OUTPUT:
            state, function, *tensors = args
            return _loop(plan, state, function, tensors)
        case Calls.STATE:
            state, function, *tensors = args
            state = as_levels(state, plan.levels)
            for row in zip(*tensors, strict=True):
                state = as_levels(function(state, *row), plan.levels)
            return state


def _loop(plan: Plan, state: Value, function: Callable[..., Any], tensors: Sequence[Row]) -> Value:
    assert isinstance(plan.levels, list)
    levels, made = plan.levels
    state = now = as_levels(state, levels)

    def step(*row: Row) -> Value:
        nonlocal now
        after, output = function(now, *row)
        now = as_levels(after, levels)
        return output

    blank = None if plan.blank is None else blank_inside(plan.blank[1], 1)
    outputs = map_rows(step, tensors, ragged_result=which(made), blank=blank)
    return (now if len(tensors[0]) else state), outputs


def _collect(
    plan: Plan, state: Value, condition: Callable[..., Any], function: Callable[..., Any]
) -> Value:
    """Step by step: the number of rows is not known before."""
    assert isinstance(plan.levels, list)
    levels, made = plan.levels
    state = now = as_levels(state, levels)
    outputs = list[Value]()
    while condition(now):
        after, output = function(now)
        now = as_levels(after, levels)
        outputs.append(output)
    like = outputs[0] if outputs else function(state)[1]
    return now, rows_of(outputs, which(made), like)
