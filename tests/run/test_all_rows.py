"""What a function of rows computes for all rows at once is what it computes row by row: values,
element types, how the result is stored, and the errors.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy
import pytest

import axon
from axon import ops
from axon.backends import bounded
from axon.backends.numpy_arrays import NumpyArrays
from axon.backends.segments.arrays import CALLING, MODULES, POINTWISE, RULES
from axon.backends.segments.namespace import flat_arrays
from tests.run.all_rows import OTHERS, TYPES, alike, given, outcome, row_by_row, rows, watched
from tests.run.support import floats

LENGTHS = [(2, 0, 3, 5, 1, 7), (4, 4), (1,), (40, 2, 9, 1)]

BODIES = {
    "reductions of vectors": (
        "vectors",
        """
        sum(r)
        mean(r)
        prod(r)
        variance(r)
        norm(r)
        logsumexp(r)
        max(r)
        min(r)
        any(r > 0f)
        all(r > 0f)
        argmax(r)
        argmin(r, last=true)
        sum(cast(r, to=i32))
        max(cast(r, to=i32))
        dot(r, r)
        sum(r), max(r)
        reduce(+, 0f, r)
        reduce(max, -inf, r)
        reduce(fn (p, q) { p * 0.5 + q }, 0f, r)
        """,
    ),
    "vectors of the same size": (
        "vectors",
        """
        softmax(r)
        log_softmax(r)
        layer_norm(r)
        rms_norm(r)
        (r - mean(r)) / sqrt(variance(r) + 0.001)
        r * a
        relu(r)
        gelu(r)
        erf(r)
        cast(r, to=i32)
        where(r > 0f, r, 0f)
        r * cast(size(r, axis=0), to=f32)
        zeros(shape(r))
        broadcast_to(a, shape(r))
        range(size(r, axis=0))
        cumsum(r)
        cumsum(r, exclusive=true)
        cumsum(r, reverse=true)
        cumprod(r)
        scan(+, 0f, r)
        scan(fn (p, q) { p * 0.5 + q }, 0f, r)
        sort(r)
        sort(r, descending=true)
        argsort(r)
        gather(r, argsort(r))
        gather_elements(r, argsort(r))
        scatter(r, argsort(r), r)
        bit_cast(r, to=i32)
        argsort(r, descending=true)
        reverse(r)
        roll(r, by=2)
        r, sum(r)
        """,
    ),
    "vectors of other sizes": (
        "vectors",
        """
        r[1:]
        r[:-1]
        r[::2]
        slice(r, start=3, stop=1, step=-1)
        r[0]
        index(r, i=-1)
        top_k(r, k=1)
        top_k(r, k=1, largest=false)
        gather_elements(r, [0, -1])
        scatter_elements(r, [0, -1], [1f, 2f])
        resize(r, scale=[1.5], axis=[0], mode="linear")
        pad(r, before=1, after=2)
        pad(r, before=1, mode="edge")
        concat(r, r)
        concat(r, ones([2]))
        stack(r, r)
        stack(r, r, axis=1)
        expand_dims(r, axis=0)
        reshape(r, [size(r, axis=0), 1])
        tile(r, reps=[2])
        repeat(r, times=2)
        one_hot(cast(r, to=i64), depth=3)
        gather(v, abs(cast(r, to=i64)) % 3)
        gather(r, [0, 0])
        m @ stack(r, r, r)
        unique(r)
        nonzero(r)
        compress(r, r > 0f)
        """,
    ),
    "matrices of vectors": (
        "vectors",
        """
        outer(r, r)
        sum(outer(r, r))
        sum(outer(r, r), axis=0)
        transpose(outer(r, r))
        tril(outer(r, r))
        trace(outer(r, r))
        dot(r, r) * outer(r, r)
        einsum(r, r, equation="i,j->ij")
        """,
    ),
    "functions in functions": (
        "vectors",
        """
        map(fn (e) { e * e }, r)
        map(fn (e) { e * sum(r) }, r)
        map(fn (e) { sum(r * e) }, r)
        fold(0f, fn (s, e) { s * 0.5 + e }, r)
        fold(0f, fn (s, e) { s + sum(r) * e }, r)
        fold(zeros([3]), fn (s, e) { s * 0.5 + e * v }, r)
        loop(0f, fn (s, e) { s + e, s * e }, r)
        loop(0f, fn (s, e) { s + e, s * e * sum(r) }, r[:0])
        loop(0f, fn (s, e) { s + e, e * r }, r[:0])
        map(fn (e) { e * r }, v)
        fold(0f, fn (s, e) { s * e + sum(r) }, v)
        loop(0f, fn (s, e) { s + sum(r) * e, sum(r) * s }, v)
        if (sum(r) > 0f) { r } else { -r }
        cond(sum(r) > 0f, fn () { sum(r) }, fn () { 1f })
        cond(sum(r) > 0f, fn () { concat(r, r) }, fn () { r }, differ=0)
        iterate(sum(r), fn (s) { s > 0.1 }, fn (s) { s / 2f })
        """,
    ),
    "reductions of matrices": (
        "matrices",
        """
        mean(r, axis=0)
        sum(r, axis=0)
        max(r, axis=0)
        min(r, axis=0)
        prod(r, axis=0)
        sum(r)
        mean(r, axis=1)
        mean(r, axis=[0,1])
        sum(r, axis=0, keep=true)
        argmax(r, axis=0)
        argmax(r, axis=1)
        argmax(r)
        argmin(r, last=true)
        variance(r, axis=0)
        norm(r, axis=0)
        reduce(max, -inf, r)
        reduce(max, -inf, r, axis=1)
        reduce(fn (p, q) { p * 0.5 + q }, 0f, r)
        max(relu(r @ m), axis=0)
        sum(expand_dims(softmax(sum(r * v, axis=1)), axis=1) * r, axis=0)
        einsum(r, equation="ij->j")
        """,
    ),
    "matrices of the same sizes": (
        "matrices",
        """
        softmax(r)
        softmax(r, axis=0)
        layer_norm(r, v, v)
        r @ m
        project(r, m)
        relu(r @ m) @ m
        r - mean(r, axis=0)
        r * expand_dims(mean(r, axis=1), axis=1)
        sort(r, axis=0)
        sort(r, axis=0, descending=true)
        sort(r, axis=1)
        argsort(r, axis=0)
        group_norm(expand_dims(transpose(r), axis=0), groups=3)
        dft(expand_dims(r, axis=2), axis=1)
        cumsum(r)
        cumsum(r, axis=1)
        scan(+, 0f, r)
        reverse(r)
        reverse(r, axis=1)
        where(r > 0f, r, v)
        einsum(r, m, equation="ij,jk->ik")
        (fn (y) { y * sum(y) })(r)
        """,
    ),
    "sizes that are values of vectors": (
        "vectors",
        """
        slice_by(r, [cast(sum(r), to=i64)], [4], axes=0)
        slice_by(r, [cast(r[0], to=i64)], [cast(sum(r), to=i64)], axes=0)
        slice_by(r, [5], [0], [cast(where(sum(r) > 0f, -1f, -2f), to=i64)], axes=0)
        slice_by(stack(r, r, r), [cast(r[0] > 0f, to=i64)], [2], axes=0)
        slice_by(stack(r, r, r), [1], [cast(r[0] * 2f, to=i64)], axes=1)
        slice_by(m, [cast(r[0] > 0f, to=i64)], [3], axes=1)
        slice_by(outer(r, r), [1, 0], [cast(r[0], to=i64), 2], axes=[0,1])
        pad_by(r, [cast(abs(r[0]), to=i64), 1], axis=0)
        pad_by(r, [cast(r[0], to=i64), cast(sum(r), to=i64)], axis=0)
        pad_by(r, [cast(abs(r[0]), to=i64), cast(abs(sum(r)), to=i64)], axis=0, mode="edge")
        pad_by(r, [cast(abs(r[0]), to=i64), cast(abs(sum(r)), to=i64)], axis=0, mode="wrap")
        pad_by(r, [cast(abs(r[0]), to=i64), cast(abs(sum(r)), to=i64)], axis=0, mode="reflect")
        pad_by(stack(r, r), [cast(r[0] > 0f, to=i64), 1], axis=0)
        pad_by(stack(r, r), [cast(abs(r[0]), to=i64), 1], axis=1)
        arange(cast(r[0], to=i64), cast(sum(r), to=i64), 1)
        arange(cast(sum(r), to=i64), cast(r[0], to=i64), -2)
        arange(r[0], sum(r), 0.5)
        rescale(stack(r, r), [where(r[0] > 0f, 0.5, 2f), 1.5])
        expand_dims_by(r, [cast(r[0] > 0f, to=i64)])
        squeeze_by(expand_dims(r, axis=[0,2]), [where(r[0] > 0f, cast(0, to=i64), cast(2, to=i64))])
        sum(squeeze_by(expand_dims(r, axis=[0,2])) * 2f)
        pad_by(m, [cast(r[0] > 0f, to=i64), cast(r[0], to=i64)], axis=1)
        pad_by(r, [cast(abs(r[0]), to=i64), 1], r[0], axis=0)
        join_axes(stack(r, r), [cast(r[0] > 0f, to=i64)])
        sum(join_axes(stack(r, r), [cast(r[0] > 0f, to=i64)]), axis=-1)
        iterate(sum(r), fn (s) { s > 0.1 }, fn (s) { s / 2f, s * r[0] }, outputs=1)
        iterate(1f, fn (s) { s < abs(sum(r)) }, fn (s) { s * 2f, s * r[0] }, outputs=1)
        iterate(1f, fn (s) { s < abs(sum(r)) }, fn (s) { s * 2f })
        iterate(1f, fn (s) { s < 50f }, fn (s) { s * 2f + abs(r[0]), r[0] }, outputs=1)
        iterate(8f, fn (s) { s < abs(sum(r)) }, fn (s) { s * 2f, s + r[:1] }, outputs=1)
        iterate(1f, fn (s) { s < 2f + abs(sum(r)) }, fn (s) { s * 2f, s * r }, outputs=1)
        cond(sum(r) > 0f, fn () { stack(r, r) }, fn () { stack(r, r, r) }, differ=0)
        cond(sum(r) > 0f, fn () { outer(r, r) }, fn () { outer(r[:1], r) }, differ=[0,1])
        p = cast(abs(sum(r)), to=i64); zeros([p])
        p = cast(abs(sum(r)), to=i64); slice_by(r, [p], [p + 2], axes=0)
        p = cast(abs(sum(r)), to=i64); sum(reshape(tile(r, reps=[4]), [2, 2, size(r, axis=0)]))
        p = cast(abs(r[0]), to=i64); pad_by(r, [p, p + 1], axis=0)
        p = cast(r[0] > 0f, to=i64); broadcast_to(r[0], [p, 2])
        select(stack(r, r, r), [r[0] > 0f, true, r[-1] > 0f], axis=0)
        compress(stack(r, r, r), [r[0] > 0f, true, r[-1] > 0f], axis=0)
        """,
    ),
    "attention": (
        "matrices",
        """
        softmax(r @ transpose(r) / sqrt(3)) @ r
        softmax(matmul(r @ m, transpose(r)) / sqrt(3)) @ (r @ m)
        transpose(r) @ r
        det(transpose(r) @ r)
        r @ transpose(r)
        einsum(r, r, equation="ij,kj->ik")
        layer_norm(r + softmax(r @ transpose(r)) @ r)
        """,
    ),
    "matrices of other sizes": (
        "matrices",
        """
        transpose(r)
        flatten(r)
        r[:, 0]
        r[0]
        r[1:, :2]
        concat(r, r)
        concat(r, r, axis=1)
        concat(r, m)
        pad(r, pad=[[1,1],[0,2]])
        stack(r, r)
        gather(r, [0,0])
        gather(r, [0,2], axis=1)
        gather(m, argmax(r, axis=1))
        reshape(r, [size(r, axis=0), 3, 1])
        reshape(r, [3 * size(r, axis=0)])
        expand_dims(r, axis=[0,2])
        squeeze(expand_dims(r, axis=1), axis=1)
        tile(r, reps=[2,2])
        repeat(r, times=2, axis=1)
        top_k(r, k=1, axis=0)
        top_k(r, k=2, axis=1)
        split(r, parts=3, axis=1)
        compress(r, r[:, 0] > 0f)
        select(transpose(r), r[:, 0] > 0f, axis=1)
        distinct(cast(r > 0f, to=i32))
        nonzero(r[:, 0])
        gather_elements(transpose(r), [[0], [-1], [0]], axis=1)
        conv(expand_dims(transpose(r), axis=0), ones([2,3,1]))
        """,
    ),
    "functions of the rows of matrices": (
        "matrices",
        """
        map(fn (e) { softmax(e) }, r)
        map(fn (e) { project(e, m) }, r)
        map(fn (e) { sum(e) * mean(r, axis=0) }, r)
        fold(zeros([3]), fn (h, e) { tanh(project(h, m) + e) }, r)
        loop(zeros([3]), fn (h, e) { g = tanh(project(h, m) + e); g, g * 2f }, r)
        """,
    ),
    "integers": (
        "numbers",
        """
        sum(r)
        prod(r)
        max(r)
        min(r)
        argmax(r)
        cumsum(r)
        sort(r)
        unique(r)
        r % 3
        r / 2
        cast(r, to=f32)
        gather(m, abs(r) % 3)
        mean(gather(m, abs(r) % 3), axis=0)
        one_hot(r, depth=4)
        sum(one_hot(r, depth=4), axis=0)
        scatter(zeros([9]), abs(r) % 9, ones(shape(r)))
        dot(cast(r, to=i8), cast(r, to=i8))
        dot(cast(r, to=u32), cast(r, to=u32))
        """,
    ),
}


def program(kind: str, bodies: list[str], how: str) -> str:
    """A definition for each body; it stands in a `map`, or in one of rows of rows."""
    head = f"fn (x : {TYPES[kind][0]}, {OTHERS})"
    return "\n".join(f"f{i} = {head} {{ {how.format(body)} }};" for i, body in enumerate(bodies))


def compared(net: axon.Program, name: str, args: tuple[object, ...], where: str) -> None:
    found = outcome(getattr(net, name), *args)
    with row_by_row():
        expected = outcome(getattr(net, name), *args)
    if isinstance(found, str) or isinstance(expected, str):
        assert found == expected, where
        return
    assert found[1] == expected[1], where
    assert alike(found[0], expected[0]), (where, found[0], expected[0])


@pytest.mark.parametrize("group", BODIES)
def test_all_rows_at_once(group: str) -> None:
    """And none of them goes through the rows in a loop, where no row is empty."""
    kind, lines = BODIES[group]
    bodies = [line.strip() for line in lines.strip().splitlines()]
    with watched() as looping:
        net = axon.compile(program(kind, bodies, "map(fn (r) {{ {} }}, x)"))
        for i in range(len(bodies)):
            getattr(net, f"f{i}")(rows(kind, (3, 8, 4, 4)), *given())
    assert not looping
    for i, body in enumerate(bodies):
        for lengths in LENGTHS:
            compared(net, f"f{i}", (rows(kind, lengths), *given()), f"{body} of rows {lengths}")


DIRECT = [
    ("vectors", "softmax(x)"),
    ("vectors", "sort(x)"),
    ("vectors", "sum(x, axis=1)"),
    ("vectors", "x[:, 1:]"),
    ("vectors", "concat(x, x, axis=1)"),
    ("vectors", "expand_dims(x, axis=1)"),
    ("vectors", "stack(x, x, axis=1)"),
    ("vectors", "x * expand_dims(mean(x, axis=1), axis=1)"),
    ("matrices", "x @ m"),
    ("matrices", "layer_norm(x @ m, v, v)"),
    ("matrices", "matmul(softmax(matmul(x, transpose(x)) / sqrt(3)), x)"),
    ("matrices", "transpose(x)"),
    ("matrices", "squeeze(expand_dims(x, axis=2), axis=2)"),
    ("numbers", "gather(m, abs(x) % 3)"),
]


@pytest.mark.parametrize(("kind", "body"), DIRECT)
def test_operators_on_ragged_tensors(kind: str, body: str) -> None:
    net = axon.compile(program(kind, [body], "{}"))
    for lengths in LENGTHS:
        compared(net, "f0", (rows(kind, lengths), *given()), f"{body} of rows {lengths}")


SOME = [
    ("vectors", "cond(sum(r) > 0f, fn () { stack(r, r) }, fn () { stack(r, r, r) }, differ=0)"),
    ("vectors", "fold(r, fn (h, e) { h * e }, v)"),
    ("vectors", "fold([a], fn (h, y) { concat(h, [y]) }, r, differ=0)"),
    ("matrices", "rnn(ones([2,1,3]), stack(r), stack(r @ transpose(r)))"),
    ("matrices", "roi_pool(expand_dims(r, axis=[0,1]), [[0f,0f,1f,1f]], [0], size=[2,2])"),
    ("matrices", "roi_align(expand_dims(r, axis=[0,1]), [[0f,0f,1f,1f]], [0], size=[2,2])"),
    ("matrices", "reshaped_sizes(r, [3, -1])"),
]
"""Bodies of which some parts may go row by row."""


@pytest.mark.parametrize(("kind", "body"), SOME)
def test_what_is_not_all_at_once(kind: str, body: str) -> None:
    net = axon.compile(program(kind, [body], "map(fn (r) {{ {} }}, x)"))
    for lengths in LENGTHS:
        compared(net, "f0", (rows(kind, lengths), *given()), f"{body} of rows {lengths}")


@pytest.mark.parametrize(
    "body",
    [
        "conv(ones([1,2,5,4]), stack(r[:2], r[:2], axis=0)[:, :, None])",
        "conv(ones([1,2,5]), reshape(r[:2], [6,1,1]), groups=2)",
        "conv_transpose(expand_dims(transpose(r), axis=0), ones([3,2,2]), stride=2)",
        "conv_transpose(ones([2,3,5]), transpose(r)[:, :2, None], stride=2)",
        "col2im(expand_dims(r @ ones([3,4]), axis=2), [2,2], [2,2])",
    ],
)
def test_filters_of_each_row(body: str) -> None:
    net = axon.compile(program("matrices", [body], "map(fn (r) {{ {} }}, x)"))
    for lengths in [(2, 3, 5, 2, 7), (4, 4)]:
        compared(net, "f0", (rows("matrices", lengths), *given()), body)
    assert net.f0.row_loops == ()


IMAGES = "z = expand_dims(transpose(r), axis=[0,1]); "
BOXES = "b = concat(r, r[:, :1] + 1f, axis=1)[None]; s = transpose(r)[None]; "
REGIONS = [
    "roi_pool(expand_dims(r, axis=[0,1]), [[0f,0f,1f,1f]], [0], size=[2,2])",
    "roi_align(expand_dims(r, axis=[0,1]), [[0f,0f,1f,1f]], [0], size=[2,2])",
    "roi_align(expand_dims(r, axis=[0,1]), [[0f,0f,2f,sum(r)]], [0], size=[2,1])",
    "roi_align(expand_dims(r, axis=[0,1]), [[0f,0f,2f,3f]], [0], size=[2,2], sampling=2)",
    IMAGES + 'roi_align(z, [[0f,0f,2f,a],[1f,0f,a,2f]], [0,-1], size=[2,2], mode="max")',
    IMAGES + "roi_align(concat(z, z, axis=1), [[0f,0f,2f,3f]], [0], size=[1,2], sampling=1)",
    BOXES + "non_max_suppression(b, s, 3, 0.1)",
    BOXES + "non_max_suppression(concat(b, b), concat(s, -s), 2)",
    BOXES + "non_max_suppression(b, s, 9, abs(sum(r)), sum(r) / 9f, center=true)",
    BOXES + "non_max_suppression(b, s, cast(sum(r), to=i64), 0.3f)",
]


@pytest.mark.parametrize("body", REGIONS)
def test_regions_of_each_row(body: str) -> None:
    net = axon.compile(program("matrices", [body], "map(fn (r) {{ {} }}, x)"))
    net.f0(rows("matrices", (3, 8, 4, 4)), *given())
    assert net.f0.row_loops == ()
    for lengths in LENGTHS:
        compared(net, "f0", (rows("matrices", lengths), *given()), f"{body} of rows {lengths}")


def test_rows_of_rows() -> None:
    deep = axon.Ragged.from_rows(
        [rows("vectors", (1, 2)), rows("vectors", (0, 3, 2)), rows("vectors", (4,))]
    )
    bodies = [
        "map(fn (d) { map(fn (s) { softmax(s) }, d) }, x)",
        "map(fn (d) { map(fn (s) { mean(s) }, d) }, x)",
        "map(fn (d) { sum(map(fn (s) { sum(s) }, d)) }, x)",
        "map(fn (d) { map(fn (s) { concat(s, s) }, d) }, x)",
        "map(fn (d) { map(fn (s) { stack(s, s) }, d) }, x)",
        "map(fn (d) { map(fn (s) { slice_by(s, [cast(sum(s), to=i64)], [3], axes=0) }, d) }, x)",
        "map(fn (d) { sort(d) }, x)",
        "argsort(x, descending=true)",
        "map(fn (d) { softmax(d) }, x)",
        "softmax(x)",
        "x * 2f + 1f",
    ]
    text = "\n".join(f"f{i} = fn (x : f32 [n,*,*]) {{ {b} }};" for i, b in enumerate(bodies))
    net = axon.compile(text)
    even = axon.Ragged.from_rows([rows("vectors", (2, 2)), rows("vectors", (2, 2))])
    for i, body in enumerate(bodies):
        compared(net, f"f{i}", (deep,), body)
        compared(net, f"f{i}", (even,), body)
    assert not any(getattr(net, f"f{i}").row_loops for i in range(len(bodies)))


def test_records_of_ragged_tensors() -> None:
    net = axon.compile(
        "f = fn (p : { q : f32 [n,*], k : f32 [n,*,3] }, w : f32 [n]) {"
        " map(fn (r, s) { { t = softmax(r.q) * s, u = mean(r.k, axis=0) } }, p, w) };"
    )
    records = {"q": rows("vectors", (2, 4, 1)), "k": rows("matrices", (3, 1, 2))}
    compared(net, "f", (records, given()[1]), "a record")


@pytest.mark.parametrize(
    ("body", "lengths", "message"),
    [
        ("r[2]", (3, 2), "2"),
        ("gather(r, [4])", (5, 3), ""),
        ("top_k(r, k=3)", (3, 1), ""),
        ("dot(r, s)", (3, 2), ""),
        ("argmax(r)", (1, 0), ""),
    ],
)
def test_errors_are_those_of_the_rows(body: str, lengths: tuple[int, ...], message: str) -> None:
    net = axon.compile(
        f"f = fn (x : f32 [n,*], y : f32 [n,*]) {{ map(fn (r, s) {{ {body} }}, x, y) }};"
    )
    args = (rows("vectors", lengths), rows("vectors", (3, 3)))
    found = outcome(net.f, *args)
    assert isinstance(found, str) and message in found
    with row_by_row():
        assert outcome(net.f, *args) == found


VALUES = [
    ("slice_by(r, [0], [3], [p], axes=0)", (1, 0, 2, -1, 1)),
    ("slice_by(r, [p], [9], axes=0)", (-(2**63), 2**63 - 1, -1, 2, 0)),
    ("slice_by(r, [9], [p], [-1], axes=0)", (-(2**63), 2**63 - 1, -1, 2, 0)),
    ("sum(expand_dims_by(r, [p]))", (1, 0, -1, -2, 1)),
    ("sum(expand_dims_by(r, [p]))", (1, 0, -1, 2, 1)),
    ("sum(squeeze_by(r[None], [p]))", (0, -2, 0, 0, 1)),
    ("pad_by(r, [p, 0], axis=0)", (-100, 2, 1, 0, 3)),
    ('pad_by(r, [p, p], axis=0, mode="edge")', (-1, -4, 1, 0, 3)),
    ('pad_by(r, [p, 1], axis=0, mode="edge")', (-100, 1, 1, 0, 3)),
    ("arange(p, 4, p)", (1, 3, 2, 0, 1)),
    ("arange(0f, cast(p, to=f32) / 0f, 1f)", (1, 3, 2, 0, 1)),
    ("rescale(r[None], [cast(p, to=f32), 1f])", (1, 3, 2, 1, 1)),
    ("rescale(r[None], [cast(p, to=f32) / 0f, 1f])", (1, 3, 2, 0, 0)),
    ("zeros([abs(p)])", (1, 3, 2, 0, 1)),
    ("q = p; zeros([q])", (2**62, 2**62, 2**62, 2**62, 1)),
    ("q = p; size(broadcast_to(0f, [q, q]), axis=0)", (2**32, 1, 2, 2**32, 2**32)),
    ("pad_by(r, [p, p], axis=0)", (2**62, 2**62, 2**62, 2**62, 0)),
    ("q = p; zeros([q])", (1, 3, -2, 0, 1)),
    ("iterate(p, fn (s) { s > 1 }, fn (s) { s / 2, r[3] }, outputs=1)", (1, 3, 2, 0, 1)),
    ("iterate(p, fn (s) { s > 1 }, fn (s) { s / 2, r[0] }, outputs=1)", (1, 0, 1, 0, 1)),
    ("iterate(0, fn (s) { s > 1 }, fn (s) { s / 2, p }, outputs=1)", (1, 0, 1, 0, 1)),
    ("map(fn (e) { iterate(e, fn (s) { s > cast(p, to=f32) }, fn (s) { s / 2f - 1f }) }, r)",
     (1, 0, 1, 0, 1)),
    ("cond(p > 0, fn () { outer(r, r) }, fn () { zeros([2, 3]) }, differ=[0,1])", (1, 0, 0, 1, 1)),
]  # fmt: skip


@pytest.mark.parametrize(("body", "values"), VALUES)
def test_values_that_decide(body: str, values: tuple[int, ...]) -> None:
    """Errors of some rows included."""
    net = axon.compile(
        f"f = fn (x : f32 [n,*], p : i64 [n]) {{ map(fn (r, p) {{ p = p + 0; {body} }}, x, p) }};"
    )
    for lengths in [(3, 8, 4, 4, 1), (3, 0, 2, 5, 1)]:
        compared(net, "f", (rows("vectors", lengths), numpy.array(values)), body)
    compared(net, "f", (rows("vectors", ()), numpy.zeros(0, int)), body)


def test_a_callers_operator_is_called_row_by_row() -> None:
    """Once for each row, and the report of loops says so."""
    seen: list[int] = []

    def f(x: object) -> object:
        seen.append(1)
        return x

    with watched() as looping:
        net = axon.compile(
            "op own : f32 [k] -> f32 [k]; f = fn (x : f32 [n,*]) { map(fn (r) { own(r) }, x) };",
            ops={"own": f},
        )
        net.f(rows("vectors", (2, 3, 1)))
    assert len(seen) == 3
    assert looping == ["map: `own` is a caller's operator"]


@pytest.mark.parametrize(
    ("backend", "place"),
    [
        ("numpy", "mapping.stored"),
        ("jax", "traced._results"),
        ("numpy", "steps._meant"),
        ("jax", "steps._meant"),
    ],
)
@pytest.mark.parametrize("bug", [TypeError, ValueError, AttributeError, AssertionError])
def test_a_bug_is_not_hidden(
    backend: str, place: str, bug: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mistake of ours is an internal error, and not a reason to go row by row."""

    def mistaken(*_: object, **__: object) -> object:
        raise bug("a mistake")

    monkeypatch.setattr(f"axon.backends.segments.{place}", mistaken)
    net = axon.compile("f = fn (x : f32 [n,*]) { map(fn (r) { cumsum(r) }, x) };", backend=backend)
    with pytest.raises(bug, match="a mistake"):
        net.f(rows("vectors", (2, 3, 1)))


