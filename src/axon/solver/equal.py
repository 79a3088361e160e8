"""Equal words: the classes of words that waiting word equations make equal.

Two words of one class are equal as well, which may decide what no single equation decides.
"""

from __future__ import annotations

from collections.abc import Callable

from axon.solver.constraints import Constraint
from axon.types.type import Shape

# Of a larger class only so many words are compared; the rest wait for other constraints.
MOST_EQUAL = 12

Normal = Callable[[Shape], Shape]
Because = tuple[Constraint, ...]


class EqualWords:
    """The words on either side of waiting equations, each with the words it is equal to.

    An entry is valid while its constraint waits: nothing has to be removed when that is woken.
    `pieces` are the words that are equal to dimensions, by their first item.
    """

    __slots__ = ("_normal", "_others", "pieces")

    def __init__(self, normal: Normal) -> None:
        self._normal = normal
        self._others: dict[Shape, dict[Constraint, Shape]] = {}
        self.pieces: dict[object, dict[Constraint, Shape]] = {}

    @property
    def any(self) -> bool:
        """Whether any equation was added."""
        return bool(self._others)

    def contains(self, constraint: Constraint, left: Shape, right: Shape) -> bool:
        """Whether another waiting equation, posted at the same depth, is the same as this one."""
        return any(
            other == right and by is not constraint and by.depth == constraint.depth
            for by, other in self._equations(left)
        )

    def join(
        self, constraint: Constraint, left: Shape, right: Shape
    ) -> list[tuple[Shape, Shape, Because]]:
        """Add an equation. Returns the pairs of words that are newly equal, with the equations that
        make them so; the equation itself is not among them.
        """
        before, after = self._class(left), self._class(right)
        self._others.setdefault(left, {})[constraint] = right
        self._others.setdefault(right, {})[constraint] = left
        if right in before:
            return []
        return [
            (a, b, (constraint, *first, *second))
            for a, first in before.items()
            for b, second in after.items()
            if first or second
        ]

    def alternatives(self, word: Shape) -> dict[Shape, Because]:
        """The other words equal to this one, each with the equations that make it so."""
        if word not in self._others:
            return {}
        return {other: because for other, because in self._class(word).items() if because}

    def know(self, constraint: Constraint, word: Shape) -> None:
        """Add that a waiting equation determines the dimensions of a word."""
        self.pieces.setdefault(word[0], {})[constraint] = word

    def known(self, word: Shape, whole: bool) -> tuple[Shape, Because]:
        """The word with its pieces replaced by the dimensions that waiting equations determine, and
        those equations. A piece may be the `whole` word, on request.
        """
        because: list[Constraint] = []
        at = 0
        while at < len(word):
            for by, piece in list(self.pieces.get(word[at], {}).items()):
                if not by.waiting:
                    del self.pieces[word[at]][by]
                elif word[at : at + len(piece)] == piece and (whole or len(piece) < len(word)):
                    dims = self._normal(self._others[piece][by])
                    word = (*word[:at], *dims, *word[at + len(piece) :])
                    because.append(by)
                    break
            else:
                at += 1
        return word, tuple(because)

    def _class(self, word: Shape) -> dict[Shape, Because]:
        found: dict[Shape, Because] = {word: ()}
        todo = [word]
        for known in todo:
            for by, other in self._equations(known):
                if other not in found:
                    if len(found) == MOST_EQUAL:
                        return found
                    found[other] = (*found[known], by)
                    todo.append(other)
        return found

    def _equations(self, word: Shape) -> list[tuple[Constraint, Shape]]:
        """The waiting equations with this side, and their other sides; some of many."""
        entries = self._others.get(word)
        if not entries:
            return []
        found: list[tuple[Constraint, Shape]] = []
        over: list[Constraint] = []
        for by, other in entries.items():
            if not by.waiting:
                over.append(by)
            else:
                found.append((by, self._normal(other)))
                if len(found) == MOST_EQUAL:
                    break
        for by in over:
            del entries[by]
        return found
