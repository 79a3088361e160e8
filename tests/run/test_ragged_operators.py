"""Operators on tensors whose rows vary in size: row `i` of the result is what the operator makes of
a batch that holds row `i` alone.
"""

from __future__ import annotations

import re
from typing import Any

import numpy
import pytest

import axon
from tests.run.support import close, floats, on_both, plain

SIZES = {"c": 2, "h": 4, "w": 6, "k": 3}

CALLS = [
    # element by element, and along the size that varies
    "relu(x : f32 [n,*,3])",
    "clip(x : f32 [n,c,*], min=0, max=1)",
    "softmax(x : f32 [n,*])",
    "softmax(x : f32 [n,*,3], axis=1)",
    "log_softmax(x : f32 [n,c,*], axis=-1)",
    "sum(x : f32 [n,*,3], axis=1)",
    "sum(x : f32 [n,*,3], axis=[1,2])",
    "sum(x : f32 [n,c,*], axis=2, keep=true)",
    "mean(x : f32 [n,*,3], axis=2)",
    "max(x : f32 [n,c,*], axis=-1)",
    "logsumexp(x : f32 [n,*], axis=-1)",
    "norm(x : f32 [n,*,3], axis=1)",
    "variance(x : f32 [n,*,3], axis=-1)",
    "cumsum(x : f32 [n,*,3], axis=1)",
    "cumprod(x : f32 [n,c,*], axis=-1)",
    "reduce(max, -inf, x : f32 [n,*,3], axis=1)",
    "scan(+, 0f, x : f32 [n,*], axis=1)",
    "sort(x : f32 [n,*])",
    "sort(x : f32 [n,*,3], axis=1)",
    "argsort(x : f32 [n,c,*])",
    "argmax(x : f32 [n,*,3], axis=-1)",
    "reverse(x : f32 [n,*,3], axis=1)",
    "roll(x : f32 [n,c,*], by=1, axis=2)",
    "slice(x : f32 [n,*,3], start=1, axis=1)",
    "slice(x : f32 [n,c,*], stop=-1, axis=-1)",
    "pad(x : f32 [n,*,3], before=1, axis=1)",
    "repeat(x : f32 [n,*], times=2, axis=1)",
    "concat(x : f32 [n,*,3], x, axis=1)",
    "concat(x : f32 [n,*,3], x, axis=-1)",
    "stack(x : f32 [n,*,3], x, axis=1)",
    "stack(x : f32 [n,*], x, axis=-1)",
    "expand_dims(x : f32 [n,*], axis=1)",
    "expand_dims(x : f32 [n,*,3], axis=-1)",
    "squeeze(x : f32 [n,1,*], axis=1)",
    "index(x : f32 [n,*,3], i=0, axis=-1)",
    "transpose(x : f32 [n,*,3])",
    "transpose(x : f32 [n,c,h,*], perm=[0,2,1,3])",
    "transpose(x : f32 [n,c,*,w], perm=[0,2,3,1])",
    "transpose(x : f32 [n,*,h,w], perm=[0,3,1,2])",
    # normalised
    "layer_norm(x : f32 [n,*,3])",
    "layer_norm(x : f32 [n,c,*])",
    "rms_norm(x : f32 [n,*,3], g : f32 [3])",
    "batch_norm(x : f32 [n,3,*,w], g : f32 [3], g, g, g)",
    "batch_norm(x : f32 [n,3,h,*], g : f32 [3], g, g, g)",
    "instance_norm(x : f32 [n,3,*,w], g : f32 [3], g)",
    "group_norm(x : f32 [n,4,h,*], g : f32 [4], g, groups=2)",
    "layer_norm(x : f32 [n,*,3], axes=2)",
    "layer_norm(x : f32 [n,*,3], g : f32 [3])",
    "rms_norm(x : f32 [n,*,3], axes=2)",
    "local_response_norm(x : f32 [n,c,*], size=3)",
    "local_response_norm(x : f32 [n,*,3], size=2)",
    # networks
    "dot_product_attention(x : f32 [n,c,*,3], x, x)",
    "dot_product_attention(x : f32 [n,*,h,3], x, x, causal=true)",
    # multiplied
    "project(x : f32 [n,*,3], w : f32 [3,k])",
    "(x : f32 [n,*,3]) @ (w : f32 [3,k])",
    "(x : f32 [n,*,3]) @ transpose(x)",
    "matmul(x : f32 [n,*,3], transpose(x))",
    "matmul(transpose(x : f32 [n,*,3]), x)",
    'einsum(x : f32 [n,*,3], w : f32 [3,k], equation="bik,kj->bij")',
    'einsum(x : f32 [n,*,3], x, equation="bik,bjk->bij")',
    'einsum(x : f32 [n,*,3], equation="bik->bki")',
    # convolved
    "conv(x : f32 [n,c,*,w], f : f32 [k,c,1,3])",
    "conv(x : f32 [n,c,h,*], f : f32 [k,c,3,1], stride=[2,1], pad=[1,0])",
    "conv_transpose(x : f32 [n,c,*,w], f : f32 [c,k,2,2], stride=2)",
    "max_pool(x : f32 [n,c,*,w], window=2)",
    "lp_pool(x : f32 [n,c,*,w], window=2)",
    "resize(x : f32 [n,c,*,w], scale=[2,0.5])",
    'resize(x : f32 [n,c,h,*], [5,6], mode="linear")',
    "center_crop_pad(x : f32 [n,c,*], [5], axis=2)",
    'pad(x : f32 [n,c,*], before=1, after=2, axis=2, mode="edge")',
    "cumsum(x : f32 [n,*,3], axis=1, exclusive=true, reverse=true)",
    "max_pool(x : f32 [n,*,h,w], window=2)",
    "avg_pool(x : f32 [n,c,h,*], window=2, stride=1)",
    "global_max_pool(x : f32 [n,*,h,w])",
    "global_avg_pool(x : f32 [n,c,h,*])",
    "global_avg_pool(x : f32 [n,c,*,w], keep=true)",
    "upsample(x : f32 [n,c,*,w], scale=2)",
    "upsample(x : f32 [n,*,h,w], scale=2)",
]

