"""Programs called from Python: what each part of the language does when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy
import pytest

import axon
from tests.run.support import BACKENDS, assert_jax, close, floats, on_both, plain

# --- values --------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
def test_constants(backend: str) -> None:
    net = axon.compile(
        "c = 3; d = 4.5; e = true; k = 3 * ones([2]); m = k + 1f; a, (b, _) = (k * 2f, (7f, 1f));"
        " t = (k, 2f);",
        backend=backend,
    )
    close(plain(net.c), numpy.int64(3))
    close(plain(net.d), numpy.float32(4.5))
    close(plain(net.e), numpy.bool_(True))
    close(plain(net.k), numpy.array([3, 3], "f4"))
    close(plain(net.m), numpy.array([4, 4], "f4"))
    close(plain(net.a), numpy.array([6, 6], "f4"))
    close(plain(net.b), numpy.float32(7))
    close(plain(net.t), (numpy.array([3, 3], "f4"), numpy.float32(2)))


def test_constants_are_used() -> None:
    """A number takes the element type that each use asks for."""
    program = (
        "c = 3; k = ones([2]) * 2f; a, b = (k + 1f, 5f);\n"
        "f = fn (x : f32 [n], y : f64 [n], z : i32 [n]) { x * c + k * a + b, y * c, z * c };"
    )
    x = numpy.array([1, 2], "f4")
    made = on_both(program, x, x.astype("f8"), x.astype("i4"))
    close(plain(made), (x * 3 + 11, x.astype("f8") * 3, x.astype("i4") * 3))


@pytest.mark.parametrize(
    "dtype", ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
)
def test_element_types(dtype: str) -> None:
    x = numpy.array([1, 2, 3], dtype)
    close(plain(on_both("f = fn (x) { x * x + 1 };", x)), x * x + numpy.ones((), dtype))


def test_numbers_and_lists() -> None:
    program = "f = fn (x : f32 [n], y : f32) { x * y };"
    close(plain(on_both(program, [1, 2], 3)), numpy.array([3, 6], "f4"))
    close(plain(on_both("f = fn (x) { x };", [1, 2])), numpy.array([1, 2], "i8"))
    close(plain(on_both("f = fn (x) { x };", [1.0, 2])), numpy.array([1, 2], "f4"))
    text = "the number 300 does not fit into u8"
    with pytest.raises(axon.ArgumentError, match=text):
        axon.compile("f = fn (x : u8 [n]) { x + 300 };").f([1])


def test_arrays_of_jax() -> None:
    x = jnp.asarray(floats(3))
    net = axon.compile("f = fn (x : f32 [n]) { x + x };")
    close(plain(net.f(x)), floats(3) * 2)
    assert_jax(net.on("jax").f(x))


def test_inputs_are_not_changed() -> None:
    x = floats(4, 3)
    before = x.copy()
    net = axon.compile(
        "f = fn (x : f32 [n,m], i : i64 [k], r : f32 [k,m])"
        " { scatter(x, i, r), sort(x), reverse(x), cumsum(x), loop(x, fn (s, y) { s + y, s }, x) };"
    )
    net.f(x, numpy.array([1, 2]), numpy.ones((2, 3), "f4"))
    close(x, before)


# --- names ---------------------------------------------------------------------------------------


def test_definitions_shadow_operators() -> None:
    program = (
        "softmax = fn (x) { x + 1f }; max = fn (x, y) { x - y }; op relu : f32 s -> f32 s;\n"
        "f = fn (x : f32 [n], exp : f32 [n])"
        " { sqrt = fn (y) { y * 10f }; softmax(x), max(x, exp), relu(x), sqrt(x) };"
    )
    x, y = floats(3), floats(3) * 2
    made = on_both(program, x, y, ops={"relu": lambda x: x * 0 + 7})
    close(plain(made), (x + 1, x - y, x * 0 + 7, x * 10))


def test_names_are_bound_again() -> None:
    program = (
        "g = fn (x) { x + 1f }; g = fn (x) { g(x) * 2f };\n"
        "f = fn (x : f32 [n]) { x = x + 1f; h = fn (y) { y + x }; x = x * 10f;"
        " h = fn (y) { h(h(y)) }; h(x), g(x) };"
    )
    x = numpy.ones(2, "f4")
    close(plain(on_both(program, x)), (x * 24, x * 42))


def test_closures() -> None:
    program = (
        "f = fn (x : f32 [n], y : f32 [n]) { g = fn (z) { z + x }; h = fn (z) { g(z) * y };"
        " add = fn (p) { fn (q) { p + q } }; plus = add(x); h(x) + h(y), plus(y), add(y)(y) };"
    )
    x, y = floats(3), floats(3) + 2
    close(plain(on_both(program, x, y)), ((x + x) * y + (y + x) * y, x + y, y + y))


def test_functions_of_functions() -> None:
    program = (
        "compose = fn (g, h) { fn (x) { h(g(x)) } }; twice = fn (g) { compose(g, g) };\n"
        "f = fn (x : f32 [n,m]) { t = twice(twice(fn (y) { y + 1f }));"
        " t(x), compose(transpose, relu)(x), map(twice(fn (r) { r * 2f }), x) };"
    )
    x = floats(2, 3)
    close(plain(on_both(program, x)), (x + 4, numpy.maximum(x.T, 0), x * 4))


def test_local_functions_at_two_types() -> None:
    program = (
        "f = fn (x : f32 [n], y : i32 [m,k]) { g = fn (z) { z + z };"
        " h = fn (z) { g(g(z)) }; g(x), h(y), map(h, y) };"
    )
    x, y = floats(3), numpy.arange(6, dtype="i4").reshape(2, 3)
    close(plain(on_both(program, x, y)), (x * 2, y * 4, y * 4))


def test_dimensions_are_values() -> None:
    program = (
        "g = fn (q : f32 [m,d]) { q / sqrt(d) };\n"
        "f = fn (x : f32 [n,d]) { h = fn (r : f32 [d]) { r / d * n };"
        " map(h, x), map(fn (r) { map(fn (e) { e * n + d }, r) }, x), g(x), g(transpose(x)),"
        " reshape(x, [d, n]), zeros([n + 1, d / 2]) };"
    )
    x = floats(2, 4)
    root = numpy.sqrt(numpy.array([4, 2], "f4"))
    close(
        plain(on_both(program, x)),
        (
            x / 4 * 2,
            x * 2 + 4,
            x / root[0],
            x.T / root[1],
            x.reshape(4, 2),
            numpy.zeros((3, 2), "f4"),
        ),
    )


@pytest.mark.parametrize("body", ["n", "[n, 2]", "shape(x)", "n, x", "size(x) + 1"])
def test_sizes_as_results(body: str) -> None:
    """They are whole numbers, on every backend."""
    made = on_both(f"f = fn (x : f32 [n,m]) {{ {body} }};", floats(2, 3))
    first = plain(made)[0] if body == "n, x" else plain(made)
    assert first.dtype == numpy.int64
    expected = {"n": 2, "[n, 2]": [2, 2], "shape(x)": [2, 3], "n, x": 2, "size(x) + 1": 7}
    assert first.tolist() == expected[body]


@pytest.mark.parametrize("backend", BACKENDS)
def test_sizes_as_arguments(backend: str) -> None:
    net = axon.compile("f = fn (n, x : f32 s) { reshape(x, [n, 2]) };", backend=backend)
    assert net.f(3, floats(6)).shape == (3, 2)
    assert net.f(numpy.int64(2), floats(4)).shape == (2, 2)
    for wrong in (4, -3, 1.5, None, [3, 4]):
        with pytest.raises(axon.AxonError):
            net.f(wrong, floats(6))


def test_any_name_may_be_a_name() -> None:
    """Python's keywords, and the names that the compiled text uses itself."""
    net = axon.compile(
        "class = fn (lambda, xp, prod, self) { lambda + xp * prod - self };"
        " on = fn (x') { True = x' + 1f; map(fn (each) { each + True }, True) };"
    )
    a, b, c, d = (floats(2) + i for i in range(4))
    close(net["class"](a, b, c, d), a + b * c - d)
    close(net["class"](**{"lambda": a, "xp": b, "prod": c, "self": d}), a + b * c - d)
    e = numpy.ones(2, "f4")
    close(net["on"](e), numpy.full((2, 2), 4, "f4"))


