"""A function of rows, compiled for many lists of rows (see `traced_sizes`): their elements are
filled up to a bucket, and so are the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from axon.backends import numpy_arrays
from axon.backends.checks import CheckFailed
from axon.backends.failures import is_expected
from axon.backends.ragged import Ragged, Row, part
from axon.backends.ragged_bucket import InBucket, filled, front
from axon.backends.ragged_host import host, namespace, put
from axon.backends.row_levels import which
from axon.backends.segments.frames import Frame, NotFlat, Segments, TooLarge
from axon.backends.segments.mapping import joined, stored
from axon.backends.segments.namespace import flat_arrays
from axon.backends.segments.rows import Rows, leave, rows_of
from axon.backends.segments.traced_sizes import (
    Given,
    Question,
    Trace,
    TracedSegments,
    bucket,
    room,
)
from axon.ops.arrays import Array, Value
from axon.ops.levels import LevelTree

MOST_VERSIONS = 256
"""How many programs are kept of one function."""

MOST_TRIED = 2
"""Of how many lists of rows in vain before others are not tried."""

UNKNOWN = "it needs what is not known when it is compiled"

FAILS = "a condition on sizes does not hold in some row"

HOST: Any = numpy_arrays.ARRAYS

Place = tuple[int, ...]
"""Of a tensor which of the lists of row sizes it has, the outermost first; `()` of an array."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that the sizes of a call answer, and what there is for each answer."""

    question: Question
    answers: dict[Hashable, Any]


@dataclass(frozen=True, slots=True)
class Cannot:
    """Why there is no program: perhaps only because there are too many rows at once."""

    why: str
    large: bool

    def problem(self) -> Exception:
        return TooLarge(self.why) if self.large else NotFlat(self.why)


class Program:
    """What was compiled, and how its results are stored: how each is cut out of what it made."""

    def __init__(self, whole: Compiled, tiled: bool) -> None:
        self.whole = whole
        self.tiled = tiled
        self.run = whole.flat.xp.compiled(self._traced)
        self.trace = Trace(whole.flat.xp, Given((), 0))
        self.frame: Frame | None = None
        self.made: Any = None

    def __call__(self, given: Given, arrays: Any) -> Value:
        self.trace.given = given
        made = self.run(*arrays)
        return _stored(made, self.made, self.whole.levels, given)

    def _traced(self, values: Any, tensors: Any, offsets: Any) -> Any:
        whole, trace = self.whole, self.trace
        trace.asked.clear()
        trace.segments.clear()
        lists = [TracedSegments(trace, each, _given_list(i)) for i, each in enumerate(offsets)]
        count = next(
            tensor.shape[0] if not place else lists[place[0]].count
            for tensor, place in zip(tensors, whole.places, strict=True)
        )
        self.frame = frame = Frame(whole.flat, count, tilings=[] if self.tiled else None)
        rows = [
            _as_rows(frame, tensor, [lists[i] for i in place])
            for tensor, place in zip(tensors, whole.places, strict=True)
        ]
        arrays, self.made = _results(whole.function(*values, *rows), frame)
        self.frame = None
        trace.segments.clear()
        return arrays


