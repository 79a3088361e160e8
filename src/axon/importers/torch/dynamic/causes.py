"""Which operations fix a size, and which of them is to blame."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from axon.importers.operations import Operation, Place
from axon.importers.reporting.problems import operation_at
from axon.importers.torch.dynamic.given import InputSize
from axon.importers.torch.dynamic.search import Found, tried
from axon.importers.torch.dynamic.spelled import Spelling
from axon.importers.torch.dynamic.traced import spellings
from axon.solver.constraints import NOWHERE, Constraint
from axon.solver.reasons import Replays, behind, fewest
from axon.solver.store import Store
from axon.types.dim import Dim
from axon.types.type import DimEq, Relation, Shape, Tensor
from axon.types.variables import DimVar, ShapeVar

MOST_PLACES = 3
WORK = 20_000
"""Constraints that are solved again to find the fewest that fix one size."""


@dataclass(frozen=True, slots=True)
class Cause:
    """An operation that a fixed size follows from; `numbers` says that sizes stand in it as
    numbers, of which the source may not say whose they are, `weights` that a tensor of the module
    meets others there, one `of_size` if it has the size itself. One that `carries` the size hands
    it on as a size of its result.
    """

    operation: Operation
    numbers: bool
    unsure: bool
    weights: bool
    of_size: bool
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
        if self.of_size:
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
    weights = {constant.name: constant.dims for constant in imported.model.graph.constants}
    operations: dict[Operation, None] = dict.fromkeys(
        operation
        for constraint in core
        if (operation := operation_at(constraint.origin.span)) is not None
    )
    if value == size.example:
        for operation in list(operations):
            operations.update(dict.fromkeys(_introducing(found, operation, size)))
    causes: list[Cause] = []
    for operation in operations:
        groups = found.assumption.groups.get(operation, {})
        kinds = [
            kind
            for i, kind in spellings(operation).items()
            if i not in groups or _concerns(found, groups[i], size)
        ]
        causes.append(
            Cause(
                operation,
                bool(kinds),
                Spelling.NUMBER not in kinds,
                any(name in weights for name in operation.inputs),
                any(size.example in weights.get(name, ()) for name in operation.inputs),
                _carries(found, operation, size),
            )
        )
    return sorted(causes, key=lambda cause: cause.order)


def _introducing(found: Found, operation: Operation, size: InputSize) -> Iterator[Operation]:
    """The operations that made a number a size of what an operation takes: an `arange` of so many,
    where a sum has that and something else.
    """
    seen: set[str] = set()
    names = list(operation.inputs)
    while names:
        name = names.pop()
        if name in seen or not _has_number(found, name, size):
            continue
        seen.add(name)
        maker = found.makers.get(name)
        if maker is None:
            continue
        if any(_has_number(found, inner, size) for inner in maker.inputs):
            names += maker.inputs
        else:
            yield maker


def _has_number(found: Found, name: str, size: InputSize) -> bool:
    """Whether a tensor had a size as a number from the beginning, and not as that of an input."""
    for chain in _chains(found, name):
        if chain[-1] == size.example and size.var not in chain:
            return True
    return False


def _carries(found: Found, operation: Operation, size: InputSize) -> bool:
    """Whether a result has the size of the input as one of its own."""
    own = set(_chain(found.imported.importer.state.store, size.var))
    own = {item for item in own if isinstance(item, DimVar)}
    return any(
        not own.isdisjoint(chain) for name in operation.outputs for chain in _chains(found, name)
    )


def _concerns(found: Found, variables: frozenset[DimVar], size: InputSize) -> bool:
    """Whether a size is among some others, or is what one of them was found to be."""
    store = found.imported.importer.state.store
    own = {item for item in _chain(store, size.var) if isinstance(item, DimVar)}
    return any(not own.isdisjoint(_chain(store, var)) for var in variables)


def _chains(found: Found, name: str) -> Iterator[list[Dim]]:
    """What each size of a tensor was found to be, one after another."""
    store, type_ = found.imported.importer.state.store, found.imported.importer.types.get(name)
    for item in _as_bound(store, type_.shape) if isinstance(type_, Tensor) else ():
        if not isinstance(item, ShapeVar):
            yield _chain(store, item)


def _chain(store: Store, dim: Dim) -> list[Dim]:
    """A size, and what it was bound to, and what that was."""
    chain: list[Dim] = [dim]
    while isinstance(dim, DimVar) and dim in store.bindings:
        given = store.bindings[dim].given
        if isinstance(given, tuple):
            break
        chain.append(given)
        dim = given
    return chain


def _as_bound(store: Store, shape: Shape) -> Iterator[Dim | ShapeVar]:
    """The items of a shape as they were when it was found: later bindings are left out."""
    for item in shape:
        binding = store.bindings.get(item) if isinstance(item, ShapeVar) else None
        if binding is None or not isinstance(binding.given, tuple):
            yield item
        else:
            yield from _as_bound(store, binding.given)


def places_of(causes: Iterable[Cause]) -> list[Place]:
    """The lines of some operations, each once."""
    found: dict[tuple[str, int], Place] = {}
    for cause in causes:
        place = cause.place
        if place is not None:
            found.setdefault((place.file, place.line), place)
    return list(found.values())[:MOST_PLACES]
