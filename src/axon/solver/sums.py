"""Sums of sizes: no size is negative, so a known sum bounds each of its terms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from axon.solver.constraints import Constraint
from axon.solver.store import Store
from axon.types import dim as dims
from axon.types.dim import Dim, Mono
from axon.types.type import DimEq
from axon.types.variables import DimVar

# A sum with possibly more solutions than this is not enumerated.
MOST_WAYS = 256


def sum_of_sizes(
    store: Store,
    constraint: Constraint,
    terms: dict[Mono, int],
    constant: int,
    left: Dim,
    right: Dim,
) -> bool:
    """non-negativity: a sum of multiples of sizes is a constant. True if that solved it.

    All are zero if the constant is zero; a negative one is a conflict. Otherwise a term whose
    coefficient exceeds the constant is zero, and a size with one value in all solutions has that
    value.
    """
    sign = sign_of_sizes(terms)
    total = -sign * constant
    if not sign or (len(terms) == 1 and total >= 0):
        return False
    if total < 0:
        store.conflict("non-negativity", constraint, "negative", left, right)
        return True
    known = _forced({m: sign * c for m, c in terms.items()}, total)
    if known is None:
        store.conflict("non-negativity", constraint, "division", left, right)
        return True
    if not known:
        return False
    rest = {m: c for m, c in terms.items() if m not in known}
    rest[()] = constant + sum(terms[m] * value for m, value in known.items())
    store.derive(
        "non-negativity",
        constraint,
        *(DimEq(dims.from_terms({m: 1}), value) for m, value in known.items()),
        *([DimEq(dims.from_terms(rest), 0)] if len(rest) > 1 else []),
    )
    return True


def sign_of_sizes(terms: dict[Mono, int]) -> int:
    """1 if all the terms are positive multiples of sizes, -1 if all are negative ones, else 0."""
    sign = 0
    for mono, coefficient in terms.items():
        here = 1 if coefficient > 0 else -1
        if sign not in (0, here):
            return 0
        sign = here
        plain = len(mono) == 1 and isinstance(mono[0], DimVar)
        if not plain and not dims.is_nonnegative(dims.from_terms({mono: 1})):
            return 0
    return sign


def _forced(terms: dict[Mono, int], total: int) -> dict[Mono, int] | None:
    """The sizes that the sum determines; None if it has no solution."""
    small = {m: c for m, c in terms.items() if c <= total}
    known = {m: 0 for m in terms if m not in small}
    if known and (total == 0 or small):
        return known
    if min(terms.values()) == 1 or not _are_few(small.values(), total):
        return {}
    ways = list(_ways(list(small.values()), total))
    if not ways:
        return None
    columns = zip(small, zip(*ways, strict=True), strict=True)
    return {m: values[0] for m, values in columns if len(set(values)) == 1}


def _are_few(counts: Iterable[int], total: int) -> bool:
    """Whether the solutions can be enumerated."""
    ways = 1
    for count in counts:
        ways *= total // count + 1
        if ways > MOST_WAYS:
            return False
    return True


def _ways(counts: list[int], total: int) -> Iterator[tuple[int, ...]]:
    """The integers >= 0 that solve the sum with these coefficients."""
    if not counts:
        if total == 0:
            yield ()
        return
    first, *rest = counts
    if not rest:
        if total % first == 0:
            yield (total // first,)
        return
    for value in range(total // first + 1):
        for others in _ways(rest, total - value * first):
            yield (value, *others)
