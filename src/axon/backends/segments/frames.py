"""The rows that a function is applied to all at once, and the sizes that differ between them.

A `Frame` numbers the rows. Inside a function of rows another may go through the elements of each:
then these are a frame of their own, and know which row they are of. A size that every row has is
an integer, one that differs is `Counts`: a number for each row of a frame. What a meaning decides
by such a size must be the same for all rows; where it is not, the rows are parted (`Parted`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from operator import add, eq, floordiv, ge, gt, le, lt, mul, ne, sub
from typing import Any

import numpy

from axon.backends.row_facts import RowFacts

Index = numpy.ndarray[Any, numpy.dtype[numpy.int64]]

NO_NUMBER = "a size that differs from row to row is used as a number"

TOO_LARGE = "a size that is too large"

MOST = 1 << 60
"""With sizes up to this integers of 64 bits can be added up and subtracted."""

LEAST_TILE, MOST_TILE = 8, 128

FEW = 4
"""Rows are parted by values if a part has about so many rows, or if there are no more parts."""


class NotFlat(Exception):
    """There is no form for all rows at once."""


class TooLarge(NotFlat):
    """A value of all rows would take more memory than one should at a time."""


class InParts(NotFlat):
    """A value in which several sizes differ: rows of equal sizes go through the function together,
    and not through one operator after the other, so that what is computed stays near.
    """


class Unrelated(NotFlat):
    """Values of rows of two frames, of which neither is inside the other."""

    def __init__(self, one: Frame, other: Frame) -> None:
        super().__init__("values of unrelated rows")
        self.frames = (one, other)


class Parted(NotFlat):
    """Rows for which a meaning decides in different ways: `labels` says which they are."""

    def __init__(self, frame: Frame, labels: Any) -> None:
        super().__init__("a size decides, and not in all rows in the same way")
        self.frame = frame
        self.labels = labels


def _most(numbers: Any) -> int:
    """The largest of some sizes, if they are known."""
    if isinstance(numbers, int):
        return abs(numbers)
    return int(numpy.abs(numbers).max(initial=0)) if isinstance(numbers, numpy.ndarray) else 0


def one_of(frame: Frame, answers: Any) -> Any:
    """What a meaning decides by a value of each row: that of all of them. Rows of few values are
    parted by these.
    """
    if not len(answers):
        raise NotFlat("there are no rows to decide by")
    if (answers == answers[0]).all():
        return answers[0]
    found, which = numpy.unique(answers, return_inverse=True)  # a NaN is like another
    if len(found) == 1:
        return answers[0]
    if len(found) > max(FEW, len(answers) // FEW):
        raise NotFlat("values of rows decide, and most rows have others")
    raise Parted(frame, which)


class Frame:
    """So many rows, with the namespace of their arrays. As the elements of the rows of another
    frame each knows its row there. `undivided` rows may be parted before they come to a function.
    Matrices of them may be cut into tiles (see `tiles`) if there is a list for how they are. What
    is `assumed` is how something is decided that is not the same for all rows. Rows that are
    `whole` must not go in groups of equal size, nor one by one.
    """

    __slots__ = (
        "arrays", "assumed", "count", "depth", "parent", "rows", "segments", "tilings", "undivided",
        "whole",
    )  # fmt: skip

    def __init__(
        self,
        arrays: Any,
        count: int,
        parent: Frame | None = None,
        rows: Index | None = None,
        segments: Segments | None = None,
        undivided: bool = False,
        tilings: list[Any] | None = None,
        whole: bool = False,
    ) -> None:
        self.whole: bool = whole or (parent is not None and parent.whole)
        self.undivided = undivided
        self.tilings = tilings
        self.arrays = arrays
        self.count = count
        self.parent = parent
        self.rows = rows
        self.segments = segments
        self.assumed: list[tuple[Any, bool]] = []
        self.depth: int = 0 if parent is None else parent.depth + 1

    def rows_of(self, outer: Frame) -> Index:
        """For each row of this frame the one of an outer frame that it is in."""
        rows = self.segments.ids if self.segments is not None else self.rows
        if not self.within(outer) or self.parent is None or rows is None:
            raise Unrelated(self, outer)
        return rows if self.parent is outer else self.parent.rows_of(outer)[rows]

    def within(self, outer: Frame) -> bool:
        """Whether its rows are inside those of another frame."""
        return self.parent is not None and (self.parent is outer or self.parent.within(outer))


class Segments:
    """Where rows that are stored end to end start and end."""

    traced = False
    """Whether they are known only when a compiled program runs."""

    def __init__(self, offsets: Index, facts: RowFacts | None = None) -> None:
        self.offsets = offsets
        self.facts = RowFacts() if facts is None else facts
        self.count = len(offsets) - 1
        self.total = int(offsets[-1])
        self._placed: dict[tuple[int, str], Any] = {}
        self._frames: dict[int, Frame] = {}
        self._counts: dict[int, Counts] = {}

    @staticmethod
    def of_lengths(lengths: Any) -> Segments:
        if not isinstance(lengths, numpy.ndarray):
            traced: Segments = lengths.rows()
            return traced
        offsets = numpy.zeros(len(lengths) + 1, numpy.int64)
        numpy.cumsum(lengths, out=offsets[1:])
        return Segments(offsets)

    @staticmethod
    def even(count: int, length: int) -> Segments:
        return Segments(numpy.arange(count + 1, dtype=numpy.int64) * length)

    def times(self, number: int) -> Segments:
        """Rows with so many elements for each of these."""
        return Segments(self.offsets * number)

    @cached_property
    def lengths(self) -> Index:
        return self.facts.lengths(self.offsets)

    @property
    def starts(self) -> Index:
        return self.offsets[:-1]

    @cached_property
    def ids(self) -> Index:
        """The row of each element."""
        return numpy.repeat(numpy.arange(self.count), self.lengths)

    @cached_property
    def within(self) -> Index:
        """The place of each element in its row."""
        return numpy.arange(self.total) - numpy.repeat(self.starts, self.lengths)

    @cached_property
    def any_empty(self) -> bool:
        return bool((self.lengths == 0).any())

    @cached_property
    def longest(self) -> int:
        """At least as many elements as every row has."""
        return int(self.lengths.max(initial=0))

    def is_level(self, times: int) -> bool:
        """Whether there is an element in one of so many places, were all rows as long as the
        longest.
        """
        return self.longest * self.count <= times * max(self.total, 1)

    def settle(self) -> None:
        """Compute what there is to know, before it is asked for in a part of a program."""

    def near(self) -> int:
        """A size of tiles of which rows have a few, in a row that most elements are in."""
        usual = int((self.lengths**2).sum()) // max(self.total, 1)
        return min(max(1 << (usual // 4).bit_length() >> 1, LEAST_TILE), MOST_TILE)

    def chunks(self, size: int) -> int:
        """How many chunks of a size all rows have."""
        return int((-(-self.lengths // size)).sum())

    def tiles(self, other: Segments, size: int) -> int:
        """How many tiles the matrices of these and those have."""
        return int((-(-self.lengths // size) * -(-other.lengths // size)).sum())

    def placed(self, xp: Any, name: str) -> Any:
        """One of the arrays above where the values are."""
        if not hasattr(xp, "device"):
            return getattr(self, name)
        found = self._placed.get((id(xp), name))
        if found is None:
            found = self._placed[id(xp), name] = self._derived(xp, name)
        return found

    def _derived(self, xp: Any, name: str) -> Any:
        """Only the offsets are brought to a device; all else is computed there."""
        match name:
            case "offsets":
                return self.facts.placed(xp, self.offsets)
            case "starts":
                return self.placed(xp, "offsets")[:-1]
            case "lengths":
                return self.placed(xp, "offsets").diff()
            case "ids":
                return xp.spread(None, self.placed(xp, "lengths"), self.total)
            case _:
                assert name == "within"
                first = xp.spread(self.placed(xp, "starts"), self.placed(xp, "lengths"), self.total)
                return xp.arange(self.total) - first

    def elements(self, frame: Frame) -> Frame:
        """The elements of all rows, as rows of their own."""
        found = self._frames.get(id(frame))
        if found is None or found.parent is not frame:
            found = self._frames[id(frame)] = Frame(frame.arrays, self.total, frame, segments=self)
        return found

    def counts(self, frame: Frame) -> Counts:
        """The size of each row."""
        found = self._counts.get(id(frame))
        if found is None or found.frame is not frame:
            found = self._counts[id(frame)] = Counts(frame, self.lengths, self)
        return found

    def same(self, other: Segments) -> bool:
        return (
            self is other
            or self.offsets is other.offsets
            or bool(numpy.array_equal(self.offsets, other.offsets))
        )


class Counts:
    """A size of each row."""

    __slots__ = ("frame", "numbers", "segments")
    __array_ufunc__ = None

    def __init__(self, frame: Frame, numbers: Index, segments: Segments | None = None) -> None:
        self.frame = frame
        self.numbers = numbers
        self.segments = segments

    def into(self, frame: Frame) -> Counts:
        """The same for the rows of a frame further in."""
        if frame is self.frame:
            return self
        return Counts(frame, self.numbers[frame.rows_of(self.frame)])

    def rows(self) -> Segments:
        """Rows of these sizes."""
        if (self.numbers < 0).any():
            raise NotFlat("a size below zero")
        if _most(self.numbers) * self.frame.count > MOST:
            raise NotFlat(TOO_LARGE)
        if self.segments is None:
            self.segments = Segments.of_lengths(self.numbers)
        return self.segments

    def one(self, frame: Frame) -> int:
        """The size, where it must be one for all rows."""
        return int(one_of(frame, self.into(frame).numbers))

    def same(self, other: Any) -> bool:
        """Whether a size is this one in all rows."""
        if isinstance(other, Counts):
            if self.frame is not other.frame:
                return False
            return self is other or bool(numpy.array_equal(self.numbers, other.numbers))
        return False

    def made(self, how: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
        frame = self.frame
        for each in (left, right):
            if isinstance(each, Counts):
                frame = each.frame if each.frame.depth > frame.depth else frame
            elif hasattr(each, "frame"):  # it has the operator too
                return NotImplemented
            elif hasattr(each, "dtype"):
                return frame.arrays.pointwise(how, left, right)
            elif type(each) is not int:
                raise NotFlat("a size that differs, and a number that is none")
        a, b = (x.into(frame).numbers if isinstance(x, Counts) else x for x in (left, right))
        if how is mul and _most(a) * _most(b) > MOST:
            raise NotFlat(TOO_LARGE)
        return Counts(frame, how(a, b))

    def __add__(self, other: Any) -> Any:
        return self if type(other) is int and other == 0 else self.made(add, self, other)

    def __radd__(self, other: Any) -> Any:
        return self if type(other) is int and other == 0 else self.made(add, other, self)

    def __sub__(self, other: Any) -> Any:
        return self.made(sub, self, other)

    def __rsub__(self, other: Any) -> Any:
        return self.made(sub, other, self)

    def __mul__(self, other: Any) -> Any:
        return self if type(other) is int and other == 1 else self.made(mul, self, other)

    def __rmul__(self, other: Any) -> Any:
        return self if type(other) is int and other == 1 else self.made(mul, other, self)

    def __floordiv__(self, other: Any) -> Any:
        return self._divided(self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._divided(other, self)

    def _divided(self, left: Any, right: Any) -> Any:
        numbers = right.numbers if isinstance(right, Counts) else right
        if not hasattr(numbers, "dtype"):
            numbers = numpy.asarray(numbers)
        if (numbers == 0).any():
            raise NotFlat("a size is divided by zero")
        return self.made(floordiv, left, right)

    def __neg__(self) -> Counts:
        return Counts(self.frame, -self.numbers)

    def _decided(self, how: Callable[[Any, Any], Any], other: Any) -> bool:
        if isinstance(other, Counts) and other.frame is not self.frame:
            raise NotFlat("sizes of different rows are compared")
        if not isinstance(other, Counts | int):
            raise NotFlat("a size is compared with something else")
        found = how(self.numbers, other.numbers if isinstance(other, Counts) else other)
        if not len(found):
            raise NotFlat("there are no rows to decide by")
        if found.all():
            return True
        if found.any():
            for labels, answer in self.frame.assumed:
                if (labels == found).all():
                    return answer
            raise Parted(self.frame, found)
        return False

    def __eq__(self, other: object) -> bool:
        return self is other or self._decided(eq, other)

    def __ne__(self, other: object) -> bool:
        return self is not other and self._decided(ne, other)

    def __lt__(self, other: Any) -> bool:
        return self._decided(lt, other)

    def __le__(self, other: Any) -> bool:
        return self._decided(le, other)

    def __gt__(self, other: Any) -> bool:
        return self._decided(gt, other)

    def __ge__(self, other: Any) -> bool:
        return self._decided(ge, other)

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        return self._decided(ne, 0)

    def __index__(self) -> int:
        raise NotFlat(NO_NUMBER)

    __int__ = __index__

    def __float__(self) -> float:
        raise NotFlat(NO_NUMBER)

    def _refuse(self, other: Any) -> Any:
        """What is computed with sizes only where they are numbers."""
        if hasattr(other, "frame") and not isinstance(other, Counts):
            return NotImplemented  # it has the operator
        raise NotFlat(NO_NUMBER)

    __mod__ = __rmod__ = __truediv__ = __rtruediv__ = __pow__ = __rpow__ = _refuse
