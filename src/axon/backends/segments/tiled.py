"""What functions do to matrices in tiles. A function without a rule, and a rule that does not
apply, is `NotFlat`: then the function of rows is tried again without tiles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any

from axon.backends.segments.arrays import INSTEAD, TILED, FlatArrays, Rule
from axon.backends.segments.frames import Counts, Frame, NotFlat
from axon.backends.segments.rows import Rows, check_room, lift, taken
from axon.backends.segments.scores import Constant, Scores, Triangle, after, attended
from axon.backends.segments.tiles import Tiles, Tiling, no_row_is_open, packed_at, tiling_of
from axon.ops.arrays import Array, Meaning
from axon.ops.families import linear

Below = Callable[..., Array]

FAR = 1 << 30
"""Beyond every diagonal."""


def rule(*names: str) -> Callable[[Rule], Rule]:
    def register(found: Rule) -> Rule:
        for name in names:
            TILED[name] = found
        return found

    return register


def room(tiling: Tiling, batch: Sequence[int], dtype: Any) -> None:
    """Before tiles are made: the library must take such, and there must be room for them."""
    if not tiling.xp.tiled:
        raise NotFlat("matrices that are not made in tiles")
    check_room(tiling.frame, tiling.count, (*batch, tiling.size, tiling.size), dtype)


# --- element by element --------------------------------------------------------------------------


@rule("pointwise")
def pointwise(xp: FlatArrays, how: Below, *args: Any) -> Tiles:
    first = next((arg for arg in args if type(arg) is Tiles), None)
    if first is None:
        down = next((arg for arg in args if packed_at(arg, -2)), None)
        across = next((arg for arg in args if packed_at(arg, -1)), None)
        if down is None or across is None:
            raise NotFlat("rows of which two sizes differ")
        if down.frame is not across.frame:
            raise NotFlat("rows of two frames")
        tiling = tiling_of(down.frame, down.segments, across.segments)
    else:
        tiling = first.tiling
    rank = max(2, *(getattr(arg, "ndim", 0) for arg in args))
    sizes = [arg.shape for arg in args if hasattr(arg, "dtype")]
    batch = [max([s[i - rank] for s in sizes if len(s) >= rank - i], default=1)
             for i in range(rank - 2)]  # fmt: skip
    dtype = next(arg.dtype for arg in args if hasattr(arg, "dtype"))

    def whole() -> Tiles:
        room(tiling, batch, dtype)
        return Tiles(tiling, how(*(_beside(xp, tiling, arg, args, rank) for arg in args)))

    scores = None if first is None else after(how, args, xp.xp)
    if first is not None and scores is not None:
        return Tiles.later(tiling, whole, batch, scores.queries.dtype, scores)
    return whole()


def _beside(xp: FlatArrays, tiling: Tiling, x: Any, args: Sequence[Any], rank: int) -> Any:
    """What stands beside tiles, as an array that broadcasts with theirs."""
    if isinstance(x, Counts):
        x = xp._number(x, args)
    if not hasattr(x, "dtype"):
        return x
    behind: tuple[Any, ...]
    if type(x) is Tiles:
        made, behind = tiling.arranged(x), ()
    elif not isinstance(x, Rows):
        if any(size != 1 for size in x.shape[-2:]):
            raise NotFlat("a size beside one that differs")
        return x
    elif x.segments is None:
        if any(size != 1 for size in x.shape[-2:]):
            raise NotFlat("a size beside one that differs")
        x = lift(x, tiling.frame)
        made = taken(xp.xp, x.values, tiling.rows)
        behind = (1,) * (2 - x.ndim)
    elif packed_at(x, -2) and x.shape[-1] == 1 and x.segments.same(tiling.down.segments):
        made, behind = xp.xp.moveaxis(tiling.side(x.values), 1, -2), ()
    elif packed_at(x, -1) and (x.ndim < 2 or x.shape[-2] == 1):
        if not x.segments.same(tiling.across.segments):
            raise NotFlat("rows of different sizes")
        made = tiling.top(x.values)
        made = made[:, None] if x.ndim < 2 else xp.xp.moveaxis(made, 1, -1)
        behind = ()
    else:
        raise NotFlat("rows of different sizes")
    if isinstance(x, Rows) and x.frame is not tiling.frame:
        raise NotFlat("rows of two frames")
    more = rank + 1 - made.ndim - len(behind)
    return made.reshape(made.shape[0], *(1,) * more, *made.shape[1:], *behind)


@rule("astype")
def _astype(xp: FlatArrays, below: Below, x: Tiles, dtype: Any) -> Tiles:
    return Tiles(x.tiling, below(x.values, dtype))


@rule("full_like")
def _full_like(xp: FlatArrays, below: Below, x: Any, value: Any) -> Tiles:
    if type(x) is not Tiles or hasattr(value, "frame"):
        raise NotFlat("full_like")
    return Tiles(x.tiling, below(x.values, value))


def made_in(xp: FlatArrays, frame: Frame, shape: Sequence[Any], make: Below) -> Tiles:
    """Matrices that are made in a shape whose last two sizes differ."""
    *batch, down, across = shape
    if any(isinstance(size, Counts) for size in batch):
        raise NotFlat("a shape in which three sizes differ")
    sides = [side.into(frame).rows() for side in (down, across)]
    tiling = tiling_of(frame, *sides)

    def whole() -> Tiles:
        room(tiling, batch, xp.xp.element("f64"))
        return Tiles(tiling, make((tiling.count, *batch, tiling.size, tiling.size)))

    dtype = make((0, *batch, tiling.size, tiling.size)).dtype
    return Tiles.later(tiling, whole, batch, dtype, None)


def filled(xp: FlatArrays, frame: Frame, shape: Sequence[Any], value: Array) -> Tiles:
    """Matrices of one value."""
    made = made_in(xp, frame, shape, lambda whole: xp.xp.broadcast_to(value, whole))
    made.scores = Constant(value)
    return made


# --- axes ----------------------------------------------------------------------------------------


def _permuted(xp: FlatArrays, x: Tiles, order: list[int]) -> Tiles:
    rank = x.ndim
    if sorted(order[-2:]) != [rank - 2, rank - 1]:
        raise NotFlat("the sides of matrices that differ in size are parted")
    values = xp.xp.transpose(x.values, (0, *(axis + 1 for axis in order)))
    return Tiles(x.tiling if order[-1] == rank - 1 else x.tiling.transposed, values)


@rule("transpose")
def _transpose(xp: FlatArrays, below: Below, x: Tiles, axes: Any = None) -> Tiles:
    order = range(x.ndim)[::-1] if axes is None else [axis % x.ndim for axis in axes]
    return _permuted(xp, x, list(order))


@rule("swapaxes")
def _swapaxes(xp: FlatArrays, below: Below, x: Tiles, a: int, b: int) -> Tiles:
    order = list(range(x.ndim))
    a, b = a % x.ndim, b % x.ndim
    order[a], order[b] = order[b], order[a]
    return _permuted(xp, x, order)


@rule("expand_dims")
def _expand_dims(xp: FlatArrays, below: Below, x: Tiles, axis: Any) -> Tiles:
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    rank = x.ndim + len(axes)
    axes = tuple(each % rank for each in axes)
    if max(axes) >= rank - 2:
        raise NotFlat("a dimension beside the sides of matrices")
    return Tiles(x.tiling, below(x.values, tuple(each + 1 for each in axes)))


@rule("sliced")
def _sliced(xp: FlatArrays, below: Below, x: Tiles, index: tuple[Any, ...]) -> Tiles:
    """Of several matrices some."""
    some = sum(part is not None and part is not Ellipsis for part in index)
    at = index.index(Ellipsis) if Ellipsis in index else len(index)
    index = (*index[:at], *[slice(None)] * (x.ndim - some), *index[at + 1 :])
    if index[-2:] != (slice(None),) * 2 or not all(map(_is_simple, index)):
        raise NotFlat("a part of matrices whose sizes differ")
    return Tiles(x.tiling, x.values[(slice(None), *index)])


def _is_simple(part: Any) -> bool:
    return part is None or type(part) is int or part == slice(None)


@rule("reshape")
def _reshape(xp: FlatArrays, below: Below, x: Tiles, shape: Any) -> Tiles:
    shape = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
    *batch, down, across = shape if len(shape) > 1 else (0, 0, *shape)
    sides = x.shape[-2:]
    same = sides[0].same(down) and sides[1].same(across)
    if not same or any(isinstance(size, Counts) for size in batch):
        raise NotFlat("matrices whose sizes differ get another shape")
    if prod(batch) != prod(x.values.shape[1:-2]):
        raise NotFlat("matrices whose sizes differ get another shape")
    values = x.values
    return Tiles(x.tiling, below(values, (values.shape[0], *batch, *values.shape[-2:])))


def _triangle(xp: FlatArrays, usual: Meaning, x: Any, k: int, *, lower: bool) -> Any:
    if type(x) is not Tiles:
        return usual(xp, x, k=k)
    made = Tiles.later(x.tiling, lambda: _cornered(xp, x, k, lower), x.batch, x.dtype, None)
    if lower and k == 0 and isinstance(x.scores, Constant):
        made.scores = Triangle(x.scores.value)
    return made


def _cornered(xp: FlatArrays, x: Tiles, k: int, lower: bool) -> Tiles:
    tiling = x.tiling
    values = x.values
    down = taken(xp.xp, tiling.down.within, tiling.pair[0])[:, :, None]
    across = taken(xp.xp, tiling.across.within, tiling.pair[1])[:, None, :]
    k = min(max(k, -FAR), FAR)
    open_ = across - down <= k if lower else across - down >= k
    open_ = open_.reshape(tiling.count, *(1,) * (x.ndim - 2), *open_.shape[1:])
    return Tiles(tiling, xp.xp.where(xp.xp.asarray(open_), values, xp.xp.zeros_like(values)))


for _operator in (linear.tril, linear.triu):
    assert _operator.meaning is not None
    INSTEAD[_operator.meaning] = partial(_triangle, lower=_operator is linear.tril)


# --- reductions ----------------------------------------------------------------------------------

NEUTRAL: dict[str, Any] = {"sum": 0, "any": False, "all": True}


def _reduction(kind: str, xp: FlatArrays, below: Below, x: Tiles, **named: Any) -> Any:
    axis, keep = named.pop("axis", None), bool(named.pop("keepdims", False))
    rank = x.ndim
    axes = range(rank) if axis is None else [axis] if isinstance(axis, int) else axis
    axes = sorted({each % rank for each in axes})
    sides = [each for each in axes if each >= rank - 2]
    if not sides:
        axis = tuple(each + 1 for each in axes)
        return Tiles(x.tiling, below(x.values, axis=axis, keepdims=keep, **named))
    if sides == [rank - 2]:
        x = _swapaxes(xp, below, x, -1, -2)
    made = _along_rows(kind, xp, below, x, named)
    if keep or len(sides) == 2:
        made = xp.expand_dims(made, rank - 1 if sides[-1] == rank - 1 else rank - 2)
    rest = [each for each in axes if each != sides[-1]]
    if not rest:
        return made
    found = getattr(xp, kind)(made, axis=tuple(rest), keepdims=keep, **named)
    return found if keep or len(sides) < 2 else xp.squeeze(found, axis=-1)


def _along_rows(kind: str, xp: FlatArrays, below: Below, x: Tiles, named: dict[str, Any]) -> Rows:
    """Along the last axis."""
    tiling, dtype, initial = x.tiling, named.get("dtype"), named.get("initial")
    values = x.values if dtype is None else xp.xp.astype(x.values, dtype)
    if kind in ("max", "min"):
        if initial is None and no_row_is_open(x):
            raise NotFlat("the largest of no elements")
        letter = xp.xp.kind(values.dtype)
        ends: Any = xp.xp.iinfo(values.dtype) if letter in "iu" else None
        least = {"f": float("-inf"), "b": False}.get(letter, ends and int(ends.min))
        most = {"f": float("inf"), "b": True}.get(letter, ends and int(ends.max))
        neutral = least if kind == "max" else most
    else:
        neutral = NEUTRAL[kind]
    true = tiling.true_columns
    true = true.reshape(true.shape[0], *(1,) * (values.ndim - 2), true.shape[1])
    fill = xp.xp.asarray(neutral, dtype=values.dtype)
    made = below(xp.xp.where(xp.xp.asarray(true), values, fill), axis=-1)
    half = made.dtype.itemsize == 2 and xp.xp.kind(made.dtype) == "f"
    whole = xp.xp.astype(made, xp.xp.element("f32")) if half else made
    whole = xp.xp.moveaxis(whole, -1, 1)
    packed = xp.xp.astype(tiling.combined(kind, whole, neutral), made.dtype)
    if initial is not None:
        either = xp.xp.maximum if kind == "max" else xp.xp.minimum
        packed = either(packed, xp.xp.asarray(initial, dtype=packed.dtype))
    return Rows(x.frame, packed, tiling.down.segments, x.ndim - 2)


for _name in ("sum", "max", "min", "any", "all"):
    rule(_name)(partial(_reduction, _name))


# --- products ------------------------------------------------------------------------------------


def product(xp: FlatArrays, below: Below, x: Rows, y: Rows) -> Tiles:
    """A product over a size that does not differ, of rows and columns that do."""
    assert x.segments is not None and y.segments is not None
    tiling = tiling_of(x.frame, x.segments, y.segments)
    rank = max(x.ndim, y.ndim)
    batch = [max(a, b) for a, b in zip(_batch(x, rank), _batch(y, rank), strict=True)]

    def whole() -> Tiles:
        room(tiling, batch, x.dtype)
        left = xp.xp.moveaxis(tiling.side(x.values), 1, -2)
        right = xp.xp.moveaxis(tiling.top(y.values), 1, -1)
        return Tiles(tiling, below(_deep(left, rank), _deep(right, rank)))

    if below != xp.xp.matmul:
        return whole()
    return Tiles.later(tiling, whole, batch, x.dtype, Scores(x, y))


def _batch(x: Rows, rank: int) -> tuple[int, ...]:
    own = x.values.shape[1:-1]
    return (1,) * (rank - 2 - len(own)) + tuple(own)


def _deep(values: Array, rank: int) -> Array:
    more = rank + 1 - values.ndim
    return values.reshape(values.shape[0], *(1,) * more, *values.shape[1:]) if more else values


@rule("matmul", "wide_matmul")
def _matmul(xp: FlatArrays, below: Below, x: Any, y: Any) -> Any:
    if type(x) is not Tiles:
        turned = _matmul(xp, below, xp.swapaxes(y, -1, -2), xp.swapaxes(x, -1, -2))
        return xp.swapaxes(turned, -1, -2)
    vector = packed_at(y, -1) and y.ndim == 1
    if vector:
        y = xp.expand_dims(y, -1)
    tiling = x.tiling
    if not packed_at(y, -2) or y.frame is not x.frame:
        raise NotFlat("a product of rows that differ in size")
    if not y.segments.same(tiling.across.segments):
        raise NotFlat("a product of rows that differ in size")
    made = attended(xp, x, y)
    if made is None:
        made = _summed(xp, below, x, y)
    return xp.squeeze(made, -1) if vector else made


def _summed(xp: FlatArrays, below: Below, x: Tiles, y: Rows) -> Rows:
    tiling, rank = x.tiling, max(x.ndim, y.ndim)
    values = x.values
    true = tiling.true_columns
    true = true.reshape(true.shape[0], *(1,) * (values.ndim - 2), true.shape[1])
    values = xp.xp.where(xp.xp.asarray(true), values, xp.xp.zeros_like(values))
    right = xp.xp.moveaxis(tiling.top(y.values), 1, -2)
    made = below(_deep(values, rank), _deep(right, rank))
    whole = xp.xp.moveaxis(made, -2, 1)
    if made.dtype.itemsize == 2 and xp.xp.kind(made.dtype) == "f":
        whole = xp.xp.astype(whole, xp.xp.element("f32"))
    packed = xp.xp.astype(tiling.combined("sum", whole, 0), made.dtype)
    return Rows(x.frame, packed, tiling.down.segments, rank - 2)
