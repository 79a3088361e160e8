"""Attention in rows that are stored end to end, on NumPy: rows of one length together, and of a
long one some queries at a time, so that the scores stay in the cache. They are computed in place, a
column for each query, since NumPy goes faster through whole rows than along each of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import prod, sqrt
from typing import Any

import numpy

from axon.backends.segments.frames import Index, Segments
from axon.ops.arrays import Array

NEAR = 1 << 17
"""How many scores are computed at a time."""

LEAST = 128
"""For so many queries at least, if a row has them: fewer are slower."""


def attention_of_rows(
    xp: Any,
    q: Array,
    k: Array,
    v: Array,
    down: Segments,
    across: Segments,
    *,
    causal: bool,
    scale: float | None,
) -> Array | None:
    """Attention of queries `[m, …, k]` to keys `[n, …, k]` with values `[n, …, v]`, in rows of
    which the segments say where they are; None for elements or rows that are not for it.
    """
    if not q.dtype == k.dtype == v.dtype or q.dtype not in (numpy.float32, numpy.float64):
        return None
    heads, size, width = q.shape[1:-1], q.shape[-1], v.shape[-1]
    if not heads == k.shape[1:-1] == v.shape[1:-1] or 0 in (*heads, size, width):
        return None
    if ((down.lengths > 0) & (across.lengths == 0)).any():
        return None
    scale = 1 / sqrt(size) if scale is None else scale
    q, k, v = (x.reshape(len(x), prod(heads), x.shape[-1]) for x in (q, k, v))
    made = numpy.empty((len(q), q.shape[1], width), v.dtype)
    shortens = causal and bool(numpy.isfinite(v).all())
    room = numpy.empty(0, v.dtype)
    for rows, m, n in _parts(down.lengths, across.lengths, q.shape[1]):
        asked, held = _elements(down.starts[rows], m), _elements(across.starts[rows], n)
        own, its, theirs = _cut(q, asked), _cut(k, held), _with_ones(_cut(v, held))
        step = min(m, max(LEAST, NEAR // (len(rows) * q.shape[1] * n)))
        if len(room) < len(rows) * q.shape[1] * n * step:
            room = numpy.empty(len(rows) * q.shape[1] * n * step, v.dtype)
        result = numpy.empty((len(rows), m, *made.shape[1:]), v.dtype)
        for start in range(0, m, step):
            stop = min(start + step, m)
            seen = min(n, stop) if shortens else n
            some = own[:, :, start:stop] * v.dtype.type(scale)
            given = some, its[:, :, :seen], theirs[:, :, :seen], start if causal else None
            _attended(*given, room, result.swapaxes(1, 2)[:, :, start:stop])
        made[asked] = result if isinstance(asked, numpy.ndarray) else result[0]
    return made.reshape(-1, *heads, width)


def _elements(starts: Index, length: int) -> Any:
    """Where the elements of some rows of one length are."""
    if len(starts) == 1:
        return slice(int(starts[0]), int(starts[0]) + length)
    return starts[:, None] + numpy.arange(length)


def _cut(x: Array, index: Any) -> Array:
    """Rows of one length: `[rows, heads, elements, features]`."""
    part = x[None, index] if isinstance(index, slice) else numpy.take(x, index, axis=0)
    return part.swapaxes(1, 2)


def _with_ones(values: Array) -> Array:
    """With a feature more. The products with that are the sums of the weights."""
    made = numpy.empty((*values.shape[:-1], values.shape[-1] + 1), values.dtype)
    made[..., :-1] = values
    made[..., -1] = 1
    return made


def _parts(down: Index, across: Index, heads: int) -> Iterator[tuple[Index, int, int]]:
    """Rows with as many queries, and as many keys, together: few enough to be near."""
    order = numpy.lexsort((across, down))
    tall, wide = down[order], across[order]
    changes = numpy.flatnonzero((tall[1:] != tall[:-1]) | (wide[1:] != wide[:-1])) + 1
    for begin, end in pairwise([0, *changes.tolist(), len(order)]):
        m, n = int(tall[begin]), int(wide[begin])
        if not m:
            continue
        count = max(1, NEAR // (m * n * heads))
        for first in range(begin, end, count):
            yield order[first : min(first + count, end)], m, n


def _attended(q: Array, k: Array, v: Array, begin: int | None, room: Array, result: Array) -> None:
    """The queries behind so many others attend to the keys up to their own; or to all of them."""
    shape = (*q.shape[:2], k.shape[2], q.shape[2])
    scores = room[: prod(shape)].reshape(shape)
    numpy.matmul(k, q.swapaxes(2, 3), out=scores)
    if begin is not None:
        places = numpy.arange(shape[2])[:, None] - numpy.arange(begin, begin + shape[3])
        numpy.copyto(scores, -numpy.inf, where=places > 0)
    scores -= numpy.maximum.reduce(scores, axis=2, keepdims=True)
    numpy.exp(scores, out=scores)
    found = numpy.matmul(scores.swapaxes(2, 3), v)
    numpy.divide(found[..., :-1], found[..., -1:], out=result)
