"""What each operator gives, by NumPy's documented rules; an operator on rows that vary gives for
each row what it gives on that row alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy

from tests.properties.values import (
    Array,
    Endless,
    Fails,
    Halved,
    Rag,
    Tensor,
    Unclear,
    Value,
    dtype,
    form,
    is_number,
    is_tensor,
    length,
    need,
    rank,
    row_like,
    rows_of,
    sizes,
    stacked,
)

MOST = 4_000
"""More elements than that are of no interest."""


@dataclass(slots=True)
class Run:
    """What is noticed on the way.

    `may_refuse`: something that types ask for, and values do not, does not hold here. `by_chance`:
    rows that could vary did not. `made`: how many run-time sizes were made. `ragged`: rows could
    vary. `guessed`: sizes of what a function would give were guessed, for it is not called.
    `idle`: the functions that were not called; what they ask of sizes around them is asked all the
    same. They are `kept`, so that no two have one identity. `untaken`: there was a branch that the
    run did not take. `steps` bounds the work.
    """

    may_refuse: bool = False
    by_chance: bool = False
    made: int = 0
    ragged: bool = False
    guessed: bool = False
    idle: set[int] = field(default_factory=set)
    kept: list[object] = field(default_factory=list)
    untaken: bool = False
    steps: int = 0

    def step(self) -> None:
        self.steps += 1
        if self.steps > 20_000:
            raise Endless


Meaning = Callable[..., Value]


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator with its attributes: its call as text, what it gives, and how it is written if
    it is a value. `functions` says which arguments are functions.
    """

    arity: int
    text: str
    meaning: Meaning
    value: str | None = None
    functions: tuple[int, ...] = ()

    def __repr__(self) -> str:
        return self.text


# --- tensors -------------------------------------------------------------------------------------


def tensor(value: Value) -> Tensor:
    """A tensor; a number on its own has a type that nothing decides, which is left alone."""
    if is_number(value):
        raise Unclear
    need(is_tensor(value))
    return value


def uniform(run: Run, value: Tensor) -> Array:
    """A tensor whose sizes do not vary: what works along an axis before one that varies is wrong,
    but rows may agree by chance.
    """
    if not isinstance(value, Rag):
        return value
    rows = tuple(uniform(run, row) for row in value.rows)
    run.may_refuse = run.by_chance = True
    made = stacked(rows, uniform(run, value.like))
    need(not isinstance(made, Rag))
    return made


def agree(run: Run, values: list[Value], kinds: str = "") -> list[Tensor]:
    """Tensors of one element type; numbers take it."""
    run.step()
    found = {dtype(v) for v in values if is_tensor(v)}
    need(all(is_tensor(v) or is_number(v) for v in values))
    if not found or any(isinstance(v, Halved) for v in values):
        raise Unclear
    need(len(found) == 1)
    (elem,) = found
    need(elem.kind in (kinds or "fi"))
    for value in values:
        need(not isinstance(value, float) or elem.kind == "f")
    return [v if is_tensor(v) else numpy.asarray(v, elem) for v in values]


def each(f: Callable[[Array], Array], kinds: str = "fi") -> Meaning:
    """Element by element."""

    def meaning(run: Run, x: Value) -> Value:
        run.step()
        return over(f, tensor(x), kinds)

    def over(f: Callable[[Array], Array], x: Tensor, kinds: str) -> Tensor:
        need(dtype(x).kind in kinds)
        if isinstance(x, Rag):
            return Rag(tuple(over(f, row, kinds) for row in x.rows), over(f, x.like, kinds))
        return numpy.asarray(f(x))

    return meaning


def broadcast(f: Callable[..., Array], args: list[Tensor], rows: tuple[bool, ...] = ()) -> Tensor:
    """Align on the right; a size of 1 is stretched. Whether the 1 of a row that varies is stretched
    too is left open; `rows` says which arguments are such rows.
    """
    top = max(map(rank, args))
    vary = rows or (False,) * len(args)
    if not any(isinstance(a, Rag) for a in args):
        try:
            shape = numpy.broadcast_shapes(*(a.shape for a in args))
        except ValueError:
            raise Fails from None
        if numpy.prod(shape) > MOST:
            raise Unclear
        for a, may in zip(args, vary, strict=True):
            end = shape[len(shape) - a.ndim :]
            if may and any(n == 1 and k != 1 for n, k in zip(a.shape, end, strict=True)):
                raise Unclear
        return numpy.asarray(f(*args))
    lengths = {length(a) for a in args if rank(a) == top} - {1}
    need(len(lengths) < 2)
    n = lengths.pop() if lengths else 1
    for a, may in zip(args, vary, strict=True):
        if may and n != 1 and rank(a) == top and length(a) == 1:
            raise Unclear
    vary = tuple(v or isinstance(a, Rag) for a, v in zip(args, vary, strict=True))

    def row(a: Tensor, i: int | None) -> Tensor:
        if rank(a) < top:
            return a
        if i is None:
            return row_like(a)
        return rows_of(a)[i if length(a) > 1 else 0]

    made = tuple(broadcast(f, [row(a, i) for a in args], vary) for i in range(n))
    try:
        like = made[0] if made else broadcast(f, [row(a, None) for a in args], vary)
    except Fails:
        raise Unclear from None
    return Rag(made, like)


