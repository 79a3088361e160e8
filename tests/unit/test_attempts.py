"""Trying something out: what goes wrong, or is asked for, does not stay."""

from __future__ import annotations

import pytest

from axon.diagnostics import Diagnostic, Severity
from axon.inference.state import Asked, State
from axon.solver.constraints import Origin
from axon.types.type import AtLeast, DimEq, Relation, ShapeEq
from axon.types.variables import DimVar, ShapeVar

HERE = Origin("value", None)


def ask(state: State, relation: Relation) -> None:
    state.post(relation, HERE)


def test_what_goes_wrong_is_the_attempts() -> None:
    state = State()
    ask(state, DimEq(2, 3))
    with state.attempt() as attempt:
        ask(state, DimEq(4, 5))
        state.diagnostics.append(Diagnostic("AX101", Severity.ERROR, "wrong", ()))
    assert attempt.failed
    assert [(each.left, each.right) for each in attempt.conflicts] == [(4, 5)]
    assert [each.message for each in attempt.diagnostics] == ["wrong"]
    assert [(each.left, each.right) for each in state.store.conflicts] == [(2, 3)]
    assert state.diagnostics == []


def test_what_is_learnt_stays() -> None:
    state, n = State(), DimVar("n")
    with state.attempt() as attempt:
        ask(state, DimEq(n, 7))
    assert not attempt.failed
    assert state.store.dim(n) == 7


def test_an_attempt_within_another() -> None:
    state = State()
    with state.attempt() as outer, state.attempt() as inner:
        ask(state, DimEq(1, 2))
    assert inner.failed
    assert not outer.failed


def test_an_attempt_that_is_stopped_leaves_nothing_wrong() -> None:
    state = State()
    with pytest.raises(Asked):
        _stopped(state)
    assert state.store.conflicts == []


def _stopped(state: State) -> None:
    with state.attempt():
        ask(state, DimEq(1, 2))
        raise Asked


def test_nothing_is_asked_where_nothing_may_be() -> None:
    state = State()
    with pytest.raises(Asked), state.sealing():
        ask(state, DimEq(1, 1))
    ask(state, DimEq(1, 1))
    with state.sealing():
        with state.sealing():
            pass
        with pytest.raises(Asked):
            ask(state, DimEq(1, 1))


def test_what_is_taken_back_was_not_asked() -> None:
    state, n, k = State(), DimVar("n"), DimVar("k")
    ask(state, AtLeast(n, silent=False))
    ask(state, ShapeEq((n,), (ShapeVar("s"),)))
    store = state.store
    waited, posted = list(store.waiting), list(store.posted)
    mark = store.mark()
    a, b = ShapeVar("a"), ShapeVar("b")
    ask(state, ShapeEq((a, k), (k, b)))
    ask(state, DimEq(2, 3))
    assert len(store.waiting) > len(waited)
    store.take_back(mark)
    assert list(store.waiting) == waited
    assert store.posted == posted
    assert store.conflicts == []
    ask(state, DimEq(n, 4))
    assert store.dim(n) == 4