# --- shapes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(3,), (3, 2), (2, 3, 1, 2, 2), (0, 2), (2, 0)])
def test_symbolic_rank(shape: tuple[int, ...]) -> None:
    """The paper's softmax at several ranks, with nothing in it too."""
    program = (
        "f = fn (x : f32 [a]@b) { m = reduce(max, -inf, x); e = exp(x - m); e / reduce(+, 0f, e) };"
    )
    x = floats(*shape)
    e = numpy.exp(x - x.max(axis=0, initial=-numpy.inf))
    close(plain(on_both(program, x)), e / e.sum(axis=0))


def test_one_definition_at_many_ranks() -> None:
    net = axon.compile("f = fn (x : f32 s@[a,b]) { transpose(x) @ x };")
    for backend in BACKENDS:
        f = net.on(backend).f
        for shape in ((2, 3), (4, 2, 3), (1, 2, 1, 2, 3), (2, 0), (0, 2, 3)):
            x = floats(*shape)
            close(plain(f(x)), x.swapaxes(-1, -2) @ x)
        with pytest.raises(axon.ArgumentError, match="2 dimensions"):
            f(floats(3))


def test_whole_types() -> None:
    program = "f = fn (p : a, q : a) { q, p };"
    x, y = floats(3), floats(3) + 1
    close(plain(on_both(program, x, y)), (y, x))
    close(plain(on_both(program, (x, y), (y, x))), ((y, x), (x, y)))
    with pytest.raises(axon.ArgumentError, match=r"size 0 of `q` is 4"):
        axon.compile(program).f(x, floats(4))


