"""What operators give that move elements about, multiply, choose, and measure."""

from __future__ import annotations

from collections.abc import Callable

import numpy

from tests import threefry
from tests.properties.meanings import (
    MOST,
    Meaning,
    Run,
    agree,
    along,
    broadcast,
    each,
    kept,
    tensor,
    uniform,
)
from tests.properties.values import (
    Array,
    Fails,
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
    length,
    need,
    rank,
    row_like,
    rows_of,
    sizes,
    stacked,
)

# --- rearranged ----------------------------------------------------------------------------------


def joined(axis: int, f: Callable[[list[Array], int], Array], new: int = 0) -> Meaning:
    """Tensors joined along an axis; `new` if it is one that they do not have."""

    def over(run: Run, args: list[Tensor], i: int) -> Tensor:
        if not any(isinstance(a, Rag) for a in args):
            return f(args, i)
        if i == 0 and new:
            need(len({length(a) for a in args}) == 1)
            need(not length(args[0]) or len({form(a) for a in args}) == 1)
            return Rag(tuple(args), args[0])
        if i == 0:
            run.may_refuse = True  # the ragged sizes of two tensors would be one
            return Rag(tuple(row for a in args for row in rows_of(a)), row_like(args[0]))
        need(len({length(a) for a in args}) == 1)
        if any(None in sizes(a)[i + 1 - new :] for a in args):
            run.may_refuse = True  # a size behind this axis may vary along it
        made = tuple(over(run, list(rows), i - 1) for rows in zip(*map(rows_of, args), strict=True))
        try:
            like = made[0] if made else over(run, [row_like(a) for a in args], i - 1)
        except Fails:
            raise Unclear from None
        if not made:
            return Rag((), like)
        if len({form(row) for row in made}) < 2:
            run.by_chance = True  # what comes of rows that vary is an array
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


def dropped(key: tuple[int, int], rate: float) -> Meaning:
    """Random elements left out. One key is for one tensor, so its rows do not vary."""

    def meaning(run: Run, x: Value) -> Value:
        run.step()
        found = uniform(run, tensor(x))
        need(found.dtype.kind == "f")
        return threefry.dropout(key, found, rate)

    return meaning


def drawn(key: tuple[int, int]) -> Meaning:
    """Random numbers in the shape of a tensor."""

    def meaning(run: Run, x: Value) -> Value:
        run.step()
        return threefry.uniforms(key, uniform(run, tensor(x)).shape)

    return meaning


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
        need(form(_zeros(run, made)) == form(_zeros(run, shape.of)))
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


# --- products ------------------------------------------------------------------------------------


def matmul(run: Run, x: Value, y: Value) -> Value:
    a, b = agree(run, [x, y])
    if isinstance(a, Rag) and isinstance(b, Rag) and rank(a) == rank(b) > 2:
        need(len(a.rows) == len(b.rows))
        rows = tuple(matmul(run, *each) for each in zip(a.rows, b.rows, strict=True))
        return stacked(rows, matmul(run, a.like, b.like))
    a, b = uniform(run, a), uniform(run, b)
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


# --- sizes that only the run knows ---------------------------------------------------------------


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


def compress_others(run: Run, x: Value, mask: Value) -> Value:
    """A mask in an index; `not` in front of it makes it a tensor of truth values."""
    m = vector(run, mask)
    need(m.dtype.kind == "b")
    return compress(run, x, numpy.logical_not(m))


def gather(run: Run, x: Value, i: Value) -> Value:
    """Numbers that are out of range are a matter of values: where nobody looks at what they choose,
    nobody notices.
    """
    run.step()
    a, at = tensor(x), tensor(i)
    need(rank(a) >= 1 and dtype(at).kind == "i")
    if isinstance(at, Rag):
        rows = tuple(gather(run, a, row) for row in at.rows)
        return Rag(rows, gather(run, a, at.like) if length(a) else numpy.zeros(0, dtype(a)))
    if not ((at >= -length(a)) & (at < length(a))).all():
        raise Unclear
    if isinstance(a, Rag):
        need(at.ndim == 1)
        run.may_refuse = True  # the rows that are chosen vary in another way
        return Rag(tuple(a.rows[int(k)] for k in at), row_like(a))
    return a[at]


# --- sizes as values -----------------------------------------------------------------------------


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
    """How many elements there are; of rows that vary, that may be refused."""
    x = tensor(x)
    if isinstance(x, Rag):
        run.may_refuse = True
    return Size(count(x))


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
        if not shape.of.rows:
            raise Unclear  # what a row would be, nothing says
        return _zeros(run, shape.of)
    return numpy.zeros(_limited(sizes_wanted(run, shape)), numpy.float32)


def _zeros(run: Run, x: Value) -> Value:
    return each(lambda x: numpy.zeros(x.shape, numpy.float32), "fib")(run, x)


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
        if isinstance(a, Halved) or isinstance(b, Halved):
            return Halved(f(a, b))
        return made(f(a, b))

    return meaning


def zeros_like(run: Run, x: Value) -> Value:
    return each(numpy.zeros_like, "fib")(run, x)


def identity(run: Run, x: Value) -> Value:
    return x
