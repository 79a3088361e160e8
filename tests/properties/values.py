"""Values of programs with run-time and ragged sizes, and nothing of Axon.

A tensor is a NumPy array, or a `Rag` where its rows vary in size; a size is a `Size`, a shape a
`Sizes`, and a number that the program writes a plain Python number, which takes the element type of
what it meets. Functions are Python functions, tuples are tuples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy

Array = Any
"""An array of NumPy."""


class Fails(Exception):
    """Sizes, ranks or element types do not fit: such a call must be refused."""


class Unclear(Exception):
    """The documents leave open what this gives, so nothing is said about it."""


class Endless(Unclear):
    """It takes too long to be of interest."""


@dataclass(frozen=True, slots=True)
class Rag:
    """A tensor as its rows, which vary in size; `like` is what a row would be if there are none."""

    rows: tuple[Tensor, ...]
    like: Tensor


Tensor = Any
"""An array or a `Rag`."""


class Size(int):
    """A dimension as a value."""


class Halved(Size):
    """A quotient of sizes: as a size it is rounded down, as a number it is not."""


class Sizes(tuple[int, ...]):
    """A shape as a value."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class RaggedSizes:
    """The shape of a tensor whose rows vary, as a value."""

    of: Rag


Value = Any
"""A tensor, a number, a `Size`, a `Sizes`, a tuple or a dict of values, or a function."""

Function = Callable[..., Value]


def need(condition: bool) -> None:
    if not condition:
        raise Fails


def is_tensor(value: Value) -> bool:
    return isinstance(value, numpy.ndarray | Rag)


def is_number(value: Value) -> bool:
    """A number that takes the element type of what it meets: a literal, or a size."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def first_row(value: Rag) -> Tensor:
    return value.rows[0] if value.rows else value.like


def rank(value: Tensor) -> int:
    return 1 + rank(first_row(value)) if isinstance(value, Rag) else int(value.ndim)


def dtype(value: Tensor) -> Any:
    return dtype(first_row(value)) if isinstance(value, Rag) else value.dtype


def rows_of(value: Tensor) -> tuple[Tensor, ...]:
    return value.rows if isinstance(value, Rag) else tuple(map(numpy.asarray, value))


def row_like(value: Tensor) -> Tensor:
    """What a row is, where there may be none."""
    if isinstance(value, Rag):
        return first_row(value)
    return numpy.asarray(value[0]) if len(value) else numpy.zeros(value.shape[1:], value.dtype)


def count(value: Tensor) -> int:
    """How many elements there are."""
    return sum(map(count, value.rows)) if isinstance(value, Rag) else int(value.size)


def length(value: Tensor) -> int:
    return len(value.rows) if isinstance(value, Rag) else len(value)


def stacked(rows: tuple[Tensor, ...], like: Tensor) -> Tensor:
    """Rows as one tensor: an array if all have one shape."""
    some = rows or (like,)
    need(len({rank(r) for r in some}) == 1 and len({dtype(r) for r in some}) == 1)
    if any(isinstance(r, Rag) for r in some):
        return Rag(rows, like)
    if len({r.shape for r in some}) > 1:
        return Rag(rows, like)
    if not rows:
        return numpy.zeros((0, *like.shape), like.dtype)
    return numpy.stack(rows)


def sizes(value: Tensor, shown: bool = False) -> tuple[int | None, ...]:
    """The size of each dimension; None for one that varies, or that no row shows (unless what a row
    would be is to show it).
    """
    if not isinstance(value, Rag):
        return tuple(int(n) for n in value.shape)
    inner = {sizes(row, shown) for row in value.rows}
    if not inner:
        inner = {sizes(value.like, shown) if shown else (None,) * rank(value.like)}
    columns = zip(*inner, strict=True)
    return (len(value.rows), *(c[0] if len(set(c)) == 1 else None for c in map(tuple, columns)))


def varies(value: Tensor) -> bool:
    """Whether the rows truly have different sizes, at every level at which they could."""
    if not isinstance(value, Rag):
        return True
    if len({sizes(row) for row in value.rows}) < 2:
        return False
    return all(varies(row) for row in value.rows if length(row) > 1)


def form(value: Value) -> Any:
    """All sizes of a value, down to each row: equal forms are equal types in this run."""
    if isinstance(value, Rag):
        return ("rows", *map(form, value.rows))
    if isinstance(value, numpy.ndarray):
        if value.ndim > 1 and len(value):
            return ("rows", *[form(row) for row in value])
        return (*value.shape, value.dtype.kind)
    if isinstance(value, Sizes):
        return ("shape", len(value))
    if isinstance(value, tuple):
        return ("tuple", *map(form, value))
    if isinstance(value, dict):
        return ("record", *((name, form(value[name])) for name in sorted(value)))
    return "function" if callable(value) else "number"


def same(found: Value, expected: Value) -> bool:
    """Whether two values are the same up to rounding; an array is the tensor of its rows."""
    if isinstance(expected, dict) or isinstance(found, dict):
        return (
            isinstance(found, dict)
            and isinstance(expected, dict)
            and found.keys() == expected.keys()
            and all(same(found[name], expected[name]) for name in found)
        )
    if isinstance(expected, tuple) and not isinstance(expected, Sizes):
        return (
            isinstance(found, tuple)
            and len(found) == len(expected)
            and all(map(same, found, expected))
        )
    if isinstance(found, tuple) and not isinstance(found, Sizes):
        return False
    if isinstance(found, Rag) or isinstance(expected, Rag):
        if not (is_tensor(found) and is_tensor(expected) and rank(found) == rank(expected)):
            return False
        mine, other = rows_of(found), rows_of(expected)
        return len(mine) == len(other) and all(map(same, mine, other))
    return _same_arrays(numpy.asarray(found), numpy.asarray(expected))


def _same_arrays(found: Array, expected: Array) -> bool:
    if found.ndim != expected.ndim:
        return False
    if 0 in found.shape and 0 in expected.shape:
        # What is below a size of zero may be known to nobody.
        end = min(found.shape.index(0), expected.shape.index(0))
        return bool(found.shape[: end + 1] == expected.shape[: end + 1])
    return found.shape == expected.shape and bool(
        numpy.allclose(found, expected, rtol=1e-4, atol=1e-4, equal_nan=True)
    )


def show(value: Value) -> str:
    if isinstance(value, Rag):
        return f"[{', '.join(map(show, value.rows))}]"
    if isinstance(value, numpy.ndarray):
        text = str(value.tolist()).replace(".0", "")
        return text if value.size else f"{text} of shape {value.shape}"
    if isinstance(value, tuple):
        return f"({', '.join(map(show, value))})"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{name} = {show(part)}' for name, part in value.items())} }}"
    return str(value)
