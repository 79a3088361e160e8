"""Records at calls: dicts, dataclasses and named tuples go in, dicts come out."""

from __future__ import annotations

import re
from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import numpy
import pytest

import axon
from tests.run.support import BACKENDS

DENSE = """
dense = fn (p, x : f32 [n,d]) { matmul(x, p.w) + p.b };
mlp = fn (p, x : f32 [n,d]) { dense(p.second, relu(dense(p.first, x))) };
swap = fn (p) { { p | w = p.b, b = p.w } };
parts = fn (x : f32 [n]) { { both = (x, x + 1f), inner = { last = x * 2f } } };
"""


def floats(*shape: int) -> Any:
    return numpy.arange(numpy.prod(shape), dtype=numpy.float32).reshape(shape) / 7


def linear(rows: int, columns: int) -> dict[str, Any]:
    return {"w": floats(rows, columns), "b": floats(columns)}


@pytest.mark.parametrize("backend", BACKENDS)
def test_dicts(backend: str) -> None:
    net = axon.compile(DENSE, backend=backend)
    p, x = {"first": linear(3, 4), "second": linear(4, 2), "unused": floats(5)}, floats(2, 3)
    hidden = numpy.maximum(x @ p["first"]["w"] + p["first"]["b"], 0)
    wanted = hidden @ p["second"]["w"] + p["second"]["b"]
    numpy.testing.assert_allclose(net.mlp(p, x), wanted, rtol=1e-5)


@dataclass
class Linear:
    w: Any
    b: Any


Named = namedtuple("Named", ["w", "b"])


@pytest.mark.parametrize("make", [dict, Linear, Named])
@pytest.mark.parametrize("backend", BACKENDS)
def test_other_forms(make: Any, backend: str) -> None:
    net = axon.compile(DENSE, backend=backend)
    p, x = linear(3, 4), floats(2, 3)
    numpy.testing.assert_allclose(net.dense(make(**p), x), x @ p["w"] + p["b"], rtol=1e-5)


@pytest.mark.parametrize("backend", BACKENDS)
def test_results_are_dicts(backend: str) -> None:
    net = axon.compile(DENSE, backend=backend)
    p = {"w": floats(3), "b": floats(2), "other": floats(1)}
    found = net.swap(p)
    assert list(found) == ["b", "other", "w"]
    numpy.testing.assert_array_equal(found["w"], p["b"])
    numpy.testing.assert_array_equal(found["b"], p["w"])
    nested = net.parts(floats(3))
    assert set(nested) == {"both", "inner"}
    numpy.testing.assert_array_equal(nested["both"][1], floats(3) + 1)
    numpy.testing.assert_array_equal(nested["inner"]["last"], floats(3) * 2)


def test_the_order_of_fields_does_not_matter() -> None:
    net = axon.compile("f = fn (p) { p.b * 10f + p.a };")
    one, two = floats(3), floats(3) + 1
    first = net.f({"a": one, "b": two})
    numpy.testing.assert_array_equal(net.f({"b": two, "a": one}), first)
    numpy.testing.assert_array_equal(net.f({"z": one, "b": two, "a": one}), first)


def refused(source: str, *args: Any) -> str:
    net = axon.compile(source)
    with pytest.raises(axon.AxonError) as problem:
        net.f(*args)
    return str(problem.value)


def test_what_does_not_fit() -> None:
    source = "f = fn (p : { b : f32 [m], w : f32 [n,m] }, x : f32 [k,n]) { matmul(x, p.w) + p.b };"
    x = floats(2, 3)
    assert "no field `b`" in refused(source, {"w": floats(3, 4)}, x)
    assert "field `c`" in refused(source, {**linear(3, 4), "c": x}, x)
    assert "size 1 of `p.w` is 5" in refused(source, {"w": floats(3, 5), "b": floats(4)}, x)
    assert "a record is expected" in refused(source, x, x)
    assert "have names" in refused(source, {1: x}, x)


