"""Putting things somewhere, and taking them from there: at places that tensors tell.

What comes twice for one place counts twice, or, where it is only put there, the last one stays.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from axon.ops.arrays import Array, Arrays
from axon.ops.axes import LIMIT, append, at, bad_axes, dims, place
from axon.ops.families.indexing import along, numbers_of
from axon.ops.operator import Problem, Rule, operator
from axon.ops.padding import Number, TrueSizes
from axon.ops.traits import Padding, Traits

MODES = ("set", "add", "mul", "min", "max")


def _bad_mode(mode: str) -> Problem | None:
    if mode in MODES:
        return None
    return Problem(f'mode is "{mode}"; it can be "set", "add", "mul", "min" or "max"')


@operator(
    Traits(padding=Padding(("after*",), {"n": "anything", "m": "anything"})),
    roles={"m": "numbers of rows", "s": "other sizes", "d0": "other sizes"},
)
def scatter(*, axis: int = 0, mode: str = "set") -> Rule:
    """A copy of the first tensor, in which the rows with the given numbers are replaced by the rows
    of the third.

    - `axis`: which one; the outermost if not given. Negative axes count from the back.
    - `mode`: "set", or "add", "mul", "min", "max" to combine the new rows with the old ones.

    >>> scatter(x : f32 [n,3], i : i64 [k], rows : f32 [k,3])
    f32 [n,3]
    """
    if problem := _bad_mode(mode) or bad_axes((axis,)):
        return problem
    x = at(axis, "n", tail="after")
    return f"(t {x}, i [m], t {at(axis, 'm', tail='after')}) -> t {x} where i : int"


@scatter.means
def _(xp: Arrays, x: Array, numbers: Array, rows: Array, axis: int, mode: str) -> Array:
    numbers = numbers_of(xp, numbers)
    if mode == "set":
        rows = xp.take(rows, _last(xp, x.shape[axis], numbers), axis=axis)
    return xp.put(x, along(x, axis, numbers), rows, mode)


@scatter.padded
def _(
    xp: Arrays,
    true: TrueSizes,
    x: Array,
    numbers: Array,
    rows: Array,
    axis: int,
    mode: str,
) -> Array:
    """Numbers that are padding are beyond all rows, where nothing is put."""
    size, numbers = true.of(0)[axis % x.ndim], numbers_of(xp, numbers)
    numbers = xp.where(numbers < 0, numbers + size, numbers)
    outside = (numbers < 0) | (numbers >= size)
    there = true.mask(xp, 1, (0,))
    outside = outside if there is None else outside | ~there
    numbers = xp.where(outside, x.shape[axis], numbers)
    if mode == "set":
        rows = xp.take(rows, _last(xp, x.shape[axis] + 1, numbers), axis=axis)
    return xp.put(x, along(x, axis, numbers), rows, mode)


def _last(xp: Arrays, size: int, numbers: Array) -> Array:
    """For each number, where the last equal to it stands: what is put in one place becomes the
    same, and no order matters.
    """
    which = xp.arange(numbers.shape[0], dtype=numbers.dtype)
    none = xp.zeros((size,), dtype=numbers.dtype)
    return xp.take(xp.put(none, (numbers,), which, "max"), numbers)


@operator(Traits(padding=Padding(fills={"after_*": "anything"})))
def scatter_elements(*, axis: int = 0, mode: str = "set") -> Rule:
    """A copy of the first tensor, in which each element of the third is put in the row that the
    second tells, and in its own place otherwise.

    - `axis`: which one the numbers count along; the outermost if not given. Negative axes count
      from the back.
    - `mode`: "set", or "add", "mul", "min", "max" to combine the new elements with the old ones.

    >>> scatter_elements(x : f32 [b,n], i : i64 [b,2], new : f32 [b,2], axis=1)
    f32 [b,n]
    """
    if problem := _bad_mode(mode) or bad_axes((axis,)):
        return problem
    whole, part = "after_p", "after_q"
    return (
        f"(t {whole}, i {part}, t {part}) -> t {whole} where rank({whole}) = rank({part}), i : int"
    )


@scatter_elements.means
def _(xp: Arrays, x: Array, numbers: Array, values: Array, axis: int, mode: str) -> Array:
    axis, numbers = axis % x.ndim, numbers_of(xp, numbers)
    return _put_elements(xp, x, numbers, values, axis, mode, x.shape[axis])


@scatter_elements.padded
def _(
    xp: Arrays, true: TrueSizes, x: Array, numbers: Array, values: Array, axis: int, mode: str
) -> Array:
    axis, numbers = axis % x.ndim, numbers_of(xp, numbers)
    there = true.mask(xp, 1, range(numbers.ndim))
    return _put_elements(xp, x, numbers, values, axis, mode, true.of(0)[axis], there)


def _put_elements(
    xp: Arrays,
    x: Array,
    numbers: Array,
    values: Array,
    axis: int,
    mode: str,
    size: Number,
    there: Array | None = None,
) -> Array:
    """Each value in the row that its number tells, of so many, and in its own place otherwise; only
    those that are `there`, if that is said. A number of no row is beyond all places.
    """
    rows = xp.where(numbers < 0, numbers + size, numbers)
    inside = (rows >= 0) & (rows < size)
    inside = inside if there is None else inside & there
    flat = xp.zeros((1,) * x.ndim, dtype=numbers.dtype)
    for i, whole in enumerate(x.shape):
        spot = rows
        if i != axis:
            spot = xp.arange(numbers.shape[i], dtype=numbers.dtype)
            spot = xp.reshape(spot, (-1, *(1,) * (x.ndim - 1 - i)))
        flat = flat * whole + spot
    flat = xp.where(inside, flat, math.prod(x.shape))
    flat = xp.reshape(xp.broadcast_to(flat, numbers.shape), (-1,))
    return _put_flat(xp, x, flat, xp.reshape(values, (-1,)), (), mode, beyond=True)


@operator(
    Traits(padding=Padding(("after*",), {"b": "anything", "n": "anything", "m": "anything"})),
    roles={"b": "batch sizes", "n": "rows of the cache", "m": "new rows"},
)
def update_cache(arity: int, *, axis: int = -2, circular: bool = False, last: int = 0) -> Rule:
    """A copy of the cache, the first tensor, in which new rows, the second, replace those from a
    place on: the first row, or the one whose number the third tensor has for each element of the
    batch. The batch is the outermost axis.

    - `axis`: the axis of the rows; the last but one if not given. It is not the first.
    - `circular`: whether what goes beyond the last row goes on with the first.
    - `last`: the largest of those numbers, if it is known: there is room for the new rows from
      there on.

    >>> update_cache(cache : f32 [b,h,16,d], new : f32 [b,h,1,d], first : i64 [b])
    f32 [b,h,16,d]
    """
    if not 2 <= arity <= 3:
        return Problem(
            "update_cache takes a cache, new rows and perhaps the numbers of the first of them; "
            f"{arity} arguments are given"
        )
    if axis == 0:
        return Problem("axis is 0, which is the batch: the rows are along another one")
    if problem := bad_axes((0, axis)):
        return problem
    old, new = (place((0, axis), ("b", rows), tail="after") for rows in ("n", "m"))
    first = ", i [b]" if arity == 3 else ""
    room = f"n >= m+{last}" if last > 0 and not circular else "n >= m"
    where = f"{room}, i : int" if arity == 3 else room
    return f"(t {old}, t {new}{first}) -> t {old} where {where}"


@update_cache.means
def _(
    xp: Arrays, cache: Array, new: Array, *first: Array, axis: int, circular: bool, last: int
) -> Array:
    axis = axis % cache.ndim
    size = cache.shape[axis]
    spots = _spots(xp, cache, new, first, axis, size if circular else 0)
    return _put_elements(xp, cache, spots, new, axis, "set", size)


@update_cache.padded
def _(
    xp: Arrays,
    true: TrueSizes,
    cache: Array,
    new: Array,
    *first: Array,
    axis: int,
    circular: bool,
    last: int,
) -> Array:
    axis = axis % cache.ndim
    size, there = true.of(0)[axis], true.mask(xp, 1, (axis,))
    spots = _spots(xp, cache, new, first, axis, size if circular else 0)
    return _put_elements(xp, cache, spots, new, axis, "set", size, there)


def _spots(
    xp: Arrays, cache: Array, new: Array, first: Sequence[Array], axis: int, around: Number
) -> Array:
    """The rows of the cache that new rows go to, which begin again after so many, if not 0."""
    behind = (1,) * (cache.ndim - 1 - axis)
    spots = xp.reshape(xp.arange(new.shape[axis], dtype=xp.element("i64")), (-1, *behind))
    if first:
        spots = spots + xp.reshape(numbers_of(xp, first[0]), (-1, *(1,) * (cache.ndim - 1)))
    if not isinstance(around, int) or around:
        spots = spots % around
    return xp.broadcast_to(spots, new.shape)


def _put_flat(
    xp: Arrays,
    x: Array,
    numbers: Array,
    rows: Array,
    rest: tuple[int, ...],
    mode: str,
    beyond: bool = False,
) -> Array:
    """Rows put into a tensor whose first dimensions are taken as one. Numbers may be one `beyond`
    the last row, where nothing is put.
    """
    size = math.prod(x.shape[: x.ndim - len(rest)])
    if 0 in (size, *numbers.shape):
        return x
    if mode == "set":
        rows = xp.take(rows, _last(xp, size + beyond, numbers), axis=0)
    return xp.reshape(xp.put(xp.reshape(x, (size, *rest)), (numbers,), rows, mode), x.shape)


@operator(Traits(padding=Padding(("q", "b*", "after"), {"n": "anything", "after_*": "anything"})))
def gather_nd(*, axes: int = 1, batch: int = 0) -> Rule:
    """The values at places that are rows of indices: the innermost dimension of the numbers is a
    place along the first axes, and is replaced by what is there. Negative numbers count from the
    end.

    - `axes`: how many axes a place is along.
    - `batch`: how many dimensions before them are a batch, in both tensors.

    >>> gather_nd(x : f32 [h,w,c], i : i64 [n,2], axes=2)
    f32 [n,c]
    >>> gather_nd(x : f32 [b,v,k], i : i64 [b,m,1], batch=1)
    f32 [b,m,k]
    """
    if problem := _bad_places(axes, batch):
        return problem
    first, sizes = [f"b{i}" for i in range(batch)], _sizes(axes)
    x = append(dims([*first, *sizes]), "after")
    return (
        f"(t {x}, i {append(dims(first), 'q', dims([str(axes)]))}) -> "
        f"t {append(dims(first), 'q', 'after')} where i : int"
    )


def _sizes(axes: int) -> list[str]:
    """The axes that places are along; only the first may have others that vary over it."""
    return ["n" if i == 0 else f"after_{i}" for i in range(axes)]


def _bad_places(axes: int, batch: int = 0) -> Problem | None:
    if axes < 0 or batch < 0 or axes + batch > LIMIT:
        return Problem(f"axes and batch must be at least 0, and no more than {LIMIT} in all")
    return None


@gather_nd.means
def _(xp: Arrays, x: Array, places: Array, axes: int, batch: int) -> Array:
    places = numbers_of(xp, places)
    first, sizes, rest = x.shape[:batch], x.shape[batch : batch + axes], x.shape[batch + axes :]
    flat = _row_numbers(xp, places, sizes)
    images = xp.arange(math.prod(first), dtype=flat.dtype) * math.prod(sizes)
    flat = flat + xp.reshape(images, (*first, *(1,) * (flat.ndim - batch)))
    rows = xp.reshape(x, (math.prod((*first, *sizes)), *rest))
    return xp.reshape(xp.take(rows, xp.reshape(flat, (-1,)), axis=0), (*flat.shape, *rest))


@gather_nd.padded
def _(xp: Arrays, true: TrueSizes, x: Array, places: Array, axes: int, batch: int) -> Array:
    """Negative numbers count from the true end; what is outside stays there."""
    assert gather_nd.meaning is not None
    places, outside = _truly(xp, numbers_of(xp, places), true.of(0)[batch : batch + axes])
    places = xp.where(outside[..., None], math.prod(x.shape[: batch + axes]), places)
    return gather_nd.meaning(xp, x, places, axes=axes, batch=batch)


def _row_numbers(xp: Arrays, places: Array, sizes: tuple[int, ...]) -> Array:
    """Rows of indices as single numbers."""
    flat = xp.zeros(places.shape[:-1], dtype=places.dtype)
    for i, size in enumerate(sizes):
        place = places[..., i]
        flat = flat * size + xp.where(place < 0, place + size, place)
    return flat


@operator(
    Traits(padding=Padding(("after",), {"n": "anything", "after_*": "anything", "q": "anything"}))
)
def scatter_nd(*, axes: int = 1, mode: str = "set") -> Rule:
    """A copy of the first tensor, in which the values at some places are replaced by the third: the
    innermost dimension of the second is a place along the first axes. Negative numbers count from
    the end.

    - `axes`: how many axes a place is along.
    - `mode`: "set", or "add", "mul", "min", "max" to combine what is new with what was there.

    >>> scatter_nd(x : f32 [h,w,c], i : i64 [n,2], new : f32 [n,c], axes=2)
    f32 [h,w,c]
    """
    if problem := _bad_mode(mode) or _bad_places(axes):
        return problem
    x = append(dims(_sizes(axes)), "after")
    return f"(t {x}, i q@[{axes}], t q@after) -> t {x} where i : int"


@scatter_nd.means
def _(xp: Arrays, x: Array, places: Array, rows: Array, axes: int, mode: str) -> Array:
    flat = _row_numbers(xp, numbers_of(xp, places), x.shape[:axes])
    rest = x.shape[axes:]
    rows = xp.reshape(rows, (math.prod(flat.shape), *rest))
    return _put_flat(xp, x, xp.reshape(flat, (-1,)), rows, rest, mode)


@scatter_nd.padded
def _(
    xp: Arrays, true: TrueSizes, x: Array, places: Array, rows: Array, axes: int, mode: str
) -> Array:
    places, outside = _truly(xp, numbers_of(xp, places), true.of(0)[:axes])
    seen = true.mask(xp, 1, range(places.ndim - 1))
    if seen is not None:
        outside = outside | ~seen[..., 0]
    flat = _row_numbers(xp, places, x.shape[:axes])
    flat = xp.where(outside, math.prod(x.shape[:axes]), flat)
    rest = x.shape[axes:]
    rows = xp.reshape(rows, (math.prod(flat.shape), *rest))
    return _put_flat(xp, x, xp.reshape(flat, (-1,)), rows, rest, mode, beyond=True)


def _truly(xp: Arrays, places: Array, sizes: Sequence[Number]) -> tuple[Array, Array]:
    """Places in tensors of these sizes, negative ones counted from the end, and which of them are
    outside.
    """
    columns, outside = [], xp.zeros(places.shape[:-1], dtype=bool)
    for i, size in enumerate(sizes):
        place = xp.where(places[..., i] < 0, places[..., i] + size, places[..., i])
        outside = outside | (place < 0) | (place >= size)
        columns.append(place)
    return (xp.stack(columns, axis=-1) if columns else places), outside


@operator(Traits(padding=Padding(("b", "d*", "after*"), {"n": "anything"})))
def reverse_sequence(*, time: int = 0, batch: int = 1) -> Rule:
    """The beginning of each sequence in a batch the other way round, as far as a length tells.

    - `time`: the axis along which the sequences go; the outermost if not given.
    - `batch`: the axis of the batch.

    >>> reverse_sequence(x : f32 [s,b,d], lengths : i64 [b])
    f32 [s,b,d]
    """
    if time < 0 or batch < 0:
        return Problem("count the axes of reverse_sequence from the front")
    if problem := bad_axes((time, batch)):
        return problem
    shape = place((time, batch), ["n", "b"], tail="after")
    return f"(t {shape}, i [b]) -> t {shape} where i : int"


@reverse_sequence.means
def _(xp: Arrays, x: Array, lengths: Array, time: int, batch: int) -> Array:
    return xp.take_along_axis(x, _turned(xp, x, lengths, time, batch), axis=time)


@reverse_sequence.padded
def _(xp: Arrays, true: TrueSizes, x: Array, lengths: Array, time: int, batch: int) -> Array:
    """A length that is beyond the true end has its elements outside of the array."""
    source = _turned(xp, x, lengths, time, batch)
    source = xp.where(source < true.of(0)[time], source, x.shape[time])
    return xp.take_along_axis(x, source, axis=time)


def _turned(xp: Arrays, x: Array, lengths: Array, time: int, batch: int) -> Array:
    """Where each element comes from."""
    shape = [1] * x.ndim
    shape[batch] = x.shape[batch]
    length = xp.reshape(numbers_of(xp, lengths), tuple(shape))
    shape = [1] * x.ndim
    shape[time] = x.shape[time]
    number = xp.reshape(xp.arange(x.shape[time], dtype=length.dtype), tuple(shape))
    source = xp.where(number < length, length - 1 - number, number)
    return xp.broadcast_to(source, x.shape)
