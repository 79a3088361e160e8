"""Windows over what each row has, and elements that are put into it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from axon.backends.segments.along import check_elements, in_rows
from axon.backends.segments.arrays import FlatArrays, only, rule
from axon.backends.segments.frames import NotFlat
from axon.backends.segments.parts import as_segments
from axon.backends.segments.rows import Rows, by_row, innermost, lift, rows_of, taken
from axon.ops.arrays import Array

Below = Callable[..., Array]


def _even(x: Any, named: dict[str, Any]) -> Rows:
    found = only(x)
    if found.segments is not None or any(map(by_row, named.values())):
        raise NotFlat("windows over a size that differs")
    return found


@rule("conv")
def _conv(xp: FlatArrays, below: Below, x: Any, filters: Any, **how: Any) -> Any:
    """The images of all rows are one batch, if they share the filters."""
    if by_row(filters):
        return _filtered(xp, below, x, _even(filters, how), **how)
    x = _even(x, how)
    rows, count, *sizes = x.values.shape
    made = below(xp.xp.reshape(x.values, (rows * count, *sizes)), filters, **how)
    return Rows(x.frame, xp.xp.reshape(made, (rows, count, *made.shape[1:])))


def _filtered(xp: FlatArrays, below: Below, x: Any, filters: Rows, groups: int, **how: Any) -> Rows:
    """By filters of each row: the channels of each row are groups of their own."""
    frame = innermost([x, filters])
    assert frame is not None
    image, own = _even(rows_of(x, frame), {}).values, lift(filters, frame).values
    (rows, count, channels, *sizes), (_, made, *window) = image.shape, own.shape
    side = xp.xp.reshape(xp.xp.moveaxis(image, 0, 1), (count, rows * channels, *sizes))
    every = xp.xp.reshape(own, (rows * made, *window))
    found = below(side, every, groups=rows * groups, **how)
    found = xp.xp.reshape(found, (count, rows, made, *found.shape[2:]))
    return Rows(frame, xp.xp.moveaxis(found, 1, 0))


@rule("windows")
def _windows(xp: FlatArrays, below: Below, kind: str, x: Any, **how: Any) -> Any:
    x = _even(x, how)
    return Rows(x.frame, below(kind, x.values, **how))


@rule("trace")
def _trace(xp: FlatArrays, below: Below, x: Any, **how: Any) -> Any:
    x = _even(x, how)
    if how.get("axis1") != -2 or how.get("axis2") != -1:
        raise NotFlat("a diagonal of other axes")
    return Rows(x.frame, below(x.values, **how))


@rule("put")
def _put(xp: FlatArrays, below: Below, x: Any, index: Any, values: Any, mode: str) -> Any:
    """Along the first dimension, by numbers of each row; or where slices say."""
    if all(isinstance(part, slice) for part in index):
        return _put_slices(xp, below, x, index, values, mode)
    index = tuple(part for part in index if part is not Ellipsis)
    if len(index) != 1 or not hasattr(index[0], "dtype"):
        raise NotFlat("elements that are not put by one list of numbers")
    frame = innermost([x, index, values])
    assert frame is not None
    x, numbers, given = (rows_of(each, frame) for each in (x, index[0], values))
    even = x.segments is None
    shape = tuple(x.values.shape)
    x, numbers, given = (as_segments(xp, lift(each, frame), 0) for each in (x, numbers, given))
    segments, mine, own = x.segments, numbers.segments, given.segments
    assert segments is not None and mine is not None and own is not None
    if any(isinstance(each.values, Rows) for each in (x, numbers, given)) or not mine.same(own):
        raise NotFlat("elements that are put by numbers of other sizes")
    check_elements(xp.xp, segments, mine)
    ids = mine.placed(xp.xp, "ids")
    starts, lengths = (
        taken(xp.xp, xp.xp.asarray(segments.placed(xp.xp, name)), ids)
        for name in ("starts", "lengths")
    )
    places = in_rows(xp.xp, numbers.values, starts, lengths)
    if mine.traced:  # elements of no row go nowhere
        places = xp.xp.where(xp.xp.asarray(ids) < mine.count, places, segments.total)
    if tuple(given.values.shape) != (*places.shape, *x.values.shape[1:]):
        raise NotFlat("elements that are put are broadcast")
    made = below(x.values, (places,), given.values, mode)
    if even:
        return Rows(frame, xp.xp.reshape(made, shape))
    return Rows(frame, made, segments, 0)


def _put_slices(
    xp: FlatArrays, below: Below, x: Any, index: tuple[slice, ...], values: Any, mode: str
) -> Rows:
    """At most one size differs, along which all is there."""
    frame = innermost([x, values])
    assert frame is not None
    into, given = rows_of(x, frame), rows_of(values, frame)
    if into.segments is None and given.segments is None:
        every = (slice(None), *index)
        return Rows(frame, below(into.values, every, given.values, mode))
    if into.segments is None or given.segments is None or not into.segments.same(given.segments):
        raise NotFlat("elements that are put into rows of other sizes")
    place = into.place
    if place != given.place or by_row(into.values) or index[place : place + 1] != (slice(None),):
        raise NotFlat("elements that are put along the size that differs")
    rest = (*index[:place], *index[place + 1 :])
    made = below(into.values, (slice(None), *rest), given.values, mode)
    return Rows(frame, made, into.segments, place)
