"""What each operator gives, by NumPy's documented rules; an operator on rows that vary gives for
each row what it gives on that row alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy

from tests.properties.values import (
    Array,
    Endless,
    Fails,
    Function,
    Halved,
    Rag,
    RaggedSizes,
    Size,
    Sizes,
    Tensor,
    Unclear,
    Value,
    count,
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
    vary. `steps` bounds the work.
    """

    may_refuse: bool = False
    by_chance: bool = False
    made: int = 0
    ragged: bool = False
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


# --- tensors ---------------------------------------------------------------------------------------


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
        for a, row in zip(args, vary, strict=True):
            end = shape[len(shape) - a.ndim :]
            if row and any(n == 1 and k != 1 for n, k in zip(a.shape, end, strict=True)):
                raise Unclear
        return numpy.asarray(f(*args))
    lengths = {length(a) for a in args if rank(a) == top} - {1}
    need(len(lengths) < 2)
    n = lengths.pop() if lengths else 1
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
    """An array may be of rows that vary, by chance."""
    return broadcast(f, args, (run.by_chance,) * len(args))


def pointwise(f: Callable[..., Array], kinds: str = "fi") -> Meaning:
    return lambda run, *args: aligned(run, f, agree(run, list(args), kinds))


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


# --- rearranged ------------------------------------------------------------------------------------


def joined(axis: int, f: Callable[[list[Array], int], Array], new: int = 0) -> Meaning:
    """Tensors joined along an axis; `new` if it is one that they do not have."""

    def over(run: Run, args: list[Tensor], i: int) -> Tensor:
        if not any(isinstance(a, Rag) for a in args):
            return f(args, i)
        if i == 0 and new:
            need(len({form(a) for a in args}) == 1)
            return Rag(tuple(args), args[0])
        if i == 0:
            run.may_refuse = True  # the ragged sizes of two tensors would be one
            return Rag(tuple(row for a in args for row in rows_of(a)), row_like(args[0]))
        need(len({length(a) for a in args}) == 1)
        if any(None in sizes(a)[i + 1 - new :] for a in args):
            run.may_refuse = True  # a size behind this axis may vary along it
        made = tuple(
            over(run, list(rows), i - 1) for rows in zip(*map(rows_of, args), strict=True)
        )
        try:
            like = made[0] if made else over(run, [row_like(a) for a in args], i - 1)
        except Fails:
            raise Unclear from None
        return stacked(made, like)

    def meaning(run: Run, *args: Value) -> Value:
        found = agree(run, list(args), "fib")
        r = rank(found[0]) + new
        need(len({rank(a) for a in found}) == 1 and -r <= axis < r)
        if len({isinstance(a, Rag) for a in found}) > 1:
            run.may_refuse = True
        return over(run, found, axis % r)

    return meaning


def concat(args: list[Array], i: int) -> Array:
    need(len({(*a.shape[:i], *a.shape[i + 1 :]) for a in args}) == 1)
    return numpy.concatenate(args, axis=i)


def stack(args: list[Array], i: int) -> Array:
    need(len({a.shape for a in args}) == 1)
    return numpy.stack(args, axis=i)


def expand(axis: int) -> Meaning:
    def over(x: Tensor, i: int) -> Tensor:
        if not isinstance(x, Rag):
            return numpy.expand_dims(x, i)
        if i == 0:
            return Rag((x,), x)
        rows = tuple(over(row, i - 1) for row in x.rows)
        return Rag(rows, over(x.like, i - 1))

    def meaning(run: Run, x: Value) -> Value:
        run.step()
        x = tensor(x)
        r = rank(x) + 1
        need(-r <= axis < r)
        return over(x, axis % r)

    return meaning


def flatten(run: Run, x: Value) -> Value:
    run.step()
    return uniform(run, tensor(x)).reshape(-1)


def split(axis: int, parts: int) -> Meaning:
    """Equal parts."""

    def part(k: int) -> Callable[[Array, int], Array]:
        def f(x: Array, i: int) -> Array:
            need(x.shape[i] % parts == 0)
            return numpy.split(x, parts, axis=i)[k]

        return f

    pieces = [along(axis, part(k)) for k in range(parts)]
    return lambda run, x: tuple(piece(run, x) for piece in pieces)


