"""Reasons are posted constraints, they do not go together, and all of them are needed."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from axon.solver.reasons import conflict_of, reasons
from axon.solver.rules import new_store
from axon.types import dim as dims
from axon.types.type import DimEq, Relation, ShapeEq
from axon.types.variables import DimVar, ShapeVar
from tests.budget import ALL
from tests.properties.systems import Dims, Name, Op, Rel, System, Words, World, systems


def check_reasons(world: World) -> bool:
    """Whether there was a conflict to look at.

    With products and divisions, a contradiction may be seen in one order and not in another; only
    one that is seen when all is posted anew can be made smaller.
    """
    store = world.post()
    if conflict_of(store.posted) is None:
        return bool(store.conflicts)
    for conflict in store.conflicts[:2]:
        found = reasons(store, conflict)
        assert found
        assert all(any(c is p for p in store.posted) for c in found)
        assert len({id(c) for c in found}) == len(found)
        assert conflict_of(found) is not None, found
        for i in range(len(found)):
            rest = found[:i] + found[i + 1 :]
            assert conflict_of(rest) is None, (found, rest)
    return bool(store.conflicts)


@st.composite
def contradictions(draw: st.DrawFn, shapes: bool) -> System:
    """A system that asks for sizes, or ranks, that differ, among other things."""
    system = draw(systems(shapes=shapes, linear=draw(st.booleans()), casts=draw(st.booleans())))
    size, other = draw(st.sampled_from([(0, 1), (1, 2), (2, 3), (3, 2)]))
    name = Name(draw(st.sampled_from(system.dim_names)))
    clash: list[Rel] = draw(
        st.sampled_from(
            [
                [Dims(name, size), Dims(other, name)],
                [Dims(Op("+", name, 5), 3)],
                [Dims(Op("*", 2, name), 7)],
                [Words((name, size), (size,))],
                [Words((name, size), (size, other)), Dims(size, name)],
            ]
        )
    )
    relations = draw(st.permutations([*system.relations, *clash]))
    return System(system.dim_names, system.shape_names, tuple(relations))


@ALL
@given(contradictions(shapes=False))
def test_reasons_between_dimensions(system: System) -> None:
    assert check_reasons(World(system))


@ALL
@given(contradictions(shapes=True))
def test_reasons_between_shapes(system: System) -> None:
    assert check_reasons(World(system))


@ALL
@given(systems())
def test_reasons_of_whatever_conflicts(system: System) -> None:
    check_reasons(World(system))


def chain(length: int) -> list[Relation]:
    """x0 = 3, x0 = x1, …, xn = 4: everything is needed."""
    variables = [DimVar() for _ in range(length)]
    links: list[Relation] = [DimEq(a, b) for a, b in pairwise(variables)]
    return [DimEq(variables[0], 3), *links, DimEq(variables[-1], 4)]


@pytest.mark.parametrize("length", [1, 2, 5, 30])
def test_all_of_a_chain_is_needed(length: int) -> None:
    store = new_store()
    for relation in chain(length):
        store.post(relation)
    (conflict,) = store.conflicts
    assert len(reasons(store, conflict)) == length + 1


def test_what_is_beside_the_point_is_left_out() -> None:
    store = new_store()
    n, m, k = DimVar("n"), DimVar("m"), DimVar("k")
    s = ShapeVar("s")
    store.post(DimEq(k, dims.add(m, 1)))
    first = store.post(ShapeEq((s,), (n, 4)))
    store.post(DimEq(m, 2))
    second = store.post(ShapeEq((s,), (3, n)))
    (conflict,) = store.conflicts
    assert reasons(store, conflict) == [first, second]
