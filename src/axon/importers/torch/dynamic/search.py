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
from axon.types.variables import DimVar

WORK = 200_000
"""Constraints that are solved again, in all, to see what sizes a program takes."""


@dataclass(slots=True)
class Found:
    """A program inferred under an assumption."""

    imported: Imported
    relations: list[Relation] = field(init=False)
    """What is left to be checked of sizes, as far as inputs have them."""
    replays: Replays = field(default_factory=lambda: Replays(WORK))

    def __post_init__(self) -> None:
        state = self.imported.importer.state
        once = dict.fromkeys(resolved(state, c.relation) for c in state.store.waiting)
        self.relations = [r for r in once if relation_variables(r)]

    @property
    def is_wrong(self) -> bool:
        return self.imported.is_wrong

    def value(self, var: DimVar) -> Dim:
        return self.imported.importer.state.store.dim(var)

    def one_or(self, var: DimVar) -> int | None:
        """The size that a dimension has where it is not broadcast, if it has no other."""
        value = self.value(var)
        for relation in self.relations:
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
        own = set(relation_variables(DimEq(self.value(var), 0)))
        return [r for r in self.relations if own & set(relation_variables(r))]

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
        return Found(found)

    return inferred(False), inferred(True)
