"""Reasons: the posted constraints behind a binding or a conflict, and the fewest that suffice."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable

from axon.solver.constraints import Conflict, Constraint
from axon.solver.rules import new_store
from axon.solver.store import IndexVar, Store
from axon.types import dim as dims
from axon.types.type import Shape, relation_variables, shape_variables

# Shrinking solves subsets again. All replays together process at most so many constraints, after
# which what is left is reported as it is: enough, perhaps more than needed.
BUDGET = 60_000


class Replays:
    """Constraints solved again in separate stores, with a bound on the total work.

    A replay that reaches the bound has shown nothing; its constraints are kept.
    """

    __slots__ = ("left",)

    def __init__(self, budget: int = BUDGET) -> None:
        self.left = budget

    def conflict(self, constraints: Iterable[Constraint]) -> Conflict | None:
        """The first conflict among these constraints alone."""
        store = self.solve(constraints, first=True)
        return store.conflicts[0] if store.conflicts else None

    def solve(self, constraints: Iterable[Constraint], first: bool = False) -> Store:
        store = new_store(levels=False, most=self.left, first=first)
        store.post_all(constraints)
        self.left = max(0, self.left - store.work - 1)
        return store


def behind(store: Store, constraint: Constraint, time: int) -> list[Constraint]:
    """The posted constraints that a constraint, read at a time, depends on: a superset of what is
    needed.

    A variable depends on the constraint that bound it, on what that constraint mentioned then, and
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
    return Replays().conflict(constraints)


def minimal(
    constraints: list[Constraint], extra: list[Constraint] | None = None
) -> list[Constraint]:
    """A minimal subset in conflict: without any one of its constraints it is not known to be."""
    replays = Replays()
    if replays.conflict(constraints) is None:
        if extra is None or replays.conflict(extra) is None:
            return constraints
        constraints = extra
    return fewest(constraints, replays, lambda subset: replays.conflict(subset) is not None)


def sufficient(
    constraints: list[Constraint], read: Callable[[Store], Shape], value: Shape
) -> list[Constraint]:
    """The fewest of the constraints under which a shape reads as it does."""
    return enough_for(constraints, lambda store: read(store) == value)


def enough_for(constraints: list[Constraint], holds: Callable[[Store], bool]) -> list[Constraint]:
    """The fewest of the constraints for which something holds; none if it does not hold for all."""
    replays = Replays()

    def enough(subset: list[Constraint]) -> bool:
        return holds(replays.solve(subset))

    return fewest(constraints, replays, enough) if enough(constraints) else []


def fewest(
    constraints: list[Constraint], replays: Replays, enough: Callable[[list[Constraint]], bool]
) -> list[Constraint]:
    """Drop what is not needed, halves first, so that few among many are found in few steps."""
    if enough([]):
        return []
    chunk = max(1, len(constraints) // 2)
    while True:
        start = 0
        while start < len(constraints) and replays.left > 0:
            rest = constraints[:start] + constraints[start + chunk :]
            if rest and enough(rest):
                constraints = rest
            else:
                start += chunk
        if chunk == 1 or replays.left <= 0:
            return constraints
        chunk = max(1, chunk // 2)


def reasons(store: Store, conflict: Conflict) -> list[Constraint]:
    """A minimal set of posted constraints that cannot all hold."""
    found = behind(store, conflict.constraint, conflict.time)
    return minimal(found, store.posted if len(store.posted) < 2000 else None)


def independent(store: Store, conflicts: Iterable[Conflict], shown: Container[Constraint]) -> bool:
    """Whether any of the conflicts may exist without the constraints that were shown."""
    found: dict[Constraint, None] = {}
    for conflict in conflicts:
        found.update(dict.fromkeys(behind(store, conflict.constraint, conflict.time)))
    rest = [constraint for constraint in found if constraint not in shown]
    replays = Replays()
    return replays.conflict(rest) is not None or replays.left <= 0