def transpose(run: Run, x: Value) -> Value:
    run.step()
    x = tensor(x)
    need(rank(x) >= 2)
    if isinstance(x, Rag):
        if rank(x) == 2:
            return uniform(run, x).T
        rows = tuple(transpose(run, row) for row in x.rows)
        return Rag(rows, transpose(run, x.like))
    return numpy.swapaxes(x, -1, -2)


def reshape(run: Run, x: Value, shape: Value) -> Value:
    run.step()
    a, target = uniform(run, tensor(x)), sizes_wanted(run, shape)
    need(int(numpy.prod(target)) == a.size)
    return a.reshape(target)


def broadcast_to(run: Run, x: Value, shape: Value) -> Value:
    run.step()
    if isinstance(shape, RaggedSizes):
        made = broadcast(lambda a, b: numpy.broadcast_to(a, b.shape), [tensor(x), shape.of])
        need(form(made) == form(shape.of))
        return made
    target = sizes_wanted(run, shape)
    a = uniform(run, tensor(x))
    try:
        need(numpy.broadcast_shapes(a.shape, target) == tuple(target))
    except ValueError:
        raise Fails from None
    if numpy.prod(target) > MOST:
        raise Unclear
    return numpy.broadcast_to(a, target).copy()


# --- products --------------------------------------------------------------------------------------


def matmul(run: Run, x: Value, y: Value) -> Value:
    a, b = (uniform(run, v) for v in agree(run, [x, y]))
    need(a.ndim >= 2 and b.ndim >= 2 and a.shape[:-2] == b.shape[:-2])
    need(a.shape[-1] == b.shape[-2])
    return kept(a, numpy.matmul(a, b))


def at_sign(run: Run, x: Value, y: Value) -> Value:
    a, b = agree(run, [x, y])
    need(rank(a) >= 2 and rank(b) >= 2)
    if isinstance(a, Rag) and rank(a) > 2 and not isinstance(b, Rag) and rank(b) == 2:
        rows = tuple(at_sign(run, row, b) for row in a.rows)
        return Rag(rows, at_sign(run, a.like, b))
    a, b = uniform(run, a), uniform(run, b)
    need(a.shape[-1] == b.shape[-2])
    try:
        numpy.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        raise Fails from None
    return kept(a, numpy.matmul(a, b))


def dot(run: Run, x: Value, y: Value) -> Value:
    a, b = (uniform(run, v) for v in agree(run, [x, y]))
    need(a.ndim == b.ndim == 1 and a.shape == b.shape)
    return numpy.asarray(kept(a, (a * b).sum()))


def outer(run: Run, x: Value, y: Value) -> Value:
    a, b = (uniform(run, v) for v in agree(run, [x, y]))
    need(a.ndim == b.ndim == 1)
    return numpy.outer(a, b)


# --- sizes that only the run knows -----------------------------------------------------------------


def vector(run: Run, x: Value) -> Array:
    run.step()
    a = tensor(x)
    need(not isinstance(a, Rag) and a.ndim == 1)
    return a


def unique(run: Run, x: Value) -> Value:
    run.made += 1
    a = vector(run, x)
    if a.dtype.kind == "f" and numpy.isnan(a).any():
        raise Unclear
    return numpy.unique(a)


def nonzero(run: Run, x: Value) -> Value:
    run.made += 1
    return numpy.nonzero(vector(run, x))[0].astype(numpy.int64)


def compress(run: Run, x: Value, mask: Value) -> Value:
    run.made += 1
    a, m = tensor(x), vector(run, mask)
    need(m.dtype.kind == "b" and rank(a) >= 1 and length(a) == len(m))
    if isinstance(a, Rag):
        rows = tuple(row for row, keep in zip(a.rows, m, strict=True) if keep)
        return Rag(rows, row_like(a))
    return a[m]


def gather(run: Run, x: Value, i: Value) -> Value:
    run.step()
    a, at = tensor(x), tensor(i)
    need(rank(a) >= 1 and dtype(at).kind == "i")
    if isinstance(a, Rag):
        need(not isinstance(at, Rag) and at.ndim == 1)
        need(all(-length(a) <= k < length(a) for k in at))
        run.may_refuse = True
        return Rag(tuple(a.rows[int(k)] for k in at), row_like(a))
    if isinstance(at, Rag):
        rows = tuple(gather(run, a, row) for row in at.rows)
        return Rag(rows, gather(run, a, at.like)) if a.size else Rag(rows, numpy.zeros(0, a.dtype))
    need(bool(((at >= -len(a)) & (at < len(a))).all()))
    return a[at]


