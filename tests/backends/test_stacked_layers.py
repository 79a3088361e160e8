"""Layers that follow each other become one loop on JAX, where that is asked for."""

from __future__ import annotations

import pickle
from itertools import pairwise
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import axon
from tests.backends.test_shared_calls import arguments, deep

LAYER = """
type P(d) = { w : f32 [d,d], c : f32 [d] };
layer = fn (p : P(d), x : f32 [n,d]) : f32 [n,d] { tanh(x @ p.w + p.c) };
"""
RANDOM = np.random.default_rng(0)


def normal(*shape: int) -> Any:
    return RANDOM.normal(size=shape).astype("f4")


def weights(d: int = 4) -> dict[str, Any]:
    return {"w": normal(d, d), "c": normal(d)}


def stacked(text: str, **options: Any) -> axon.Program:
    return axon.compile(text).on("jax", stack_layers=True, **options)


def close(found: Any, wanted: Any) -> None:
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5), found, wanted)


def sums(function: Any) -> Any:
    return lambda args: sum(jnp.sum(x) for x in jax.tree.leaves(function(*args)))


def same(text: str, *args: Any, loops: int = 1) -> axon.Program:
    """Values and gradients are those of the program without loops."""
    plain, net = axon.compile(text), stacked(text)
    close(net.net(*args), plain.net(*args))
    close(jax.grad(sums(net.net.jax))(args), jax.grad(sums(plain.net.jax))(args))
    jaxpr = jax.make_jaxpr(net.net.jax)(*args).jaxpr
    assert [e.primitive.name for e in jaxpr.eqns].count("scan") == loops
    return net


# --- what is compiled --------------------------------------------------------------------------


def test_the_program_does_not_grow_with_the_number_of_layers() -> None:
    found = []
    for depth in (2, 24):
        net = stacked(deep(depth))
        jaxpr = jax.make_jaxpr(net.net.jax)(*arguments(depth=depth)).jaxpr
        (loop,) = (e for e in jaxpr.eqns if e.primitive.name == "scan")
        assert str(jaxpr).count(" tanh ") == 1
        moves = {"stack", "concatenate", "broadcast_in_dim"}  # older versions have no `stack`
        others = [e for e in jaxpr.eqns if e.primitive.name not in moves]
        found.append((len(others), len(loop.params["jaxpr"].eqns)))
    assert found[0] == found[1]


def test_values_and_gradients_are_those_of_calls_in_line() -> None:
    args = arguments()
    net = same(deep(), *args)
    assert net.net.stacked_layers == ("lines 3 to 14: layer: 12 calls in one loop",)
    assert net.net.compilations == 1


HEADS = """
block = fn (w : f32 [d,d], x : f32 [b,n,d], heads) {
  q = split_heads(x @ w, heads=heads);
  x + merge_heads(softmax(q @ transpose(q)) @ q)
};
"""


def test_a_size_may_be_given_to_each_layer() -> None:
    w, x = [normal(8, 8) / 9 for _ in range(3)], normal(2, 5, 8)
    inner = "block(w2, block(w1, block(w0, x, {0}), {0}), {0})"
    head = "net = fn (w0, w1, w2, x {0}) {{ {1} }};"
    same(HEADS + head.format("", inner.format(4)), *w, x)
    net = stacked(HEADS + head.format(", heads", inner.format("heads"))).net
    plain = axon.compile(HEADS + head.format(", heads", inner.format("heads"))).net
    for heads in (2, 4):
        close(net(*w, x, heads), plain(*w, x, heads))
    assert net.stacked_layers == ("line 6: block: 3 calls in one loop",)


def test_layers_with_other_sizes_are_loops_of_their_own() -> None:
    text = """
    grown = fn (x : f32 [a], n) { x * sum(ones([n])) };
    net = fn (x : f32 [a], y : f32 [b], z : f32 [c]) {
      grown(grown(grown(grown(grown(x, b), b), c), c), c)
    };
    """
    net = stacked(text).net
    close(net(normal(4) * 0 + 1, normal(2), normal(3)), np.full(4, 2 * 2 * 3 * 3 * 3, "f4"))
    assert net.stacked_layers == (
        "line 4: grown: 2 calls in one loop",
        "line 4: grown: 3 calls in one loop",
    )


