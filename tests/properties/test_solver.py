"""The solver against enumeration: no solution is lost, nothing is forgotten, and the order does not matter."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from axon.solver.store import Store
from axon.types import dim as dims
from axon.types.type import shape_variables
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


# --- (e) the order does not matter -------------------------------------------------------------------


def outcome(world: World, store: Store) -> object:
    """The verdict, every constant, the rank of every shape that is known, and which of the system's variables are equal."""
    if store.conflicts:
        return "conflict"
    sizes = {n: store.dim(v) for n, v in world.dim_vars.items()}
    shapes = {n: store.word((v,)) for n, v in world.shape_vars.items()}
    constants = {n: d for n, d in sizes.items() if isinstance(d, int)}
    places = {
        (n, i): d for n, w in shapes.items() for i, d in enumerate(w) if isinstance(d, int)
    }
    equal = {(a, b) for a in sizes for b in sizes if sizes[a] == sizes[b]}
    equal |= {(a, b) for a in shapes for b in shapes if shapes[a] == shapes[b]}
    return constants, places, equal


def normal_forms(world: World, store: Store) -> object:
    """The values that speak of the system's own variables only: which variable stands for others is fixed."""
    if store.conflicts:
        return "conflict"
    own = {*world.dim_vars.values(), *world.shape_vars.values()}
    sizes = {n: store.dim(v) for n, v in world.dim_vars.items()}
    shapes = {n: store.word((v,)) for n, v in world.shape_vars.items()}
    return (
        {n: d for n, d in sizes.items() if own >= set(dims.variables(d))},
        {n: w for n, w in shapes.items() if own >= set(shape_variables(w))},
    )


@MANY
@given(systems(shapes=False), st.data())
def test_order_of_dimensions(system: System, data: st.DataObject) -> None:
    world = World(system)
    turned = data.draw(forms(system))
    assert outcome(world, world.post()) == outcome(world, world.post(turned))


@MANY
@given(systems(), st.data())
def test_order_of_shapes(system: System, data: st.DataObject) -> None:
    world = World(system)
    turned = data.draw(forms(system))
    assert outcome(world, world.post()) == outcome(world, world.post(turned))


@MANY
@given(systems(shapes=False), st.data())
def test_normal_forms_of_dimensions(system: System, data: st.DataObject) -> None:
    world = World(system)
    turned = data.draw(forms(system))
    assert normal_forms(world, world.post()) == normal_forms(world, world.post(turned))


@MANY
@given(systems(), st.data())
def test_normal_forms_of_shapes(system: System, data: st.DataObject) -> None:
    world = World(system)
    turned = data.draw(forms(system))
    assert normal_forms(world, world.post()) == normal_forms(world, world.post(turned))


def verdict(world: World, store: Store) -> object:
    return bool(store.conflicts)