# --- sizes as values -------------------------------------------------------------------------------


def size_wanted(run: Run, value: Value) -> int:
    """A size; a whole number that a tensor holds makes one at run time."""
    run.step()
    if isinstance(value, numpy.ndarray):
        need(value.ndim == 0 and value.dtype.kind == "i")
        run.made += 1
    else:
        need(isinstance(value, int))
    need(int(value) >= 0)
    if int(value) > 40:
        raise Unclear
    return int(value)


def sizes_wanted(run: Run, value: Value) -> tuple[int, ...]:
    if isinstance(value, RaggedSizes):
        raise Unclear
    need(isinstance(value, Sizes))
    return tuple(size_wanted(run, n) for n in value)


def shape_literal(run: Run, *items: Value) -> Value:
    return Sizes(size_wanted(run, item) for item in items)


def size(run: Run, x: Value) -> Value:
    return Size(count(tensor(x)))


def size_along(axis: int) -> Meaning:
    def meaning(run: Run, x: Value) -> Value:
        x = tensor(x)
        r = rank(x)
        need(-r <= axis < r)
        found = sizes(x)[axis % r]
        if found is None and not length(x):
            raise Unclear
        need(found is not None)
        return Size(found or 0)

    return meaning


def shape_of(run: Run, x: Value) -> Value:
    x = tensor(x)
    return RaggedSizes(x) if isinstance(x, Rag) else Sizes(x.shape)


def counted(run: Run, n: Value) -> Value:
    return numpy.arange(size_wanted(run, n), dtype=numpy.int64)


def zeros(run: Run, shape: Value) -> Value:
    if isinstance(shape, RaggedSizes):
        return each(lambda x: numpy.zeros(x.shape, numpy.float32), "fib")(run, shape.of)
    return numpy.zeros(_limited(sizes_wanted(run, shape)), numpy.float32)


def ones(run: Run, shape: Value) -> Value:
    return numpy.ones(_limited(sizes_wanted(run, shape)), numpy.float32)


def _limited(shape: tuple[int, ...]) -> tuple[int, ...]:
    if numpy.prod(shape) > MOST:
        raise Unclear
    return shape


def arithmetic(f: Callable[[int, int], int], made: type[Size] = Size) -> Meaning:
    """On two sizes, or a size and a whole number."""

    def meaning(run: Run, a: Value, b: Value) -> Value:
        need(isinstance(a, int) and isinstance(b, int) and isinstance(a, Size))
        if f(a, b) < 0:
            raise Unclear
        return made(f(a, b))

    return meaning


def zeros_like(run: Run, x: Value) -> Value:
    return each(numpy.zeros_like, "fib")(run, x)


def identity(run: Run, x: Value) -> Value:
    return x


# --- functions ---------------------------------------------------------------------------------


def map_rows(run: Run, f: Function, *args: Value) -> Value:
    """Each row by itself; rows that vary in size stack to a tensor whose rows vary."""
    tensors = [tensor(a) for a in args]
    need(all(rank(t) >= 1 for t in tensors) and len({length(t) for t in tensors}) == 1)
    made_before = run.made
    vary = any(isinstance(t, Rag) for t in tensors)
    rows = tuple(f(*each) for each in zip(*map(rows_of, tensors), strict=True))
    if not rows:
        like = dry(run, f, *map(row_like, tensors))
    else:
        like = rows[0]
    if vary or run.made > made_before:
        run.ragged = True
    return _stacked_structure(run, rows, like)


def _stacked_structure(run: Run, rows: tuple[Value, ...], like: Value) -> Value:
    if isinstance(like, tuple) and not isinstance(like, Sizes):
        need(all(isinstance(r, tuple) and len(r) == len(like) for r in rows))
        parts = zip(*rows, strict=True) if rows else [()] * len(like)
        return tuple(
            _stacked_structure(run, tuple(p), item) for p, item in zip(parts, like, strict=True)
        )
    if is_number(like):
        need(isinstance(like, Size))
        return numpy.array([int(r) for r in rows], numpy.int64)
    made = stacked(tuple(tensor(r) for r in rows), tensor(like))
    if run.ragged and not isinstance(made, Rag) and made.ndim > 1:
        run.by_chance = True
    if count(made) > MOST:
        raise Unclear
    return made


