"""The prover ends in time, whatever it is asked, and says nothing when it cannot tell."""

from __future__ import annotations

import os
import signal
import sys
from itertools import pairwise
from pathlib import Path
from time import monotonic

import pytest

from axon.prove.decide import Counterexample, Proved, Prover, Refuted, Unknown
from axon.prove.engine import Engine
from axon.prove.question import can_hold
from axon.prove.worker import BYTES
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.type import AtLeast, DimEq, Relation
from axon.types.variables import DimVar, ShapeVar

PATIENCE = 60.0
"""Seconds that a busy machine may take for what takes no time: far less than without a limit."""


def _names(count: int) -> list[DimVar]:
    return [DimVar(f"x{i}") for i in range(count)]


def _sum(parts: list[Dim]) -> Dim:
    total: Dim = 0
    for part in parts:
        total = dims.add(total, part)
    return total


def _many_terms() -> Relation:
    return DimEq(dims.from_terms({(v,): i + 2 for i, v in enumerate(_names(5000))}), 17)


def _large_numbers() -> Relation:
    n, m = _names(2)
    return DimEq(dims.scale(2**5000 + 1, n), dims.scale(2**4999 - 1, m))


def _deep() -> Relation:
    dim: Dim = DimVar("n")
    other = DimVar("m")
    for i in range(300):
        dim = dims.floordiv(dims.add(dims.scale(3, dim), other), 7 + i)
    return AtLeast(dims.sub(dim, other), silent=False)


def _high_degree() -> Relation:
    n, m = _names(2)
    return DimEq(dims.product([n] * 40), dims.add(dims.product([m] * 40), 1))


def _many_cases() -> Relation:
    """Two to the power of sixty of them."""
    names = _names(61)
    pairs = pairwise(names)
    least = _sum([dims.minimum(dims.scale(3, a), dims.add(dims.scale(2, b), 1)) for a, b in pairs])
    most = _sum([dims.maximum(a, dims.scale(5, b)) for a, b in zip(names, names[2:], strict=False)])
    return DimEq(dims.scale(2, least), dims.add(dims.scale(2, most), 1))


def _fermat() -> Relation:
    a, b, c = (dims.add(v, 1) for v in _names(3))
    cubes = [dims.product([v] * 3) for v in (a, b, c)]
    return DimEq(dims.add(cubes[0], cubes[1]), cubes[2])


def _knapsack() -> Relation:
    """Whole numbers with large coefficients that hardly fit."""
    weights = [12223, 12224, 36674, 61119, 85569, 12311, 99991, 54321]
    return DimEq(
        _sum([dims.scale(w, v) for w, v in zip(weights, _names(8), strict=True)]), 89643481
    )


def _divisions_by_names() -> Relation:
    names = _names(12)
    parts = [dims.floordiv(dims.mul(a, a), b) for a, b in pairwise(names)]
    return DimEq(_sum(parts), dims.mul(names[0], names[5]))


def _vast() -> Relation:
    n, m = _names(2)
    return DimEq(dims.product([dims.add(n, m)] * 80), n)


def _by_zero() -> Relation:
    return DimEq(dims.floordiv(DimVar("n"), 0), 1)


def _ruled_by_shapes() -> Relation:
    shape = ShapeVar("s")
    return DimEq(dims.of_size(shape), dims.add(shape.rank, 7))


HOSTILE = [
    _many_terms,
    _large_numbers,
    _deep,
    _high_degree,
    _many_cases,
    _fermat,
    _knapsack,
    _divisions_by_names,
    _vast,
    _by_zero,
    _ruled_by_shapes,
]


@pytest.mark.parametrize("make", HOSTILE)
def test_hostile_conditions_end_in_time(make: object) -> None:
    assert callable(make)
    condition = make()
    with Prover(0.3) as prover:
        prover.decide(DimEq(DimVar("n"), 0))  # the process is there
        prover.rewind()
        begun = monotonic()
        prover.decide(condition)
        prover.decide(condition, [condition, AtLeast(DimVar("n"), silent=True)])
        assert monotonic() - begun < PATIENCE
        prover._left = PATIENCE  # the same process answers the next one
        n = DimVar("n")
        assert prover.decide(AtLeast(dims.add(n, 1), silent=False)) == Proved()


def test_no_time_is_not_known() -> None:
    n = DimVar("n")
    for seconds in (0.0, -1.0):
        with Prover(seconds) as prover:
            assert prover.decide(AtLeast(n, silent=False)) == Unknown()


