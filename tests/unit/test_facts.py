"""What inequalities decide of a `min` or `max`."""

from __future__ import annotations

from axon.solver.constraints import NOWHERE, Constraint
from axon.solver.facts import Facts
from axon.solver.rules import new_store
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.type import AtLeast, DimEq
from axon.types.variables import DimVar

N, M, K = (DimVar(name) for name in "nmk")
BY = Constraint(AtLeast(0, silent=False), NOWHERE)


def as_it_is(dim: Dim) -> Dim:
    return dim


def test_a_bound_decides() -> None:
    facts = Facts()
    facts.assume(dims.sub(512, N), BY)
    assert facts.clip(dims.minimum(N, 512), as_it_is) == N
    assert facts.clip(dims.maximum(N, 512), as_it_is) == 512
    assert facts.clip(dims.minimum(M, 512), as_it_is) == dims.minimum(M, 512)


def test_of_two_equal_parts_one_stays() -> None:
    facts = Facts()
    facts.assume(dims.sub(N, M), BY)
    facts.assume(dims.sub(M, N), Constraint(AtLeast(0, silent=False), NOWHERE))
    left = facts.clip(dims.minimum(N, M, K), as_it_is)
    assert left in (dims.minimum(N, K), dims.minimum(M, K))


def test_a_bound_decides_inside_others_and_in_products() -> None:
    facts = Facts()
    facts.assume(dims.sub(N, 5), BY)
    assert facts.clip(dims.maximum(dims.minimum(N, 5), M), as_it_is) == dims.maximum(M, 5)
    assert facts.clip(dims.mul(M, dims.minimum(N, 5)), as_it_is) == dims.scale(5, M)
    assert facts.clip(dims.mul(N, dims.minimum(N, 6)), as_it_is) == dims.mul(N, dims.minimum(N, 6))


def test_of_many_bounds_the_tightest_is_kept() -> None:
    facts = Facts()
    for low in range(40):
        facts.assume(dims.sub(N, low), Constraint(AtLeast(0, silent=False), NOWHERE))
    assert facts.clip(dims.minimum(N, 39), as_it_is) == 39
    assert facts.clip(dims.minimum(N, 40), as_it_is) == dims.minimum(N, 40)


def test_what_a_tighter_bound_hid_holds_again_without_it() -> None:
    facts, tighter = Facts(), Constraint(AtLeast(0, silent=False), NOWHERE)
    facts.assume(dims.sub(N, 2), BY)
    facts.assume(dims.sub(N, 5), tighter)
    assert facts.clip(dims.minimum(N, 5), as_it_is) == 5
    facts.forget(tighter)
    assert facts.clip(dims.minimum(N, 5), as_it_is) == dims.minimum(N, 5)
    assert facts.clip(dims.minimum(N, 2), as_it_is) == 2


def test_what_was_found_is_found_again_when_more_is_known() -> None:
    facts = Facts()
    facts.assume(dims.sub(N, M), BY)
    assert facts.clip(dims.minimum(N, 7), as_it_is, time=1) == dims.minimum(N, 7)
    known = {M: 7}
    facts_now = lambda dim: dims.substitute(dim, lambda v: known.get(v, v), dims.of_size)  # noqa: E731
    assert facts.clip(dims.minimum(N, 7), facts_now, time=2) == 7


def test_what_is_not_linear_is_not_used() -> None:
    facts = Facts()
    facts.assume(dims.minimum(N, M), BY)
    assert not facts.any


def test_an_inequality_does_not_make_itself_true() -> None:
    """n >= m, where n becomes min(k, m): that the minimum is m is what it asks for."""
    store = new_store(levels=False)
    store.post(AtLeast(dims.sub(N, M), silent=False))
    store.post(DimEq(N, dims.minimum(K, M)))
    store.post(DimEq(K, 0))
    store.post(DimEq(M, 3))
    assert store.conflicts


def test_an_inequality_that_another_has_simplified_does_not_make_itself_true() -> None:
    """m >= n + k; min(n, m) >= m, which reads as n >= m; then m has another name."""
    name = DimVar("name")
    store = new_store(levels=False)
    store.post(AtLeast(dims.sub(dims.sub(name, N), K), silent=False))
    store.post(AtLeast(dims.sub(dims.minimum(N, name), name), silent=False))
    for left, right in ((name, M), (N, 0), (M, 3), (K, 0)):
        store.post(DimEq(left, right))
    assert store.conflicts


def test_two_equations_may_lend_the_same_sum() -> None:
    """2n = 3k and 2m = 3k say the same of a sum once n and m are one; then k is known."""
    k, m, n = DimVar("k"), DimVar("m"), DimVar("n")
    store = new_store()
    for left, right in ((dims.scale(2, n), dims.scale(3, k)), (dims.scale(2, m), dims.scale(3, k))):
        store.post(DimEq(left, right))
    store.post(DimEq(k, 0))
    assert store.dim(n) == store.dim(m) == 0 and not store.conflicts
