"""Products of what the rows have: with a matrix that all rows share at once, else in groups."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from axon.backends.segments.arrays import FlatArrays, rule
from axon.backends.segments.frames import NotFlat
from axon.backends.segments.reduce import combined
from axon.backends.segments.rows import Rows, by_row, check_room, enter, innermost, leave, lift
from axon.backends.segments.tiled import product
from axon.backends.segments.tiles import Edge, packed_at
from axon.ops.arrays import Array

Below = Callable[..., Array]


@rule("matmul", "wide_matmul")
def _matmul(xp: FlatArrays, below: Below, x: Any, y: Any) -> Any:
    if type(x) is Rows and type(y) is Rows and x.frame is y.frame and 1 < x.ndim == y.ndim:
        even = x.segments is None and y.segments is None
        if even:
            return Rows(x.frame, below(x.values, y.values))
    frame = innermost((x, y))
    assert frame is not None
    x, y = (lift(each, frame) if by_row(each) else each for each in (x, y))
    if not x.ndim or not y.ndim:
        raise NotFlat("a product of scalars")
    if isinstance(x, Rows) and x.segments is not None:
        last = x.place == x.ndim - 1
        if not isinstance(y, Rows) and not last and y.ndim <= 2:
            return _shared(xp, below, x, y)
        rows = isinstance(y, Rows) and y.segments is not None and y.place == 0 and y.ndim <= 2
        tall = x.frame.tilings is not None and packed_at(x, -2)
        if tall and packed_at(y, -1) and x.frame is y.frame and y.ndim > 1:
            return product(xp, below, x, y)
        if rows and last and x.ndim == 1:  # a sum of rows, each times a number
            return xp.sum((x if y.ndim == 1 else x[:, None]) * y, axis=0, dtype=x.dtype)
        if rows and last and hasattr(xp.xp, "by_ids") and packed_at(x, -1) and packed_at(y, -2):
            return _over_elements(xp, below, x, y)
        raise NotFlat("a product of rows that differ in size")
    if isinstance(y, Rows) and y.segments is not None:
        raise NotFlat("a product of rows that differ in size")
    return Rows(frame, _batched(xp, below, x, y))


def _over_elements(xp: FlatArrays, below: Below, x: Rows, y: Rows) -> Rows:
    """A product over the elements of each row: of chunks of one size, then added up."""
    segments = x.segments
    if x.ndim != 2 or x.frame is not y.frame or segments is None or y.segments is None:
        raise NotFlat("a product of rows that differ in size")
    if not segments.same(y.segments):
        raise NotFlat("a product of rows that differ in size")
    edge = Edge(xp.xp, segments, segments.near())
    true = xp.xp.asarray(edge.true)[..., None]
    check_room(x.frame, edge.count, (edge.size, *x.values.shape[1:]), x.dtype)
    check_room(x.frame, edge.count, (*x.values.shape[1:], *y.values.shape[1:]), x.dtype)
    left, right = (
        xp.xp.where(true, cut, xp.xp.zeros_like(cut))
        for cut in (edge.cut(x.values), edge.cut(y.values))
    )
    made = below(xp.xp.swapaxes(left, 1, 2), right)
    half = made.dtype.itemsize == 2 and xp.xp.kind(made.dtype) == "f"
    whole = xp.xp.astype(made, xp.xp.element("f32")) if half else made
    total = combined(xp.xp, "sum", whole, edge.rows, x.frame.count, 0, True)
    return Rows(x.frame, xp.xp.astype(total, made.dtype))


def _shared(xp: FlatArrays, below: Below, x: Rows, y: Array) -> Rows:
    """The last dimension times a matrix that all rows share."""
    assert x.segments is not None
    inner = enter(x)
    if inner.segments is not None:
        made = _matmul(xp, below, inner, y)
    else:
        check_room(
            x.frame, inner.values.shape[0], (*inner.values.shape[1:-1], *y.shape[1:]), x.dtype
        )
        made = Rows(inner.frame, below(inner.values, y))
    return leave(x.frame, made, x.segments, x.place)


def _batched(xp: FlatArrays, below: Below, x: Any, y: Any) -> Array:
    """Each row's product, where no size differs."""
    a, b = x.ndim, y.ndim
    left, right = (v.values if isinstance(v, Rows) else v for v in (x, y))
    if isinstance(x, Rows) and not isinstance(y, Rows) and b <= 2:
        if a < 2 or not left.shape[0]:
            return below(left, right)
        sizes = left.shape[:-1]
        made = below(left.reshape(prod(sizes), left.shape[-1]), right)
        return made.reshape(*sizes, *made.shape[1:])
    if a == 1:
        left = left[..., None, :]
    if b == 1:
        right = right[..., :, None]
    rank = max(a, b, 2)
    left, right = _deep(left, x, rank), _deep(right, y, rank)
    made = below(left, right)
    if a == 1:
        made = made[..., 0, :] if b != 1 else made[..., 0]
    if b == 1:
        made = made[..., 0]
    return made


def _deep(values: Array, whole: Any, rank: int) -> Array:
    """Dimensions of size 1 behind that of the rows."""
    if not isinstance(whole, Rows) or values.ndim == rank + 1:
        return values
    return values.reshape(values.shape[0], *(1,) * (rank + 1 - values.ndim), *values.shape[1:])


@rule("einsum")
def _einsum(xp: FlatArrays, below: Below, equation: str, *parts: Any) -> Any:
    """A product by letters: the rows are one more."""
    frame = innermost(parts)
    assert frame is not None
    given, _, result = equation.replace(" ", "").partition("->")
    letters = given.split(",")
    batch = next((c for c in "ZYXWVUTS" if c not in equation), None)
    if batch is None or "->" not in equation:
        raise NotFlat("einsum")
    rows = [lift(part, frame) if by_row(part) else part for part in parts]
    packed = [(x, names) for x, names in zip(rows, letters, strict=True)
              if isinstance(x, Rows) and x.segments is not None]  # fmt: skip
    if not packed:
        every = [batch + each if isinstance(x, Rows) else each
                 for x, each in zip(rows, letters, strict=True)]  # fmt: skip
        values = [x.values if isinstance(x, Rows) else x for x in rows]
        return Rows(frame, below(f"{','.join(every)}->{batch}{result}", *values))
    if "." in equation:
        raise NotFlat("einsum with dimensions that have no letter")
    first, names_of_first = packed[0]
    letter, segments = names_of_first[first.place], first.segments
    assert segments is not None
    for x, names in packed:
        assert x.segments is not None
        if names[x.place] != letter or not segments.same(x.segments):
            raise NotFlat("two sizes that differ")
    if letter not in result:
        if not hasattr(xp.xp, "by_ids"):
            raise NotFlat("a sum over a size that differs")
        made = _einsum(xp, below, f"{given}->{letter}{result}", *parts)
        return xp.sum(made, axis=0, dtype=made.dtype)
    elements = segments.elements(frame)
    inner, less = [], []
    for x, names in zip(rows, letters, strict=True):
        if isinstance(x, Rows) and x.segments is not None:
            if isinstance(x.values, Rows) or names.count(letter) != 1:
                raise NotFlat("rows of rows")
            inner.append(Rows(elements, x.values))
            less.append(names.replace(letter, ""))
        elif letter in names:
            raise NotFlat("two sizes that differ")
        else:
            inner.append(x)
            less.append(names)
    made = _einsum(xp, below, f"{','.join(less)}->{result.replace(letter, '')}", *inner)
    return leave(frame, made, segments, result.index(letter))
