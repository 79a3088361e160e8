"""Why:

The posted constraints behind a binding or a conflict, and the fewest of them that suffice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from axon.solver.constraints import Conflict, Constraint
from axon.solver.rules import new_store
from axon.solver.store import IndexVar, Store
from axon.types import dim as dims
from axon.types.type import Shape, relation_variables, shape_variables

# Shrinking re-solves subsets; past this many steps of work what is left is reported as it is.
BUDGET = 20_000


def behind(store: Store, constraint: Constraint, time: int) -> list[Constraint]:
    """The posted constraints that a constraint, read at a time, rests on: a superset of what is
    needed.

    A variable rests on the constraint that bound it, on what that constraint mentioned then, and
    on what its value mentions now.
    """
    roots: dict[Constraint, None] = {}
    constraints: list[tuple[Constraint, int]] = [(constraint, time)]
    latest: dict[Constraint | IndexVar, int] = {}
    variables: list[tuple[IndexVar, int]] = []
    while constraints or variables:
        if constraints:
            current, at = constraints.pop()
            if latest.get(current, -1) >= at:
                continue
            latest[current] = at
            if not current.parents and current.rule == "":
                roots[current] = None
            constraints.extend((parent, at) for parent in current.parents)
            variables.extend((var, at) for var in relation_variables(current.relation))
            continue
        var, at = variables.pop()
        binding = store.bindings.get(var)
        if binding is None or binding.time >= at or latest.get(var, -1) >= at:
            continue
        latest[var] = at
        constraints.append((binding.by, binding.time))
        value = binding.given
        inner = shape_variables(value) if isinstance(value, tuple) else dims.variables(value)
        variables.extend((v, at) for v in inner)
    order = {c: i for i, c in enumerate(store.posted)}
    return sorted(roots, key=lambda c: order.get(c, -1))


def conflict_of(constraints: Iterable[Constraint]) -> Conflict | None:
    """The first conflict among these constraints alone."""
    store = new_store(levels=False)
    store.post_all(constraints)
    return store.conflicts[0] if store.conflicts else None


def minimal(
    constraints: list[Constraint], extra: list[Constraint] | None = None
) -> list[Constraint]:
    """The fewest of the constraints that are still in conflict: without any one of them the rest
    is not known to be.
    """
    if conflict_of(constraints) is None:
        if extra is None or conflict_of(extra) is None:
            return constraints
        constraints = extra
    return _fewest(constraints, lambda subset: conflict_of(subset) is not None)


def sufficient(
    constraints: list[Constraint], read: Callable[[Store], Shape], value: Shape
) -> list[Constraint]:
    """The fewest of the constraints under which a shape reads as it does."""

    def holds(subset: list[Constraint]) -> bool:
        store = new_store(levels=False)
        store.post_all(subset)
        return read(store) == value

    return enough_for(constraints, holds)


def enough_for(
    constraints: list[Constraint], holds: Callable[[list[Constraint]], bool]
) -> list[Constraint]:
    """The fewest of the constraints for which something holds; none if it does not for all."""
    return _fewest(constraints, holds) if holds(constraints) else []


def _fewest(
    constraints: list[Constraint], enough: Callable[[list[Constraint]], bool]
) -> list[Constraint]:
    """Drop what is not needed, halves first, so that few among many are found in few steps."""
    if enough([]):
        return []
    budget = BUDGET
    chunk = max(1, len(constraints) // 2)
    while True:
        start = 0
        while start < len(constraints) and budget > 0:
            rest = constraints[:start] + constraints[start + chunk :]
            budget -= len(rest) + 1
            if rest and enough(rest):
                constraints = rest
            else:
                start += chunk
        if chunk == 1 or budget <= 0:
            return constraints
        chunk = max(1, chunk // 2)


def reasons(store: Store, conflict: Conflict) -> list[Constraint]:
    """A minimal set of posted constraints that cannot hold together."""
    found = behind(store, conflict.constraint, conflict.time)
    return minimal(found, store.posted if len(store.posted) < 2000 else None)
