"""The sizes of a padded program: which variables are padded, and what they truly are.

In the padded program a size is that of the padded arrays, as in any program. True sizes are numbers
that it is given. A dimension composed of variables is padded if one of them is; its true part comes
first if it grows with each of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from axon.graph.graph import Value
from axon.solver.constraints import Guard
from axon.source import Span
from axon.types import dim as dims
from axon.types.dim import Atom, Dim, FloorDiv, Max, Min
from axon.types.type import (
    Broadcast,
    DimBroadcast,
    DimEq,
    DimValue,
    Relation,
    Shape,
    ShapeEq,
    ShapeValue,
    Tensor,
    Tuple,
    Type,
    relation_variables,
)
from axon.types.variables import DimVar, ShapeVar


class NotPadded(Exception):
    """Some variables cannot be padded: why, and where in the program."""

    def __init__(
        self, variables: Iterable[DimVar], reason: str, operator: str = "", span: Span | None = None
    ) -> None:
        super().__init__(reason)
        self.variables = frozenset(variables)
        self.reason = reason
        self.operator = operator
        self.span = span


class Sizes:
    """What the variables of a graph stand for, and which are padded. `numbers` are the true sizes
    of these; those that stand for themselves are `least` or more.
    """

    def __init__(
        self, stands: Mapping[DimVar, Dim], padded: Iterable[DimVar], least: int = 0
    ) -> None:
        self.stands = stands
        self.least = least
        self.padded = frozenset(padded)
        self.numbers: dict[DimVar, Value] = {}

    def dim(self, dim: Dim) -> Dim:
        """A dimension in terms of the variables that are left."""
        return dims.substitute(dim, lambda var: self.stands.get(var, var), dims.of_size)

    def padded_in(self, item: Dim | ShapeVar) -> frozenset[DimVar]:
        """The padded variables of a dimension; those of a shape are not known."""
        if isinstance(item, int | ShapeVar):
            return frozenset()
        return self.padded.intersection(dims.variables(self.dim(item)))

    def axes(self, shape: Shape) -> tuple[int, ...]:
        """The padded axes of a shape."""
        return tuple([axis for axis, item in enumerate(shape) if self.padded_in(item)])

    def among(self, type_: Type) -> frozenset[DimVar]:
        """The padded variables of a type."""
        return frozenset().union(*map(self.padded_in, sizes_in(type_)))

    def check(self, type_: Type) -> None:
        """Each size must grow with the padded variables in it."""
        for item in sizes_in(type_):
            if isinstance(item, ShapeVar):
                raise NotPadded(self.padded, "the rank of a value is not known")
            falls = [v for v in self.padded_in(item) if not grows(self.dim(item), v, self.least)]
            if falls:
                raise NotPadded(falls, "a size of the result does not grow with it")


def sizes_in(type_: Type) -> Iterator[Dim | ShapeVar]:
    match type_:
        case Tensor(_, shape) | ShapeValue(shape):
            yield from shape
        case DimValue(dim):
            yield dim
        case Tuple(items):
            for item in items:
                yield from sizes_in(item)
        case _:
            return


def grows(dim: Dim, var: DimVar, least: int = 0) -> bool:
    """Whether a dimension never gets smaller where a variable gets larger, if all are so large."""
    return _each_grows(dim, var) or _adds(dim, var, least)


def _adds(dim: Dim, var: DimVar, least: int) -> bool:
    """Whether one more of the variable makes a difference that is not negative: `(n-1)*(m-1)` is
    `n*m-n-m+1`, and the difference `m-1`.
    """
    larger = dims.substitute(dim, lambda v: dims.add(v, 1) if v is var else v, dims.of_size)
    added = dims.substitute(dims.sub(larger, dim), lambda v: dims.add(v, least), dims.of_size)
    return all(
        coefficient >= 0 and all(isinstance(atom, DimVar) for atom in mono)
        for mono, coefficient in dict(dims.terms_of(added)).items()
    )


def _each_grows(dim: Dim, var: DimVar) -> bool:
    if isinstance(dim, int | DimVar):
        return True
    for mono, coefficient in dim.terms.items():
        mentioned = [atom for atom in mono if var in _variables(atom)]
        if mentioned and (coefficient < 0 or not all(_grows(atom, var) for atom in mentioned)):
            return False
    return True


def _variables(atom: Atom) -> Sequence[DimVar | ShapeVar]:
    return dims.variables(dims.of_atom(atom))


def _grows(atom: Atom, var: DimVar) -> bool:
    match atom:
        case DimVar():
            return True
        case FloorDiv(args=(top, bottom)):
            return var not in dims.variables(bottom) and grows(top, var)
        case Min(args=parts) | Max(args=parts):
            return all(grows(part, var) for part in parts)
        case _:
            return False


# --- sizes that are one ----------------------------------------------------------------------


def computed_ones(requires: Sequence[Guard], true: Mapping[DimVar, int]) -> tuple[bool, ...]:
    """Which of the sizes that broadcast, and are computed from others, are 1 in a call: a program
    that is padded for calls in which one is not would not stretch it.
    """
    return tuple([
        dims.evaluate(part, dict(true)) == 1
        for guard in requires
        for _, parts in _broadcasts(guard.relation)
        for part in parts
        if not isinstance(part, int | DimVar)
    ])  # fmt: skip


def standing_for(
    requires: Sequence[Guard],
    stands: dict[DimVar, Dim],
    joining: bool,
    true: Mapping[DimVar, int],
) -> dict[DimVar, NotPadded]:
    """What the results of broadcasts are, added to `stands`; sizes of 1 stand for 1 there already.
    If `joining`, sizes that broadcast, none of which is 1, become one: they are equal, and `true`
    sizes tell which are computed and 1. The variables that these or other conditions mention cannot
    be padded; they are returned with the reason.
    """
    tied: dict[DimVar, NotPadded] = {}
    sizes = Sizes(stands, ())
    for guard in requires:
        for result, parts in _broadcasts(guard.relation):
            ones = [
                part
                for part in parts
                if not isinstance(part, int | DimVar) and dims.evaluate(part, dict(true)) == 1
            ]
            _tie(tied, map(sizes.dim, ones), guard, "a size that is computed from it is 1")
            others = [sizes.dim(part) for part in parts if part not in ones]
            others = [part for part in others if part != 1]
            first: Dim = others[0] if others else 1
            first = next((part for part in others if isinstance(part, int)), first)
            for part in others:
                if part == first:
                    continue
                if joining and isinstance(part, DimVar) and not _is_in(part, first):
                    _replace(stands, part, first)
                else:
                    _tie(tied, (part, first), guard)
            whole = sizes.dim(result)
            if whole == first:
                continue
            if isinstance(whole, DimVar) and not _is_in(whole, first):
                _replace(stands, whole, first)
            elif joining and isinstance(first, DimVar) and not _is_in(first, whole):
                _replace(stands, first, whole)
            else:
                _tie(tied, (whole, first), guard)
    return {
        var: problem
        for known, problem in tied.items()
        for var in dims.variables(sizes.dim(known))
        if isinstance(var, DimVar)
    }


OTHERS = (2, 3, 7)
"""By how much a size is made larger, to see whether a condition still holds."""


def tied_by_equations(
    requires: Sequence[Guard], true: Mapping[DimVar, int], wanted: Iterable[DimVar]
) -> dict[DimVar, NotPadded]:
    """The variables that cannot have other sizes without others having them too. (Whether the
    conditions hold for some buckets is checked for these.)
    """
    tied: dict[DimVar, NotPadded] = {}
    for guard in requires:
        mentioned = set(relation_variables(guard.relation))
        for var in mentioned.intersection(wanted):
            assert isinstance(var, DimVar)
            sizes = dict(true)
            for more in OTHERS:
                sizes[var] = true[var] + more
                if not _equal(guard.relation, sizes):
                    _tie(tied, (var,), guard)
                    break
    return tied


def _equal(relation: Relation, sizes: dict[DimVar, int]) -> bool:
    match relation:
        case DimEq(left, right):
            return dims.evaluate(left, sizes) == dims.evaluate(right, sizes)
        case ShapeEq(left, right):
            pairs = [
                None if isinstance(item, ShapeVar) else dims.evaluate(item, sizes)
                for item in (*left, *right)
            ]
            return pairs[: len(left)] == pairs[len(left) :] and None not in pairs
        case _:
            return True


def _tie(
    tied: dict[DimVar, NotPadded],
    found: Iterable[Dim],
    guard: Guard,
    reason: str = "a condition ties it to other sizes",
) -> None:
    for dim in found:
        for var in dims.variables(dim):
            if isinstance(var, DimVar):
                what, span = guard.origin.operator, guard.origin.span
                tied.setdefault(var, NotPadded((var,), reason, what, span))


def _is_in(var: DimVar, dim: Dim) -> bool:
    """Whether a variable would stand for something with itself in it: `n` for `min(n,m)`."""
    return var in dims.variables(dim)


def _replace(stands: dict[DimVar, Dim], var: DimVar, image: Dim) -> None:
    if image == var:
        return
    for known, value in list(stands.items()):
        stands[known] = dims.substitute(value, lambda v: image if v is var else v, dims.of_size)
    stands[var] = image


def _broadcasts(relation: Relation) -> Iterator[tuple[Dim, Sequence[Dim]]]:
    """The broadcasts of single sizes in a relation."""
    match relation:
        case DimBroadcast(result, parts):
            yield result, parts
        case Broadcast(result, words):
            if any(isinstance(item, ShapeVar) for word in (result, *words) for item in word):
                return
            for back in range(1, len(result) + 1):
                whole = result[-back]
                sizes = [word[-back] for word in words if len(word) >= back]
                assert not isinstance(whole, ShapeVar)
                yield whole, [size for size in sizes if not isinstance(size, ShapeVar)]
        case _:
            return