# --- files ---------------------------------------------------------------------------------------

LAYERS = """
k = ones([2]) * 3f;
linear = fn (x, w) { matmul(x, w) };
relu = fn (x) { x * 100f };
twice = fn (g, x) { g(g(x)) };
op ext : f32 [n] -> f32 [n];
use = fn (x) { ext(relu(x)) };
"""

NET = """
import "layers.axon" as l;
f = fn (x : f32 [n,2], w) { relu(l.linear(x, w)) + l.k };
g = fn (x : f32 [n]) { l.twice(l.relu, x) };
h = fn (x : f32 [n]) { l.use(l.ext(x)) };
q = l.k;
"""


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / f"{name}.axon").write_text(text)


@pytest.mark.parametrize("backend", BACKENDS)
def test_imports(tmp_path: Path, backend: str) -> None:
    write(tmp_path, layers=LAYERS, net=NET)
    net = axon.load(tmp_path / "net.axon", backend=backend)
    one = numpy.ones(2, "f4")
    close(plain(net.f(numpy.ones((1, 2), "f4"), numpy.ones((2, 2), "f4"))), one[None] * 5)
    close(plain(net.g(one)), one * 10_000)
    close(plain(net.q), one * 3)
    with pytest.raises(axon.ArgumentError, match="`ext`"):
        net.h(one)
    net.implement("ext", lambda x: x * 2)
    close(plain(net.h(one)), one * 400)


def test_imports_that_fail(tmp_path: Path) -> None:
    write(
        tmp_path,
        lost='import "nowhere.axon" as l;\nf = fn (x) { l.f(x) };',
        bad="f = fn (x : f32 [3]) { x + zeros([4]) };",
        of_bad='import "bad.axon" as b; f = fn (x) { b.f(x) };',
        one='import "two.axon" as b; f = fn (x) { b.f(x) };',
        two='import "one.axon" as b; f = fn (x) { b.f(x) };',
        self='import "self.axon" as b; f = fn (x) { b.f(x) };',
    )
    for name in ("lost", "bad", "of_bad", "one", "two", "self"):
        with pytest.raises(axon.ProgramError) as caught:
            axon.load(tmp_path / f"{name}.axon")
        assert f"{name}.axon" in str(caught.value)


