"""Attention written out: a product of queries and keys, perhaps scaled, perhaps a triangle of it, a
softmax, and a product with values. Where the library has one kernel for all of that, for rows that
are stored end to end, the matrices in between are never made.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy

from axon.backends.segments.arrays import INSTEAD, FlatArrays
from axon.backends.segments.rows import Rows
from axon.backends.segments.tiles import Tiles, packed_at
from axon.ops.arrays import Array, Meaning
from axon.ops.families import attention, normalise


@dataclass(frozen=True, slots=True)
class Constant:
    """Matrices of one value."""

    value: Any


@dataclass(frozen=True, slots=True)
class Triangle:
    """The lower triangles of matrices of one value."""

    value: Any


@dataclass(frozen=True, slots=True)
class Scores:
    """Queries, with rows along the last axis but one, times keys, with rows along the last. What is
    done to the product, a function and a number each, is done to the queries instead. `causal` are
    the value of the triangle that is open, and that of all other scores. `soft` scores are the
    weights that they become.
    """

    queries: Rows
    keys: Rows
    scales: tuple[tuple[Callable[..., Array], Any], ...] = ()
    causal: tuple[Any, Any] | None = None
    soft: bool = False


def after(how: Callable[..., Array], args: Sequence[Any], xp: Any) -> Scores | None:
    """The scores that a function of elements makes of others, if it makes such."""
    if len(args) == 2:
        times = how is operator.mul or how == xp.multiply
        one, other = args[::-1] if times and type(args[0]) is not Tiles else args
        if (times or how is operator.truediv or how == xp.divide) and _is_number(other):
            found = _of(one)
            if found is not None and found.causal is None:
                return replace(found, scales=(*found.scales, (how, other)))
    if len(args) == 3 and how == xp.where and type(args[0]) is Tiles and _is_number(args[2]):
        found = _of(args[1])
        if isinstance(args[0].scores, Triangle) and found is not None and found.causal is None:
            return replace(found, causal=(args[0].scores.value, args[2]))
    return None


def _of(x: Any) -> Scores | None:
    found = x.scores if type(x) is Tiles else None
    return found if isinstance(found, Scores) and not found.soft else None


def _is_number(x: Any) -> bool:
    return isinstance(x, int | float) or (not hasattr(x, "frame") and getattr(x, "ndim", 1) == 0)


def attended(xp: FlatArrays, x: Tiles, values: Rows) -> Rows | None:
    """The product of weights and values by one kernel, if there is one."""
    kernel = getattr(xp.xp, "attention_of_rows", None)
    scores = x.scores
    if kernel is None or not isinstance(scores, Scores) or not scores.soft:
        return None
    queries, keys = scores.queries, scores.keys
    if not packed_at(values, -2) or not queries.ndim == keys.ndim == values.ndim:
        return None
    causal = scores.causal is not None
    if scores.causal is not None:
        open_, else_ = scores.causal
        if not bool(open_) or float(else_) != float("-inf"):
            return None
    asked, scale = _scaled(queries.values, scores.scales)
    sides = (x.tiling.down.segments, x.tiling.across.segments)
    made = kernel(asked, keys.values, values.values, *sides, causal=causal, scale=scale)
    return None if made is None else Rows(x.frame, made, queries.segments, x.ndim - 2)


def _scaled(
    queries: Array, scales: Sequence[tuple[Callable[..., Array], Any]]
) -> tuple[Any, float]:
    """The queries, scaled as the scores are to be; and what is left to scale them by."""
    host = isinstance(queries, numpy.ndarray)
    made = queries.dtype.type(1) if host else queries
    for how, number in scales:
        made = how(made, number)
    return (queries, float(made)) if host else (made, 1.0)


def _softmax(xp: FlatArrays, usual: Meaning, x: Any, axis: int) -> Any:
    """Softmax of scores, along the keys, and of rows of numbers by one kernel, if there is one."""
    kernel = getattr(xp.xp, "softmax_of_rows", None)
    if kernel is not None and type(x) is Rows and x.ndim == 1 and packed_at(x, -1):
        made = kernel(x.values, x.segments)
        if made is not None:
            return Rows(x.frame, made, x.segments, x.place)
    scores = _of(x)
    if scores is None or axis not in (-1, x.ndim - 1):
        return usual(xp, x, axis=axis)
    soft = replace(scores, soft=True)
    return Tiles.later(x.tiling, lambda: usual(xp, x, axis=axis), x.batch, x.dtype, soft)


def _attention(
    xp: FlatArrays, usual: Meaning, q: Any, k: Any, v: Any, *rest: Any, **options: Any
) -> Any:
    """Attention of the language, in rows."""
    kernel = getattr(xp.xp, "attention_of_rows", None)
    simple = (
        options["give"] == "values"
        and not options["softcap"]
        and options["before"] is None
        and options["after"] is None
        and type(options["offset"]) is int
        and not options["offset"]
        and type(options["groups"]) is int
    )
    rows = all(packed_at(x, -2) and x.frame is q.frame for x in (q, k, v))
    if kernel is None or rest or not simple or not rows or not k.segments.same(v.segments):
        return usual(xp, q, k, v, *rest, **options)
    groups = options["groups"]
    made = kernel(
        *(_heads(xp.xp, x, 1 if x is q else groups) for x in (q, k, v)),
        q.segments,
        k.segments,
        causal=options["causal"],
        scale=options["scale"],
    )
    if made is None:
        return usual(xp, q, k, v, *rest, **options)
    b, h = q.values.shape[1:3]
    return Rows(q.frame, made.reshape(-1, b, h, v.values.shape[-1]), q.segments, q.place)


def _heads(xp: Any, x: Rows, times: int) -> Array:
    """The heads of all batches; those that several share, so many times."""
    values = x.values.reshape(x.values.shape[0], -1, x.values.shape[-1])
    return values if times == 1 else xp.repeat(values, times, axis=1)


for _operator, _instead in (
    (normalise.softmax, _softmax),
    (attention.dot_product_attention, _attention),
):
    assert _operator.meaning is not None
    INSTEAD[_operator.meaning] = _instead
