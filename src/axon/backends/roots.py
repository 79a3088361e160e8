"""Solutions of an expression in one unknown: decided exactly where possible."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from axon.backends.checks import Sizes, value
from axon.backends.sizes import Undetermined
from axon.types import dim as dims
from axon.types.dim import Atom, Dim, FloorDiv, Max, Min
from axon.types.variables import DimVar

LARGEST = 1 << 64
"""No unknown is looked for beyond this."""

MOST_TRIED = 4096
"""How many sizes are tried where nothing better can be done."""


def roots(dim: Dim, var: DimVar, size: int, sizes: Sizes) -> list[int] | None:
    """The sizes, two at most, at which a dimension has this value. None if that is not known."""

    def at(candidate: int) -> int | None:
        found = value(dim, {**sizes, var: candidate})
        return found if isinstance(found, int) else None

    if all(isinstance(atom, DimVar) for atom in _atoms(dim)):
        whole = _coefficients(dim, var, sizes)
        whole[0] -= size
        tried = sorted({n for b in _crossings(whole) for n in (b, b + 1)})
        return [n for n in tried if at(n) == size][:2]
    if _rises(dim, sizes):
        first = _first(lambda n: (at(n) or 0) >= size, LARGEST)
        return [n for n in (first, first + 1) if at(n) == size]
    found = [n for n in range(MOST_TRIED) if at(n) == size][:2]
    return found if len(found) == 2 else None


def solved(held: tuple[Dim, DimVar, tuple[DimVar, ...]], size: int, known: Sequence[int]) -> int:
    """The only size at which a dimension has its value."""
    dim, var, variables = held
    found = roots(dim, var, size, dict(zip(variables, known, strict=True)))
    if found is None or len(found) != 1:
        raise Undetermined(var.name)
    return found[0]


# --- polynomials -----------------------------------------------------------------------------


def _coefficients(dim: Dim, var: DimVar, sizes: Sizes) -> list[int]:
    """The coefficients of a polynomial in one unknown, the constant first."""
    found = [0]
    for mono, coefficient in dims.terms_of(dim).items():
        degree, factor = 0, coefficient
        for atom in mono:
            if atom is var:
                degree += 1
            else:
                assert isinstance(atom, DimVar)
                factor *= value(atom, sizes)
        found += [0] * (degree + 1 - len(found))
        found[degree] += factor
    while len(found) > 1 and not found[-1]:
        found.pop()
    return found


def _crossings(whole: Sequence[int]) -> list[int]:
    """Numbers such that every root of the polynomial that is not negative lies between one of them
    and the next integer. Between the crossings of its derivative it is monotonic.
    """
    if len(whole) < 2:
        return [0]
    turns = _crossings([i * c for i, c in enumerate(whole)][1:])
    bound = 1 + max(map(abs, whole))
    found = {*turns, 0}
    begins = [0, *(turn + 1 for turn in turns)]
    for begin, end in zip(begins, [*turns, bound], strict=True):
        rising = _at(whole, begin) <= 0
        steps = _first(lambda n, b=begin, up=rising: (_at(whole, b + n) > 0) == up, end - begin)  # type: ignore[misc]
        found.add(begin + max(steps - 1, 0))
    return sorted(found)


def _at(whole: Sequence[int], n: int) -> int:
    total = 0
    for coefficient in reversed(whole):
        total = total * n + coefficient
    return total


def _first(holds: Callable[[int], bool], end: int) -> int:
    """The first number up to an end from which on a monotonic condition holds."""
    low, high = 0, max(end, 0)
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low


# --- what never falls ------------------------------------------------------------------------


def _atoms(dim: Dim) -> set[Atom]:
    return {atom for mono in dims.terms_of(dim) for atom in mono}


def _rises(dim: Dim, sizes: Sizes) -> bool:
    """Whether a dimension is nondecreasing in its unknown: a sum of nondecreasing terms, or a
    product of nondecreasing factors that are not negative.
    """
    return all(
        coefficient > 0
        and all(_atom_rises(atom, sizes) for atom in mono)
        and (len(mono) == 1 or all(map(_is_size, mono)))
        for mono, coefficient in dims.terms_of(dim).items()
        if mono
    )


def _atom_rises(atom: Atom, sizes: Sizes) -> bool:
    match atom:
        case DimVar():
            return True
        case FloorDiv(args=(top, bottom)):
            by = value(bottom, sizes)
            return isinstance(by, int) and by > 0 and _rises(top, sizes)
        case Min(args=parts) | Max(args=parts):
            return all(_rises(part, sizes) for part in parts)
        case _:
            return False


def _is_size(atom: Atom) -> bool:
    """Whether an atom is evidently not negative."""
    match atom:
        case DimVar():
            return True
        case FloorDiv(args=parts) | Min(args=parts) | Max(args=parts):
            return all(dims.is_nonnegative(part) for part in parts)
        case _:
            return False
