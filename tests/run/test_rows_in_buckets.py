"""Functions of rows on JAX that have no form for all rows at once: rows are padded to a few sizes,
and the results are those of the rows.
"""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import axon
from axon.backends import bounded, row_buckets, row_functions, row_groups, row_stacks, rowwise
from axon.backends.ragged import Varying
from tests.run.all_rows import alike, outcome, row_by_row
from tests.run.support import assert_jax, floats, plain

jax: Any = pytest.importorskip("jax")

NAN, HUGE = float("nan"), 1e30

LENGTHS = [(3, 5, 6, 1, 9, 12), (4, 2, 7), (1, 1)]

FUNCTIONS = {
    "a recurrent operator": (
        "x : f32 [n,*,3], w : f32 [1,8,3], u : f32 [1,8,2]",
        "fn (r) { a, b, c = lstm(expand_dims(r, axis=1), w, u); a, b }",
    ),
    "random numbers": ("x : f32 [n,*], k : u32 [2]", "fn (r) { r + uniform(k, shape(r)) }"),
    "an identity": (
        "x : f32 [n,*]",
        "fn (r) { sum(eye(size(r, axis=0)) * expand_dims(r, axis=0), axis=1) }",
    ),
    "a matrix of each row": ("x : f32 [n,*]", "fn (r) { outer(r, r) }"),
    "two sizes that differ": ("x : f32 [n,*], y : f32 [n,*]", "fn (r, s) { outer(r, s), sum(s) }"),
    "attention": (
        "x : f32 [n,*,3]",
        "fn (r) { q = expand_dims(r, axis=[0,1]); dot_product_attention(q, q, q)[0, 0] }",
    ),
    "another shape": ("x : f32 [n,*,3]", "fn (r) { reshape(r, [3 * size(r, axis=0), 1]) }"),
    "a loop": (
        "x : f32 [n,*]",
        "fn (r) { iterate(r, fn (s) { max(s) > 0.1 }, fn (s) { s / 2f }) }",
    ),
    "a later size": ("x : f32 [n,3,*]", "fn (r) { softmax(r), transpose(r) @ r, max(r) }"),
    "a later size, convolved": (
        "x : f32 [n,3,*], w : f32 [3,3,2]",
        "fn (r) { conv(expand_dims(r, axis=0), w[:, :, :1], pad=1) }",
    ),
    "a determinant": ("x : f32 [n,*]", "fn (r) { det(outer(r, r) + eye(size(r, axis=0))) }"),
    "sizes as numbers": (
        "x : f32 [n,3,*], a : f32",
        "fn (r) { mean(r, axis=1) * a + cast(size(r, axis=1), to=f32) }",
    ),
    "integers": ("x : i64 [n,3,*]", "fn (r) { max(r, axis=1), cumsum(r, axis=1), argmax(r) }"),
}

OPERATORS = {
    "a product": ("x : f32 [n,*,3]", "x @ transpose(x)"),
    "element by element": ("x : f32 [n,3,*], y : f32 [n]", "x * expand_dims(y, axis=[1,2]) + 1f"),
    "along the last axis": ("x : f32 [n,3,*]", "log_softmax(x)"),
    "convolved": ("x : f32 [n,3,*], w : f32 [3,3,2]", "conv(x, w, pad=1)"),
    "with a function": ("x : f32 [n,3,*]", "reduce(fn (a, b) { a + b * b }, 0f, x, axis=-1)"),
}

COMPUTED = {
    "what is chosen": "compress(r, r > 0f), nonzero(r)",
    "what is made of it": "outer(compress(r, r > 0f), r)",
    "a loop that makes it longer": "fold(r, fn (h, e) { concat(h, ones([1])) }, r, differ=0)",
}
"""Functions of vectors whose sizes depend on values."""


def arguments(params: str, lengths: tuple[int, ...]) -> list[Any]:
    random = numpy.random.default_rng(sum(lengths))
    made: list[Any] = []
    for param in params.split(", "):
        name, _, type_ = param.partition(" : ")
        elem, _, dims = type_.partition(" ")
        if "*" in dims:
            sizes = dims.strip("[]").split(",")[1:]
            own = lengths if name == "x" else lengths[::-1]
            rows = [
                random.normal(0, 2, [n if d == "*" else int(d) for d in sizes]).astype(
                    "int64" if elem == "i64" else "float32"
                )
                for n in own
            ]
            varying = Varying(tuple(d == "*" for d in sizes))
            made.append(axon.Ragged.from_rows(rows, rows[0], varying))
        elif elem == "u32":
            made.append(numpy.array([1, 2], numpy.uint32))
        else:
            fixed = [d for d in dims.strip("[]").split(",") if d]
            made.append(floats(*[len(lengths) if d == "n" else int(d) for d in fixed]))
    return made