def test_without_the_option_nothing_is_stacked() -> None:
    net = axon.compile(deep(2), backend="jax")
    net.net(*arguments(depth=2))
    assert net.net.stacked_layers == ()


def test_under_vmap_and_jit() -> None:
    args = arguments(depth=3)
    plain, net = axon.compile(deep(3)).on("jax").net.jax, stacked(deep(3)).net.jax
    close(jax.jit(net)(*args), plain(*args))
    xs = np.stack([args[0], 2 * args[0]])
    given = (xs, *args[1:])
    close(*(jax.vmap(f, (0, None, None, None))(*given) for f in (net, plain)))
    one = jax.tree.map(lambda x: np.stack([x, -x]), args[2])
    given = (args[0], args[1], one, args[3])
    close(*(jax.vmap(f, (None, None, 0, None))(*given) for f in (net, plain)))
    close(jax.jvp(net, args, args)[1], jax.jvp(plain, args, args)[1])


def test_a_pickled_program_stacks_layers() -> None:
    net = pickle.loads(pickle.dumps(stacked(deep(2))))
    net.net(*arguments(depth=2))
    assert net.net.stacked_layers == ("lines 3 to 4: layer: 2 calls in one loop",)


# --- what layers take and return ---------------------------------------------------------------


def test_operands_that_are_the_same_for_all_layers() -> None:
    text = """
    layer = fn (w : f32 [d,d], x : f32 [n,d], mask : f32 [d], by : f32) : f32 [n,d] {
      tanh(x @ w) * mask * by
    };
    net = fn (x, mask, u, v, w) {
      layer(w, layer(v, layer(u, x, mask, 0.5), mask, 0.25), mask, 0.5)
    };"""
    same(text, normal(3, 4), normal(4), normal(4, 4), normal(4, 4), normal(4, 4))


def test_layers_with_the_same_weights() -> None:
    text = LAYER + "net = fn (p, x) { layer(p, layer(p, layer(p, x))) };"
    same(text, weights(), normal(3, 4))


def test_outputs_of_each_layer() -> None:
    text = """
    layer = fn (w : f32 [d,d], x : f32 [n,d]) { y = tanh(x @ w); y, mean(y), { keys = y @ w } };
    net = fn (x, u, v, w) {
      x1, m1, k1 = layer(u, x);
      seen = m1 * 2;
      x2, m2, k2 = layer(v, x1);
      x3, m3, k3 = layer(w, x2);
      x3, seen, m3, x1, (k1, k3)
    };"""
    same(text, normal(3, 4), normal(4, 4), normal(4, 4), normal(4, 4))


def test_a_state_in_a_record() -> None:
    text = """
    layer = fn (w : f32 [d,d], s : { h : f32 [n,d], c : { sum : f32 [d] } }) {
      h = tanh(s.h @ w); { h = h, c = { sum = s.c.sum + sum(h, axis=0) } }
    };
    net = fn (x : f32 [n,d], s : f32 [d], u, v, w) {
      a = layer(v, layer(u, { h = x, c = { sum = s } }));
      layer(w, { h = a.h, c = { sum = a.c.sum } })
    };"""
    same(text, normal(3, 4), normal(4), normal(4, 4), normal(4, 4), normal(4, 4))


def test_weights_that_are_computed_first() -> None:
    text = (
        LAYER
        + """
    net = fn (x, a, b) {
      y = layer(a, x);
      z = sum(y);
      layer({ w = transpose(b.w), c = a.c * 2 }, y) + z
    };"""
    )
    same(text, normal(3, 4), weights(), weights())


def test_a_key_for_each_layer() -> None:
    text = """
    layer = fn (k : u32 [2], x : f32 [n]) : f32 [n] { x + uniform(k, [n]) };
    net = fn (k : u32 [2], x) { a, b = split_key(k); layer(b, layer(a, x)) };"""
    key, x = np.array([1, 2], "u4"), normal(5)
    net = stacked(text)
    close(net.net(key, x), axon.compile(text).net(key, x))
    assert net.net.stacked_layers