def test_a_record_within_itself_is_refused() -> None:
    p: dict[str, Any] = {}
    p["p"] = p
    assert "nested too deeply" in refused("f = fn (p) { p.p };", p)


def test_gradients_are_records() -> None:
    jax = pytest.importorskip("jax")
    net = axon.compile(DENSE + "loss = fn (p, x : f32 [n,d]) { mean(mlp(p, x)) };")
    p = {"first": linear(3, 4), "second": linear(4, 2)}
    found = jax.grad(net.loss.jax)(p, floats(2, 3))
    assert jax.tree.structure(found) == jax.tree.structure(p)
    step = 1e-2
    more = {**p, "second": {**p["second"], "b": p["second"]["b"] + step}}
    rise = (net.loss(more, floats(2, 3)) - net.loss(p, floats(2, 3))) / step
    numpy.testing.assert_allclose(found["second"]["b"].sum(), rise, rtol=1e-2)


# --- structures over rows ------------------------------------------------------------------------

LAYERS = """
block = fn (p, x : f32 [n,d]) { relu(matmul(x, p.w) + p.b) };
net = fn (p, x : f32 [n,d]) { fold(x, fn (x, layer) { block(layer, x) }, p.layers) };
rows = fn (f, x) { map(f, x) };
use = fn (x : f32 [n,3]) {
  rows(fn (r) { { twice = r.a * 2f, most = max(r.b) } }, { a = x, b = x })
};
ragged = fn (x : f32 [n,*], y : f32 [n]) { map(fn (r) { { s = r.x * r.y } }, { x = x, y = y }) };
steps = fn (x : f32 [n,3]) {
  loop({ h = zeros([3]) }, fn (s, r) { h = s.h + r; { h = h }, (h, { m = max(h) }) }, x)
};
"""


@pytest.mark.parametrize("backend", BACKENDS)
def test_layers(backend: str) -> None:
    net = axon.compile(LAYERS, backend=backend)
    w, b, x = floats(5, 4, 4) / 10, floats(5, 4), floats(2, 4)
    wanted = x
    for i in range(5):
        wanted = numpy.maximum(wanted @ w[i] + b[i], 0)
    found = net.net({"layers": {"w": w, "b": b, "unused": floats(5)}}, x)
    numpy.testing.assert_allclose(found, wanted, rtol=1e-4)
    same = net.net({"layers": {"w": w[:0], "b": b[:0]}}, x)
    numpy.testing.assert_array_equal(same, x)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_function_that_gives_a_structure(backend: str) -> None:
    net, x = axon.compile(LAYERS, backend=backend), floats(4, 3)
    found = net.use(x)
    numpy.testing.assert_array_equal(found["twice"], x * 2)
    numpy.testing.assert_array_equal(found["most"], x.max(axis=1))
    assert net.use(x[:0])["most"].shape == (0,)
    last, (states, others) = net.steps(x)
    numpy.testing.assert_allclose(last["h"], x.sum(axis=0), rtol=1e-6)
    numpy.testing.assert_allclose(states, x.cumsum(axis=0), rtol=1e-6)
    numpy.testing.assert_allclose(others["m"], x.cumsum(axis=0).max(axis=1), rtol=1e-6)


def test_ragged_rows_in_a_structure() -> None:
    net = axon.compile(LAYERS)
    found = net.ragged([[1.0, 2.0], [3.0]], numpy.array([1, 3], numpy.float32))["s"]
    assert [row.tolist() for row in found] == [[1.0, 2.0], [9.0]]


def test_leaves_have_one_number_of_rows() -> None:
    net = axon.compile(LAYERS)
    with pytest.raises(axon.AxonError, match=r"size 0 of `p.layers.w` is 5, and should be . = 6"):
        net.net({"layers": {"w": floats(5, 4, 4), "b": floats(6, 4)}}, floats(2, 4))


