"""Which operations fix a size, and which of them is to blame."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from axon.importers.imported import Imported
from axon.importers.operations import Operation, Place
from axon.importers.reporting.problems import operation_at
from axon.importers.torch.dynamic.spelled import Spelling
from axon.importers.torch.dynamic.traced import size_numbers, spellings
from axon.solver.constraints import NOWHERE, Constraint
from axon.solver.reasons import Replays, behind, fewest
from axon.solver.store import Store
from axon.types.dim import Dim
from axon.types.type import DimEq, Relation
from axon.types.variables import DimVar

MOST_PLACES = 3
WORK = 20_000
"""Constraints that are solved again to find the fewest that fix one size."""


@dataclass(frozen=True, slots=True)
class Cause:
    """An operation that a fixed size follows from; `numbers` says that sizes stand in it as
    numbers, `weights` that a tensor of the module meets others there.
    """

    operation: Operation
    numbers: bool
    unsure: bool
    weights: bool

    @property
    def place(self) -> Place | None:
        return self.operation.place

    @property
    def order(self) -> int:
        """A number of the author's first, then the tensors of the module, then numbers that may be
        sizes, then what passes a size on.
        """
        if self.numbers and not self.unsure:
            return 0
        return 1 if self.weights else 2 if self.numbers else 3


def causes_of(imported: Imported, var: DimVar, value: Dim) -> list[Cause]:
    """The operations that a size follows from, the most decisive first."""
    return _causes(imported, _core(imported.importer.state.store, var, value))


def causes_of_relation(imported: Imported, relation: Relation) -> list[Cause]:
    """Those that a condition comes from: the operations that ask for it."""
    store = imported.importer.state.store
    found = Constraint(relation, NOWHERE)
    return _causes(imported, [c for c in behind(store, found, store.clock + 1) if c is not found])


def _core(store: Store, var: DimVar, value: Dim) -> list[Constraint]:
    """The fewest constraints under which a size is what it is."""
    asked = Constraint(DimEq(var, value), NOWHERE)
    found = [c for c in behind(store, asked, store.clock + 1) if c is not asked]
    replays = Replays(WORK)

    def enough(subset: list[Constraint]) -> bool:
        return replays.solve(subset).dim(var) == value

    return fewest(found, replays, enough) if enough(found) else found


def _causes(imported: Imported, core: Iterable[Constraint]) -> list[Cause]:
    weights = {constant.name for constant in imported.model.graph.constants}
    operations = dict.fromkeys(
        operation
        for constraint in core
        if (operation := operation_at(constraint.origin.span)) is not None
    )
    found = [_cause(operation, weights) for operation in operations]
    return sorted(found, key=lambda cause: cause.order)


def _cause(operation: Operation, weights: set[str]) -> Cause:
    numbers = size_numbers(operation)
    kinds = spellings(operation)
    unsure = Spelling.NUMBER not in kinds
    return Cause(operation, bool(numbers), unsure, not weights.isdisjoint(operation.inputs))


def places_of(causes: Iterable[Cause]) -> list[Place]:
    """The lines of some operations, each once."""
    found: dict[tuple[str, int], Place] = {}
    for cause in causes:
        place = cause.place
        if place is not None:
            found.setdefault((place.file, place.line), place)
    return list(found.values())[:MOST_PLACES]
