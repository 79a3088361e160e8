"""Shapes made of run-time sizes, of a rank that each use knows: a function with a name has the type
and the results of the same function written where it is used.
"""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import axon
from axon.driver import check_text
from tests.run.support import BACKENDS, close, on_both, plain

Z = numpy.array([1, 2, 2], "f4")


def signature(program: str) -> str:
    assert not check_text(program).diagnostics
    return str(axon.compile(program).f.signature)


SOFT = "h = fn (z : f32 [n], p) { softmax(unique(z) * p) };"
CALLS = {
    "h(z, 2)": "[?a]",
    "h(z, [1,2])": "[2]",
    "h(z, [[1], [2], [3]])": "[3,?a]",
    "h(z, h(z, 2))": "[?a]",
    "map(fn (p) { h(z, p) }, z)": "[n,*]",
    "map(fn (p) { map(fn (q) { h(z, q) }, p) }, stack(z, z))": "[2,n,*]",
}


@pytest.mark.parametrize("call", CALLS)
def test_a_use_that_knows_an_argument_knows_the_rank(call: str) -> None:
    assert (
        signature(f"{SOFT} f = fn (z : f32 [n]) {{ {call} }};") == f"f32 [n] -> f32 {CALLS[call]}"
    )


MADE = {
    "transpose(unique(z) * p)": ("f32 [m,1]", "f32 [?a,m]"),
    "matmul(unique(z) * p, transpose(unique(z) * p))": ("f32 [m,1]", "f32 [m,m]"),
    "sum(unique(z) * p, axis=0)": ("f32", "f32"),
    "concat(unique(z) * p, unique(z) * p)": ("f32 [m,1]", "f32 [2*m,?a]"),
    "softmax(map(fn (r) { p + r }, unique(z)))": ("f32 [2]", "f32 [?a,2]"),
    "softmax(softmax(unique(z) * p) * unique(z))": ("f32 [m,1]", "f32 [m,?a]"),
}


@pytest.mark.parametrize("body", MADE)
def test_the_rank_of_a_shape_that_is_made_of_another(body: str) -> None:
    """Also where the result has only a part of the shape that the run makes."""
    param, result = MADE[body]
    program = f"h = fn (z, p) {{ {body} }}; f = fn (z : f32 [n], p : {param}) {{ h(z, p) }};"
    assert signature(program) == f"(f32 [n], {param}) -> {result}"


BODIES = {
    "softmax": "softmax(unique(z) * p)",
    "twice": "softmax(softmax(unique(z) * p) * unique(z))",
    "joined": "concat(unique(z) * p, unique(z))",
    "tuple": "v = softmax(unique(z) * p); v, sum(v)",
    "record": "r = { a = softmax(unique(z) * p), b = p }; r.a, r.b",
    "captured": "v = unique(z); (fn (q) { softmax(v * q) })(p)",
    "branch": "if p > 1f { softmax(unique(z) * p) } else { unique(z) * p }",
    "indexed": "(unique(z) * p)[None, ::2]",
}
USES = ("map({h}, z)", "({h})(2f)", "map(fn (q) {{ map({h}, q) }}, stack(z, z))")


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("body", BODIES)
def test_a_function_with_a_name_is_one_without(body: str, use: str) -> None:
    there = f"fn (p) {{ {BODIES[body]} }}"
    inline = f"f = fn (z : f32 [n]) {{ {use.format(h=there)} }};"
    type_, value = signature(inline), on_both(inline, Z)
    named = (
        f"f = fn (z : f32 [n]) {{ h = {there}; {use.format(h='h')} }};",
        f"g = fn (z, p) {{ {BODIES[body]} }};"
        f"f = fn (z : f32 [n]) {{ h = fn (p) {{ g(z, p) }}; {use.format(h='h')} }};",
    )
    for program in named:
        assert signature(program) == type_
        found = on_both(program, Z)
        close(plain(_parts(found)), plain(_parts(value)))
        assert _shapes(found) == _shapes(value)


def _parts(value: Any) -> tuple[Any, ...]:
    return (
        tuple(p for part in value for p in _parts(part)) if isinstance(value, tuple) else (value,)
    )


def _shapes(value: Any) -> list[Any]:
    return [part.shape for part in _parts(value)]


def test_a_size_of_the_result_that_a_broadcast_of_itself_states() -> None:
    """What `h` makes is known to the run only, and compared then."""
    on = "on = fn (h, x) { h(x) };"
    program = f"{on} f = fn (x : i64 [n]) {{ v = on(nonzero, x); v[::2] - v }};"
    assert signature(program) == "i64 [n] -> i64 [?a]"
    assert plain(on_both(program, numpy.array([0, 3]))).tolist() == [0]
    for backend in BACKENDS:
        with pytest.raises(axon.RunError, match=r"does not hold for a = 3"):
            axon.compile(program, backend=backend).f(numpy.array([2, 4, 3]))


TWICE = numpy.array([0, 0])
RANKS = {
    1: lambda x: x,
    2: lambda x: x[None][TWICE],
    3: lambda x: x[None, None][:, TWICE],
}


@pytest.mark.parametrize("rank", RANKS)
@pytest.mark.parametrize("rows", ["map(r, z)", "exp(map(r, z))", "map(fn (v) { v }, map(r, z))"])
def test_rows_whose_rank_only_the_run_knows(rows: str, rank: int) -> None:
    """An operator of the user's makes rows of any rank, which vary in size."""
    made = "op o : f32 [n] -> f32 ?s; r = fn (p) { softmax(o(p)) };"
    program = f"{made} f = fn (z : f32 [n,*]) {{ {rows} }};"
    z = [numpy.ones(2, "f4"), numpy.zeros(3, "f4")]
    found = on_both(program, axon.Ragged.from_rows(z), ops={"o": RANKS[rank]})
    expected = [numpy.full_like(RANKS[rank](each), 1 / len(each)) for each in z]
    close(plain(found), [numpy.exp(e) for e in expected] if "exp" in rows else expected)
    assert found.shape[0] == 2 and found.shape[-1] is None and found.rank == rank + 1
