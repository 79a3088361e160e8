"""What inequalities decide of a `min` or `max`."""

from __future__ import annotations

from axon.solver.facts import Facts
from axon.types import dim as dims
from axon.types.variables import DimVar

N, M, K = (DimVar(name) for name in "nmk")


def test_a_bound_decides() -> None:
    facts = Facts(lambda dim: dim)
    facts.assume(dims.sub(512, N))
    assert facts.clip(dims.minimum(N, 512)) == N
    assert facts.clip(dims.maximum(N, 512)) == 512
    assert facts.clip(dims.minimum(M, 512)) == dims.minimum(M, 512)


def test_of_two_equal_parts_one_stays() -> None:
    facts = Facts(lambda dim: dim)
    facts.assume(dims.sub(N, M))
    facts.assume(dims.sub(M, N))
    left = facts.clip(dims.minimum(N, M, K))
    assert left in (dims.minimum(N, K), dims.minimum(M, K))


def test_what_is_not_linear_is_not_used() -> None:
    facts = Facts(lambda dim: dim)
    facts.assume(dims.minimum(N, M))
    assert not facts.any
