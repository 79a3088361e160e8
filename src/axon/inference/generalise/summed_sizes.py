"""Run-time sizes that occur only in sums: the caller sees one size, their sum.

A function that joins the results of two others returns a tensor of `?a+?b` rows. Its caller can
read how many rows there are, but not how many came from where, and has no need to.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from axon.types.dim import Dim, Poly
from axon.types.type import Renaming, Scheme
from axon.types.variables import DimVar

Place = tuple[Poly, int]
"""A sum, and how often a variable is in it."""


def added_up(scheme: Scheme, sizes: list[DimVar]) -> Iterable[DimVar]:
    """Which of the sizes may be set to 0: every sum that has one of them also has another one, with
    the same coefficient, which stands for both.
    """
    seen = _SizeCollector({}, {}, {}, {})
    seen.type(scheme.type)
    for relation in (*scheme.relations, *scheme.made):
        seen.relation(relation)
    kept: dict[tuple[int, frozenset[Place]], DimVar] = {}
    for size in sizes:
        places = frozenset(seen.places.get(size, ()))
        if places and size not in seen.elsewhere:
            first = kept.setdefault((size.scope, places), size)
            if first is not size:
                yield size


@dataclass(slots=True)
class _SizeCollector(Renaming):
    """Collects all sizes, and leaves them as they are."""

    places: dict[DimVar, set[Place]] = field(default_factory=dict)
    elsewhere: set[DimVar] = field(default_factory=set)
    """Variables that are not only in sums."""

    def dim(self, dim: Dim) -> Dim:
        if isinstance(dim, DimVar):
            self.elsewhere.add(dim)
        elif isinstance(dim, Poly):
            for mono, count in dim.terms.items():
                for atom in mono:
                    if not isinstance(atom, DimVar):
                        for part in atom.args:
                            if not isinstance(part, int):
                                self.dim(part)  # type: ignore[arg-type]
                    elif len(mono) == 1:
                        self.places.setdefault(atom, set()).add((dim, count))
                    else:
                        self.elsewhere.add(atom)
        return dim