class Compiled:
    """A function of some values and of rows, compiled for the buckets that calls fall into."""

    def __init__(
        self,
        function: Callable[..., Value],
        xp: Any,
        places: Sequence[Place],
        levels: LevelTree,
    ) -> None:
        self.function = function
        self.places = tuple(places)
        self.levels = levels
        self.flat = flat_arrays(xp)
        self.programs: dict[Hashable, Any] = {}
        self.count = 0
        self.works = False
        self.failed: list[Cannot] = []
        """Why there is no program, as long as there is none."""

    def __call__(self, values: Sequence[Value], tensors: Sequence[Row]) -> Value:
        """The results for all rows. Where there is no program the exception says why."""
        if len(self.failed) >= MOST_TRIED:
            raise self.failed[-1].problem()
        given = Given(_lists(tensors, self.places), len(tensors[0]))
        arrays = self._arrays(values, tensors, given)
        key, answers = _kinds(arrays), self.programs
        while isinstance(found := answers.get(key), Asked):
            key, answers = found.question(given), found.answers
        if found is None:
            return self._compiled(given, arrays)
        if isinstance(found, Cannot):
            raise found.problem()
        made: Value = found(given, arrays)
        return made

    def _arrays(self, values: Sequence[Value], tensors: Sequence[Row], given: Given) -> Any:
        count = bucket(len(tensors[0]))
        offsets: list[Array] = []
        for place in self.places:
            for depth, number in enumerate(place):
                if number == len(offsets):
                    outer = count if not depth else room(given.lists[place[depth - 1]])
                    own = given.lists[number].offsets
                    offsets.append(filled(own, outer + 1, int(own[-1])))
        leaves = [
            filled(_leaf(tensor), room(given.lists[place[-1]]) if place else count)
            for place, tensor in zip(self.places, tensors, strict=True)
        ]
        return tuple(values), tuple(leaves), tuple(offsets)

    def _compiled(self, given: Given, arrays: Any) -> Value:
        """With matrices in tiles; if the function makes of them what they are not tiled for,
        without.
        """
        asked: list[tuple[Question, Hashable]] = []
        for tiled in (True, False):
            program = Program(self, tiled)
            try:
                made = program(given, arrays)
            except Exception as problem:
                was_traced = program.frame is None
                if was_traced or not is_expected(problem, self.flat.xp):
                    raise
                asked += program.trace.asked
                large = isinstance(problem, TooLarge)
                assert program.frame is not None
                if not program.frame.tilings or large:
                    why = str(problem) if isinstance(problem, NotFlat) else UNKNOWN
                    why = FAILS if isinstance(problem, CheckFailed) else why
                    found = Cannot(why, large)
                    self._keep(_kinds(arrays), asked, found)
                    raise found.problem() from None
                continue
            self._keep(_kinds(arrays), [*asked, *program.trace.asked], program)
            return made
        raise AssertionError("the last of them returns or raises")

    def _keep(
        self, key: Hashable, asked: Sequence[tuple[Question, Hashable]], found: Program | Cannot
    ) -> None:
        self.count += 1
        if self.count > MOST_VERSIONS:
            self.programs.clear()
            self.count = 1
        answers = self.programs
        for question, answer in asked:
            node = answers.get(key)
            if not isinstance(node, Asked):
                node = answers[key] = Asked(question, {})
            key, answers = answer, node.answers
        answers[key] = found
        if isinstance(found, Program):
            self.failed, self.works = [], True
        elif not self.works and not found.large and found.why != FAILS:
            self.failed.append(found)