def definition(params: str, body: str) -> str:
    if not body.startswith("fn"):
        return f"f = fn ({params}) {{ {body} }};"
    rows = [param.partition(" ")[0] for param in params.split(", ") if "*" in param]
    return f"f = fn ({params}) {{ map({body}, {', '.join(rows)}) }};"


EVERY = {**FUNCTIONS, **OPERATORS}


@pytest.mark.parametrize("case", EVERY)
def test_nothing_of_the_padding_is_in_a_result(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All padding is filled with what does harm."""
    harm = (NAN, HUGE)[list(EVERY).index(case) % 2]
    monkeypatch.setattr(row_buckets, "POISON", harm)
    monkeypatch.setattr(row_groups, "FILL", harm)
    params, body = EVERY[case]
    text = definition(params, body)
    net, expected = axon.compile(text, backend="jax"), axon.compile(text)
    for lengths in LENGTHS[:2] if case in OPERATORS else LENGTHS:
        args = arguments(params, lengths)
        found, known = net.f(*args), expected.f(*args)
        assert_jax(found)
        assert alike(plain(found), plain(known), rtol=2e-4, atol=2e-5), lengths
        assert not net.f.row_loops


@pytest.mark.parametrize(
    "case", ["a recurrent operator", "a matrix of each row", "sizes as numbers", "a product"]
)
def test_gradients_are_those_of_the_rows(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside those of rows of equal sizes; all padding is filled with what does harm."""
    params, body = EVERY[case]
    args = [jax.tree.map(jax.numpy.asarray, arg) for arg in arguments(params, (3, 5))]

    def gradient() -> Any:
        function = axon.compile(definition(params, body), backend="jax").f.jax

        def loss(*given: Any) -> Any:
            return sum(jax.numpy.sin(part).sum() for part in jax.tree.leaves(function(*given)))

        return jax.tree.leaves(jax.jit(jax.grad(loss, argnums=tuple(range(len(args)))))(*args))

    with monkeypatch.context() as patch:
        patch.setattr(row_buckets, "POISON", NAN)
        patch.setattr(row_groups, "FILL", NAN)
        found = gradient()
    monkeypatch.setattr(row_functions, "in_groups", lambda *_: None)
    monkeypatch.setattr(rowwise, "grouped", lambda *_: None)
    for a, b in zip(found, gradient(), strict=True):
        numpy.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("case", FUNCTIONS)
def test_a_stream_of_batches_is_compiled_a_few_times(case: str) -> None:
    """For 8 and 16, and for rows of one element; of two sizes that differ for pairs of these."""
    params, body = FUNCTIONS[case]
    net = axon.compile(definition(params, body), backend="jax")
    random = numpy.random.default_rng(0)
    for _ in range(6):
        net.f(*arguments(params, tuple(random.integers(1, 17, 14).tolist())))
    assert net.f.compilations <= (12 if "two" in case else 5)


@pytest.mark.parametrize("case", COMPUTED)
def test_sizes_of_values_are_computed_on_the_host(case: str) -> None:
    """For all rows at once; nothing is compiled."""
    text = definition("x : f32 [n,*]", f"fn (r) {{ {COMPUTED[case]} }}")
    net, expected = axon.compile(text, backend="jax"), axon.compile(text)
    for lengths in LENGTHS:
        args = arguments("x : f32 [n,*]", lengths)
        found, known = net.f(*args), expected.f(*args)
        assert_jax(found)
        assert alike(plain(found), plain(known))
    assert net.f.compilations == 0
    assert net.f.row_loops == expected.f.row_loops


def test_what_cannot_be_padded_is_reported() -> None:
    net = axon.compile(
        "f = fn (x : f32 [n,1,*,2,2]) { map(fn (r) { space_to_depth(r, block=2) }, x) };",
        backend="jax",
    )
    params = "x : f32 [n,1,*,2,2]"
    found = net.f(*arguments(params, (3, 2, 3)))
    assert [row.shape for row in found] == [(1, 12, 1, 1), (1, 8, 1, 1), (1, 12, 1, 1)]
    (report,) = net.f.row_loops
    assert report.endswith(
        "rows of equal size go together, and each size is compiled for, because of `space_to_depth`"
        " in line 1: the parts of a block are packed in the channels, one behind the other"
    )


@pytest.mark.parametrize(
    ("body", "lengths"),
    [
        ("outer(r, r)[4]", (7, 3, 9)),
        ("top_k(outer(r, r), k=3)", (7, 2, 9)),
        ("conv(reshape(r, [1, 1, size(r, axis=0)]), ones([1,1,4]))", (3, 7, 9)),
        ("argmax(outer(r, r))", (7, 0, 9)),
    ],
)
def test_errors_are_those_of_the_rows(body: str, lengths: tuple[int, ...]) -> None:
    """A row that fails for its own size fails in a bucket, too."""
    net = axon.compile(definition("x : f32 [n,*]", f"fn (r) {{ {body} }}"), backend="jax")
    args = arguments("x : f32 [n,*]", lengths)
    found = outcome(net.f, *args)
    assert isinstance(found, str)
    with row_by_row():
        assert outcome(net.on("jax").f, *args) == found


def test_rows_of_two_tensors_have_equal_sizes() -> None:
    """A row of one element is not stretched."""
    text = definition("x : f32 [n,*], y : f32 [n,*]", "fn (r, s) { outer(r + s, s) }")
    net = axon.compile(text, backend="jax")
    params = "x : f32 [n,*], y : f32 [n,*]"
    assert [row.shape for row in net.f(*arguments(params, (3, 5, 3)))] == [(3, 3), (5, 5), (3, 3)]
    with pytest.raises(axon.RunError):
        net.f(*arguments(params, (3, 5, 1)))


@pytest.mark.parametrize(
    "body",
    [
        "fn (r) { outer(reshape(r, [size(r, axis=0)/2, 2])[:, 0], r) }",
        "fn (r : f32 [2*m]) { outer(reshape(r, [m, 2])[:, 0], r) }",
    ],
)
def test_sizes_that_are_multiples(body: str) -> None:
    """The half is padded, and an odd size is an error."""
    text = definition("x : f32 [n,*]", body)
    net, expected = axon.compile(text, backend="jax"), axon.compile(text)
    args = arguments("x : f32 [n,*]", (4, 6, 16, 12))
    assert alike(plain(net.f(*args)), plain(expected.f(*args)))
    assert not net.f.row_loops and net.f.compilations == 1
    odd = arguments("x : f32 [n,*]", (4, 9, 6))
    assert outcome(net.f, *odd) == outcome(expected.f, *odd)
    assert "mod 2 = 0 does not hold" in str(outcome(net.f, *odd))


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """One long row makes no array of all rows as large; many rows go in parts; a row that would be
    too large if it were padded is not.
    """
    text = definition("x : f32 [n,*]", "fn (r) { outer(r, r) }")
    net, expected = axon.compile(text, backend="jax"), axon.compile(text)
    made: list[int] = []
    stack = row_stacks.Source.stack

    def watched(*args: Any) -> Any:
        found = stack(*args)
        made.append(found.shape[0] * found.shape[-1] ** 2)
        return found

    monkeypatch.setattr(row_stacks.Source, "stack", watched)
    monkeypatch.setattr(bounded, "AT_ONCE", 4 * 4096)
    (x,) = arguments("x : f32 [n,*]", (100, *[3] * 30, 60, *[15] * 30))
    found, known = net.f(x), expected.f(x)
    assert alike(plain(found), plain(known))
    assert "takes too much memory" in net.f.row_loops[0]
    assert max(made) <= 2 * 128 * 128 and net.f.compilations < 12


def test_rows_without_elements() -> None:
    net = axon.compile(
        definition("x : f32 [n,*]", "fn (r) { sum(outer(r, r)), outer(r, r) }"), backend="jax"
    )
    sums, matrices = net.f(*arguments("x : f32 [n,*]", (0, 3, 0, 2)))
    assert [row.shape for row in matrices] == [(0, 0), (3, 3), (0, 0), (2, 2)]
    assert numpy.asarray(sums)[[0, 2]].tolist() == [0, 0]
    sums, matrices = net.f(axon.Ragged.from_rows([], numpy.zeros(0, numpy.float32)))
    assert len(sums) == len(matrices) == 0


def test_sizes_that_agree_by_chance() -> None:
    """Square matrices of one size are stored end to end; those of others are not."""
    text = "f = fn (x : f32 [n,*,*]) { map(fn (m) { trace(m) + sum(m @ m), m @ m }, x) };"
    net, expected = axon.compile(text, backend="jax"), axon.compile(text)
    for sizes in ((3, 3), (3, 5, 2), (5, 5, 5)):
        x = axon.Ragged.from_rows([floats(n, n) for n in sizes])
        found, known = net.f(x), expected.f(x)
        assert alike(plain(found), plain(known), rtol=2e-4)
