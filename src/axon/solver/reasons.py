"""Why: the posted constraints behind a binding or a conflict, and the fewest of them that suffice."""

from __future__ import annotations

from collections.abc import Iterable

from axon.solver.constraints import Conflict, Constraint
from axon.solver.rules import new_store
from axon.solver.store import IndexVar, Store
from axon.types import dim as dims
from axon.types.type import relation_variables, shape_variables

# Shrinking re-solves subsets; past this many steps of work what is left is reported as it is.
BUDGET = 20_000


def behind(store: Store, constraint: Constraint, time: int) -> list[Constraint]:
    """The posted constraints that a constraint, read at a time, rests on: a superset of what is needed.

    A variable rests on the constraint that bound it, on what that constraint mentioned then, and on what its value
    mentions now.
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


def minimal(constraints: list[Constraint], extra: list[Constraint] | None = None) -> list[Constraint]:
    """The fewest of the constraints that are still in conflict: without any one of them the rest is not known to be.

    Halves are tried first, so that a small conflict in a large set is found in few steps.
    """
    if conflict_of(constraints) is None:
        if extra is None or conflict_of(extra) is None:
            return constraints
        constraints = extra
    budget = BUDGET
    chunk = max(1, len(constraints) // 2)
    while True:
        start = 0
        while start < len(constraints) and budget > 0:
            rest = constraints[:start] + constraints[start + chunk :]
            budget -= len(rest)
            if rest and conflict_of(rest) is not None:
                constraints = rest
            else:
                start += chunk
        if chunk == 1 or budget <= 0:
            return constraints
        chunk = max(1, chunk // 2)


def reasons(store: Store, conflict: Conflict) -> list[Constraint]:
    """A minimal set of posted constraints that cannot hold together."""
    earlier = [c for c in store.posted if c is not conflict.constraint]
    found = behind(store, conflict.constraint, conflict.time)
    return minimal(found, [*earlier, conflict.constraint] if len(earlier) < 2000 else None)


def why(store: Store, variable: IndexVar) -> list[Constraint]:
    """The fewest posted constraints that give the variable the value it has."""
    binding = store.bindings.get(variable)
    if binding is None:
        return []
    found = behind(store, binding.by, binding.time)
    value = binding.given
    inner = shape_variables(value) if isinstance(value, tuple) else dims.variables(value)
    for var in inner:
        deeper = store.bindings.get(var)
        if deeper is not None:
            found.extend(c for c in behind(store, deeper.by, deeper.time) if c not in found)
    wanted = store.word((variable,)) if not isinstance(binding.value, tuple) else store.word(binding.value)

    def suffices(subset: list[Constraint]) -> bool:
        trial = new_store(levels=False)
        trial.post_all(subset)
        return trial.word((variable,)) == wanted

    for constraint in list(found):
        rest = [c for c in found if c is not constraint]
        if len(found) <= 200 and suffices(rest):
            found = rest
    return found
