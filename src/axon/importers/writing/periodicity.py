"""Parts of a sequence that repeat right after themselves."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from operator import eq

SHORTEST = 3
LEAST_SAVED = 4
MOST_PERIODS = 64
EQUAL = re.compile(rb"\x01+")


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


def find_repeats(tokens: list[int]) -> Iterator[Repeat]:
    """Repeats of numbers, those first that save the most, of them the shortest."""
    found = [repeat for period in _periods(tokens) for repeat in _runs(tokens, period)]
    yield from sorted(found, key=lambda r: (-r.saved, r.period, r.start))


def _periods(tokens: list[int]) -> list[int]:
    """How far it is from one element to the next that is equal, where that is met often."""
    before: dict[int, int] = {}
    gaps: Counter[int] = Counter()
    for at, token in enumerate(tokens):
        if token in before:
            gaps[at - before[token]] += 1
        before[token] = at
    promising = sorted(gaps, key=lambda gap: (-gap * gaps[gap], gap))[:MOST_PERIODS]
    return [gap for gap in promising if gap >= SHORTEST]


def _runs(tokens: list[int], period: int) -> Iterator[Repeat]:
    """Where elements equal those a period later, for a period or more."""
    for run in EQUAL.finditer(bytes(map(eq, tokens, tokens[period:]))):
        start, end = run.span()
        if end - start >= period:
            found = Repeat(start, end + period, period)
            if found.saved >= LEAST_SAVED and not _repeats_inside(tokens[start : start + period]):
                yield found


def _repeats_inside(part: list[int]) -> bool:
    """Whether a part is a shorter one, several times."""
    size = len(part)
    shorter = (n for n in range(1, size // 2 + 1) if size % n == 0)
    return any(part[:-n] == part[n:] for n in shorter)
