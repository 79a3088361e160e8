"""Which sizes of records and numbers a graph is made for, where those of tensors are not enough.

The size of a head, say, follows from the sizes of weights where they are numbers. So the sizes of
records and numbers are settled, and a call with others has a graph of its own, but for those that
have been seen to change, such as the length of a cache: they are open again, if the definition can
do without.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from axon.run import values
from axon.types.dim import Dim
from axon.types.type import Type

MOST_KINDS = 16
"""So many times it is tried whether sizes may be open: each time a graph is made."""


@dataclass(slots=True)
class Kind:
    """Calls whose graphs are made for the same sizes, but for the open ones; a size is known by its
    place.
    """

    sizes: list[int]
    open: frozenset[int] = frozenset()

    def with_open(self, sizes: Sequence[int]) -> frozenset[int]:
        """The places to open for a call with these sizes."""
        pairs = enumerate(zip(self.sizes, sizes, strict=True))
        return self.open.union([at for at, (one, other) in pairs if one != other])


@dataclass(slots=True)
class Settled:
    """The calls with arguments of the same element types and ranks."""

    kinds: list[Kind] = field(default_factory=list)

    def open_places(
        self, sizes: Sequence[int], fits: Callable[[frozenset[int]], bool]
    ) -> frozenset[int]:
        """The places of the sizes that are open in a call. If the definition cannot do without some
        that are new, the call is the first of another kind.
        """
        if not self.kinds:
            self.kinds.append(Kind(list(sizes)))
        kind = min(self.kinds, key=lambda kind: len(kind.with_open(sizes)))
        places = kind.with_open(sizes)
        if places == kind.open:
            return places
        if len(self.kinds) < MOST_KINDS:
            if fits(places):
                kind.open = places
                return places
            self.kinds.append(Kind(list(sizes)))
        return frozenset()


def settled_sizes(arguments: Sequence[Any]) -> list[int]:
    """The sizes of the records and numbers among the arguments."""
    sizes: list[int] = []

    def note(size: int) -> Dim:
        sizes.append(size)
        return size

    for argument in arguments:
        if _is_settled(argument):
            values.typed(argument, note)
    return sizes


def settled_types(arguments: Sequence[Any], open_: frozenset[int]) -> list[Type]:
    """The types of the arguments: those of records and numbers with their sizes, but for open ones,
    and all others with their ranks.
    """
    places = count()

    def dimension(size: int) -> Dim:
        return values.open_size() if next(places) in open_ else size

    return [_type(argument, dimension) for argument in arguments]


def _type(argument: Any, dimension: Callable[[int], Dim]) -> Type:
    if _is_settled(argument):
        return values.typed(argument, dimension)
    return values.type_at_rank(argument)


def _is_settled(argument: Any) -> bool:
    return isinstance(argument, tuple | int)
