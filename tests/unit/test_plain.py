"""Readings: which ranks are possible, which names are taken, how much is done."""

from __future__ import annotations

import cProfile
import pstats

import pytest

import axon
from axon.driver import check_text
from axon.inference.report.ranks import MOST_APPLIED, ranks
from axon.plain import plain_readings
from axon.types.type import Broadcast, Relation, ShapeEq
from axon.types.variables import DimVar, ShapeVar

S, T, U = (ShapeVar(name) for name in "stu")
A, B = DimVar("a"), DimVar("b")


@pytest.mark.parametrize(
    ("relations", "least"),
    [
        ([ShapeEq((A, S), (T, A, B))], 1),
        ([ShapeEq((A, B), (S,))], 2),
        ([ShapeEq((S, S), (A, T, B))], 1),
        ([Broadcast((S,), ((T, A), (U,)))], 1),
        ([Broadcast((A, B), ((S,), (T,)))], 0),
        ([Broadcast((A, B), ((S,), (T,))), ShapeEq((T,), (A,))], 2),
        ([Broadcast((S, A), ((T,), (U, A, B)))], 1),
    ],
)
def test_the_lowest_rank(relations: list[Relation], least: int) -> None:
    found = ranks(relations)
    assert found is not None
    assert found.shortest(S) == least


def test_what_is_assumed_stays_possible() -> None:
    found = ranks([Broadcast((A, B, A), ((S,), (T, A, B)))])
    assert found is not None
    assert found.assume(S, 1)
    assert not found.assume(T, 0), "the result has three dimensions, so one part has"
    assert found.assume(T, 1)


@pytest.mark.parametrize(
    "relations",
    [
        [ShapeEq((S,), (A, S))],
        [ShapeEq((A,), (A, B, S))],
        [Broadcast((A,), ((S, A, B),))],
    ],
)
def test_ranks_that_cannot_be(relations: list[Relation]) -> None:
    assert ranks(relations) is None


def test_assuming_ends() -> None:
    found = ranks([ShapeEq((S,), (T,))])
    assert found is not None
    found.left = 0
    assert not found.assume(S, 1)
    assert MOST_APPLIED > 0


def test_python_has_the_reading() -> None:
    net = axon.compile("f = fn (x, w) { x @ w }; g = fn (x : f32 [n]) { exp(x) };")
    assert net.f.plain == "(t [b,c], t [c,e]) -> t [b,e]"
    assert repr(net.f).splitlines()[1] == "plain: (t [b,c], t [c,e]) -> t [b,e]"
    assert net.g.plain is None
    assert repr(net.g) == "g : (x : f32 [n]) -> f32 [n]"


def test_a_column_does_not_say_what_a_bias_is() -> None:
    """A bias of one element would be a choice: it may have a size as well."""
    assert axon.compile("f = fn (x : f32 [n,1], b) { x + b };").f.plain is None


@pytest.mark.parametrize(
    ("program", "reading"),
    [
        # `b` is a number of the file in the body, `c` a size of a function inside
        ("b = 3; f = fn (x, w) { x @ w * b };", "(t [b1,c], t [c,e]) -> t [b1,e]"),
        (
            "f = fn (x, w, z) { g = fn (y : f32 [k,c]) { exp(y) }; x @ w, g(z) };",
            "(t [b,d], t [d,f], f32 [k,c]) -> (t [b,f], f32 [k,c])",
        ),
        # a parameter of that name is nearer than the size
        ("f = fn (x, w, b) { x @ w + b };", "(t [b,c], t [c,e], t [e]) -> t [b,e]"),
    ],
)
def test_names_that_are_taken(program: str, reading: str) -> None:
    assert plain_readings(check_text(program))[-1] == reading


def layers(count: int) -> str:
    params = ", ".join(f"w{i}, b{i}" for i in range(count))
    lines = "".join(f"h{i + 1} = relu(h{i} @ w{i} + b{i}); " for i in range(count))
    return f"f = fn (h0, {params}) {{ {lines} h{count} }};"


def calls_made(count: int) -> int:
    checked = check_text(layers(count))
    profile = cProfile.Profile()
    profile.enable()
    (reading,) = plain_readings(checked)
    profile.disable()
    assert reading is not None
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]


def test_the_work_is_linear_in_the_program() -> None:
    calls_made(2)  # what is done once
    assert calls_made(48) < 3 * calls_made(24)