def test_a_bug_in_a_constant_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def mistaken(*_: object, **__: object) -> object:
        raise TypeError("a mistake")

    monkeypatch.setattr(NumpyArrays, "arange", mistaken)
    with pytest.raises(TypeError, match="a mistake"):
        axon.compile("f = fn (x : f32 [3]) { x + cast(range(3), to=f32) };").f(floats(3))


def test_a_function_inside_an_operator_takes_all_rows() -> None:
    """Of a reduction, say, with what it uses from outside, unless that is ragged itself."""
    net = axon.compile(
        """
        f = fn (x : f32 [n,*,3]) { reduce(fn (a, b) { a + b * b }, 0f, x, axis=-1) };
        g = fn (x : f32 [n,*,3], c) { reduce(fn (a, b) { a + b * c }, 0f, x, axis=-1) };
        h = fn (x : f32 [n,*,3]) { reduce(fn (a, b) { a + b * sum(x) }, 0f, x, axis=-1) };
        """
    )
    x = rows("matrices", (2, 0, 3))
    found, other = outcome(net.f, x), outcome(net.g, x, numpy.float32(2))
    assert net.f.row_loops == ()
    assert net.g.row_loops == ()
    assert net.h(x).shape
    assert net.h.row_loops == ("line 4: reduce: its function uses values from outside",)
    with row_by_row():
        for one, again in (
            (found, outcome(net.f, x)),
            (other, outcome(net.g, x, numpy.float32(2))),
        ):
            assert one[1] == again[1] and alike(one[0], again[0])


