"""Programs on tensors whose rows vary in size: each row has the result that it has alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import axon
from axon.run.values import element
from tests.run.support import BACKENDS, close, floats, on_both, plain, ragged

awkward: Any = pytest.importorskip("awkward")

LENGTHS = [(2, 0, 3), (), (2, 2), (0,), (1,), (1, 1, 4, 1), (0, 0)]
"""Rows of all lengths: none, empty ones, one, all of one length."""


def softmax(x: Any) -> Any:
    e = numpy.exp(x - x.max(axis=-1, keepdims=True, initial=-numpy.inf))
    return e / e.sum(axis=-1, keepdims=True)


def attention(x: Any, w: Any) -> Any:
    return softmax(x @ x.T / numpy.float32(numpy.sqrt(3))) @ (x @ w)


def row_by_row(program: str, function: Callable[..., Any], x: axon.Ragged, *others: Any) -> Any:
    """The program on both backends, and the function on each row."""
    made = on_both(program, x, *others)
    expected = [function(row, *others) for row in x]
    if isinstance(made, axon.Ragged):
        assert len(made) == len(x)
        close(plain(made), expected)
    elif expected:
        close(made, numpy.stack(expected))
    else:
        assert made.shape[0] == 0
    return made


# --- rows of vectors, f32 [n,*,3] ----------------------------------------------------------------

VECTORS: dict[str, tuple[str, Callable[..., Any], tuple[Any, ...]]] = {
    "bias": ("relu(x + w)", lambda r, w: numpy.maximum(r + w, 0), (floats(3),)),
    "scalar": ("x * w - 1f", lambda r, w: r * w - 1, (numpy.float32(2),)),
    "where": ("where(x > w, x, 0f)", lambda r, w: numpy.where(r > w, r, 0), (floats(3),)),
    "cast": ("cast(x * w, to=i32)", lambda r, w: (r * w).astype("i4"), (floats(3) * 9,)),
    "project": ("project(x, w)", lambda r, w: r @ w, (floats(3, 2),)),
    "@": ("x @ w", lambda r, w: r @ w, (floats(3, 2),)),
    "@ in map": ("map(fn (r) { r @ w }, x)", lambda r, w: r @ w, (floats(3, 2),)),
    "sum of a row": (
        "map(fn (r) { sum(r, axis=0) + w }, x)",
        lambda r, w: r.sum(0) + w,
        (floats(3),),
    ),
    "sum of a vector": ("sum(x * w, axis=-1)", lambda r, w: (r * w).sum(-1), (floats(3),)),
    "layer_norm": (
        "layer_norm(x, w, w)",
        lambda r, w: (
            (r - r.mean(-1, keepdims=True))
            / numpy.sqrt(r.var(-1, keepdims=True) + numpy.float32(1e-5))
            * w
            + w
        ),
        (floats(3),),
    ),
    "attention in map": (
        "map(fn (r) { matmul(softmax(matmul(r, transpose(r)) / sqrt(3)), matmul(r, w)) }, x)",
        attention,
        (floats(3, 3),),
    ),
    "attention": (
        "matmul(softmax(matmul(x, transpose(x)) / sqrt(3)), x @ w)",
        attention,
        (floats(3, 3),),
    ),
    "through functions": (
        "g = fn (y) { y * w }; h = fn (k, y) { k(k(y)) }; h(g, x)",
        lambda r, w: r * w * w,
        (floats(3),),
    ),
    "size": (
        "map(fn (r) { r * cast(size(r, axis=0), to=f32) + w }, x)",
        lambda r, w: r * numpy.float32(len(r)) + w,
        (floats(3),),
    ),
}


@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
@pytest.mark.parametrize("name", VECTORS)
def test_vectors(name: str, lengths: tuple[int, ...]) -> None:
    body, function, others = VECTORS[name]
    dims = ["f32", "f32 [p]", "f32 [p,q]"][numpy.ndim(others[0])]
    program = f"f = fn (x : f32 [n,*,3], w : {dims}) {{ {body} }};"
    row_by_row(program, function, ragged(*lengths, inner=(3,)), *others)


# --- rows of numbers, f32 [n,*] ------------------------------------------------------------------

NUMBERS: dict[str, tuple[str, Callable[..., Any]]] = {
    "softmax": ("softmax(x)", softmax),
    "softmax in map": ("map(fn (r) { softmax(r) }, x)", softmax),
    "named softmax in map": ("map(softmax, x)", softmax),
    "sum": ("map(fn (r) { sum(r) }, x)", lambda r: r.sum()),
    "max": ("map(fn (r) { reduce(max, -inf, r) }, x)", lambda r: r.max(initial=-numpy.inf)),
    "centred": ("map(fn (r) { r - sum(r) }, x)", lambda r: r - r.sum()),
    "reverse": ("map(reverse, x)", lambda r: r[::-1]),
    "sort": ("map(fn (r) { sort(r) }, x)", numpy.sort),
    "twice as long": ("map(fn (r) { concat(r, r) }, x)", lambda r: numpy.concatenate([r, r])),
    "positive": ("map(fn (r) { compress(r, r > 0f) }, x)", lambda r: r[r > 0]),
    "outer": ("map(fn (r) { sum(outer(r, r)) }, x)", lambda r: numpy.outer(r, r).sum()),
    "one more": ("map(fn (r) { pad(r, before=1) }, x)", lambda r: numpy.pad(r, (1, 0))),
    "of a definition": ("g(x)", lambda r: r * 2 + 1),
    "scan": ("map(fn (r) { scan(+, 0f, r) }, x)", numpy.cumsum),
    "map in map": ("map(fn (r) { map(fn (e) { e * e }, r) }, x)", lambda r: r * r),
}


@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers(name: str, lengths: tuple[int, ...]) -> None:
    body, function = NUMBERS[name]
    program = f"g = fn (y) {{ y * 2f + 1f }};\nf = fn (x : f32 [n,*]) {{ {body} }};"
    row_by_row(program, function, ragged(*lengths))


@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
def test_all_of_it(lengths: tuple[int, ...]) -> None:
    x = ragged(*lengths)
    total = sum((row.sum() for row in x), numpy.float32(0))
    close(on_both("f = fn (x : f32 [n,*]) { sum(x) };", x), numpy.float32(total))


@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
def test_fold_and_loop(lengths: tuple[int, ...]) -> None:
    x = ragged(*lengths)
    total = numpy.float32(0)
    rows, sums = [], []
    for row in x:
        rows.append(row * total)
        sums.append(total)
        total = total + row.sum()
    close(on_both("f = fn (x : f32 [n,*]) { fold(0f, fn (s, r) { s + sum(r) }, x) };", x), total)
    last, made = on_both(
        "f = fn (x : f32 [n,*]) { loop(0f, fn (s, r) { s + sum(r), r * s }, x) };", x
    )
    close(last, total)
    close(plain(made), rows)
    last, made = on_both("f = fn (x : f32 [n,*]) { loop(0f, fn (s, r) { s + sum(r), s }, x) };", x)
    close(last, total)
    close(made, numpy.array(sums, "f4"))


@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
def test_transpose(lengths: tuple[int, ...]) -> None:
    """`f32 [n,3,*]`: the size that varies is the last one, whatever the rows."""
    program = "f = fn (x : f32 [n,*,3]) { y = transpose(x); y, transpose(y), y * 2f };"
    x = ragged(*lengths, inner=(3,))
    made, back, twice = on_both(program, x)
    assert made.rank == 3
    close(plain(made), [row.T for row in x])
    close(plain(back), plain(x))
    close(plain(twice), [row.T * 2 for row in x])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
def test_a_result_is_an_argument(lengths: tuple[int, ...], backend: str) -> None:
    """What one call gives, another one takes."""
    net = axon.compile(
        "f = fn (x : f32 [n,*,3]) { transpose(x) }; g = fn (y : f32 [n,3,*]) { transpose(y) };",
        backend=backend,
    )
    x = ragged(*lengths, inner=(3,))
    close(plain(net.g(net.f(x))), plain(x))


def test_row_sizes() -> None:
    made = on_both("f = fn (x : f32 [n,*]) { map(fn (r) { size(r) }, x) };", ragged(2, 0, 3))
    close(made, numpy.array([2, 0, 3]))


# --- two tensors ---------------------------------------------------------------------------------


def test_side_by_side() -> None:
    x, y, w = ragged(2, 0, 3), ragged(1, 2, 0), floats(3)
    program = "f = fn (x : f32 [n,*], y : f32 [n,*], w : f32 [n])"
    made = on_both(program + " { map(fn (a, b, c) { concat(a, b) * c }, x, y, w) };", x, y, w)
    close(plain(made), [numpy.concatenate([a, b]) * c for a, b, c in zip(x, y, w, strict=True)])
    same = ragged(2, 0, 3, seed=1)
    made = on_both(program + " { x + y, max(x, y), x * expand_dims(w, axis=1) };", x, same, w)
    close(
        plain(made),
        (
            [a + b for a, b in zip(x, same, strict=True)],
            [numpy.maximum(a, b) for a, b in zip(x, same, strict=True)],
            [a * c for a, c in zip(x, w, strict=True)],
        ),
    )


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("body", "lengths"),
    [
        ("max(x, y)", (3, 1)),
        ("max(x, y)", (2, 3)),
        ("x + y", (2, 2)),
        ("map(fn (a, b) { max(a, b) }, x, y)", (3, 1)),
        ("map(fn (a, b) { dot(a, b) }, x, y)", (1, 2)),
        ("map(fn (a, b) { stack(a, b) }, x, y)", (2, 3)),
    ],
)
def test_rows_that_do_not_fit(body: str, lengths: tuple[int, int], backend: str) -> None:
    """The rows of `x` have 1 and 3 elements: a strict operator does not stretch the 1."""
    net = axon.compile(f"f = fn (x : f32 [n,*], y : f32 [n,*]) {{ {body} }};", backend=backend)
    with pytest.raises(axon.RunError):
        net.f(ragged(1, 3), ragged(*lengths))
    if "+" not in body:
        net.f(ragged(1, 3), ragged(1, 3))


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_wrong_number_of_rows(backend: str) -> None:
    net = axon.compile(
        "f = fn (x : f32 [n,*], y : f32 [n,*]) { map(fn (a, b) { concat(a, b) }, x, y) };"
        " g = fn (x : f32 [n,*], w : f32 [n,1]) { x * w };",
        backend=backend,
    )
    says = r"is 3, and should be n = 2 \(from x\)"
    with pytest.raises(axon.ArgumentError, match=says):
        net.f(ragged(1, 2), ragged(1, 2, 3))
    with pytest.raises(axon.ArgumentError, match=says):
        net.g(ragged(1, 2), floats(3, 1))


def test_captured() -> None:
    """A ragged tensor inside a function that is mapped over something else."""
    program = (
        "f = fn (x : f32 [n,*], w : f32 [m]) { map(fn (c) { map(fn (q) { sum(q) * c }, x) }, w),"
        " map(fn (r) { map(fn (q) { sum(q) * sum(r) }, x) }, x) };"
    )
    x, w = ragged(2, 3), floats(4)
    sums = numpy.array([row.sum() for row in x])
    close(plain(on_both(program, x, w)), (numpy.outer(w, sums), numpy.outer(sums, sums)))
    made = on_both("f = fn (x : f32 [n,*], w : f32 [m]) { map(fn (c) { x * c }, w) };", x, w)
    close(plain(made), [[row * c for row in x] for c in w])


def test_embedding() -> None:
    """A table looked up at rows of numbers."""
    table = floats(5, 2)
    tokens = axon.Ragged.from_rows([numpy.array([0, 4]), numpy.array([], int), numpy.array([1])])
    for body in ("gather(t, x)", "map(fn (r) { gather(t, r) }, x)"):
        made = on_both(f"f = fn (t : f32 [v,d], x : i64 [n,*]) {{ {body} }};", table, tokens)
        close(plain(made), [table[row] for row in tokens])


# --- nested --------------------------------------------------------------------------------------


def nested(*lengths: tuple[int, ...]) -> axon.Ragged:
    return axon.Ragged.from_rows([ragged(*each) for each in lengths], like=ragged(1))


NESTED = [((1, 2), (0, 3)), ((2, 2), (2, 2)), ((1,), (3,)), ((0, 0),)]
UNEVEN = [*NESTED, ((1, 2), (0, 3, 2)), ((), (1,)), ((2,), (), (1, 1))]


@pytest.mark.parametrize("lengths", NESTED, ids=str)
def test_matrix_of_rows(lengths: tuple[tuple[int, ...], ...]) -> None:
    """f32 [a,b,*]"""
    x = nested(*lengths)
    program = (
        "f = fn (x : f32 [a,b,*]) { x * 2f + 1f, map(fn (r) { map(fn (s) { sum(s) }, r) }, x),"
        " softmax(x) };"
    )
    made = on_both(program, x)
    sums = numpy.array([[s.sum() for s in r] for r in x], "f4")
    close(plain(made[0]), [[s * 2 + 1 for s in r] for r in x])
    close(made[1], sums)
    close(plain(made[2]), [[softmax(s) for s in r] for r in x])


@pytest.mark.parametrize("lengths", UNEVEN, ids=str)
def test_rows_of_rows(lengths: tuple[tuple[int, ...], ...]) -> None:
    """f32 [a,*,*]"""
    x = nested(*lengths)
    program = (
        "f = fn (x : f32 [a,*,*]) { x * 2f + 1f, map(fn (r) { map(fn (s) { softmax(s) }, r) }, x),"
        " map(fn (r) { map(fn (s) { sum(s) }, r) }, x), map(fn (r) { sum(r) }, x) };"
    )
    made = plain(on_both(program, x))
    close(made[0], [[s * 2 + 1 for s in r] for r in x])
    close(made[1], [[softmax(s) for s in r] for r in x])
    close(made[2], [numpy.array([s.sum() for s in r], "f4") for r in x])
    close(made[3], numpy.array([sum(s.sum() for s in r) for r in x], "f4"))


# --- where they come from ------------------------------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("type_", "given"),
    [
        ("[n,*]", [[1, 2], [3]]),
        ("[n,*]", [[1, 2], [3, 4]]),
        ("[n,*]", [[], [1]]),
        ("[n,*]", []),
        ("[n,*,2]", [[[1, 2]], [[3, 4], [5, 6]]]),
        ("[n,*,2]", [[], [[1, 2]]]),
        ("[n,*,*]", [[[1], [2, 3]], [[1]]]),
        ("[n,b,*]", [[[1], [2, 3]], [[1], [4]]]),
    ],
)
def test_lists(type_: str, given: Any, backend: str) -> None:
    net = axon.compile(f"f = fn (x : f32 {type_}) {{ x + 1f }};", backend=backend)
    made = net.f(given)
    assert isinstance(made, axon.Ragged) and element(made) == "f32"
    assert to_list(plain(made)) == one_more(given)


def to_list(value: Any) -> Any:
    return [to_list(v) for v in value] if isinstance(value, list) else value.tolist()


def one_more(value: Any) -> Any:
    return [one_more(v) for v in value] if isinstance(value, list) else value + 1


@pytest.mark.parametrize("backend", BACKENDS)
def test_awkward(backend: str) -> None:
    net = axon.compile(
        "f = fn (x : f32 [n,*]) { x + 1f }; g = fn (x : f32 [n,*,*]) { x + 1f };", backend=backend
    )

    def floats_of(rows: Any) -> Any:
        return awkward.values_astype(awkward.Array(rows), numpy.float32)

    assert to_list(plain(net.f(floats_of([[1, 2], [], [3]])))) == [[2, 3], [], [4]]
    assert to_list(plain(net.g(floats_of([[[1], [2, 3]], []])))) == [[[2], [3, 4]], []]
    for wrong in (awkward.Array(["a", "b"]), awkward.Array([{"x": 1}]), awkward.Array([1.0])):
        with pytest.raises(axon.ArgumentError, match="`x`"):
            net.f(wrong)
    with pytest.raises(axon.ArgumentError, match="f64"):
        net.f(awkward.Array([[1.0, 2.0], [3.0]]))


@pytest.mark.parametrize(
    ("type_", "given"),
    [
        ("[n,m]", ragged(2, 3)),
        ("[n,*,3]", ragged(2, 3)),
        ("[n,*,3]", ragged(2, 3, inner=(4,))),
        ("[n]", ragged(2, 3)),
        ("[n,*]", [["a"], [2]]),
        ("[n,*]", [[1], 2]),
        ("[n,*]", [[1], [[2]]]),
        ("[n,*]", [None, [2]]),
        ("[n,*,2]", [[], [[1, 2, 3]]]),
        ("[n,2,*]", [[[1], [2, 3], [4]], [[1], [2], [3]]]),
        ("[n,*]", 3),
    ],
)
@pytest.mark.parametrize("backend", BACKENDS)
def test_what_does_not_fit(type_: str, given: Any, backend: str) -> None:
    net = axon.compile(f"f = fn (x : f32 {type_}) {{ x + 1f }};", backend=backend)
    with pytest.raises(axon.ArgumentError):
        net.f(given)


def test_any_tensor_may_be_ragged() -> None:
    """What asks for no uniform size takes rows that vary."""
    x = ragged(2, 3)
    close(plain(on_both("f = fn (x) { relu(x) + 1f };", x)), [numpy.maximum(r, 0) + 1 for r in x])
    with pytest.raises(axon.ArgumentError, match="sum: works along an axis"):
        axon.compile("f = fn (x) { sum(x, axis=0) };").f(x)


@pytest.mark.parametrize("dtype", ["f8", "i8", "i4", "f2"])
def test_element_types(dtype: str) -> None:
    x = axon.Ragged.from_rows([numpy.arange(3).astype(dtype), numpy.arange(2).astype(dtype)])
    made = on_both("f = fn (x : t [n,*]) { map(fn (r) { r * r + 1 }, x), x + x };", x)
    one = numpy.ones((), dtype)
    close(plain(made), ([r * r + one for r in x], [r + r for r in x]))


def test_many_rows_compile_few_times() -> None:
    """Rows of one length go together on JAX: it is told of few sizes."""
    net = axon.compile("f = fn (x : f32 [n,*]) { map(fn (r) { softmax(r) }, x) };")
    on_jax = net.on("jax").f
    random = numpy.random.default_rng(0)
    for _ in range(20):
        x = ragged(*random.integers(0, 5, 30).tolist())
        close(plain(on_jax(x)), plain(net.f(x)))
