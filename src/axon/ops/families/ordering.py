"""By order and by truth: the largest elements, the different ones, and those that are not zero."""

from __future__ import annotations

import math

from axon.ops.arrays import Array, Arrays, wide
from axon.ops.axes import append, around, at, bad_axes
from axon.ops.families.indexing import along, numbers_of
from axon.ops.operator import Extent, Problem, Rule, operator
from axon.ops.padding import TrueSizes
from axon.ops.traits import Padding, Traits


@operator(Traits(padding=Padding(("after*",), {"n": "zero"})))
def sort(*, axis: int = -1, descending: bool = False) -> Rule:
    """The elements in order along an axis.

    - `axis`: which one; the innermost if not given.
    - `descending`: the largest first.

    >>> sort(x : f32 [b,n])
    f32 [b,n]
    """
    if problem := bad_axes((axis,)):
        return problem
    return f"t {at(axis, 'n', tail='after')} -> t {at(axis, 'n', tail='after')} where t : num"


@sort.means
def _(xp: Arrays, x: Array, axis: int, descending: bool) -> Array:
    return xp.take_along_axis(x, _order(xp, x, axis, descending), axis=axis)


def _order(xp: Arrays, x: Array, axis: int, descending: bool) -> Array:
    """Where the elements come from; equal ones stay in their order, either way."""
    x = wide(xp, x)
    if not descending:
        order = xp.argsort(x, axis=axis, stable=True)
    else:
        backwards = xp.argsort(xp.flip(x, axis=axis), axis=axis, stable=True)
        order = x.shape[axis] - 1 - xp.flip(backwards, axis=axis)
    return numbers_of(xp, order)


@sort.padded
def _(xp: Arrays, true: TrueSizes, x: Array, axis: int, descending: bool) -> Array:
    return xp.take_along_axis(x, _true_order(xp, true, x, axis, descending), axis=axis)


def _true_order(xp: Arrays, true: TrueSizes, x: Array, axis: int, descending: bool) -> Array:
    """The same of padded tensors: what is padding comes last, behind NaN too."""
    order, size = _order(xp, x, axis, descending), true.of(0)[axis]
    if isinstance(size, int):
        return order
    behind = xp.argsort(order >= size, axis=axis, stable=True)
    return xp.take_along_axis(order, behind, axis=axis)


@operator(Traits(padding=Padding(("after*",), {"n": "zero"})))
def argsort(*, axis: int = -1, descending: bool = False) -> Rule:
    """Where the elements come from that `sort` would put in order.

    - `axis`: which one; the innermost if not given.
    - `descending`: the largest first.

    >>> argsort(x : f32 [b,n], axis=0)
    i64 [b,n]
    """
    if problem := bad_axes((axis,)):
        return problem
    return f"t {at(axis, 'n', tail='after')} -> i64 {at(axis, 'n', tail='after')} where t : num"


@argsort.means
def _(xp: Arrays, x: Array, axis: int, descending: bool) -> Array:
    return _order(xp, x, axis, descending)


@argsort.padded
def _(xp: Arrays, true: TrueSizes, x: Array, axis: int, descending: bool) -> Array:
    return _true_order(xp, true, x, axis, descending)


@operator(Traits(padding=Padding(("after*",), {"n": "zero"})))
def top_k(*, k: Extent, axis: int = -1, largest: bool = True) -> Rule:
    """The k largest elements along an axis, in order, and where they stood.

    - `k`: how many; the axis must have at least `k` elements.
    - `axis`: which one; the innermost if not given.
    - `largest`: false for the smallest ones.

    >>> top_k(x : f32 [b,100], k=5)
    (f32 [b,5], i64 [b,5])
    """
    if problem := bad_axes((axis,)):
        return problem
    if isinstance(k, int) and k < 0:
        return Problem("k must be at least 0")
    some = at(axis, str(k), tail="after")
    return f"t {at(axis, 'n', tail='after')} -> (t {some}, i64 {some}) where n >= {k}, t : num"


@top_k.means
def _(xp: Arrays, x: Array, k: int, axis: int, largest: bool) -> tuple[Array, Array]:
    order = _order(xp, x, axis, descending=largest)
    first = order[along(x, axis, slice(k))]
    return xp.take_along_axis(x, first, axis=axis), first


@top_k.padded
def _(
    xp: Arrays, true: TrueSizes, x: Array, k: int, axis: int, largest: bool
) -> tuple[Array, Array]:
    order = _true_order(xp, true, x, axis, descending=largest)
    first = order[along(x, axis, slice(k))]
    return xp.take_along_axis(x, first, axis=axis), first


@operator()
def nonzero() -> Rule:
    """Where the elements are that are not zero (or not false). How many there are is known at run
    time.

    >>> nonzero(x : f32 [n])
    i64 [?a]
    """
    return "t [n] -> i64 [?k]"


@nonzero.means
def _(xp: Arrays, x: Array) -> Array:
    return numbers_of(xp, xp.nonzero(x)[0])


@operator()
def argwhere() -> Rule:
    """Where the elements are that are not zero (or not false), a row of indices for each. How many
    there are is known at run time.

    >>> argwhere(x : f32 [n,3])
    i64 [?a,2]
    """
    return "t after -> i64 [?k,rank(after)]"


