"""A program whose input sizes are forgotten, inferred: once as it is written, and once more with
the numbers that may be sizes taken for sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from axon.importers.imported import Imported, import_operations
from axon.importers.node import Format
from axon.importers.operations import Model, Operation
from axon.importers.torch.dynamic.input_sizes import InputSize, InputSizes
from axon.importers.torch.dynamic.plainer import conditions_on
from axon.importers.torch.dynamic.traced import Assumption, TracedNode, distinguished
from axon.inference.generalise.schemes import resolved
from axon.inference.state import State
from axon.solver.constraints import NOWHERE, Constraint
from axon.solver.reasons import Replays
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.type import AtLeast, DimBroadcast, DimEq, Relation, relation_variables
from axon.types.variables import DimVar, ShapeVar

WORK = 200_000
"""Constraints that are solved again, in all, to see what sizes a program takes."""
SETTLING = 200_000
"""Constraints that are solved again for what is left where some sizes are numbers."""
NEAR = 4
"""A size that differs by no more than a part of this is near another."""


def variables_of(dim: Dim) -> set[DimVar | ShapeVar]:
    return set(relation_variables(DimEq(dim, 0)))


@dataclass(slots=True)
class Found:
    """A program inferred under an assumption."""

    imported: Imported
    given: InputSizes
    assumption: Assumption
    conditions: dict[Relation, Constraint] = field(init=False)
    """What is left to be checked of the sizes of inputs."""
    left: list[Relation] = field(init=False)
    """All that is left to be solved, and what is known of the sizes of inputs."""
    makers: dict[str, Operation] = field(init=False)
    """What makes each tensor."""
    dependent: set[str] = field(init=False)
    """The tensors that are computed from inputs."""
    replays: Replays = field(default_factory=lambda: Replays(WORK))

    def __post_init__(self) -> None:
        operations = self.imported.model.graph.operations
        self.makers = {name: each for each in operations for name in each.outputs}
        self.dependent = set(self.imported.inputs)
        for operation in operations:
            if not self.dependent.isdisjoint(operation.inputs):
                self.dependent.update(operation.outputs)
        state = self.imported.importer.state
        values = {each.var: self.value(each.var) for each in self.given.every()}
        own = {v for value in values.values() for v in variables_of(value)}
        self.conditions = {}
        self.left = [DimEq(var, value) for var, value in values.items() if value != var]
        waiting = {resolved(state, each.relation): each for each in state.store.waiting}
        self.left += waiting
        for relation, shown in conditions_on(own, waiting).items():
            self.conditions.setdefault(shown, waiting[relation])

    @property
    def is_wrong(self) -> bool:
        return self.imported.is_wrong

    def value(self, var: DimVar) -> Dim:
        return self.imported.importer.state.store.dim(var)

    def only(self, size: InputSize) -> tuple[int, ...]:
        """The one size that it can be, or 1 and another, while the others of its input are what
        they are in the example; nothing if it can be many. A few beside it, which the same number
        of windows has, are no others.
        """
        value = self.value(size.var)
        if isinstance(value, int):
            return (value,)
        if not any(isinstance(r, DimEq | DimBroadcast) for r in self.about(size.var)):
            return ()
        example = size.example
        taken = [n for n in tried(example) if self._takes_for(size, n)]
        if any(n > 1 and NEAR * abs(n - example) > example for n in taken):
            return ()
        return (1, example) if 1 in taken and example != 1 else (example,)

    def _takes_for(self, size: InputSize, number: int) -> bool:
        """Whether a size can be a number, alone or with the others of its input that are as large
        in the example: they may be the same.
        """
        sizes = self.but(size, number)
        if self.takes(sizes) is not False:
            return True
        equal = [e for e in self.given.sizes[size.input] if e.example == size.example]
        all_of_them = {**sizes, **{each.var: number for each in equal if each.var in sizes}}
        return all_of_them != sizes and self.takes(all_of_them) is not False

    def is_in_bounds(self, size: InputSize, number: int) -> bool:
        """Whether no bound is in the way of a number, the sizes of its input else as they are."""
        sizes = self.but(size, number)
        bounds = [r.dim for r in self.about(size.var) if isinstance(r, AtLeast)]
        return all((dims.evaluate(dim, sizes) or 0) >= 0 for dim in bounds)

    def but(self, size: InputSize, number: int) -> dict[DimVar, int]:
        """The example with another number for one size of an input, and whatever fits for the sizes
        of other inputs, and for those that hang together with it.
        """
        own = variables_of(self.value(size.var))
        sizes = {size.var: number}
        for each in self.given.sizes[size.input]:
            if own.isdisjoint(variables_of(self.value(each.var))):
                sizes[each.var] = each.example
        return sizes

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
        relations = [*[DimEq(var, n) for var, n in sizes.items()], *self.left]
        store = self.replays.solve([Constraint(r, NOWHERE) for r in relations], first=True)
        if store.conflicts:
            return False
        return None if self.replays.left <= 0 else True


@dataclass(slots=True)
class Settled:
    """The sizes of inputs, and what is left to be checked of them, where some are numbers."""

    values: dict[DimVar, Dim]
    relations: list[Relation]

    def about(self, var: DimVar) -> list[Relation]:
        own = variables_of(self.values[var])
        return [r for r in self.relations if not own.isdisjoint(relation_variables(r))]

    def about_root(self, var: DimVar) -> list[Relation]:
        """Those that mention a variable that sizes are computed from."""
        return [r for r in self.relations if var in relation_variables(r)]


def settled(
    found: Found, fixed: dict[DimVar, int], same: Sequence[tuple[DimVar, Dim]] = ()
) -> Settled:
    """What is found, with numbers for some sizes, and where some are the same."""
    equal: list[tuple[DimVar, Dim]] = [*fixed.items(), *same]
    relations = [*[DimEq(var, value) for var, value in equal], *found.left]
    store = Replays(SETTLING).solve([Constraint(r, NOWHERE) for r in relations])
    values = {each.var: store.dim(each.var) for each in found.given.every()}
    own = {v for value in values.values() for v in variables_of(value)}
    state = State(store=store)
    waiting = dict.fromkeys(resolved(state, each.relation) for each in store.waiting)
    return Settled(values, list(dict.fromkeys(conditions_on(own, waiting).values())))


def tried(example: int) -> list[int]:
    """Sizes to try in the place of one: the example last."""
    found = [1, 2, 3, 5, 7, 8, 16, example - 1, example + 1, 2 * example, 3 * example, 4 * example]
    return [*sorted({n for n in found if n > 0 and n != example}), example]


def searched(
    model: Model, format: Format, name: str, given: InputSizes, traced: list[InputSize]
) -> tuple[Found, Found]:
    """The program with only what the source says are sizes, and with all that may be: the same if
    no size is `traced`.
    """
    alike = distinguished(model)

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

    sure = inferred(False)
    return sure, inferred(True) if traced else sure