OUTSIDE = [
    "r * sum(y)",
    "s = softmax(y); r * sum(s) + max(s * 2f)",
    "z = mean(y, axis=1); sum(r) * z",
    "outer(r, sum(y * 3f, axis=1))",
    "map(fn (e) { e + sum(y) }, r)",
    "r * sum(map(fn (s) { sum(s) * 2f }, y))",
    "r - mean(x)",
    "m = sum(x, axis=1); r * sum(m) / max(m)",
    "{ own = r, all = sum(y, axis=1) }",
    "r * sum(y, axis=1)[1]",
    "fold(0f, fn (h, e) { h * sum(y) + e }, r)",
    "cond(sum(r) > 0f, fn () { r * sum(y) }, fn () { r })",
]
"""What is computed of ragged tensors from outside."""


@pytest.mark.parametrize("body", OUTSIDE)
def test_what_has_nothing_of_the_rows_is_computed_once(body: str) -> None:
    text = f"f = fn (x : f32 [n,*], y : f32 [m,*]) {{ map(fn (r) {{ {body} }}, x) }};"
    net = axon.compile(text)
    for lengths in ((2, 4, 1), (3,), ()):
        for others in ((2, 3), (1, 4, 1), (0,)):
            args = rows("vectors", lengths), rows("vectors", others)
            found = outcome(net.f, *args)
            with row_by_row():
                known = outcome(axon.compile(text).f, *args)
            assert found == known if isinstance(known, str) else alike(found[0], known[0]), lengths
            if not isinstance(known, str):
                assert found[1] == known[1]
    net = axon.compile(text)
    net.f(rows("vectors", (2, 4, 1)), rows("vectors", (2, 3)))
    assert net.f.row_loops == ()


