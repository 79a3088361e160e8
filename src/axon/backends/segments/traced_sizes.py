"""Sizes of rows while a program is traced for a compiler.

Where rows begin is an argument of the compiled program, so that one program does for many lists of
rows. What is computed from that is computed twice: in the program, and on the host for the rows of
a call, if a shape or a decision hangs on it. Such a question (how many tiles are there? is a row
empty?) is put to the rows of the call that is traced, and the program is one for calls with the
same answers. So answers are rough: a size is rounded up to one of a few.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import Any

import numpy
from numpy.lib.mixins import NDArrayOperatorsMixin

from axon.backends.segments.frames import NotFlat, Segments

LEAST = 64

STEPS = 4
"""How many sizes there are from one power of two to the next."""


def bucket(size: int) -> int:
    """A size that is as large, one of a few."""
    power = 1 << max(size - 1, 7).bit_length()
    step = power // (2 * STEPS)
    return -(-size // step) * step


def room(segments: Segments) -> int:
    """For how many elements there is room: for one more than there are."""
    return max(LEAST, bucket(segments.total + 1))


class Given:
    """So many rows of a call, their sizes as lists of segments, and what was found about them."""

    def __init__(self, lists: Sequence[Segments], count: int) -> None:
        self.lists = lists
        self.count = count
        self._found: dict[Any, Any] = {}

    def of(self, known: Callable[[Given], Any]) -> Any:
        if known not in self._found:
            self._found[known] = known(self)
        return self._found[known]


Known = Callable[[Given], Any]
"""What something is on the host. It refers to no traced array."""

Question = Callable[[Given], Hashable]


class Trace:
    """A function that is being traced: the rows of the call, and what was asked about them."""

    def __init__(self, xp: Any, given: Given) -> None:
        self.xp = xp
        self.given = given
        self.asked: list[tuple[Question, Hashable]] = []
        self.segments: list[TracedSegments] = []

    def ask(self, question: Question) -> Any:
        answer = question(self.given)
        self.asked.append((question, answer))
        return answer


class Traced(NDArrayOperatorsMixin):
    """Integers, or truth values, about rows: traced as `array`, on the host as `known` says. There
    may be more rows in the program than in a call; they stand last.
    """

    __slots__ = ("array", "known", "segments", "trace")

    def __init__(self, trace: Trace, array: Any, known: Known) -> None:
        self.trace = trace
        self.array = array
        self.known = known
        self.segments: TracedSegments | None = None
        """Rows of these sizes, once they were asked for."""

    def __jax_array__(self) -> Any:
        return self.array

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.array.shape)

    @property
    def ndim(self) -> int:
        rank: int = self.array.ndim
        return rank

    @property
    def dtype(self) -> Any:
        return self.array.dtype

    def __len__(self) -> int:
        return len(self.array)

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise NotFlat("sizes that are known when the program runs")

    __iter__ = __array__

    # --- what is computed with them ---

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
        if method != "__call__" or named:
            raise NotFlat(f"{ufunc.__name__} of sizes, traced")
        return self._made(getattr(self.trace.xp, ufunc.__name__), ufunc, *inputs)

    def __array_function__(self, function: Any, _: Any, args: Any, named: Any) -> Any:
        if named or function not in FUNCTIONS:
            raise NotFlat(f"{function.__name__} of sizes, traced")
        if function is numpy.repeat:
            return _repeated(*args)
        if function is numpy.array_equal:
            return len(args[0]) == len(args[1]) and bool((args[0] == args[1]).all())
        return self._made(getattr(self.trace.xp, function.__name__), function, *args)

    def _made(self, traced: Any, usual: Any, *inputs: Any) -> Any:
        arrays = [raw(x) for x in inputs]
        if not all(isinstance(x, Traced | numpy.ndarray | numpy.generic | int) for x in inputs):
            return traced(*arrays)  # they are beside values
        parts = [known_of(x) for x in inputs]

        def known(given: Given) -> Any:
            return usual(*as_long([part(given) for part in parts]))

        return Traced(self.trace, traced(*arrays), known)

    def __getitem__(self, index: Any) -> Traced:
        own, other = self.known, known_of(index)
        return Traced(self.trace, self.array[raw(index)], lambda given: given.of(own)[other(given)])

    def reshape(self, *shape: Any) -> Any:
        return self.array.reshape(*shape)

    # --- what is decided by them ---

    def all(self, axis: None = None, out: None = None) -> bool:
        own = self.known
        return bool(self.trace.ask(lambda given: bool(given.of(own).all())))

    def any(self, axis: None = None, out: None = None) -> bool:
        own = self.known
        return bool(self.trace.ask(lambda given: bool(given.of(own).any())))

    def __bool__(self) -> bool:
        if self.ndim:
            raise NotFlat("sizes as one truth value")
        return self.all()

    def __int__(self) -> int:
        own = self.known
        return int(self.trace.ask(lambda given: int(given.of(own))))

    def rows(self) -> TracedSegments:
        """Rows of these sizes."""
        if self.segments is None:
            own = self.known
            total = self.array.cumsum(0)
            offsets = self.trace.xp.concatenate([total[:1] * 0, total])
            self.segments = TracedSegments(
                self.trace, offsets, lambda given: Segments.of_lengths(given.of(own))
            )
        return self.segments


def raw(x: Any) -> Any:
    """The array that is traced."""
    return x.array if isinstance(x, Traced) else x


def known_of(x: Any) -> Known:
    if isinstance(x, Traced):
        own = x.known
        return lambda given: given.of(own)
    return lambda _: x


def as_long(parts: Sequence[Any]) -> list[Any]:
    """What stands beside numbers of rows, for as many rows as there truly are."""
    arrays = [part for part in parts if isinstance(part, numpy.ndarray) and part.ndim]
    count = min(map(len, arrays), default=0)
    return [
        part[:count] if isinstance(part, numpy.ndarray) and part.ndim else part for part in parts
    ]


def _repeated(x: Any, counts: Any) -> Traced:
    """Each so many times: what the elements of rows have in common."""
    segments = Segments.of_lengths(counts)
    trace, own, times = (
        (x if isinstance(x, Traced) else counts).trace,
        known_of(x),
        known_of(counts),
    )
    ids = segments.placed(trace.xp, "ids")
    array = trace.xp.take(raw(x), ids, axis=0, mode="clip")
    return Traced(trace, array, lambda given: numpy.repeat(*as_long([own(given), times(given)])))


FUNCTIONS = frozenset({numpy.array_equal, numpy.clip, numpy.repeat})


class TracedSegments(Segments):
    """Rows end to end, and then elements of no row, which have a number behind that of all rows."""

    traced = True

    def __init__(
        self,
        trace: Trace,
        offsets: Any,
        known: Callable[[Given], Segments],
        total: int | None = None,
    ) -> None:
        """There is room for `total` elements, or for as many as there may be."""
        self.trace = trace
        self.known = known
        self.count = int(offsets.shape[0]) - 1
        if total is None:
            total = int(trace.ask(lambda given: room(given.of(known))))
        self.total = total
        trace.segments.append(self)
        self.offsets: Any = Traced(trace, offsets, lambda given: given.of(known).offsets)
        self._placed, self._frames, self._counts = {}, {}, {}

    def _ask(self, question: Callable[[Segments], Hashable]) -> Any:
        known = self.known
        return self.trace.ask(lambda given: question(given.of(known)))

    def placed(self, xp: Any, name: str) -> Any:
        return getattr(self, name).array

    def times(self, number: int) -> Segments:
        known, offsets = self.known, self.offsets.array * number
        total = self.total * number
        return TracedSegments(
            self.trace, offsets, lambda given: given.of(known).times(number), total
        )

    @cached_property
    def lengths(self) -> Any:
        known, ends = self.known, self.offsets.array
        made = Traced(self.trace, ends[1:] - ends[:-1], lambda given: given.of(known).lengths)
        made.segments = self
        return made

    @property
    def starts(self) -> Any:
        return self.offsets[:-1]

    @cached_property
    def ids(self) -> Any:
        known = self.known
        array = self.trace.xp.ids(self.offsets.array, self.total)
        return Traced(self.trace, array, lambda given: given.of(known).ids)

    @cached_property
    def within(self) -> Any:
        known, xp = self.known, self.trace.xp
        first = xp.take(self.offsets.array, self.ids.array, mode="clip")
        array = xp.arange(self.total, dtype=first.dtype) - first
        return Traced(self.trace, array, lambda given: given.of(known).within)

    @cached_property
    def any_empty(self) -> bool:
        return bool(self._ask(lambda segments: segments.any_empty))

    @cached_property
    def longest(self) -> int:
        return int(self._ask(lambda segments: 1 << max(segments.longest - 1, 0).bit_length()))

    def is_level(self, times: int) -> bool:
        return bool(self._ask(lambda segments: segments.is_level(times)))

    def settle(self) -> None:
        for each in self.trace.segments:
            _ = each.ids, each.within, each.lengths

    def near(self) -> int:
        return int(self._ask(lambda segments: segments.near()))

    def chunks(self, size: int) -> int:
        return int(self._ask(lambda segments: bucket(segments.chunks(size))))

    def tiles(self, other: Segments, size: int) -> int:
        return int(self._asked_with(other, lambda own, beside: bucket(own.tiles(beside, size))))

    def same(self, other: Segments) -> bool:
        if self is other:
            return True
        return bool(self._asked_with(other, lambda own, beside: own.same(beside)))

    def _asked_with(
        self, other: Segments, question: Callable[[Segments, Segments], Hashable]
    ) -> Any:
        """About these rows and others; what has no rows of its own is as long as these are."""
        known = self.known
        if isinstance(other, TracedSegments):
            beside = other.known
            return self.trace.ask(lambda given: question(given.of(known), given.of(beside)))
        offsets = other.offsets

        def asked(given: Given) -> Hashable:
            own = given.of(known)
            return question(own, Segments(offsets[: own.count + 1]))

        return self.trace.ask(asked)
