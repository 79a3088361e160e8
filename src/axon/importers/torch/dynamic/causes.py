"""Which operations fix a size, and which of them is to blame."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from axon.importers.operations import Operation, Place
from axon.importers.reporting.problems import operation_at
from axon.importers.torch.dynamic.input_sizes import InputSize
from axon.importers.torch.dynamic.origins import carries, concerns, introducing, of_module
from axon.importers.torch.dynamic.search import Found, tried
from axon.importers.torch.dynamic.spelled import Spelling
from axon.importers.torch.dynamic.traced import spellings
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
    numbers, of which the source may not say whose they are, `weights` that a tensor of the module
    is used there, `meets` that one with the size itself meets an input. One that `carries` the size
    hands it on as a size of its result.
    """

    operation: Operation
    numbers: bool
    unsure: bool
    weights: bool
    meets: bool
    carries: bool

    @property
    def place(self) -> Place | None:
        return self.operation.place

    @property
    def order(self) -> int:
        """A number of the author's first, then the tensors of the module that have the size, then
        numbers that may be sizes, then other tensors of the module, then what hands a size on.
        """
        if self.numbers and not self.carries:
            return 2 if self.unsure else 0
        if self.meets:
            return 1
        return 3 if self.weights and not self.carries else 4


def causes_of(found: Found, size: InputSize) -> list[Cause]:
    """The operations that fix a size, the most decisive first."""
    store, value = found.imported.importer.state.store, found.value(size.var)
    core = _core(store, size.var, value) if isinstance(value, int) else _refusing(found, size)
    return _causes(found, core, size)


def causes_of_condition(found: Found, relation: Relation, size: InputSize) -> list[Cause]:
    """Those that a condition on a size comes from."""
    store = found.imported.importer.state.store
    core = behind(store, found.conditions[relation], store.clock + 1)
    return _causes(found, core, size)


def _core(store: Store, var: DimVar, value: Dim) -> list[Constraint]:
    """The fewest constraints under which a size is what it is."""
    asked = Constraint(DimEq(var, value), NOWHERE)
    found = [c for c in behind(store, asked, store.clock + 1) if c is not asked]
    replays = Replays(WORK)

    def enough(subset: list[Constraint]) -> bool:
        return replays.solve(reversed(subset)).dim(var) == value

    return _fewest(found, replays, enough) if enough(found) else found


def _fewest(
    constraints: list[Constraint], replays: Replays, enough: Callable[[list[Constraint]], bool]
) -> list[Constraint]:
    """The fewest that suffice; of several that do, the first in the program."""
    return fewest(constraints[::-1], replays, enough)[::-1]


def _refusing(found: Found, size: InputSize) -> list[Constraint]:
    """The fewest constraints under which a size cannot be another than it is."""
    store = found.imported.importer.state.store
    conditions = [found.conditions[relation] for relation in found.about(size.var)]
    behind_any = {r: None for c in conditions for r in behind(store, c, store.clock + 1)}
    refused = [n for n in tried(size.example) if found.takes(found.but(size, n)) is False]
    if not refused:
        return list(behind_any)
    number = next((n for n in refused if found.is_in_bounds(size, n)), refused[-1])
    asked = [Constraint(DimEq(var, n), NOWHERE) for var, n in found.but(size, number).items()]
    replays = Replays(WORK)

    def enough(subset: list[Constraint]) -> bool:
        return replays.conflict([*reversed(subset), *asked]) is not None

    start = [c for c in store.posted if c in behind_any]
    if not enough(start):
        start = store.posted
    return _fewest(start, replays, enough) if enough(start) else list(behind_any)


def _causes(found: Found, core: Iterable[Constraint], size: InputSize) -> list[Cause]:
    imported = found.imported
    value = found.value(size.var)
    weights = {constant.name for constant in imported.model.graph.constants}
    operations: dict[Operation, None] = dict.fromkeys(
        operation
        for constraint in core
        if (operation := operation_at(constraint.origin.span)) is not None
    )
    if value == size.example:
        for operation in list(operations):
            operations.update(dict.fromkeys(introducing(found, operation, size)))
    causes: list[Cause] = []
    for operation in operations:
        groups = found.assumption.groups.get(operation, {})
        kinds = [
            kind
            for i, kind in spellings(operation).items()
            if i not in groups or concerns(found, groups[i], size)
        ]
        causes.append(
            Cause(
                operation,
                bool(kinds),
                Spelling.NUMBER not in kinds,
                any(name in weights for name in operation.inputs),
                _meets(found, operation, size),
                carries(found, operation, size),
            )
        )
    return sorted(causes, key=lambda cause: cause.order)


def _meets(found: Found, operation: Operation, size: InputSize) -> bool:
    """Whether a tensor of the module that has the size meets one that depends on inputs."""
    if found.dependent.isdisjoint(operation.inputs):
        return False
    return any(of_module(found, name, size) for name in operation.inputs)


def places_of(causes: Iterable[Cause]) -> list[Place]:
    """The lines of some operations, each once."""
    found: dict[tuple[str, int], Place] = {}
    for cause in causes:
        place = cause.place
        if place is not None:
            found.setdefault((place.file, place.line), place)
    return list(found.values())[:MOST_PLACES]