# --- JAX -----------------------------------------------------------------------------------------


def test_a_stream_of_lengths_compiles_once_for_each() -> None:
    program = "f = fn (x : f32 [n,d], w : f32 [d,d]) { softmax(x @ w / sqrt(d)) + n };"
    net = axon.compile(program)
    f = net.on("jax").f
    random = numpy.random.default_rng(0)
    lengths = random.integers(0, 12, 200).tolist()
    w = floats(3, 3)
    for n in lengths:
        x = random.uniform(-1, 1, (n, 3)).astype("f4")
        close(plain(f(x, w)), net.f(x, w))
    assert f.compilations == len(set(lengths))


def test_what_jax_does_to_functions() -> None:
    net = axon.compile("f = fn (x : f32 [n]) { sum(x * x * x) }; g = fn (x : f32 [3]) { x };")
    x = floats(4)
    close(plain(jax.grad(net.f.jax)(x)), 3 * x * x)
    close(plain(jax.vmap(net.f.jax)(floats(2, 3))), (floats(2, 3) ** 3).sum(axis=1))
    close(plain(jax.jit(net.f.jax)(x)), (x**3).sum())
    with pytest.raises(axon.ArgumentError, match="size 0 of `x` is 4, and should be 3"):
        jax.jit(net.g.jax)(x)


def test_what_is_kept_does_not_grow() -> None:
    """A call with a list makes arrays anew, and still nothing is compiled twice."""
    f = axon.compile("f = fn (x : f32 [n*m], y : f32 [n]) { reshape(x, [n, m]) };", backend="jax").f
    for _ in range(5):
        assert f([1, 2, 3, 4], [1, 2]).shape == (2, 2)
        assert f((numpy.ones(6, "f4")), [1, 2]).shape == (2, 3)
    assert f.compilations == 2


# --- large programs ------------------------------------------------------------------------------


def doubling(count: int) -> dict[str, str]:
    """Programs whose text is short and whose graph doubles with each line, unless it is shared."""
    steps = range(1, count + 1)
    body = "".join(f"f{i} = fn (x) {{ f{i - 1}(f{i - 1}(x)) }};\n" for i in steps)
    values = "".join(f"c{i} = c{i - 1} + c{i - 1};\n" for i in steps)
    return {
        "definitions": f"f0 = fn (x) {{ x + 1f }};\n{body}f = fn (x : f32 [n]) {{ f{count}(x) }};",
        "local": f"f = fn (x : f32 [n]) {{ f0 = fn (x) {{ x + 1f }};\n{body} f{count}(x) }};",
        "values": f"c0 = ones([2]);\n{values}f = fn (x : f32 [n]) {{ x + c{count} }};",
    }


@pytest.mark.parametrize("kind", ["definitions", "local", "values"])
def test_doubling(kind: str) -> None:
    """Right, or refused: it ends."""
    assert axon.compile(doubling(5)[kind]).f(numpy.zeros(2, "f4")).tolist() == [32, 32]
    try:
        made = axon.compile(doubling(14)[kind]).f(numpy.zeros(2, "f4")).tolist()
    except axon.ArgumentError as refused:
        made = refused.diagnostics[0].code
    assert made in ([16384, 16384], "AX402")


@pytest.mark.parametrize("backend", BACKENDS)
def test_long_and_deep(backend: str) -> None:
    chain = "".join(f"x = relu(x + {i % 3}f);" for i in range(300))
    terms = " + ".join(["x"] * 500)
    maps = "map(fn (r) { " * 8 + "r + 1f" + " }, r)" * 7 + " }, x)"
    x = numpy.ones(2, "f4")
    net = axon.compile(f"f = fn (x : f32 [n]) {{ {chain} {terms} }};", backend=backend)
    assert plain(net.f(x)).tolist() == [500 * 301] * 2
    deep: Any = axon.compile(f"f = fn (x) {{ {maps} }};", backend=backend).f
    assert plain(deep(numpy.ones((2,) * 8, "f4"))).tolist() == numpy.full((2,) * 8, 2).tolist()
