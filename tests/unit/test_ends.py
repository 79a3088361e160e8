"""Systems on which the solver once did not end, or grew without bound."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from axon.driver import check
from axon.solver.reasons import BUDGET, Replays
from axon.solver.rules import new_store
from axon.source import Source
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.type import (
    Broadcast,
    DimBroadcast,
    DimEq,
    Relation,
    Shape,
    ShapeEq,
)
from axon.types.variables import DimVar, ShapeVar
from tests.shell import axon

MOST_WORK = 1000

PROGRAMS = {
    "a gather of what is sorted": (
        "f = fn (x) { v = gather(x, sort(x)); sort(v), reverse(v) };",
        "f : t a@[b] -> (t c@[d], t c@[d])",
    ),
    "one size, two ways": (
        "f = fn (x : t p, y : t q) where p@q = [b], q@p = [b] { x };",
        "f : (t p, t q) -> t p where p@q = [b], q@p = [b]",
    ),
    "the same, from the body": (
        "f = fn (x : f32 p@q, y : f32 q@p, z : f32 [n]) { max(x, z), max(y, z) };",
        "f : (f32 p@q, f32 q@p, f32 [n]) -> (f32 p@q, f32 q@p) where p@q = [n], q@p = [n]",
    ),
    "a side in common": (
        "f = fn (x : t p, y : t q, z : t r, w : t s) where [2] = s@p@r, q@s = [2] { x };",
        "f : (t p, t q, t r, t s) -> t p where q@s = [2], s@p@r = [2]",
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_inferred(name: str, tmp_path: Path) -> None:
    text, signature = PROGRAMS[name]
    (tmp_path / "f.axon").write_text(text)
    outcome = axon(["infer", "f.axon"], tmp_path)
    assert outcome.stdout.startswith(signature), outcome.terminal


IMPOSSIBLE = (
    "f = fn (p : t p, q : t q, r : t r, s : t s, u : t [2,a])"
    " where s@s@q=[2,2]@[a], [2]=broadcast(r@r,p), p@s@r=[2]@[a]@q { p };"
)


def test_a_call_of_what_cannot_be_called(tmp_path: Path) -> None:
    """The conditions contradict each other, which the call says, too."""
    (tmp_path / "f.axon").write_text(IMPOSSIBLE)
    arguments = ["p=2.", "q=rand[2,1]", "r=1.", "s=1.", "u=rand[2,2]"]
    outcome = axon(["run", "f.axon", "f", *arguments], tmp_path)
    assert (outcome.status, outcome.stderr[:13]) == (1, "error[AX111]:")


CONDITIONS = ("s=[2,2]", "p=q@[3]@r", "p=[c]@s", "r=broadcast(p,s)")


@pytest.mark.parametrize("step", [1, -1])
def test_a_verdict_in_both_orders(step: int) -> None:
    """`r` is as long as `p` at least, and `p` is longer than `r`."""
    text = (
        "f = fn (x : f32 p, y : f32 q, z : f32 r, w : f32 s, v : f32 [c])"
        f" where {', '.join(CONDITIONS[::step])} {{ x }};"
    )
    assert [d.code for d in check(Source("f.axon", text)).diagnostics] == ["AX111"]


# --- the solver alone -----------------------------------------------------------------------------

A, B, C, D = (DimVar(name, scope=1) for name in "abcd")
VARIES = DimVar("k", scope=1, runtime=True)
P, Q, R, S, T = (ShapeVar(name) for name in "pqrst")


def wide(at_most: Dim, other: Dim, size: Dim) -> Dim:
    return dims.add(dims.minimum(size, at_most), dims.maximum(size, other))


SYSTEMS: dict[str, tuple[Relation, ...]] = {
    # r is in its own parts: s is empty
    "a broadcast inside itself": (Broadcast((R,), ((R, S), (R, S, S))),),
    # each is longer than the others; nothing but the ranks shows it
    "broadcasts in a ring": (
        Broadcast((R,), ((S, A), (T, B))),
        Broadcast((S,), ((R, A), (T, C))),
        Broadcast((T,), ((R, D), (S, A))),
    ),
    # of a and min(a, k + 11) each is the result where the other is, and k varies
    "two parts that stand for each other": (
        DimBroadcast(
            dims.minimum(C, dims.add(VARIES, 11)), (A, dims.minimum(A, dims.add(VARIES, 11)))
        ),
    ),
    "three equations with sides in common": (
        ShapeEq((P, Q), (A,)),
        ShapeEq((Q, P), (A,)),
        ShapeEq((P, Q), (R, P)),
    ),
}


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("step", [1, -1])
def test_a_system_ends(name: str, step: int) -> None:
    store = new_store(levels=False, most=MOST_WORK)
    for relation in SYSTEMS[name][::step]:
        store.post(relation)
    assert store.work < MOST_WORK


def test_a_broadcast_inside_itself() -> None:
    """What stands beside the result in a part is empty, or cannot be there."""
    store = new_store(levels=False)
    store.post(Broadcast((R,), ((R, S), (R, S, S))))
    assert store.word((S,)) == () and not store.conflicts
    store.post(Broadcast((T,), ((P, T, 2), (Q,))))
    assert store.conflicts


@pytest.mark.parametrize("step", [1, -1])
def test_words_do_not_double_for_ever(step: int) -> None:
    """p1 = p0@p0, p2 = p1@p1, …: the last would have 2^30 items."""
    shapes = [ShapeVar() for _ in range(30)]
    pairs = list(pairwise(shapes))
    store = new_store(most=MOST_WORK)
    for before, after in pairs[::step]:
        store.post(ShapeEq((after,), (before, before)))
    assert not store.conflicts and store.waiting
    assert all(len(store.word((shape,))) <= 2048 for shape in shapes)
    store.post(ShapeEq((shapes[0],), ()))
    assert store.word((shapes[-1],)) == () and not store.waiting


@pytest.mark.parametrize("step", [1, -1])
def test_sizes_do_not_double_for_ever(step: int) -> None:
    """n1 = min(n0, …) + max(n0, …), and so on: the last would be written with 2^30 minima."""
    sizes = [DimVar() for _ in range(30)]
    pairs = list(pairwise(sizes))
    bounds = [(DimVar(), DimVar()) for _ in pairs]
    store = new_store(most=MOST_WORK)
    for (before, after), bound in list(zip(pairs, bounds, strict=True))[::step]:
        store.post(DimEq(after, wide(*bound, before)))
    assert not store.conflicts
    for number in (sizes[0], *(b for pair in bounds for b in pair)):
        store.post(DimEq(number, 1))
    assert [store.dim(size) for size in sizes] == list(range(1, 31))
    assert not store.conflicts


def test_large_coefficients_are_not_combined() -> None:
    """Elimination stops where its numbers grow out of hand; the equations wait."""
    variables = [DimVar() for _ in range(24)]
    store = new_store()
    for i in range(24):
        terms: Shape = tuple(
            dims.scale((i + 2) ** 19 + 7 ** (j + i), v) for j, v in enumerate(variables)
        )
        total: Dim = 0
        for term in terms:
            assert not isinstance(term, ShapeVar)
            total = dims.add(total, term)
        store.post(DimEq(total, dims.evaluate(total, dict.fromkeys(variables, 3)) or 0))
    assert not store.conflicts and store.waiting


# --- reasons --------------------------------------------------------------------------------------


def test_replays_share_a_budget() -> None:
    """A replay that the budget cuts short has shown nothing."""
    names = [DimVar() for _ in range(50)]
    store = new_store()
    for a, b in pairwise(names):
        store.post(DimEq(a, b))
    store.post(DimEq(names[0], 1))
    store.post(DimEq(names[-1], 2))
    enough, little = Replays(), Replays(10)
    assert enough.conflict(store.posted) is not None and enough.left < BUDGET
    assert little.conflict(store.posted) is None and little.left == 0
