"""A value of each row, for all rows at once.

    Rows       a tensor of each row: `values` with a dimension of rows before its own; or, where one
               size differs (its `place` in the shape), the elements along it end to end, in
               `segments`. The elements may be ragged themselves: then `values` are `Rows` of them.
    Grouped    rows of several sizes that differ: parts of the rows, those of one size together

Both look like an array to the meaning of an operator. (So do matrices in `tiles`.)
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy

from axon.backends.segments.frames import (
    Counts,
    Frame,
    Index,
    NotFlat,
    Segments,
    TooLarge,
    one_of,
)
from axon.ops.arrays import Array


class ByRow:
    """The operators of an array, for values of rows."""

    __slots__ = ()
    __array_ufunc__ = None
    frame: Frame

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        return self.frame.arrays.astype(self, dtype)

    def view(self, dtype: Any) -> Any:
        return self.frame.arrays.pointwise(lambda values: values.view(dtype), self)

    def reshape(self, *shape: Any) -> Any:
        sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape
        return self.frame.arrays.reshape(self, tuple(sizes))

    def __getitem__(self, index: Any) -> Any:
        return self.frame.arrays.sliced(self, index if isinstance(index, tuple) else (index,))

    def __getattr__(self, name: str) -> Any:
        raise NotFlat(_why(name))

    @property
    def T(self) -> Any:  # noqa: N802 (NumPy's name)
        return self.frame.arrays.transpose(self)

    def _refuse(self, *_: Any) -> Any:
        raise NotFlat("a value of a row is looked at")

    __len__ = __bool__ = __iter__ = __index__ = __int__ = __float__ = _refuse
    __array__ = __contains__ = _refuse

    def _do(self, how: Callable[..., Array], *args: Any) -> Any:
        return self.frame.arrays.pointwise(how, *args)

    def __add__(self, other: Any) -> Any:
        return self._do(operator.add, self, other)

    def __radd__(self, other: Any) -> Any:
        return self._do(operator.add, other, self)

    def __sub__(self, other: Any) -> Any:
        return self._do(operator.sub, self, other)

    def __rsub__(self, other: Any) -> Any:
        return self._do(operator.sub, other, self)

    def __mul__(self, other: Any) -> Any:
        return self._do(operator.mul, self, other)

    def __rmul__(self, other: Any) -> Any:
        return self._do(operator.mul, other, self)

    def __truediv__(self, other: Any) -> Any:
        return self._do(operator.truediv, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._do(operator.truediv, other, self)

    def __floordiv__(self, other: Any) -> Any:
        return self._do(operator.floordiv, self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._do(operator.floordiv, other, self)

    def __mod__(self, other: Any) -> Any:
        return self._do(operator.mod, self, other)

    def __rmod__(self, other: Any) -> Any:
        return self._do(operator.mod, other, self)

    def __pow__(self, other: Any) -> Any:
        return self._do(operator.pow, self, other)

    def __rpow__(self, other: Any) -> Any:
        return self._do(operator.pow, other, self)

    def __and__(self, other: Any) -> Any:
        return self._do(operator.and_, self, other)

    def __rand__(self, other: Any) -> Any:
        return self._do(operator.and_, other, self)

    def __or__(self, other: Any) -> Any:
        return self._do(operator.or_, self, other)

    def __ror__(self, other: Any) -> Any:
        return self._do(operator.or_, other, self)

    def __xor__(self, other: Any) -> Any:
        return self._do(operator.xor, self, other)

    def __rxor__(self, other: Any) -> Any:
        return self._do(operator.xor, other, self)

    def __lshift__(self, other: Any) -> Any:
        return self._do(operator.lshift, self, other)

    def __rlshift__(self, other: Any) -> Any:
        return self._do(operator.lshift, other, self)

    def __rshift__(self, other: Any) -> Any:
        return self._do(operator.rshift, self, other)

    def __rrshift__(self, other: Any) -> Any:
        return self._do(operator.rshift, other, self)

    def __lt__(self, other: Any) -> Any:
        return self._do(operator.lt, self, other)

    def __le__(self, other: Any) -> Any:
        return self._do(operator.le, self, other)

    def __gt__(self, other: Any) -> Any:
        return self._do(operator.gt, self, other)

    def __ge__(self, other: Any) -> Any:
        return self._do(operator.ge, self, other)

    def __eq__(self, other: object) -> Any:
        return self._do(operator.eq, self, other)

    def __ne__(self, other: object) -> Any:
        return self._do(operator.ne, self, other)

    def __neg__(self) -> Any:
        return self._do(operator.neg, self)

    def __invert__(self) -> Any:
        return self._do(operator.invert, self)

    def __abs__(self) -> Any:
        return self._do(operator.abs, self)

    __hash__ = object.__hash__


class Rows(ByRow):
    __slots__ = ("frame", "place", "segments", "values")

    def __init__(
        self, frame: Frame, values: Any, segments: Segments | None = None, place: int = 0
    ) -> None:
        self.frame = frame
        self.values = values
        self.segments = segments
        self.place = place

    # --- what a meaning asks ---

    @property
    def dtype(self) -> Any:
        return self.values.dtype

    @property
    def ndim(self) -> int:
        if isinstance(self.values, Rows):
            return self.values.ndim + 1
        rank: int = self.values.ndim
        return rank if self.segments is not None else rank - 1

    @property
    def shape(self) -> tuple[Any, ...]:
        inner = self.values.shape if isinstance(self.values, Rows) else self.values.shape[1:]
        if self.segments is None:
            return tuple(inner)
        count = self.segments.counts(self.frame)
        return (*inner[: self.place], count, *inner[self.place :])

    # --- what a meaning decides by ---

    def numbers(self) -> Any:
        """The number that each row has, on the host."""
        if self.segments is not None or self.values.ndim != 1:
            raise NotFlat("rows are used as numbers")
        if hasattr(self.frame.arrays.xp, "compiled"):
            raise NotFlat("a value of a row is looked at")
        return on_host(self.values)

    def __bool__(self) -> bool:
        return bool(one_of(self.frame, self.numbers() != 0))

    def __int__(self) -> int:
        return int(one_of(self.frame, self.numbers()))

    __index__ = __int__

    def __float__(self) -> float:
        return float(one_of(self.frame, self.numbers()))

    def __iter__(self) -> Iterator[Any]:
        first = self.shape[0] if self.ndim else None
        if type(first) is not int or hasattr(self.frame.arrays.xp, "compiled"):
            raise NotFlat("a value of a row is looked at")
        return (self[i] for i in range(first))

    @property
    def size(self) -> Any:
        total: Any = 1
        for size in self.shape:
            total = total * size
        return total


class Grouped:
    """Rows in parts: the numbers of the rows of each, and their values."""

    __slots__ = ("frame", "parts")
    __array_ufunc__ = None

    def __init__(self, frame: Frame, parts: Sequence[tuple[Index, Any]]) -> None:
        self.frame = frame
        self.parts = tuple(parts)

    @property
    def dtype(self) -> Any:
        return self.parts[0][1].dtype

    @property
    def ndim(self) -> int:
        rank: int = self.parts[0][1].ndim
        return rank

    @property
    def shape(self) -> tuple[Any, ...]:
        """The sizes of a row; those that differ between the parts are counted."""
        shapes = [part.shape for _, part in self.parts]
        if any(isinstance(size, Counts) for shape in shapes for size in shape):
            raise NotFlat("rows in parts that vary")
        return tuple(self._size(sizes) for sizes in zip(*shapes, strict=True))

    def _size(self, sizes: tuple[int, ...]) -> Any:
        if len(set(sizes)) == 1:
            return sizes[0]
        numbers = numpy.empty(self.frame.count, numpy.int64)
        for (members, _), size in zip(self.parts, sizes, strict=True):
            numbers[members] = size
        return Counts(self.frame, numbers)

    def __getattr__(self, name: str) -> Any:
        raise NotFlat(_why(name))

    def _refuse(self, *_: Any) -> Any:
        raise NotFlat("rows of several sizes that differ")

    __getitem__ = __len__ = __bool__ = __iter__ = __neg__ = __invert__ = __abs__ = _refuse
    __add__ = __sub__ = __mul__ = __truediv__ = __floordiv__ = __mod__ = __pow__ = _refuse
    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = __rpow__ = _refuse
    __and__ = __or__ = __xor__ = __lshift__ = __rshift__ = _refuse
    __rand__ = __ror__ = __rxor__ = __rlshift__ = __rrshift__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _refuse
    __hash__ = object.__hash__


def _why(name: str) -> str:
    """Why a value of rows has no such member; those of Python's protocols say nothing to a user."""
    return "a value of a row is looked at" if name.startswith("__") else f"`{name}` of rows"


