"""The solver against enumeration: no solution is lost, nothing is forgotten, and the order does not matter."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from axon.solver.store import Store
from axon.types import dim as dims
from axon.types.type import HasRank
from tests.properties.systems import (
    Reading,
    System,
    World,
    forms,
    holds,
    solutions,
    systems,
)

MANY = settings(
    max_examples=int(__import__("os").environ.get("N","300")),
    derandomize="N" not in __import__("os").environ,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def check_meaning(system: System) -> None:
    """(a), (b) and (c): the store has the solutions that the system has."""
    world = World(system)
    store = world.post()
    found = solutions(system)
    if store.conflicts:
        assert not found, f"rejected, but {dict(zip(system.names, found[0], strict=True))}"
        return
    reading = Reading(world, store)
    candidates = set(reading.candidates())
    for values in found:
        named = dict(zip(system.names, values, strict=True))
        assert values in candidates, f"lost {named}: {reading.conditions}"
        assert reading.extends(values), f"lost {named}: {reading.conditions}"
    for values in candidates - set(found):
        if reading.extends(values):
            named = dict(zip(system.names, values, strict=True))
            raise AssertionError(f"forgotten: {named} satisfies {reading.conditions}")


@MANY
@given(systems(shapes=False))
def test_dimensions_keep_their_solutions(system: System) -> None:
    check_meaning(system)


@MANY
@given(systems())
def test_shapes_keep_their_solutions(system: System) -> None:
    check_meaning(system)
