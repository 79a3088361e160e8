"""The order of the elements of each row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from axon.backends.segments import keys
from axon.backends.segments.along import axes_of
from axon.backends.segments.arrays import INSTEAD, FlatArrays, only, rule
from axon.backends.segments.frames import NotFlat
from axon.backends.segments.rows import Rows, enter, leave
from axon.backends.segments.scans import places_in_order, whole_arrays
from axon.ops.arrays import Array, Meaning, Value
from axon.ops.families import ordering
from axon.ops.families.indexing import along as at

Below = Callable[..., Array]


@rule("argsort")
def _argsort(xp: FlatArrays, below: Below, x: Any, axis: int = -1, stable: bool = True) -> Any:
    x = only(x)
    (along,) = axes_of(axis, x.ndim)
    if x.segments is None:
        return Rows(x.frame, below(x.values, axis=along + 1, stable=True))
    if along != x.place:
        made = _argsort(xp, below, enter(x), along - (along > x.place))
        return leave(x.frame, made, x.segments, x.place)
    if isinstance(x.values, Rows):
        raise NotFlat("rows of rows along the outer size")
    if whole_arrays(xp.xp):
        places = places_in_order(xp.xp, x.values, x.segments)
    else:
        places = keys.places(numpy.asarray(x.values), x.segments)
    return Rows(x.frame, places, x.segments, x.place)


@rule("lexsort")
def _lexsort(xp: FlatArrays, below: Below, keys_: Any) -> Any:
    """By one key after another, the last one first: a sort that is stable keeps what was found."""
    order = xp.argsort(keys_[0], axis=0, stable=True)
    for key in keys_[1:]:
        again = xp.argsort(xp.take_along_axis(key, order, axis=0), axis=0, stable=True)
        order = xp.take_along_axis(order, again, axis=0)
    return order


# --- the operators -------------------------------------------------------------------------------


def _in_rows(xp: FlatArrays, x: Any, axis: int) -> bool:
    """Whether a row is ordered along the size that differs, on NumPy."""
    return (
        type(x) is Rows
        and x.segments is not None
        and axis % x.ndim == x.place
        and isinstance(x.values, numpy.ndarray)
    )


def _sort(xp: FlatArrays, usual: Meaning, x: Any, axis: int, descending: bool) -> Any:
    if not _in_rows(xp, x, axis):
        return usual(xp, x, axis=axis, descending=descending)
    made = keys.ordered(x.values, x.segments, descending)
    if made is not None:
        return Rows(x.frame, made, x.segments, x.place)
    found = keys.places(x.values, x.segments, descending)
    return Rows(x.frame, keys.taken(x.values, x.segments, found), x.segments, x.place)


def _places(xp: FlatArrays, x: Any, axis: int, descending: bool) -> Rows | None:
    if not _in_rows(xp, x, axis):
        return None
    return Rows(x.frame, keys.places(x.values, x.segments, descending), x.segments, x.place)


def _order(xp: FlatArrays, usual: Meaning, x: Any, axis: int, descending: bool) -> Any:
    found = _places(xp, x, axis, descending)
    return usual(xp, x, axis=axis, descending=descending) if found is None else found


def _top_k(xp: FlatArrays, usual: Meaning, x: Any, k: int, axis: int, largest: bool) -> Value:
    order = _places(xp, x, axis, largest)
    if order is None:
        return usual(xp, x, k=k, axis=axis, largest=largest)
    first = order[at(x, axis, slice(k))]
    return xp.take_along_axis(x, first, axis=axis), first


def _further_in(instead: Callable[..., Value]) -> Callable[..., Value]:
    """Rows of rows that are ordered along an inner size."""

    def ordered(xp: FlatArrays, usual: Meaning, x: Any, axis: int, **how: Any) -> Value:
        along = axis % x.ndim
        if not isinstance(x, Rows) or not isinstance(x.values, Rows) or along == x.place:
            return instead(xp, usual, x, axis=axis, **how)
        assert x.segments is not None
        made = ordered(xp, usual, enter(x), axis=along - (along > x.place), **how)
        parts = made if isinstance(made, tuple) else (made,)
        whole = tuple(leave(x.frame, part, x.segments, x.place) for part in parts)
        return whole if isinstance(made, tuple) else whole[0]

    return ordered


for _operator, _instead in (
    (ordering.sort, _sort),
    (ordering.argsort, _order),
    (ordering.top_k, _top_k),
):
    assert _operator.meaning is not None
    INSTEAD[_operator.meaning] = _further_in(_instead)
