"""A function that a program calls for each of many layers is traced once on JAX."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

import axon

LAYER = "layer = fn (p : { w : f32 [d,d], c : f32 [d] }, x : f32 [n,d]) { tanh(x @ p.w + p.c) };"
DEPTH = 12


def deep(depth: int = DEPTH) -> str:
    params = "".join(f", p{i}" for i in range(depth))
    lines = "".join(f"  x{i + 1} = layer(p{i}, x{i});\n" for i in range(depth))
    return f"{LAYER}\nnet = fn (x0{params}) {{\n{lines}  x{depth}\n}};"


def weights(d: int) -> dict[str, Any]:
    random = np.random.default_rng(d)
    return {"w": random.normal(size=(d, d)).astype("f4"), "c": random.normal(size=d).astype("f4")}


def nested(jaxpr: Any) -> list[Any]:
    """The functions that are called in a program."""
    return [e.params["jaxpr"] for e in jaxpr.eqns if e.primitive.name in ("jit", "pjit")]


def arguments(d: int = 3, depth: int = DEPTH) -> list[Any]:
    x = np.random.default_rng(0).normal(size=(5, d)).astype("f4")
    return [x, *(weights(d) for _ in range(depth))]


@pytest.mark.parametrize("depth", [2, 24])
def test_layers_are_traced_once(depth: int) -> None:
    f = axon.compile(deep(depth), backend="jax").net.jax
    called = nested(jax.make_jaxpr(f)(*arguments(depth=depth)).jaxpr)
    assert len(called) == depth
    assert len({id(each.jaxpr) for each in called}) == 1


def test_a_size_among_the_arguments_is_known_when_a_function_is_traced() -> None:
    text = """
    grown = fn (x : f32 [a], p) { x * sum(ones([p.n])) + sum(p.s) };
    net = fn (x : f32 [a], y : f32 [b], z : f32 [c]) {
      grown(grown(grown(x, { s = y, n = c }), { s = z, n = b }), { s = y, n = c })
    };
    """
    args = [np.ones(n, "f4") for n in (3, 4, 5)]
    net = axon.compile(text, backend="jax").net
    np.testing.assert_array_equal(net(*args), axon.compile(text).net(*args))
    called = nested(jax.make_jaxpr(net.jax)(*args).jaxpr)
    assert len(called) == 3
    np.testing.assert_array_equal(jax.grad(lambda x: net.jax(x, *args[1:]).sum())(args[0]), 100)
    buckets = axon.compile(text).on("jax", buckets={"b": "pow2"}).net
    np.testing.assert_array_equal(buckets(*args), net(*args))


def test_values_and_gradients_are_those_of_numpy_and_of_a_loop() -> None:
    args = arguments()
    found = axon.compile(deep(), backend="jax")
    np.testing.assert_allclose(found.net(*args), axon.compile(deep()).net(*args), rtol=2e-5)
    folded = axon.compile(
        f"{LAYER} net = fn (x, p) {{ fold(x, fn (x, p) {{ layer(p, x) }}, p) }};", backend="jax"
    )
    stacked = {name: np.stack([p[name] for p in args[1:]]) for name in ("w", "c")}
    mine = jax.grad(lambda x, *p: found.net.jax(x, *p).sum(), argnums=range(DEPTH + 1))(*args)
    other = jax.grad(lambda x, p: folded.net.jax(x, p).sum(), argnums=(0, 1))(args[0], stacked)
    np.testing.assert_allclose(mine[0], other[0], rtol=1e-4, atol=1e-6)
    for i, p in enumerate(mine[1:]):
        for name in ("w", "c"):
            np.testing.assert_allclose(p[name], other[1][name][i], rtol=1e-4, atol=1e-6)


def test_a_fold_over_stacked_layers_is_one_scan() -> None:
    program = f"{LAYER} net = fn (x, p) {{ fold(x, fn (x, p) {{ layer(p, x) }}, p) }};"
    f = axon.compile(program, backend="jax").net.jax
    for depth in (2, 24):
        stacked = {name: np.stack([each] * depth) for name, each in weights(3).items()}
        jaxpr = jax.make_jaxpr(f)(arguments()[0], stacked).jaxpr
        assert [e.primitive.name for e in jaxpr.eqns].count("scan") == 1
        assert str(jaxpr).count(" tanh ") == 1


def test_other_sizes_are_traced_again() -> None:
    net = axon.compile(deep(), backend="jax")
    for d in (3, 4, 3):
        args = arguments(d)
        np.testing.assert_allclose(net.net(*args), axon.compile(deep()).net(*args), rtol=2e-5)
    assert net.net.compilations == 2


def test_a_function_that_calls_one_of_the_callers_is_not_shared() -> None:
    text = """
    op noise : f32 [n] -> f32 [n];
    step = fn (x : f32 [n]) { noise(x) * 2f };
    net = fn (x) { step(step(step(x))) };"""
    calls = []

    def noise(x: Any) -> Any:
        calls.append(1)
        return x + len(calls)

    net = axon.compile(text, backend="jax", ops={"noise": noise})
    np.testing.assert_array_equal(net.net(np.zeros(1, "f4")), [8 * 1 + 4 * 2 + 2 * 3])


def test_a_program_with_sizes_that_the_run_makes_shares_nothing() -> None:
    text = """
    half = fn (x : f32 [n]) { x * 0.5 };
    net = fn (x : f32 [n]) { y = compress(half(half(x)), x > 0f); y };"""
    x = np.array([4, -4, 8], "f4")
    np.testing.assert_array_equal(axon.compile(text, backend="jax").net(x), [1, 2])
