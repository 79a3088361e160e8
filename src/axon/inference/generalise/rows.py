"""Rows at the end of a definition: a size that is not known to vary by then does not vary."""

from __future__ import annotations

from axon.inference.generalise.residuals import lone
from axon.inference.state import State
from axon.solver.broadcasting import is_of_the_run
from axon.solver.constraints import Constraint
from axon.solver.store import Store
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.type import (
    DimBroadcast,
    DimEq,
    Relation,
    RowOf,
    Shape,
    ShapeEq,
    Type,
    shape_variables,
    tensor_shapes,
)
from axon.types.variables import DimVar, ShapeVar, is_ragged, made_at


def same_rows(state: State, level: int) -> None:
    """Sizes of rows about which nothing is known by now do not vary."""
    store = state.store
    while True:
        sides = {
            c: _sides(store, c.relation) for c in store.waiting if isinstance(c.relation, RowOf)
        }
        found = [
            c
            for c, (row, rest) in sides.items()
            if any(var.level > level for var in shape_variables(row + rest))
        ]
        if not found:
            return
        rows = {v for c in found for v in shape_variables(sides[c][0])}
        if any(is_of_the_run(store, c, rows) for c in list(store.waiting)):
            store.run()
            continue
        given = {
            v
            for c, (row, rest) in sides.items()
            if not _is_given_by_calls(rest, c.relation)
            for v in shape_variables(row)
        }
        if _made_further_in(store, rows - given, found[0]):
            store.run()
            continue
        alone = [c for c in found if all(map(lone, sides[c]))]
        for constraint in alone or found:  # what is computed from others may follow from them
            if constraint.waiting:
                store.unwait(constraint)
                store.derive("raggedness", constraint, _same(constraint.relation))
        store.run()


def first_sizes(state: State, type_: Type) -> None:
    """A row's size that broadcasts with a tensor's first size, which must be 1, is uniform."""
    store = state.store
    found = [
        c
        for c in store.waiting
        if isinstance(c.relation, DimBroadcast) and _varies(store, c.relation.result)
    ]
    if not found:
        return
    first = {shape[0] for shape in tensor_shapes(state.resolve(type_)) if shape}
    for constraint in found:
        assert isinstance(constraint.relation, DimBroadcast)
        for part in map(store.dim, constraint.relation.parts):
            if part in first and isinstance(part, DimVar) and not part.runtime:
                store.imply("raggedness", (constraint,), DimEq(part, 1))
    store.run()


def _varies(store: Store, size: Dim) -> bool:
    return any(map(is_ragged, dims.variables(store.dim(size))))


def _is_given_by_calls(rest: Shape, relation: Relation) -> bool:
    """Whether the tensor is known only from its rows: it consists of the results of the calls."""
    assert isinstance(relation, RowOf)
    return all(
        isinstance(item, DimVar | ShapeVar)
        and not item.user
        and item.scope == made_at(relation.call.depth)
        for item in rest
    )


def _made_further_in(store: Store, rows: set[DimVar | ShapeVar], by: Constraint) -> bool:
    """Make a run-time size of a row's size that only a call inside the function makes. True if
    there is one.
    """
    for guard in store.guards:
        relation = guard.relation
        if not isinstance(relation, DimEq) or not isinstance(relation.left, DimVar):
            continue
        made, size = relation.left, store.dim(relation.right)
        if not isinstance(size, DimVar) or size not in rows or size.runtime or size.user:
            continue
        if made.scope > size.scope:
            own = DimVar(
                size.name, size.level, scope=size.scope, runtime=True, over=made.over, derived=True
            )
            store.bind("raggedness", size, own, by)
            return True
    return False


def _sides(store: Store, relation: RowOf) -> tuple[Shape, Shape]:
    """A row and the tensor's remaining shape, under the bindings."""
    return store.word(relation.row), store.word(relation.rest)


def _same(relation: Relation) -> ShapeEq | DimEq:
    """The equation that the sizes of a row are those of all rows."""
    assert isinstance(relation, RowOf)
    row, rest = relation.row, relation.rest
    if len(row) == len(rest) == 1:
        size, other = row[0], rest[0]
        if not isinstance(size, ShapeVar) and not isinstance(other, ShapeVar):
            return DimEq(size, other)
    return ShapeEq(row, rest)
