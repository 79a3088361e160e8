"""Functions of rows, applied to all rows at once and row by row."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy
import pytest

import axon
from axon.backends import row_at_once
from axon.backends.segments import steps
from tests.run.support import floats, plain

TYPES = {
    "vectors": ("f32 [n,*]", ()),
    "matrices": ("f32 [n,*,3]", (3,)),
    "numbers": ("i64 [n,*]", ()),
}

OTHERS = "a : f32, v : f32 [3], m : f32 [3,3]"


def given() -> tuple[Any, ...]:
    return numpy.float32(1.5), floats(3), floats(3, 3)


def rows(kind: str, lengths: tuple[int, ...], seed: int = 0) -> axon.Ragged:
    """Rows of these lengths; numbers may be equal."""
    random, inner = numpy.random.default_rng((seed, *lengths)), TYPES[kind][1]
    if kind == "numbers":
        made = [random.integers(-5, 6, n) for n in lengths]
        return axon.Ragged.from_rows(made, like=numpy.zeros(0, numpy.int64))
    floats_ = [random.normal(0, 2, (n, *inner)).astype(numpy.float32) for n in lengths]
    return axon.Ragged.from_rows(floats_, like=numpy.zeros((0, *inner), numpy.float32))


@contextmanager
def row_by_row() -> Iterator[None]:
    """Nothing is applied to all rows at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_at_once, "_tried", lambda *_: None)
        yield


@contextmanager
def watched() -> Iterator[list[str]]:
    """The operators that go through the rows in a loop, with the reasons."""
    made: list[steps.Step] = []
    begin = steps.Step.__init__

    def init(step: steps.Step, *args: Any, **named: Any) -> None:
        begin(step, *args, **named)
        made.append(step)

    found: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steps.Step, "__init__", init)
        yield found
    found += [f"{step.operator}: {step.loops}" for step in made if step.loops]


def form(value: Any) -> Any:
    """How a result is stored, as far as that is part of it."""
    if isinstance(value, tuple):
        return tuple(map(form, value))
    if isinstance(value, axon.Ragged):
        return "ragged", str(value.dtype), value.rank, len(value), value.packed is not None
    return str(value.dtype), tuple(value.shape)


def alike(found: Any, expected: Any, *, rtol: float = 2e-5, atol: float = 1e-5) -> bool:
    if isinstance(found, list | tuple):
        return len(found) == len(expected) and all(
            alike(a, b, rtol=rtol, atol=atol) for a, b in zip(found, expected, strict=True)
        )
    a, b = numpy.asarray(found), numpy.asarray(expected)
    same = a.shape == b.shape and a.dtype == b.dtype
    return same and numpy.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True)


def outcome(function: Any, *args: Any) -> Any:
    """The result, or the message of the error."""
    try:
        made = function(*args)
    except (axon.RunError, axon.ArgumentError) as problem:
        return str(problem)
    if isinstance(made, dict):
        made = tuple(made.values())
    return plain(made), form(made)
