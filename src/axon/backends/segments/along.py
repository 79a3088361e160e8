"""What works along the axes of each row: reductions, sums so far, order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from axon.backends.segments.arrays import FlatArrays, only, rule
from axon.backends.segments.equal import along_rows
from axon.backends.segments.frames import Frame, NotFlat, Segments
from axon.backends.segments.reduce import positions, reduced
from axon.backends.segments.rows import Rows, by_row, check_room, enter, innermost, leave
from axon.backends.segments.scans import so_far, whole_arrays
from axon.ops.arrays import Array

Axes = int | Sequence[int] | None


def axes_of(axis: Axes, rank: int) -> list[int]:
    """Axes of a row, counted from the front."""
    if axis is None:
        return list(range(rank))
    axes = [axis] if isinstance(axis, int) else list(axis)
    if not all(-rank <= each < rank for each in axes):
        raise NotFlat("an axis that there is not")
    return [each % rank for each in axes]


def _reduction(kind: str, xp: FlatArrays, below: Callable[..., Array], x: Any, **named: Any) -> Any:
    x = only(x)
    axes, keep = axes_of(named.pop("axis", None), x.ndim), bool(named.pop("keepdims", False))
    if any(map(by_row, named.values())):
        raise NotFlat("an argument of a reduction")
    return _along(kind, xp, below, x, axes, keep, named)


def _along(
    kind: str,
    xp: FlatArrays,
    below: Callable[..., Array],
    x: Rows,
    axes: list[int],
    keep: bool,
    named: dict[str, Any],
) -> Rows:
    if x.segments is None:
        if not axes:
            return _along(kind, xp, below, Rows(x.frame, x.values[:, None]), [0], False, named)
        axis = tuple(each + 1 for each in axes)
        return Rows(x.frame, below(x.values, axis=axis, keepdims=keep, **named))
    place = x.place
    inner = [each - (each > place) for each in axes if each != place]
    if place not in axes:
        made = _along(kind, xp, below, enter(x), inner, keep, named) if inner else enter(x)
        less = 0 if keep else sum(each < place for each in axes)
        return leave(x.frame, made, x.segments, place - less)
    elements = enter(x)
    if inner:
        elements = _along(kind, xp, below, elements, inner, False, named)
    if elements.segments is not None:
        raise NotFlat("rows of rows along the outer size")
    values = reduced(xp.xp, kind, elements.values, x.segments, **named)
    if keep:
        shape: list[int] = list(values.shape)
        for each in sorted(axes):
            shape.insert(each + 1, 1)
        values = xp.xp.reshape(values, tuple(shape))
    return Rows(x.frame, values)


for _name in ("sum", "prod", "max", "min", "any", "all"):
    rule(_name)(partial(_reduction, _name))


def _position(kind: str, xp: FlatArrays, below: Callable[..., Array], x: Any, **named: Any) -> Any:
    x = only(x)
    axis, keep = named.get("axis"), bool(named.get("keepdims", False))
    if axis is None and x.ndim != 1:
        return _position(kind, xp, below, xp.reshape(x, (-1,)), axis=0)
    (along,) = axes_of(axis, x.ndim)
    if x.segments is None:
        return Rows(x.frame, below(x.values, axis=along + 1, keepdims=keep))
    if along != x.place:
        inner = Rows(enter(x).frame, x.values) if not isinstance(x.values, Rows) else x.values
        made = _position(kind, xp, below, inner, axis=along - (along > x.place), keepdims=keep)
        return leave(x.frame, made, x.segments, x.place - (not keep and along < x.place))
    if isinstance(x.values, Rows):
        raise NotFlat("rows of rows along the outer size")
    values = positions(xp.xp, kind, x.values, x.segments)
    return Rows(x.frame, xp.xp.expand_dims(values, along + 1) if keep else values)


rule("argmax")(partial(_position, "max"))
rule("argmin")(partial(_position, "min"))


# --- so far --------------------------------------------------------------------------------------


def _so_far(
    xp: FlatArrays, below: Callable[..., Array], x: Any, axis: int | None = None, dtype: Any = None
) -> Any:
    x = only(x)
    if axis is None and x.ndim != 1:
        raise NotFlat("all elements so far")
    (along,) = axes_of(axis, x.ndim)
    if x.segments is None:
        return Rows(x.frame, below(x.values, axis=along + 1, dtype=dtype))
    if along != x.place:
        made = _so_far(xp, below, enter(x), along - (along > x.place), dtype)
        return leave(x.frame, made, x.segments, x.place)
    if isinstance(x.values, Rows):
        raise NotFlat("rows of rows along the outer size")
    if whole_arrays(xp.xp):
        made = so_far(xp.xp, below, x.values, x.segments, dtype)
    else:
        made = along_rows(x.values, x.segments, lambda rows: below(rows, axis=1, dtype=dtype))
    return Rows(x.frame, made, x.segments, x.place)


rule("cumsum", "cumprod")(_so_far)


def _of_all(xp: FlatArrays, x: Array, frame: Frame) -> Rows:
    """What all rows share."""
    check_room(frame, frame.count, x.shape, x.dtype)
    return Rows(frame, xp.xp.broadcast_to(x, (frame.count, *x.shape)))


@rule("take_along_axis")
def _take_along(
    xp: FlatArrays, below: Callable[..., Array], x: Any, numbers: Any, axis: int
) -> Any:
    frame = innermost([x, numbers])
    assert frame is not None
    x, numbers = (each if by_row(each) else _of_all(xp, each, frame) for each in (x, numbers))
    x, numbers = only(x), only(numbers)
    if x.frame is not numbers.frame or x.ndim != numbers.ndim:
        raise NotFlat("elements of other rows")
    (along,) = axes_of(axis, x.ndim)
    if x.segments is None and numbers.segments is None:
        return Rows(x.frame, below(x.values, numbers.values, axis=along + 1))
    if x.segments is None or along != x.place:
        same = (
            x.segments is not None
            and numbers.segments is not None
            and x.place == numbers.place
            and x.segments.same(numbers.segments)
        )
        if not same or isinstance(x.values, Rows) or isinstance(numbers.values, Rows):
            raise NotFlat("elements along another size than the one that differs")
        inner = along - (along > x.place) + 1
        made = below(x.values, numbers.values, axis=inner)
        return Rows(x.frame, made, x.segments, x.place)
    if isinstance(x.values, Rows) or isinstance(numbers.values, Rows):
        raise NotFlat("rows of rows")
    starts, lengths = (x.segments.placed(xp.xp, name) for name in ("starts", "lengths"))
    index = numbers.values
    if numbers.segments is not None:
        if numbers.place != x.place:
            raise NotFlat("elements along two sizes that differ")
        ids = numbers.segments.placed(xp.xp, "ids")
        starts, lengths = starts[ids], lengths[ids]
    else:
        index = xp.xp.moveaxis(index, x.place + 1, 1) if x.place else index
        starts, lengths = starts[:, None], lengths[:, None]
    check_elements(xp.xp, x.segments, numbers.segments)
    index = in_rows(xp.xp, index, starts, lengths)
    rest = tuple(index.shape[numbers.segments is None :][1:])
    if rest != tuple(x.values.shape[1:]):
        raise NotFlat("broadcast elements")
    check_room(x.frame, index.shape[0], index.shape[1:], x.dtype)
    made = below(x.values, index.reshape(-1, *rest), axis=0).reshape(index.shape)
    if numbers.segments is not None:
        return Rows(x.frame, made, numbers.segments, x.place)
    return Rows(x.frame, xp.xp.moveaxis(made, 1, x.place + 1) if x.place else made)


def check_elements(xp: Any, segments: Segments, numbers: Segments | None) -> None:
    """Elements by numbers that are not looked at, as on JAX: there must be some in each row."""
    if not hasattr(xp, "by_ids") or not segments.any_empty:
        return
    if numbers is None or not segments.same(numbers):
        raise NotFlat("an element of a row without elements")


def in_rows(xp: Any, index: Array, starts: Any, lengths: Any) -> Array:
    """Places among all elements, from places in rows that begin and end somewhere."""
    behind = (1,) * (index.ndim - starts.ndim)
    starts = xp.asarray(starts.reshape(*starts.shape, *behind))
    lengths = xp.asarray(lengths.reshape(*lengths.shape, *behind))
    index = xp.where(index < 0, index + lengths, index)
    if hasattr(xp, "by_ids"):  # JAX does not tell if there is none; it is none of another row
        return xp.clip(index, 0, xp.maximum(lengths - 1, 0)) + starts
    if not bool(((index >= 0) & (index < lengths)).all()):
        raise NotFlat("there is no such element")
    return index + starts