def dry(run: Run, f: Function, *args: Value) -> Value:
    """What a function gives that is not called here: its types are asked for, its values are not."""
    try:
        made = f(*args)
    except Fails:
        raise Unclear from None
    run.may_refuse = True
    return made


def turn(run: Run, state: Value, after: Value) -> Value:
    """The next state, which is of the type of the one before."""
    if form(state) != form(after):
        run.may_refuse = True
    need(alike(state, after))
    return after


def alike(a: Value, b: Value) -> bool:
    """One rank and one element type."""
    if is_tensor(a) and is_tensor(b):
        return bool(rank(a) == rank(b) and dtype(a) == dtype(b))
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(alike, a, b))
    return is_number(a) or is_number(b) or type(a) is type(b)


def settled(value: Value) -> Value:
    """A number as a state is of the default type."""
    if is_number(value):
        raise Unclear
    return value


def fold(run: Run, state: Value, f: Function, x: Value) -> Value:
    x = tensor(x)
    need(rank(x) >= 1)
    state = settled(state)
    if not rows_of(x):
        turn(run, state, dry(run, f, state, row_like(x)))
    for row in rows_of(x):
        state = turn(run, state, f(state, row))
    return state


def loop(run: Run, state: Value, f: Function, x: Value) -> Value:
    x = tensor(x)
    need(rank(x) >= 1)
    state = settled(state)
    rows = []
    made_before = run.made
    like: Value = None
    if not rows_of(x):
        after, like = pair(dry(run, f, state, row_like(x)))
        turn(run, state, after)
    for row in rows_of(x):
        after, made = pair(f(state, row))
        state = turn(run, state, after)
        rows.append(made)
    if isinstance(x, Rag) or run.made > made_before:
        run.ragged = True
    return state, _stacked_structure(run, tuple(rows), rows[0] if rows else like)


def pair(value: Value) -> tuple[Value, Value]:
    need(isinstance(value, tuple) and len(value) == 2)
    return value[0], value[1]


def scalar_truth(value: Value) -> bool:
    need(isinstance(value, numpy.ndarray) and value.ndim == 0 and value.dtype.kind == "b")
    return bool(value)


def iterate(run: Run, state: Value, goes_on: Function, f: Function) -> Value:
    state = settled(state)
    first = True
    while scalar_truth(goes_on(state)):
        run.step()
        run.steps += 50
        state = turn(run, state, f(state))
        first = False
        if is_tensor(state) and count(state) > MOST:
            raise Endless
    if first:
        turn(run, state, dry(run, f, state))
    return state


def cond(run: Run, c: Value, then: Function, other: Function) -> Value:
    """Only one is computed, but both have one type."""
    chosen, left = (then, other) if scalar_truth(c) else (other, then)
    made = chosen()
    noticed = run.may_refuse
    try:
        unused = left()
    except (Fails, Unclear):
        run.may_refuse = True
        return made
    run.may_refuse = noticed or run.may_refuse or form(made) != form(unused)
    need(alike(made, unused))
    return made


def reduce(run: Run, f: Function, start: Value, x: Value) -> Value:
    a = uniform(run, tensor(x))
    need(a.ndim >= 1 and a.dtype.kind in "fi")
    found = numpy.full(a.shape[1:], start, a.dtype)
    for row in a:
        found = _by_element(f, found, row)
    return found


def scan(run: Run, f: Function, start: Value, x: Value) -> Value:
    a = uniform(run, tensor(x))
    need(a.ndim >= 1 and a.dtype.kind in "fi")
    found, rows = numpy.full(a.shape[1:], start, a.dtype), []
    for row in a:
        found = _by_element(f, found, row)
        rows.append(found)
    return numpy.stack(rows) if rows else a


def _by_element(f: Function, a: Array, b: Array) -> Array:
    made = numpy.empty_like(a)
    for at in numpy.ndindex(a.shape):
        made[at] = f(numpy.asarray(a[at]), numpy.asarray(b[at]))
    return made