def in_halves(function: Compiled, values: Sequence[Value], tensors: Sequence[Row]) -> Value:
    """On all rows; where that takes too much room at once, on one half after the other."""
    try:
        return function(values, tensors)
    except TooLarge:
        count = len(tensors[0])
        if count < 2:
            raise
    halves = [
        in_halves(function, values, [part(tensor, first, last) for tensor in tensors])
        for first, last in ((0, count // 2), (count // 2, count))
    ]
    return joined(halves)


# --- what goes in --------------------------------------------------------------------------------


def places_of(tensors: Sequence[Row]) -> tuple[Place, ...] | None:
    """Which of the tensors have the same rows; None if nothing varies, or some rows are not stored
    end to end.
    """
    known: list[tuple[Place, Any]] = []
    found: list[Place] = []
    for tensor in tensors:
        place: Place = ()
        while isinstance(tensor, Ragged):
            if tensor.offsets is None:
                return None
            place = (*place, _number(known, place, tensor.offsets))
            tensor = tensor.stored
        found.append(place)
    return tuple(found) if known else None


def _number(known: list[tuple[Place, Any]], outer: Place, offsets: Any) -> int:
    for number, (around, other) in enumerate(known):
        if around == outer and (other is offsets or numpy.array_equal(other, offsets)):
            return number
    known.append((outer, offsets))
    return len(known) - 1


def _lists(tensors: Sequence[Row], places: Sequence[Place]) -> list[Segments]:
    """The row sizes of the tensors, each list once."""
    lists: list[Segments] = []
    for tensor, place in zip(tensors, places, strict=True):
        for number in place:
            if number == len(lists):
                lists.append(Segments(tensor.offsets, tensor.facts))
            tensor = tensor.stored
    return lists


def _leaf(tensor: Row) -> Array:
    while isinstance(tensor, Ragged):
        tensor = tensor.stored
    return tensor


def _kinds(value: Any) -> Any:
    """What a compiler tells apart."""
    if isinstance(value, tuple):
        return tuple(map(_kinds, value))
    return (value.shape, value.dtype) if hasattr(value, "shape") else type(value)


def _given_list(number: int) -> Callable[[Given], Segments]:
    return lambda given: given.lists[number]


def _as_rows(frame: Frame, array: Array, lists: Sequence[TracedSegments]) -> Rows:
    if not lists:
        return Rows(frame, array)
    if len(lists) == 1:
        return Rows(frame, array, lists[0])
    return leave(frame, _as_rows(lists[0].elements(frame), array, lists[1:]), lists[0], 0)


# --- what comes out ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Made:
    """How an array holds a value of rows: `Rows` without the array."""

    segments: Callable[[Given], Segments] | None
    place: int = 0
    inner: Made | None = None


def _results(value: Value, frame: Frame) -> tuple[Any, Any]:
    """The arrays of a result, and what they hold."""
    if isinstance(value, tuple):
        parts = [_results(part, frame) for part in value]
        return tuple(array for array, _ in parts), tuple(made for _, made in parts)
    return _taken_apart(rows_of(value, frame), lambda given: given.count)


def _taken_apart(x: Rows, count: Callable[[Given], int]) -> tuple[Array, Made]:
    if x.segments is None:
        return x.values, Made(None)
    known = _known(x.segments, count)
    if not isinstance(x.values, Rows):
        return x.values, Made(known, x.place)
    array, inner = _taken_apart(x.values, lambda given: given.of(known).total)
    return array, Made(known, x.place, inner)


def _known(segments: Segments, count: Callable[[Given], int]) -> Callable[[Given], Segments]:
    if isinstance(segments, TracedSegments):
        return segments.known
    offsets = segments.offsets
    return lambda given: Segments(offsets[: count(given) + 1])


def _stored(array: Any, made: Any, levels: LevelTree, given: Given) -> Value:
    """A result as its levels ask for; what is not simply end to end is put together on the host."""
    if isinstance(made, tuple):
        assert isinstance(levels, list)
        return tuple(
            _stored(a, m, part, given) for a, m, part in zip(array, made, levels, strict=True)
        )
    varying = which(levels)
    if made.segments is None and varying is None:
        return front(array, given.count)
    plain = varying is not None and varying.sizes[0] and not any(varying.sizes[1:])
    if plain and made.segments is not None and not made.place and made.inner is None:
        return InBucket(array, given.of(made.segments).offsets)
    frame = Frame(flat_arrays(HOST), given.count)
    result = stored(frame, _rows(host(array), made, given, frame), levels)
    return _put(result, namespace(array))


def _rows(array: Any, made: Made, given: Given, frame: Frame) -> Rows:
    if made.segments is None:
        return Rows(frame, array[: frame.count])
    segments = given.of(made.segments)
    if made.inner is None:
        return Rows(frame, array[: segments.total], segments, made.place)
    inner = _rows(array, made.inner, given, segments.elements(frame))
    return Rows(frame, inner, segments, made.place)


def _put(value: Value, xp: Any) -> Value:
    if isinstance(value, tuple):
        return tuple(_put(part, xp) for part in value)
    return value.put(xp) if isinstance(value, Ragged) else put(xp, value)