def test_out_of_bounds_is_not_asked() -> None:
    for make in (_many_terms, _large_numbers, _deep, _high_degree, _vast, _by_zero):
        with Prover() as prover:
            assert prover.decide(make()) == Unknown()  # type: ignore[arg-type]


def test_a_worker_that_dies_is_replaced() -> None:
    n = DimVar("n")
    question = can_hold([DimEq(n, 3)])
    engine = Engine()
    try:
        assert engine.ask(question, "isl", PATIENCE) == {0: 3}
        assert engine.worker.process is not None
        os.kill(engine.worker.process.pid, signal.SIGKILL)
        assert engine.ask(question, "isl", PATIENCE) is True
        assert engine.ask(question, "z3", PATIENCE) == {0: 3}
        assert engine.ask(question, "no such engine", PATIENCE) is True
        assert engine.ask(question, "isl", PATIENCE) == {0: 3}
    finally:
        engine.close()


def test_a_worker_that_hangs_is_ended() -> None:
    engine = Engine()
    question = can_hold([DimEq(DimVar("n"), 3)])
    try:
        engine.start("isl")
        assert engine.worker.process is not None
        hanging = engine.worker.process
        os.kill(hanging.pid, signal.SIGSTOP)
        begun = monotonic()
        assert engine.ask(question, "isl", 0.1) is True
        assert monotonic() - begun < PATIENCE
        assert hanging.returncode is not None
        assert engine.ask(question, "isl", PATIENCE) == {0: 3}
    finally:
        engine.close()


def test_the_memory_of_the_worker_is_bounded() -> None:
    engine = Engine()
    engine.start("isl")
    try:
        assert engine.worker.process is not None
        limits = Path(f"/proc/{engine.worker.process.pid}/limits")
        if limits.exists():  # Linux
            (line,) = (x for x in limits.read_text().splitlines() if x.startswith("Max address"))
            assert line.split()[3:5] == [str(BYTES)] * 2
    finally:
        engine.close()


def test_a_worker_that_does_not_start_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for program in ("", "/no/such/python", "/bin/false"):
        monkeypatch.setattr(sys, "executable", program)
        with Prover() as prover:
            assert prover.decide(AtLeast(DimVar("n"), silent=False)) == Unknown()


def test_the_solvers_are_loaded_in_the_worker_only() -> None:
    with Prover() as prover:
        assert prover.decide(AtLeast(DimVar("n"), silent=False)) == Proved()
    assert not {"islpy", "z3"} & set(sys.modules)


# --- what counts as known ---------------------------------------------------------------------


def test_a_divisor_is_not_at_least_one_because_something_is_divided_by_it() -> None:
    """Else `m >= 1` would be dropped, and nothing would keep `n/m` from being asked for `m = 0`."""
    n, m = _names(2)
    quotient = DimEq(dims.floordiv(n, m), 2)
    positive = AtLeast(dims.sub(m, 1), silent=True)
    with Prover() as prover:
        assert not isinstance(prover.decide(positive, [quotient]), Proved | Refuted)
        assert (
            prover.decide(AtLeast(dims.sub(n, m), silent=False), [quotient, positive]) == Proved()
        )


def test_contradictory_assumptions_refute() -> None:
    n = DimVar("n")
    small, large = AtLeast(dims.sub(3, n), silent=False), AtLeast(dims.sub(n, 5), silent=False)
    with Prover() as prover:
        assert prover.decide(DimEq(n, n), [small, large]) == Refuted()


def test_the_size_of_a_shape_is_some_size() -> None:
    size = dims.of_size(ShapeVar("s"))
    with Prover() as prover:
        assert prover.decide(AtLeast(dims.add(size, 1), silent=False)) == Proved()
        assert prover.decide(DimEq(dims.scale(2, size), 3)) == Refuted()
        # its counterexample would not be one in sizes of dimensions
        assert prover.decide(DimEq(size, 3)) == Unknown()


def test_a_counterexample_is_in_sizes() -> None:
    n, m = _names(2)
    with Prover() as prover:
        answer = prover.decide(DimEq(n, m), [DimEq(n, 4), AtLeast(dims.sub(6, m), silent=False)])
    assert isinstance(answer, Counterexample)
    assert answer.sizes[n] == 4 and answer.sizes[m] != 4