def test_weights_that_are_known_are_stacked_once() -> None:
    """Those of an imported model are operators without arguments."""
    text = """
    op u : () -> f32 [4,4]; op v : () -> f32 [4,4]; op w : () -> f32 [4,4];
    layer = fn (w : f32 [4,4], x : f32 [n,4]) { tanh(x @ w) };
    net = fn (x) { layer(w(), layer(v(), layer(u(), x))) };"""
    ops = {name: jnp.asarray(normal(4, 4)) for name in "uvw"}
    given = {name: lambda w=w: w for name, w in ops.items()}
    plain = axon.compile(text, ops=given)
    net, x = plain.on("jax", stack_layers=True), normal(3, 4)
    close(net.net(x), plain.net(x))
    made = jax.make_jaxpr(net.net.jax)(x)
    assert [e.primitive.name for e in made.jaxpr.eqns] == ["scan"]
    assert [c.shape for c in made.consts] == [(3, 4, 4)]


# --- which layers ------------------------------------------------------------------------------

DENSE = """
dense = fn (p : { w : f32 [i,o] }, x : f32 [n,i]) : f32 [n,o] { tanh(x @ p.w) };
net = fn (x, a, b, c, d, e) { dense(e, dense(d, dense(c, dense(b, dense(a, x))))) };
"""


def dense(*sizes: int) -> list[Any]:
    return [normal(3, sizes[0]), *({"w": normal(i, o)} for i, o in pairwise(sizes))]


@pytest.mark.parametrize(
    ("sizes", "told"),
    [
        ((4, 4, 4, 4, 4, 4), "5 calls in one loop"),
        ((7, 4, 4, 4, 4, 4), "4 of 5 calls in one loop"),
        ((4, 4, 4, 4, 4, 2), "4 of 5 calls in one loop"),
        ((4, 4, 4, 2, 2, 2), "4 of 5 calls in 2 loops"),
        ((4, 4, 2, 4, 2, 2), "5 calls, of sizes that cannot be stacked"),
    ],
)
def test_layers_of_other_sizes_are_called(sizes: tuple[int, ...], told: str) -> None:
    args = dense(*sizes)
    net, plain = stacked(DENSE), axon.compile(DENSE)
    close(net.net(*args), plain.net(*args))
    close(jax.grad(sums(net.net.jax))(args), jax.grad(sums(plain.net.jax))(args))
    assert net.net.stacked_layers == (f"line 3: dense: {told}",)


def test_layers_inside_of_layers() -> None:
    text = (
        LAYER
        + """
    encode = fn (x : f32 [n,d], a : P(d), b : P(d)) : f32 [n,d] { layer(b, layer(a, x)) };
    decode = fn (p : P(d), x : f32 [n,d], m : f32 [n,d]) { layer(p, x) + m };
    net = fn (x, a, b, c) {
      m = encode(encode(encode(x, a, b), b, c), c, a);
      decode(c, decode(b, decode(a, x, m), m), m)
    };"""
    )
    net = same(text, normal(3, 4), weights(), weights(), weights(), loops=2)
    assert len(net.net.stacked_layers) == 3


def test_layers_in_a_function_of_rows() -> None:
    text = (
        LAYER
        + """
    net = fn (x : f32 [b,n,d], p, q) { map(fn (r) { layer(q, layer(p, r)) }, x) };"""
    )
    args = normal(2, 3, 4), weights(), weights()
    net = stacked(text)
    close(net.net(*args), axon.compile(text).net(*args))
    assert net.net.stacked_layers == ("line 5: layer: 2 calls in one loop",)


def test_a_function_that_calls_one_of_the_callers_is_not_stacked() -> None:
    text = """
    op noise : f32 [n] -> f32 [n];
    layer = fn (x : f32 [n]) { noise(x) * 2f };
    net = fn (x) { layer(layer(layer(x))) };"""
    calls = []

    def noise(x: Any) -> Any:
        calls.append(1)
        return x + len(calls)

    net = axon.compile(text, ops={"noise": noise}).on("jax", stack_layers=True)
    np.testing.assert_array_equal(net.net(np.zeros(1, "f4")), [8 * 1 + 4 * 2 + 2 * 3])
    assert net.net.stacked_layers == ()


