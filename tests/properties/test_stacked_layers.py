"""Layers that are stacked compute what their calls do, whatever else a program makes of them."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import axon
from tests.budget import share

LAYERS = """
type P(d) = { w : f32 [d,d], c : f32 [d] };

one = fn (p : P(d), x : f32 [n,d]) : f32 [n,d] { tanh(x @ p.w + p.c) };
two = fn (p : P(d), x : f32 [n,d], h : f32 [n,d], m : f32 [d]) {
  y = tanh(x @ p.w + h) * m; y, tanh(h + y), mean(y)
};
rec = fn (p : P(d), s : { a : f32 [n,d], b : { c : f32 [d] } }) {
  { a = tanh(s.a @ p.w), b = { c = s.b.c + p.c } }
};
"""
PARAMS = "x : f32 [n,d], y : f32 [n,d], m : f32 [d], p0 : P(d), p1 : P(d), p2 : P(d)"
KINDS = ["one", "one", "pair", "two", "rec", "rec", "again", "sum", "part", "scaled"]
STEPS = st.lists(
    st.tuples(st.sampled_from(KINDS), st.integers(0, 2), st.sampled_from([-1, -1, -1, -2, 0])),
    min_size=3,
    max_size=12,
)


def program(steps: list[tuple[str, int, int]]) -> str:
    """Layers of three kinds, whose operands and results are mixed; `at` says whose result is taken:
    the last one, mostly.
    """
    xs, ms, records, lines = ["x", "y"], ["m"], ["{ a = x, b = { c = m } }"], []
    for i, (kind, p, at) in enumerate(steps):
        match kind:
            case "one":
                lines.append(f"a{i} = one(p{p}, {xs[at]});")
                xs.append(f"a{i}")
            case "pair" | "two":
                first, second = (xs[-2], xs[-1]) if kind == "pair" else (xs[at], xs[0])
                lines.append(
                    f"a{i}, h{i}, s{i} = two(p{p}, {first}, {second}, {ms[at % len(ms)]});"
                )
                xs += [f"a{i}", f"h{i}"]
            case "rec":
                lines.append(f"r{i} = rec(p{p}, {records[at % len(records)]});")
                records.append(f"r{i}")
                xs.append(f"r{i}.a")
            case "again":
                lines.append(f"r{i} = {{ a = {xs[-1]}, b = {{ c = {ms[-1]} }} }};")
                records.append(f"r{i}")
            case "sum":
                lines.append(f"a{i} = {xs[-1]} * 0.5 + {xs[at]};")
                xs.append(f"a{i}")
            case "part":
                lines.append(f"m{i} = {xs[at]}[0];")
                ms.append(f"m{i}")
            case _:
                lines.append(f"m{i} = m * mean({xs[at]});")
                ms.append(f"m{i}")
    body = "\n  ".join(lines)
    result = f"{xs[-1]}, {xs[len(xs) // 2]}, {xs[-2]}, {ms[-1]}, {records[-1]}"
    return f"{LAYERS}\nnet = fn ({PARAMS}) {{\n  {body}\n  {result}\n}};"


def arguments() -> list[Any]:
    random = np.random.default_rng(0)

    def normal(*shape: int) -> Any:
        return random.normal(size=shape).astype("f4")

    ps = [{"w": normal(3, 3), "c": normal(3)} for _ in range(3)]
    return [normal(5, 3), normal(5, 3), normal(3), *ps]


@share(1 / 25)
@given(STEPS, st.booleans())
def test_values_are_those_of_numpy(steps: list[tuple[str, int, int]], in_buckets: bool) -> None:
    net = axon.compile(program(steps))
    buckets = {"n": "pow2"} if in_buckets else None
    found = net.on("jax", stack_layers=True, buckets=buckets).net(*arguments())
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4),
        found,
        net.net(*arguments()),
    )