def frame_of(value: Any) -> Frame | None:
    """The frame of what differs from row to row: of a tuple the one furthest in."""
    if isinstance(value, ByRow | Grouped | Counts):
        return value.frame
    if isinstance(value, tuple | list):
        return innermost(value)
    if isinstance(value, slice):
        return innermost((value.start, value.stop, value.step))
    return None


def innermost(values: Sequence[Any]) -> Frame | None:
    found: Frame | None = None
    for value in values:
        frame = frame_of(value)
        if frame is not None and (found is None or frame.depth > found.depth):
            found = frame
    return found


def by_row(value: Any) -> bool:
    """Whether something differs from row to row."""
    if isinstance(value, ByRow | Grouped | Counts):
        return True
    if isinstance(value, slice):
        value = (value.start, value.stop, value.step)
    return isinstance(value, tuple | list) and any(map(by_row, value))


def on_host(array: Array) -> Any:
    return array.detach().cpu().numpy() if hasattr(array, "detach") else numpy.asarray(array)


# --- elements and rows ---------------------------------------------------------------------------


def check_room(frame: Frame, count: int, sizes: Sequence[int], dtype: Any) -> None:
    """There must be room for an array; if there is none, the rows are taken in parts."""
    total = count * dtype.itemsize
    for size in sizes:
        total *= size
    if total > frame.arrays.xp.at_once() and frame.count > 1:
        raise TooLarge("an array of all rows")