@argwhere.means
def _(xp: Arrays, x: Array) -> Array:
    flat = numbers_of(xp, xp.nonzero(xp.reshape(x, (-1,)))[0])
    columns = []
    for size in reversed(x.shape):
        columns.append(flat % max(size, 1))
        flat = flat // max(size, 1)
    if not columns:
        return xp.zeros((flat.shape[0], 0), dtype=flat.dtype)
    return xp.stack(columns[::-1], axis=1)


@operator()
def unique() -> Rule:
    """The different elements of a vector, in order. How many there are is known at run time.

    >>> unique(x : i64 [n])
    i64 [?a]
    """
    return "t [n] -> t [?k]"


@unique.means
def _(xp: Arrays, x: Array) -> Array:
    x = x[_order(xp, x, 0, descending=False)]
    left, right = x[:-1], x[1:]
    changes = (left != right) & ((left == left) | (right == right))  # a NaN is like another
    return x[xp.concatenate([xp.ones(x[:1].shape, dtype=changes.dtype), changes])]


@operator()
def distinct(*, axis: int = 0, ordered: bool = True) -> Rule:
    """The different rows, in order; the first place of each; which of them each row is; and how
    often each occurs. How many there are is known at run time.

    - `axis`: which one; the outermost if not given. Negative axes count from the back.
    - `ordered`: false to leave them in the order in which they come first.

    >>> distinct(x : f32 [n,3])
    (f32 [?a,3], i64 [?a], i64 [n], i64 [?a])
    """
    if problem := bad_axes((axis,)):
        return problem
    x, y = at(axis, "after_n", tail="after"), at(axis, "?k", tail="after")
    return f"t {x} -> (t {y}, i64 [?k], i64 [after_n], i64 [?k])"


@distinct.means
def _(xp: Arrays, x: Array, axis: int, ordered: bool) -> tuple[Array, Array, Array, Array]:
    rows = xp.moveaxis(wide(xp, x), axis, 0)
    rows = xp.reshape(rows, (rows.shape[0], math.prod(rows.shape[1:])))
    order = xp.arange(rows.shape[0])
    for column in reversed(range(rows.shape[1])):
        order = order[xp.argsort(rows[order, column], stable=True)]
    sorted_rows = rows[order]
    left, right = sorted_rows[:-1], sorted_rows[1:]
    changes = xp.any((left != right) & ((left == left) | (right == right)), axis=1)
    begins = xp.concatenate([xp.ones(order[:1].shape, dtype=bool), changes])
    group = xp.cumsum(begins) - 1
    first = order[begins]  # equal rows stay in their order
    count = first.shape[0]
    rank = xp.argsort(first) if not ordered else xp.arange(count)
    number = xp.put(xp.arange(count), (rank,), xp.arange(count), "set")
    which = xp.put(xp.zeros(order.shape, dtype=order.dtype), (order,), number[group], "set")
    often = xp.put(xp.zeros((count,), dtype=order.dtype), (which,), xp.ones_like(which), "add")
    first = first[rank]
    return (
        xp.take(x, first, axis=axis),
        numbers_of(xp, first),
        numbers_of(xp, which),
        numbers_of(xp, often),
    )


@operator(roles={"n": "numbers of rows"})
def compress(*, axis: int = 0) -> Rule:
    """The rows for which a mask is true. How many there are is known at run time.

    - `axis`: which one; the outermost if not given. Negative axes count from the back.

    >>> compress(x : f32 [n,3], mask : bool [n])
    f32 [?a,3]
    """
    if problem := bad_axes((axis,)):
        return problem
    return f"(t {at(axis, 'n', tail='after')}, bool [n]) -> t {at(axis, '?k', tail='after')}"


@compress.means
def _(xp: Arrays, x: Array, mask: Array, axis: int) -> Array:
    return xp.take(x, xp.nonzero(mask)[0], axis=axis)


@operator(roles={"r": "sizes of the mask"})
def select(*, axis: int = 0) -> Rule:
    """The elements, or rows, for which a mask of any rank is true: one dimension takes the place of
    those of the mask. How many there are is known at run time.

    - `axis`: where the mask begins; a negative one is where it ends, from the back. The outermost
      if not given.

    >>> select(x : f32 [n,m], mask : bool [n,m])
    f32 [?a]
    >>> select(x : f32 [b,n,3], mask : bool [n], axis=1)
    f32 [b,?a,3]
    """
    if problem := bad_axes((axis,)):
        return problem
    before, behind = around(axis, tail="after")
    whole, part = append(before, "r", behind), append(before, "[?k]", behind)
    return f"(t {whole}, bool r) -> t {part}"


@select.means
def _(xp: Arrays, x: Array, mask: Array, axis: int) -> Array:
    first = axis if axis >= 0 else x.ndim + axis + 1 - mask.ndim
    last = first + mask.ndim
    flat = (*x.shape[:first], math.prod(mask.shape), *x.shape[last:])
    places = xp.nonzero(xp.reshape(mask, (math.prod(mask.shape),)))[0]
    return xp.take(xp.reshape(x, flat), places, axis=first)
