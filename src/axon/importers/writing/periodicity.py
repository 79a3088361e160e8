"""LayerRun of a sequence that come again right after themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy

SHORTEST = 3
LEAST_SAVED = 4
MOST_PERIODS = 64


@dataclass(frozen=True, slots=True)
class Repeat:
    """From `start` up to `end` each element is the one `period` places before it."""

    start: int
    end: int
    period: int

    @property
    def saved(self) -> int:
        """How many elements there are but for one copy."""
        return (self.end - self.start) // self.period * self.period - self.period


def repeats(tokens: Any) -> Iterator[Repeat]:
    """Repeats of numbers, those first that save the most, of them the shortest."""
    found = [repeat for period in _periods(tokens) for repeat in _runs(tokens, period)]
    yield from sorted(found, key=lambda r: (-r.saved, r.period, r.start))


def _periods(tokens: Any) -> list[int]:
    """How far it is from one element to the next that is equal, where that is met often."""
    before: dict[int, int] = {}
    gaps: Counter[int] = Counter()
    for at, token in enumerate(tokens.tolist()):
        if token in before:
            gaps[at - before[token]] += 1
        before[token] = at
    promising = sorted(gaps, key=lambda gap: (-gap * gaps[gap], gap))[:MOST_PERIODS]
    return [gap for gap in promising if gap >= SHORTEST]


def _runs(tokens: Any, period: int) -> Iterator[Repeat]:
    """Where elements equal those a period later, for a period or more."""
    equal = tokens[:-period] == tokens[period:]
    edges = numpy.flatnonzero(numpy.diff(numpy.concatenate(([0], equal.astype(numpy.int8), [0]))))
    for start, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        if end - start >= period:
            found = Repeat(start, end + period, period)
            if found.saved >= LEAST_SAVED and not _again_inside(tokens[start : start + period]):
                yield found


def _again_inside(stretch: Any) -> bool:
    """Whether a stretch is itself a shorter one several times."""
    size = len(stretch)
    shorter = (n for n in range(1, size // 2 + 1) if size % n == 0)
    return any(bool((stretch[:-n] == stretch[n:]).all()) for n in shorter)