def taken(xp: Any, values: Array, index: Any) -> Array:
    """`values[index]`, along the first dimension."""
    if hasattr(xp, "device"):
        return xp.picked(values, xp.asarray(index))
    if xp.library is numpy:
        return numpy.take(values, index, axis=0)
    return xp.library.take(values, getattr(index, "array", index), axis=0, mode="clip")


def enter(x: Rows) -> Rows:
    """The elements along the size that differs, as rows of their own."""
    if isinstance(x.values, Rows):
        return x.values
    assert x.segments is not None
    return Rows(x.segments.elements(x.frame), x.values)


def leave(frame: Frame, inner: Rows, segments: Segments, place: int) -> Rows:
    """The rows whose elements these are."""
    return Rows(frame, inner if inner.segments is not None else inner.values, segments, place)


def lift(x: Any, frame: Frame) -> Rows:
    """A value of the rows of an outer frame, for those of a frame further in."""
    if not isinstance(x, Rows):
        raise NotFlat("rows in parts, further in")
    if x.frame is frame:
        return x
    segments = frame.segments
    if segments is None or frame.parent is not x.frame or x.segments is not None:
        return pick(x, frame.rows_of(x.frame), frame)
    check_room(frame, segments.total, x.values.shape[1:], x.dtype)
    xp = frame.arrays.xp
    if not isinstance(x.values, numpy.ndarray):
        return Rows(frame, taken(xp, x.values, segments.placed(xp, "ids")))
    return Rows(frame, numpy.repeat(x.values, segments.lengths, axis=0))


def rows_of(x: Any, frame: Frame) -> Rows:
    """A value as one of each row of a frame."""
    if isinstance(x, Rows):
        return lift(x, frame)
    if by_row(x) or not hasattr(x, "dtype") or not hasattr(x, "reshape"):
        raise NotFlat("something else than the elements of rows")
    xp = frame.arrays.xp
    check_room(frame, frame.count, x.shape, x.dtype)
    return Rows(frame, xp.broadcast_to(x, (frame.count, *x.shape)))


def pick(x: Rows, chosen: Index, frame: Frame) -> Rows:
    """Some rows, as those of another frame."""
    xp = frame.arrays.xp
    if x.segments is None:
        check_room(frame, len(chosen), x.values.shape[1:], x.dtype)
        return Rows(frame, taken(xp, x.values, chosen))
    lengths = x.segments.lengths[chosen]
    segments = Segments.of_lengths(lengths)
    index = segments.within + numpy.repeat(x.segments.starts[chosen], lengths)
    if isinstance(x.values, Rows):
        inner = pick(x.values, index, segments.elements(frame))
        return leave(frame, inner, segments, x.place)
    check_room(frame, len(index), x.values.shape[1:], x.dtype)
    return Rows(frame, taken(xp, x.values, index), segments, x.place)