def test_rows_with_rows_from_outside() -> None:
    """Of two ragged tensors each row with each: one of them goes row by row, and that is said."""
    text = "map(fn (r) { map(fn (s) { sum(r) * sum(s) }, y) }, x)"
    net = axon.compile(f"f = fn (x : f32 [n,*], y : f32 [m,*]) {{ {text} }};")
    x, y = rows("vectors", (2, 4, 1)), rows("vectors", (2, 3))
    sums = [float(r.sum()) for r in x.rows], [float(s.sum()) for s in y.rows]
    numpy.testing.assert_allclose(net.f(x, y), numpy.outer(*sums), rtol=1e-5)
    assert net.f.row_loops != ()


def test_long_rows_lose_nothing() -> None:
    """A sum of a million numbers, of vectors and of columns."""
    x = numpy.random.default_rng(0).random((1_000_000, 2)).astype(numpy.float32)
    ragged = axon.Ragged.from_packed(x, [0, 3, 1_000_000])
    net = axon.compile("f = fn (x : f32 [n,*,2]) { map(fn (r) { sum(r, axis=0) }, x) };")
    exact = x[3:].astype(numpy.float64).sum(axis=0)
    assert numpy.allclose(net.f(ragged)[1], exact, rtol=3e-7)
    flat = axon.Ragged.from_packed(x[:, 0].copy(), [0, 3, 1_000_000])
    net = axon.compile("f = fn (x : f32 [n,*]) { map(fn (r) { sum(r) }, x) };")
    assert numpy.allclose(net.f(flat)[1], exact[0], rtol=3e-7)


