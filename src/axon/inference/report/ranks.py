"""The ranks that shape variables may have: an interval each, narrowed by equations and broadcasts.

    s@[a] = [b]@u              rank(s) + 1 = 1 + rank(u)
    r = broadcast(p, q)        rank(r) = max(rank(p), rank(q))

A rank outside its interval is impossible; one inside may be. What is assumed is narrowed through,
and taken back if it leaves some interval empty.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf

from axon.types.type import Broadcast, Relation, Shape, ShapeEq
from axon.types.variables import ShapeVar

HIGHEST = 64
"""A rank above this is none."""
MOST_APPLIED = 50_000
"""After so many applications of laws nothing more is assumed."""


class _Impossible(Exception):
    """An interval is empty."""


@dataclass(frozen=True, slots=True)
class _Sum:
    """The rank of a word: a number of dimensions, and of each shape variable how many."""

    dims: int
    shapes: tuple[tuple[ShapeVar, int], ...]


@dataclass(frozen=True, slots=True)
class _Law:
    """The rank of a word is the highest of others; of one other, if it is an equation."""

    result: _Sum
    parts: tuple[_Sum, ...]

    def sums(self) -> tuple[_Sum, ...]:
        return self.result, *self.parts


@dataclass(slots=True)
class Ranks:
    low: dict[ShapeVar, int] = field(default_factory=dict)
    high: dict[ShapeVar, float] = field(default_factory=dict)
    users: dict[ShapeVar, list[_Law]] = field(default_factory=dict)
    changed: list[tuple[ShapeVar, int, float]] = field(default_factory=list)
    """The intervals before each change."""
    left: int = MOST_APPLIED

    def assume(self, shape: ShapeVar, rank: int) -> bool:
        """Let a shape have a rank, unless that is impossible."""
        before = len(self.changed)
        try:
            self._narrow_shape(shape, rank, rank)
            self._spread(before)
        except _Impossible:
            while len(self.changed) > before:
                var, low, high = self.changed.pop()
                self.low[var], self.high[var] = low, high
            return False
        return True

    def shortest(self, shape: ShapeVar) -> int | None:
        """Let a shape have the lowest rank that is possible, and return it."""
        least = self.low.get(shape, 0)
        for rank in range(least, least + 4):
            if self.assume(shape, rank):
                return rank
        return None

    def _spread(self, since: int) -> None:
        while since < len(self.changed):
            for law in self.users.get(self.changed[since][0], ()):
                self.apply(law)
            since += 1

    def apply(self, law: _Law) -> None:
        self.left -= 1
        if self.left < 0:
            raise _Impossible
        bounds = [self._bounds(part) for part in law.parts]
        low, high = self._bounds(law.result)
        low = max(low, *(bound[0] for bound in bounds))
        high = min(high, max(bound[1] for bound in bounds))
        self._narrow(law.result, low, high)
        reaching = [part for part, bound in zip(law.parts, bounds, strict=True) if bound[1] >= low]
        for part in law.parts:
            self._narrow(part, low if reaching == [part] else 0, high)

    def _bounds(self, word: _Sum) -> tuple[int, float]:
        low, high = word.dims, float(word.dims)
        for var, times in word.shapes:
            low += self.low.get(var, 0) * times
            high += self.high.get(var, inf) * times
        return low, high

    def _narrow(self, word: _Sum, low: int, high: float) -> None:
        least, most = self._bounds(word)
        if low > most or high < least:
            raise _Impossible
        for var, times in word.shapes:
            others_least = least - self.low.get(var, 0) * times
            others_most = 0.0
            for other, n in word.shapes:
                if other is not var:
                    others_most += self.high.get(other, inf) * n
            at_most = inf if high == inf else (high - others_least) // times
            needed = low - word.dims - others_most
            at_least = 0 if needed <= 0 else -int(-needed // times)
            self._narrow_shape(var, at_least, at_most)

    def _narrow_shape(self, var: ShapeVar, low: int, high: float) -> None:
        least, most = self.low.get(var, 0), self.high.get(var, inf)
        low, high = max(low, least), min(high, most)
        if low > high or low > HIGHEST:
            raise _Impossible
        if (low, high) != (least, most):
            self.changed.append((var, least, most))
            self.low[var], self.high[var] = low, high


def ranks(relations: Iterable[Relation]) -> Ranks | None:
    """The ranks that the relations leave; None if they cannot hold."""
    found = Ranks()
    laws = [law for relation in relations if (law := _law(relation)) is not None]
    for law in laws:
        for var in dict.fromkeys(var for each in law.sums() for var, _ in each.shapes):
            found.users.setdefault(var, []).append(law)
    try:
        for law in laws:
            found.apply(law)
        found._spread(0)
    except _Impossible:
        return None
    return found


def _law(relation: Relation) -> _Law | None:
    match relation:
        case ShapeEq(left, right):
            return _Law(_sum(left), (_sum(right),))
        case Broadcast(result, parts) if parts:
            return _Law(_sum(result), tuple(map(_sum, parts)))
        case _:
            return None


def _sum(word: Shape) -> _Sum:
    shapes = Counter(item for item in word if isinstance(item, ShapeVar))
    return _Sum(len(word) - shapes.total(), tuple(shapes.items()))