def aligned(run: Run, f: Callable[..., Array], args: list[Tensor]) -> Tensor:
    """An array may be a row of a tensor in which they vary, or be of such rows by chance."""
    return broadcast(f, args, (run.by_chance or run.ragged,) * len(args))


def pointwise(f: Callable[..., Array], kinds: str = "fi") -> Meaning:
    return lambda run, *args: aligned(run, f, agree(run, list(args), kinds))


def beside(literal: list[Any], f: Callable[..., Array]) -> Meaning:
    """An operator between a tensor and a tensor that is written down."""

    def meaning(run: Run, x: Value) -> Value:
        (x,) = agree(run, [x], "f")
        return aligned(run, f, [x, numpy.array(literal, dtype(x))])

    return meaning


def choose(run: Run, c: Value, x: Value, y: Value) -> Value:
    need(is_tensor(c) and dtype(c).kind == "b")
    x, y = agree(run, [x, y], "fib")
    return aligned(run, numpy.where, [c, x, y])


def strict(f: Callable[..., Array]) -> Meaning:
    """Two tensors of one shape; rows that vary agree in their sizes."""

    def over(x: Tensor, y: Tensor) -> Tensor:
        if not isinstance(x, Rag) and not isinstance(y, Rag):
            need(x.shape == y.shape)
            return numpy.asarray(f(x, y))
        need(rank(x) == rank(y) and length(x) == length(y))
        rows = tuple(over(a, b) for a, b in zip(rows_of(x), rows_of(y), strict=True))
        return Rag(rows, rows[0] if rows else row_like(x))

    def meaning(run: Run, x: Value, y: Value) -> Value:
        a, b = agree(run, [x, y])
        if isinstance(a, Rag) != isinstance(b, Rag) and rank(a) and rank(b):
            run.may_refuse = True  # ragged and uniform are not equated
        return over(a, b)

    return meaning


# --- along an axis -------------------------------------------------------------------------------


def along(axis: int, f: Callable[[Array, int], Array], kinds: str = "fib") -> Meaning:
    def over(run: Run, x: Tensor, i: int) -> Tensor:
        if not isinstance(x, Rag):
            made = numpy.asarray(f(x, i))
            if made.size > MOST:
                raise Unclear
            return made
        if i == 0:
            return over(run, uniform(run, x), 0)
        if None in sizes(x)[i + 1 :]:
            run.may_refuse = True  # a size behind this axis may vary along it
        rows = tuple(over(run, row, i - 1) for row in x.rows)
        try:
            like = over(run, x.like, i - 1) if not rows else rows[0]
        except Fails:
            raise Unclear from None
        if rank(like) == rank(x) - 1:
            if not rows:
                return Rag((), like)
            if len({form(row) for row in rows}) < 2:
                run.by_chance = True  # what comes of rows that vary is an array
        return stacked(rows, like)

    def meaning(run: Run, x: Value) -> Value:
        run.step()
        x = tensor(x)
        r = rank(x)
        need(-r <= axis < r and dtype(x).kind in kinds)
        return over(run, x, axis % r)

    return meaning


def whole(f: Callable[[Array], Array], kinds: str = "fi") -> Meaning:
    """All elements together, however they are stored."""

    def meaning(run: Run, x: Value) -> Value:
        run.step()
        x = tensor(x)
        need(dtype(x).kind in kinds)
        return numpy.asarray(f(elements(x))).astype(dtype(x))

    return meaning


def elements(x: Tensor) -> Array:
    if isinstance(x, Rag):
        return numpy.concatenate([numpy.zeros(0, dtype(x)), *map(elements, x.rows)])
    return x.reshape(-1)


def not_empty(x: Array, i: int) -> Array:
    if x.shape[i] == 0:
        raise Unclear
    return x


def mean_of(x: Array, i: int) -> Array:
    return not_empty(x, i).mean(axis=i, dtype=numpy.float32)


def largest(x: Array) -> Array:
    if not x.size:
        raise Unclear
    return numpy.asarray(x.max())


def picked(at: int) -> Callable[[Array, int], Array]:
    def f(x: Array, i: int) -> Array:
        need(x.shape[i] > (at if at >= 0 else -at - 1))
        return numpy.take(x, at, axis=i)

    return f


def cut(start: int | None, stop: int | None, step: int | None) -> Callable[[Array, int], Array]:
    return lambda x, i: x[(*[slice(None)] * i, slice(start, stop, step))]


def kept(x: Array, f: Array) -> Array:
    return f.astype(x.dtype)


def total(x: Array, i: int) -> Array:
    return kept(x, x.sum(axis=i))


def total_kept(x: Array, i: int) -> Array:
    return kept(x, x.sum(axis=i, keepdims=True))


def running(x: Array, i: int) -> Array:
    return kept(x, numpy.cumsum(x, axis=i))


def greatest(x: Array, i: int) -> Array:
    return not_empty(x, i).max(axis=i)


def flip(x: Array, i: int) -> Array:
    return numpy.flip(x, i)


def ordered(x: Array, i: int) -> Array:
    return numpy.sort(x, axis=i)