def test_what_is_too_large_goes_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    net = axon.compile(
        "f = fn (x : f32 [n,*,3]) { map(fn (r) { softmax(r @ transpose(r)) @ r }, x) };"
    )
    x = rows("matrices", (30, 2, 9, 1, 17, 5))
    whole = outcome(net.f, x)
    monkeypatch.setattr(bounded, "AT_ONCE", 400)
    parts = outcome(net.f, x)
    assert whole[1] == parts[1] and alike(whole[0], parts[0])


WITHOUT = {"eye", "meshgrid"}
"""Functions that have no form for all rows: operators that use them go row by row."""


def test_every_function_that_meanings_use_has_a_rule() -> None:
    """Or is known to have none, or takes no arrays."""
    no_arrays = {"element", "iinfo", "kind", "word", "broadcast_shapes"}
    used: set[str] = set()
    for path in Path(ops.__file__).parent.rglob("*.py"):
        used |= set(re.findall(r"\bxp\.([a-z_0-9]+)", path.read_text(encoding="utf-8")))
    flat = flat_arrays(NumpyArrays())
    ruled = {*RULES, *MODULES, *POINTWISE, *CALLING}
    ruled |= {name for name in used if hasattr(type(flat), name)}
    assert used - ruled - no_arrays == WITHOUT