LENGTHS = [(2, 5, 3), (2, 2), (4,), ()]


def split_up(call: str) -> tuple[str, dict[str, list[str]]]:
    """The body of a call, and the dimensions of what its arguments are said to be."""
    params: dict[str, list[str]] = {}

    def name(found: re.Match[str]) -> str:
        params[found[1]] = found[2].split(",")
        return found[1]

    return re.sub(r"(\w+) : f32 \[([^\]]*)\]", name, call), params


@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
@pytest.mark.parametrize("call", CALLS)
def test_row_by_row(call: str, lengths: tuple[int, ...]) -> None:
    body, params = split_up(call)
    typed = ", ".join(f"{name} : f32 [{','.join(dims)}]" for name, dims in params.items())
    ragged = f"f = fn ({typed}) {{ {body} }};"
    dense = axon.compile(ragged.replace("*", "m", typed.count("*"))).f
    inner = params["x"][1:]

    def shape(dims: list[str], varies: int) -> tuple[int, ...]:
        return tuple(varies if d == "*" else int(d) if d.isdigit() else SIZES[d] for d in dims)

    rows = [floats(*shape(inner, length)) + i for i, length in enumerate(lengths)]
    others = [abs(floats(*shape(dims, 0))) for name, dims in params.items() if name != "x"]
    like = numpy.zeros(shape(inner, 0), numpy.float32)
    made = on_both(ragged, axon.Ragged.from_rows(rows, like=like), *others)
    expected = [dense(row[None], *others)[0] for row in rows]
    assert len(made) == len(rows)
    if isinstance(made, axon.Ragged):
        close(plain(made), expected)
    elif rows:
        close(made, numpy.stack(expected))


@pytest.mark.parametrize("call", ["triu(x)", "tril(x)"])
def test_a_matrix_with_rows_that_vary(call: str) -> None:
    """What counts on the number of a row is refused, or knows it."""
    rows: list[Any] = [floats(3), floats(1), floats(4)]
    checked = axon.check_text(f"f = fn (x : f32 [n,*]) {{ {call} }};")
    if not checked.ok:
        return
    made = on_both(f"f = fn (x : f32 [n,*]) {{ {call} }};", axon.Ragged.from_rows(rows))
    cut: Any = numpy.triu if call == "triu(x)" else numpy.tril
    square = numpy.ones((3, 4), numpy.float32)
    expected = [row * cut(square)[i, : len(row)] for i, row in enumerate(rows)]
    close(plain(made), expected)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("expand_dims(x, axis=0)", lambda rows: [rows]),
        ("stack(x, x)", lambda rows: [rows, rows]),
        ("concat(x, x, axis=1)", lambda rows: [numpy.concatenate([r, r]) for r in rows]),
        ("broadcast_to(2f, shape(x))", lambda rows: [r * 0 + 2 for r in rows]),
        ("zeros_like(x)", lambda rows: [r * 0 for r in rows]),
    ],
)
def test_what_is_typed_runs(body: str, expected: Any) -> None:
    """Or it is refused before it runs."""
    rows: list[Any] = [floats(3), floats(1), floats(4)]
    program = f"f = fn (x : f32 [n,*]) {{ {body} }};"
    if axon.check_text(program).ok:
        close(plain(on_both(program, axon.Ragged.from_rows(rows))), expected(rows))