SCANS = """
lin = fn (a : f32 [n,d], b : f32 [n,d]) {
  scan(fn (p, q) { x, y = p; u, v = q; x * u, y * u + v }, (ones([d]), zeros([d])), (a, b))
};
loop = fn (x) { x };
steps = fn (x : f32 [n]) {
  iterate({ x = x, k = 0f }, fn (s) { s.k < 3f },
    fn (s) { { s | k = s.k + 1f }, { k = s.k, y = s.x } }, outputs=1)
};
"""


@pytest.mark.parametrize("backend", BACKENDS)
def test_scans_and_outputs_of_structures(backend: str) -> None:
    net, a, b = axon.compile(SCANS, backend=backend), floats(4, 2) + 1, floats(4, 2)
    products, states = net.lin(a, b)
    state, wanted = numpy.zeros(2, numpy.float32), []
    for i in range(4):
        state = state * a[i] + b[i]
        wanted.append(state)
    numpy.testing.assert_allclose(products, a.cumprod(axis=0), rtol=1e-5)
    numpy.testing.assert_allclose(states, wanted, rtol=1e-5)
    last, outputs = net.steps(floats(2))
    assert float(last["k"]) == 3.0
    numpy.testing.assert_array_equal(outputs["k"], [0, 1, 2])
    numpy.testing.assert_array_equal(outputs["y"], [floats(2)] * 3)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"w": 1.0, "b": None}, "`p.b` cannot be taken: it is a NoneType"),
        ({"w": 1.0, "b": 2.0, "more": {"name": "x"}}, "`p.more.name` cannot be taken: it is a str"),
        ({"w": 1.0, "b": 2.0, "c": (2.0, "x")}, "`p.c.1` cannot be taken: it is a str"),
    ],
)
def test_what_is_no_value_is_named(given: Any, message: str) -> None:
    net = axon.compile("f = fn (p, x) { x * p.w + p.b };")
    with pytest.raises(axon.AxonError, match=re.escape(message)):
        net.f(given, 1.0)


@pytest.mark.parametrize("backend", BACKENDS)
def test_sizes_in_a_record(backend: str) -> None:
    program = "f = fn (p, x) { h, w = p.part; reshape(x, [h, p.d]) * w[0] };"
    net = axon.compile(program, backend=backend)
    x = numpy.arange(6, dtype="float32")
    for h, d in ((2, 3), (3, 2), (numpy.int64(6), 1)):
        given = {"part": (h, x + 2), "d": d}
        assert numpy.asarray(net.f(given, x)).tolist() == (x.reshape(h, d) * 2).tolist()


def test_calls_are_known_by_all_their_parts() -> None:
    """A call like one before it is not checked again: what is like it is told exactly."""
    net = axon.compile(
        "f = fn (p, x : f32 [n,d]) { x @ p.w + p.b };\n"
        "g = fn (p : (dim n, f32 [m]), k : dim j) { m, _ = p; zeros([m, k]) };\n"
        "same = fn (p : { w : f32 [n] }) { p.w };"
    )
    x = numpy.ones((2, 3), numpy.float32)

    def record(rows: int, columns: int, dtype: str = "float32") -> dict[str, Any]:
        return {"w": numpy.ones((rows, columns), dtype), "b": numpy.zeros(columns, dtype)}

    for columns in (4, 5, 4):
        p = record(3, columns)
        for each in (p, p, {"b": p["b"], "w": p["w"]}):
            assert net.f(each, x).tolist() == numpy.full((2, columns), 3.0).tolist()
    for wrong in (record(2, 4), record(3, 4) | {"b": numpy.zeros(3, numpy.float32)}):
        with pytest.raises(axon.ArgumentError):
            net.f(wrong, x)
    with pytest.raises(axon.ArgumentError):
        net.f({"w": x}, x)
    one = numpy.ones(1, numpy.float32)
    for m, k in ((1, 2), (2, 1), (1, 2), (3, 3)):
        assert net.g((m, one), k).shape == (m, k)
    w = numpy.ones(3, numpy.float32)
    for _ in range(3):
        result = net.same({"w": w})
        result[0] = 7.0
        assert w.tolist() == [1.0, 1.0, 1.0]
