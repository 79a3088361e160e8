"""A program whose input sizes are forgotten, inferred: once as it is written, and once more with
the numbers that may be sizes taken for sizes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

from axon.importers.imported import Imported, import_operations
from axon.importers.node import Format
from axon.importers.operations import Model
from axon.importers.torch.dynamic.given import Given, InputSize
from axon.importers.torch.dynamic.traced import Assumption, TracedNode, apart
from axon.inference.schemes import resolved
from axon.solver.constraints import NOWHERE, Constraint
from axon.solver.reasons import Replays
from axon.types.dim import Dim
from axon.types.type import DimBroadcast, DimEq, Relation, relation_variables
from axon.types.variables import DimVar, ShapeVar

WORK = 200_000
"""Constraints that are solved again, in all, to see what sizes a program takes."""


def variables_of(dim: Dim) -> set[DimVar | ShapeVar]:
    return set(relation_variables(DimEq(dim, 0)))


@dataclass(slots=True)
class Found:
    """A program inferred under an assumption."""

    imported: Imported
    given: Given
    assumption: Assumption
    conditions: dict[Relation, Constraint] = field(init=False)
    """What is left to be checked of the sizes of inputs."""
    replays: Replays = field(default_factory=lambda: Replays(WORK))

    def __post_init__(self) -> None:
        state = self.imported.importer.state
        own = {v for each in self.given.every() for v in variables_of(self.value(each.var))}
        self.conditions = {}
        for constraint in state.store.waiting:
            relation = resolved(state, constraint.relation)
            found = relation_variables(relation)
            if found and own.issuperset(found):
                self.conditions.setdefault(relation, constraint)

    @property
    def is_wrong(self) -> bool:
        return self.imported.is_wrong

    def value(self, var: DimVar) -> Dim:
        return self.imported.importer.state.store.dim(var)

    def one_or(self, var: DimVar) -> int | None:
        """The size that a dimension has where it is not broadcast, if it has no other."""
        value = self.value(var)
        for relation in self.conditions:
            match relation:
                case DimBroadcast(_, parts) if value in parts:
                    for part in parts:
                        if isinstance(part, int) and part > 1:
                            return part
                case _:
                    pass
        return None

    def about(self, var: DimVar) -> list[Relation]:
        """The conditions that mention a size."""
        own = variables_of(self.value(var))
        return [r for r in self.conditions if not own.isdisjoint(relation_variables(r))]

    def takes(self, sizes: dict[DimVar, int]) -> bool | None:
        """Whether the program takes inputs of these sizes; None if it would take too long to
        know.
        """
        if self.replays.left <= 0:
            return None
        given = [Constraint(DimEq(var, n), NOWHERE) for var, n in sizes.items()]
        posted = self.imported.importer.state.store.posted
        store = self.replays.solve([*posted, *given], first=True)
        if store.conflicts:
            return False
        return None if self.replays.left <= 0 else True


def searched(
    model: Model, format: Format, name: str, given: Given, traced: list[InputSize]
) -> tuple[Found, Found]:
    """The program with only what the source says are sizes, and with all that may be."""
    alike = apart(model)

    def inferred(all_: bool) -> Found:
        assumption = Assumption(given, tuple(traced), all_)
        node = partial(TracedNode, assumption)
        found = import_operations(
            alike,
            format._replace(node=node),
            name,
            said=dict(given.types),
            program=False,
            explained=True,
        )
        return Found(found, given, assumption)

    return inferred(False), inferred(True)
