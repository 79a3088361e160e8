"""Functions of rows on a library that compiles for sizes, where all rows at once have no form: the
rows go in groups. Each is padded to a bucket of its sizes, and its true sizes are arguments of what
is compiled (see `graph/padding`), so a few programs do for rows of all sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy

from axon.backends.checks import Sizes, holds, value
from axon.backends.numpy_arrays import element
from axon.backends.row_stacks import Numbers
from axon.backends.sizes import Undetermined
from axon.backends.static import is_static
from axon.graph.graph import Function, Graph, Value
from axon.graph.padding import NotPadded, Padded, kind_of, padded_graph
from axon.graph.padding.sizes import sizes_in
from axon.graph.row_graph import NoRowGraph, RowGraph, row_graph
from axon.graph.scope import operand_type
from axon.graph.sizes import Reading, SizeVar, readable
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.type import Tensor, Tuple, Type, relation_variables
from axon.types.variables import DimVar, ShapeVar

LEAST = 8
"""The least bucket; sizes 0 and 1, which may broadcast, have programs of their own."""

MOST_VERSIONS = 64
MOST_PLANS = 4096

POISON: float | None = None
"""For tests: a number that all padding is filled with."""

Run = Callable[..., Any]


def bucket(size: int) -> int:
    return size if size < 2 else max(LEAST, 1 << (size - 1).bit_length())


@dataclass(slots=True, eq=False)
class Version:
    """A padded program: how it runs on stacks of rows, and how many rows of a bucket fit at once,
    where that is known.
    """

    padded: Padded
    run: Run
    most: dict[Any, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Together:
    """Rows that go together: their numbers, the program, and the sizes that each is padded to; of
    rows that are not padded the program is None.
    """

    members: Numbers
    version: Version | None
    sizes: Mapping[Any, int]


class RowFunction:
    """A function of rows, as it is padded. `alone` makes code of a graph."""

    def __init__(
        self,
        function: Function,
        values: Sequence[Value],
        sizes: Sequence[SizeVar],
        alone: Callable[[Graph], Run],
        derived: bool = False,
    ) -> None:
        """If `derived`, what is derived of its results is exact, too."""
        self.function, self.values, self.sizes = function, values, sizes
        self.alone, self.derived = alone, derived
        self.versions: dict[object, Version | NotPadded] = {}
        self.exacts: dict[object, Run] = {}
        self.plans: dict[object, tuple[Version | None, dict[Any, int], str]] = {}

    @cached_property
    def row(self) -> RowGraph | str:
        """The graph of one row; or why there is none."""
        try:
            found = row_graph(self.function, self.values, self.sizes)
        except NoRowGraph as problem:
            return str(problem)
        types = [p.type for p in found.graph.params[found.given :]]
        if not all(isinstance(type_, Tensor) for type_ in types):
            return "its rows are structures"
        if not is_static(found.graph):
            return "sizes are computed in each row"
        return found

    def bound(
        self, given: Sequence[Any], shapes: Sequence[Numbers]
    ) -> tuple[Sizes, Numbers] | None:
        """The sizes of the graph, those that differ as a number for each row, and these beside each
        other; None where rows do not fit the function: it fails for them.
        """
        row = self.row
        assert isinstance(row, RowGraph)
        sizes: Sizes = {}
        params = row.graph.params
        for param, argument in zip(params[: row.given], given, strict=True):
            for var, reading in readable(param):
                sizes.setdefault(var, _read(argument, reading))
        own = set(row.own)
        for param, found in zip(params[row.given :], shapes, strict=True):
            for var, reading in readable(param):
                assert isinstance(var, DimVar)
                numbers = (found[:, reading.start] - reading.offset) // reading.scale
                if var not in own:
                    if (numbers != numbers[0]).any():
                        return None
                    numbers = int(numbers[0])
                if not numpy.all(sizes.setdefault(var, numbers) == numbers):
                    return None
        if not own.issubset(sizes):
            return None
        for guard in row.graph.requires:
            if holds(guard.relation, sizes) is not True:
                return None
        types = [*(param.type for param in params), operand_type(row.graph.result)]
        if any(_unknown(item, sizes) for type_ in types for item in sizes_in(type_)):
            return None
        for shape, found in zip(self._shapes, shapes, strict=True):  # an odd size is no `2*k`
            if any((value(item, sizes) != found[:, axis]).any() for axis, item in enumerate(shape)):
                return None
        columns = [sizes[var] for var in row.own]
        none = numpy.zeros((len(shapes[0]), 0), numpy.int64)
        return sizes, numpy.stack(columns, axis=1) if columns else none

    def exact(self, known: tuple[int, ...], xp: Any, most: int | None) -> Run:
        """The function of rows of equal sizes, which it is compiled for."""
        found = self.exacts.get((known, most))
        if found is None:
            row = self.row
            assert isinstance(row, RowGraph)
            rows, function = len(row.graph.params) - row.given, self.alone(row.graph)
            found = xp.vectorised(function, len(self.values), known, rows, most)
            self.exacts[known, most] = found
        return found

    def groups(
        self, sizes: Sizes, columns: Numbers, known: tuple[int, ...], xp: Any
    ) -> tuple[list[Together], str]:
        """The rows that go together; and why some are not padded."""
        row = self.row
        assert isinstance(row, RowGraph)
        fixed = {v: n for v, n in sizes.items() if isinstance(n, int) and isinstance(v, DimVar)}
        each, where = numpy.unique(columns, axis=0, return_inverse=True)
        place: dict[object, int] = {}
        numbers = numpy.empty(len(each), numpy.int64)
        found: list[tuple[Version | None, dict[Any, int]]] = []
        why = ""
        for number, own in enumerate(each.tolist()):
            true = {**fixed, **dict(zip(row.own, own, strict=True))}
            key = (known, tuple(own), tuple(fixed.values()))
            if key not in self.plans:
                if len(self.plans) >= MOST_PLANS:
                    self.plans.clear()
                self.plans[key] = self._planned(true, known, xp)
            version, larger, problem = self.plans[key]
            why = why or problem
            padded = (id(version), *[larger[v] for v in row.own])
            if padded not in place:
                place[padded] = len(found)
                found.append((version, larger))
            numbers[number] = place[padded]
        of_rows = numbers[where.reshape(-1)]
        together = [
            Together(numpy.flatnonzero(of_rows == number), version, larger)
            for number, (version, larger) in enumerate(found)
        ]
        return together, why

    def _planned(
        self, true: dict[Any, int], known: tuple[int, ...], xp: Any
    ) -> tuple[Version | None, dict[Any, int], str]:
        row = self.row
        assert isinstance(row, RowGraph)
        kind, exact = kind_of(row.graph, true), frozenset[DimVar]()
        differ = [var for var in row.own if true[var] > 1]
        if not differ:
            return None, true, ""
        while True:
            key = (known, kind, exact)
            if key not in self.versions:
                if len(self.versions) >= MOST_VERSIONS:
                    self.versions.clear()
                self.versions[key] = self._version(true, exact, known, xp)
            version = self.versions[key]
            if isinstance(version, NotPadded):
                return None, true, _shown(version)
            for dim, elem in version.padded.integers:
                size, limits = dims.evaluate(dim, true), numpy.iinfo(element(elem))
                if size is None or not limits.min <= size <= limits.max:
                    return None, true, f"a size is no number of type {elem}"
            padded = version.padded
            larger = padded.bound(true, {v: bucket(true[v]) for v in padded.variables})
            failing = [
                guard
                for guard in row.graph.requires
                if holds(guard.relation, dict[Any, Any](larger)) is False
            ]
            if not failing:
                problem = next(iter(padded.refused.values()), None)
                why = "" if problem is None else _shown(problem)
                return version, larger, why
            mentioned = {v for g in failing for v in relation_variables(g.relation)}
            images = {padded.stands.get(v, v) for v in mentioned if isinstance(v, DimVar)}
            images &= set(padded.variables)
            if not images:
                return None, true, "a condition does not hold for the buckets of some rows"
            exact |= {v for v in row.own if padded.stands.get(v, v) in images}

    def _version(
        self,
        true: dict[Any, int],
        exact: frozenset[DimVar],
        known: tuple[int, ...],
        xp: Any,
    ) -> Version | NotPadded:
        row = self.row
        assert isinstance(row, RowGraph)
        wanted = [var for var in row.own if var not in exact and true[var] > 1]
        padded = padded_graph(row.graph, wanted, true, derived=self.derived, poison=POISON)
        if not padded.variables:
            return next(iter(padded.refused.values()), NotPadded((), "a condition ties its sizes"))
        try:
            function = self.alone(padded.graph)
        except Undetermined as problem:
            return NotPadded((), f"the padded program needs a size that is not known: {problem}")
        rows = len(row.graph.params) - row.given + 1
        run = xp.vectorised(function, len(self.values), known, rows, xp.at_once())
        return Version(padded, run)

    # --- what stacks of rows have ---

    def shapes(self, sizes: Mapping[Any, int]) -> list[tuple[int, ...]]:
        """The shape of a row of each tensor, for these sizes."""
        return [
            tuple([_known(dims.evaluate(item, dict(sizes))) for item in shape])
            for shape in self._shapes
        ]

    def true_shapes(self, number: int, sizes: Sizes, members: Numbers) -> Numbers:
        """The true shapes of some rows of a tensor."""
        return _sizes_of(Tensor("f32", self._shapes[number]), sizes, members)

    def true_sizes(self, version: Version, sizes: Sizes, members: Numbers) -> Numbers:
        """What a padded program is given with some rows."""
        return numpy.stack([sizes[var][members] for var in version.padded.variables], axis=1)

    def result_sizes(self, sizes: Sizes, members: Numbers) -> Any:
        """The true sizes of the results of some rows."""
        row = self.row
        assert isinstance(row, RowGraph)
        return _sizes_of(operand_type(row.graph.result), sizes, members)

    @cached_property
    def _shapes(self) -> list[Any]:
        row = self.row
        assert isinstance(row, RowGraph)
        types = [param.type for param in row.graph.params[row.given :]]
        return [type_.shape for type_ in types if isinstance(type_, Tensor)]


def _known(size: int | None) -> int:
    assert size is not None
    return size


def _unknown(item: Dim | ShapeVar, sizes: Sizes) -> bool:
    return item not in sizes if isinstance(item, ShapeVar) else value(item, sizes) is None


def _read(argument: Any, reading: Reading) -> Any:
    for index in reading.path:
        argument = argument[index]
    if reading.given == "dim":
        return (argument - reading.offset) // reading.scale
    sizes = argument if reading.given else argument.shape
    if reading.stop is not None or not isinstance(sizes[reading.start], int):
        return tuple(sizes[reading.start : reading.stop])
    return (sizes[reading.start] - reading.offset) // reading.scale


def _sizes_of(type_: Type, sizes: Sizes, members: Numbers) -> Any:
    if isinstance(type_, Tuple):
        return [_sizes_of(item, sizes, members) for item in type_.items]
    assert isinstance(type_, Tensor)
    made = numpy.empty((len(members), len(type_.shape)), numpy.int64)
    for axis, item in enumerate(type_.shape):
        assert not isinstance(item, ShapeVar)
        size = value(item, sizes)
        made[:, axis] = size[members] if isinstance(size, numpy.ndarray) else size
    return made


def _shown(problem: NotPadded) -> str:
    if not problem.operator:
        return problem.reason
    line = "" if problem.span is None else f" in line {problem.span.line}"
    return f"`{problem.operator}`{line}: {problem.reason}"