def test_sizes_that_depend_on_values_and_ragged_rows() -> None:
    text = """
    half = fn (x : f32 [n]) { x * 0.5 };
    chosen = fn (x : f32 [n]) { compress(half(half(x)), x > 0f) };
    rows = fn (x : f32 [n,*]) { map(fn (r) { half(half(r)) }, x) };"""
    net = stacked(text)
    np.testing.assert_array_equal(net.chosen(np.array([4, -4, 8], "f4")), [1, 2])
    assert [r.tolist() for r in net.rows([[4.0], [8.0, 12.0]])] == [[1], [2, 3]]
    assert net.chosen.stacked_layers == net.rows.stacked_layers == ()


def test_a_state_whose_element_type_changes() -> None:
    text = """
    layer = fn (w : f32 [n], x : t [n]) { x * w };
    net = fn (x : f32 [n], a, b) { layer(b, layer(a, x)) };"""
    same(text, normal(3), normal(3), normal(3))


def test_64_bits() -> None:
    text = "layer = fn (w : f64 [n], x : f64 [n]) { tanh(x * w) };"
    text += "net = fn (x, a, b) { layer(b, layer(a, x)) };"
    args = [RANDOM.normal(size=3) for _ in range(3)]
    net = stacked(text)
    found = net.net(*args)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, axon.compile(text).net(*args), rtol=1e-12)
    with jax.enable_x64(True):
        np.testing.assert_allclose(net.net.jax(*args), found, rtol=1e-12)


# --- beside other options, and in whole models -------------------------------------------------


def test_beside_buckets() -> None:
    text = """
    type P(d) = { w : f32 [d,d] };
    block = fn (p : P(d), x : f32 [n,d]) { x + softmax(x @ transpose(x)) @ x @ p.w, mean(x) };
    net = fn (x, a, b, c) {
      x1, m1 = block(a, x); x2, m2 = block(b, x1); x3, m3 = block(c, x2); x3, m1 + m2
    };"""
    ps = [{"w": normal(4, 4) / 4} for _ in range(3)]
    plain, net = axon.compile(text), stacked(text, buckets={"n": "pow2"})
    for n in (3, 5, 6, 7):
        args = [normal(n, 4), *ps]
        close(net.net(*args), plain.net(*args))
        close(jax.grad(sums(net.net.jax))(args), jax.grad(sums(plain.net.jax))(args))
    assert net.net.report().compilations == 4
    assert net.net.stacked_layers == ("line 5: block: 3 calls in one loop",)


GPT2 = """
import "nn.axon" as nn;
import "gpt2.axon" as gpt2;

block = fn (p, x : t [b,s,d]) : t [b,s,d] { gpt2.block(p, x, 2) };
net = fn (p : { r | wte : nn.Table(v, d), wpe : nn.Table(n, d) }, tokens : i64 [b,s])
  where s <= n {
  x = p.wte.weight[tokens] + p.wpe.weight[:s];
  x1 = block(p.h0, x);
  x2 = block(p.h1, x1);
  x3 = block(p.h2, x2);
  nn.norm(p.ln_f, x3) @ transpose(p.wte.weight)
};
"""


def test_gpt2_with_its_blocks_in_a_line(tmp_path: Path) -> None:
    models = Path(__file__).resolve().parents[2] / "examples" / "models"
    for name in ("nn.axon", "gpt2.axon"):
        (tmp_path / name).write_text((models / name).read_text())
    (tmp_path / "line.axon").write_text(GPT2)
    plain = axon.load(tmp_path / "line.axon")
    net = plain.on("jax", stack_layers=True)
    sizes = {"v": 11, "d": 8, "n": 6, "e": 32, "i": 32, "m": 32}
    p = plain.net.init(0, like={"tokens": "i64 [2,5]"}, sizes=sizes)
    tokens = np.array([[1, 2, 3, 4, 5], [0, 10, 9, 8, 7]])
    np.testing.assert_allclose(net.net(p, tokens), plain.net(p, tokens), rtol=1e-3, atol=1e-3)
    assert net.net.stacked_layers == ("lines 9 to 11: block: 3 calls in one loop",)
