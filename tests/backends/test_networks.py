"""Attention, recurrent networks, losses and norms: values against plain loops, on both backends."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import axon
from axon.ops import OPERATORS, Problem
from tests.run.support import close, floats, on_both, plain

Array = Any


def softmax(x: Array) -> Array:
    powers = np.exp(x - x.max())
    return powers / powers.sum()


# --- attention -------------------------------------------------------------------------------


def attend(q: Array, k: Array, v: Array, is_open: Any, bias: Any = None, cap: float = 0) -> Array:
    """Query by query, over the keys that are open to it."""
    b, heads, m, size = q.shape
    out = np.zeros((b, heads, m, v.shape[3]), np.float32)
    share = heads // k.shape[1]
    for i, h, row in np.ndindex(b, heads, m):
        keys = [j for j in range(k.shape[2]) if is_open(i, h, row, j)]
        if not keys:
            continue
        scores = k[i, h // share, keys] @ q[i, h, row] / math.sqrt(size)
        scores = cap * np.tanh(scores / cap) if cap else scores
        if bias is not None:
            scores = scores + bias[row, keys]
        out[i, h, row] = softmax(scores) @ v[i, h // share, keys]
    return out


Q, K, V = floats(2, 4, 3, 5), floats(2, 2, 6, 5), floats(2, 2, 6, 7)
TYPES = "q : f32 [b,4,m,k], k : f32 [b,2,n,k], v : f32 [b,2,n,e]"


@pytest.mark.parametrize(
    ("options", "is_open"),
    [
        ("", lambda i, h, m, n: True),
        ("causal=true", lambda i, h, m, n: n <= m),
        ("causal=true, offset=3", lambda i, h, m, n: n <= m + 3),
        ("before=1, offset=2", lambda i, h, m, n: n >= m + 1),
        ("before=0, after=1", lambda i, h, m, n: m <= n <= m + 1),
        ("causal=true, after=5", lambda i, h, m, n: n <= m),
    ],
)
def test_which_keys_are_open(options: str, is_open: Any) -> None:
    call = f"dot_product_attention(q, k, v, groups=2{', ' if options else ''}{options})"
    found = on_both(f"f = fn ({TYPES}) {{ {call} }};", Q, K, V)
    close(found, attend(Q, K, V, is_open))


def test_a_mask_that_closes_keys_may_be_short() -> None:
    mask = np.array([[True, False, True], [False] * 3, [True] * 3])
    program = f"f = fn ({TYPES}, x) {{ dot_product_attention(q, k, v, x, groups=2) }};"
    found = on_both(program, Q, K, V, mask)
    close(found, attend(Q, K, V, lambda i, h, m, n: n < 3 and mask[m, n]))
    assert not found[:, :, 1].any()


def test_a_mask_that_is_added_and_a_cap() -> None:
    mask = floats(3, 6)
    program = f"f = fn ({TYPES}, x) {{ dot_product_attention(q, k, v, x, groups=2, softcap=0.3) }};"
    found = on_both(program, Q, K, V, mask)
    close(found, attend(Q, K, V, lambda *_: True, mask, 0.3))


def test_the_numbers_of_keys_that_count() -> None:
    lengths = np.array([5, 2])
    everything = np.ones(6, bool)
    program = f"""
    f = fn ({TYPES}, x, l : i64 [b]) {{
      dot_product_attention(q, k, v, x, l, groups=2, causal=true)
    }};"""
    found = on_both(program, Q, K, V, everything, lengths)
    close(found, attend(Q, K, V, lambda i, h, m, n: n <= m + lengths[i] - 3))


def test_the_scores_on_the_way() -> None:
    raw = np.einsum("bhmk,bhnk->bhmn", Q[:, ::2], K) * np.float32(0.5)
    closed = np.where(np.tri(3, 6, dtype=bool), 2 * np.tanh(raw / 2), -np.inf)
    for give, expected in (("raw", raw), ("capped", 2 * np.tanh(raw / 2)), ("masked", closed)):
        call = f'q, k, v, scale=0.5, softcap=2.0, causal=true, give="{give}"'
        program = f"f = fn (q, k, v) {{ dot_product_attention({call}) }};"
        close(on_both(program, Q[:, ::2], K, V), expected.astype(np.float32))


def test_half_precision_is_rounded_once() -> None:
    half = [x.astype(np.float16) for x in (Q[:, ::2], K, V)]
    found = on_both("f = fn (q, k, v) { dot_product_attention(q, k, v) };", *half)
    q, k, v = (x.astype(np.float32) for x in half)
    exact = attend(q, k, v, lambda *_: True)
    assert found.dtype == np.float16
    np.testing.assert_allclose(found, exact, rtol=1e-3)


@pytest.mark.parametrize(
    ("update", "remembered"),
    [("linear", False), ("gated", True), ("delta", False), ("gated_delta", True)],
)
def test_linear_attention(update: str, remembered: bool) -> None:
    q, k, v = floats(2, 4, 12), floats(2, 4, 6), floats(2, 4, 10)
    gates = [floats(2, 4, 2)] * ("gated" in update) + [floats(2, 4, 1)] * ("delta" in update)
    begin = floats(2, 2, 3, 5)
    args = [q, k, v, *gates, *([begin] if remembered else [])]
    names = ", ".join("qkvabc"[: len(args)])
    call = f'linear_attention({names}, heads=4, key_heads=2, update="{update}")'
    found = on_both(f"f = fn ({names}) {{ {call} }};", *args)
    out, last = np.zeros((2, 4, 20), np.float32), np.zeros((2, 2, 3, 5), np.float32)
    for b, head in np.ndindex(2, 2):
        state = begin[b, head] if remembered else np.zeros((3, 5), np.float32)
        for t in range(4):
            key, value = k[b, t].reshape(2, 3)[head], v[b, t].reshape(2, 5)[head]
            if "gated" in update:
                state = state * np.exp(gates[0][b, t, head])
            if "delta" in update:
                value = gates[-1][b, t, 0] * (value - key @ state)
            state = state + np.outer(key, value)
            for query in (2 * head, 2 * head + 1):
                answer = q[b, t].reshape(4, 3)[query] @ state / math.sqrt(3)
                out[b, t].reshape(4, 5)[query] = answer
        last[b, head] = state
    close(found, (out, last))


@pytest.mark.parametrize("interleaved", [False, True])
def test_rotary_embedding_turns_pairs(interleaved: bool) -> None:
    x, angles = floats(2, 3, 4, 8), floats(2, 4, 3)
    first = [0, 2, 4] if interleaved else [0, 1, 2]
    second = [1, 3, 5] if interleaved else [3, 4, 5]
    turned = x[..., first] + 1j * x[..., second]
    turned = turned * np.exp(1j * angles)[:, None]
    expected = x.copy()
    expected[..., first], expected[..., second] = turned.real, turned.imag
    option = f"interleaved={str(interleaved).lower()}"
    program = f"f = fn (x, c, s) {{ rotary_embedding(x, c, s, {option}) }};"
    close(on_both(program, x, np.cos(angles), np.sin(angles)), expected)
    packed = np.moveaxis(x, 1, 2).reshape(2, 4, 24)
    program = f"f = fn (x, c, s) {{ rotary_embedding(x, c, s, heads=3, {option}) }};"
    found = on_both(program, packed, np.cos(angles), np.sin(angles))
    close(found, np.moveaxis(expected, 1, 2).reshape(2, 4, 24))


# --- recurrent networks ----------------------------------------------------------------------


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def lstm_cell(x: Array, state: Any, w: Array, r: Array, b: Array, p: Array) -> Any:
    h, c = state
    z = w @ x + r @ h + b[: len(w)] + b[len(w) :]
    i, o, f, g = np.split(z, 4)
    pi, po, pf = np.split(p, 3)
    c2 = sigmoid(f + pf * c) * c + sigmoid(i + pi * c) * np.tanh(g)
    return sigmoid(o + po * c2) * np.tanh(c2), c2


def gru_cell(x: Array, state: Any, w: Array, r: Array, b: Array, reset_last: bool) -> Any:
    (h,) = state
    wz, wr, wh = np.split(w, 3)
    rz, rr, rh = np.split(r, 3)
    bz, br, bh, cz, cr, ch = np.split(b, 6)
    z, reset = sigmoid(wz @ x + rz @ h + bz + cz), sigmoid(wr @ x + rr @ h + br + cr)
    kept = reset * (rh @ h + ch) if reset_last else rh @ (reset * h) + ch
    return ((1 - z) * np.tanh(wh @ x + bh + kept) + z * h,)


def through(cell: Any, x: Array, begin: list[Array], lengths: Any, backwards: list[bool]) -> Any:
    """Sequence by sequence and direction by direction: `x` is `[s,b,i]`, the states `[d,b,h]`."""
    s, b, _ = x.shape
    d, h = len(backwards), begin[0].shape[2]
    out = np.zeros((s, d, b, h), np.float32)
    last = [np.array(state) for state in begin]
    for way, row in np.ndindex(d, b):
        state = tuple(each[way, row] for each in begin)
        steps = range(lengths[row])
        for t in reversed(steps) if backwards[way] else steps:
            state = cell(way, x[t, row], state)
            out[t, way, row] = state[0]
        for each, new in zip(last, state, strict=True):
            each[way, row] = new
    return out, *last


@pytest.mark.parametrize(
    ("direction", "cut"), [("forward", True), ("reverse", True), ("bidirectional", False)]
)
def test_lstm(direction: str, cut: bool) -> None:
    d = 2 if direction == "bidirectional" else 1
    x, w, r = floats(5, 3, 4), floats(d, 8, 4), floats(d, 8, 2)
    b, h, c, p = floats(d, 16), floats(d, 3, 2), floats(d, 3, 2) * 2, floats(d, 6)
    lengths = np.array([5, 2, 0] if cut else [5, 5, 5])
    args = [x, w, r, b, h, c, p, *([lengths] if cut else [])]
    names = ", ".join("xwrbhcpl"[: len(args)])
    call = f'lstm({names}, direction="{direction}")'
    expected = through(
        lambda way, row, state: lstm_cell(row, state, w[way], r[way], b[way], p[way]),
        x, [h, c], lengths, {"forward": [False], "reverse": [True]}.get(direction, [False, True]),
    )  # fmt: skip
    close(on_both(f"f = fn ({names}) {{ {call} }};", *args), expected)


@pytest.mark.parametrize("reset_last", [False, True])
def test_gru_with_the_batch_first(reset_last: bool) -> None:
    x, w, r, b, h = (
        floats(3, 5, 4),
        floats(1, 6, 4),
        floats(1, 6, 2),
        floats(1, 12),
        floats(3, 1, 2),
    )
    option = f"reset_last={str(reset_last).lower()}"
    program = f"f = fn (x, w, r, b, h) {{ gru(x, w, r, b, h, batch_first=true, {option}) }};"
    out, last = through(
        lambda _, row, state: gru_cell(row, state, w[0], r[0], b[0], reset_last),
        np.swapaxes(x, 0, 1), [np.swapaxes(h, 0, 1)], [5] * 3, [False],
    )  # fmt: skip
    close(on_both(program, x, w, r, b, h), (np.moveaxis(out, 2, 0), np.swapaxes(last, 0, 1)))


def test_sequences_of_different_lengths() -> None:
    rows, w, r = [floats(n, 4) for n in (3, 1)], floats(1, 8, 4), floats(1, 8, 2)
    call = "lstm(x, w, r, batch_first=true)"
    ragged = f"f = fn (x : f32 [n,*,4], w : f32 [1,8,4], r : f32 [1,8,2]) {{ {call} }};"
    found = plain(on_both(ragged, axon.Ragged.from_rows(rows), w, r))
    dense = axon.compile(f"f = fn (x, w, r) {{ {call} }};").f
    for i, row in enumerate(rows):
        close(tuple(part[i] for part in found), tuple(part[0] for part in dense(row[None], w, r)))


def test_rnn_without_what_may_be_left_out() -> None:
    x, w, r = floats(4, 3, 2), floats(2, 5, 2), floats(2, 5, 5)
    call = 'rnn(x, w, r, direction="bidirectional", activations="relu tanh", clip=0.4)'
    functions: list[Any] = [lambda x: np.maximum(x, 0), np.tanh]

    def cell(way: int, row: Array, state: Any) -> Any:
        return (functions[way](np.clip(w[way] @ row + r[way] @ state[0], -0.4, 0.4)),)

    expected = through(cell, x, [np.zeros((2, 3, 5), np.float32)], [4] * 3, [False, True])
    close(on_both(f"f = fn (x, w, r) {{ {call} }};", x, w, r), expected)


# --- losses and norms ------------------------------------------------------------------------


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
def test_negative_log_likelihood(reduction: str) -> None:
    p, classes, weights = floats(3, 4, 2), np.array([[0, 3], [9, 1], [2, 9]]), abs(floats(4))
    losses, counts = np.zeros((3, 2), np.float32), np.zeros((3, 2), np.float32)
    for i, j in np.ndindex(3, 2):
        if classes[i, j] != 9:
            counts[i, j] = weights[classes[i, j]]
            losses[i, j] = -p[i, classes[i, j], j] * counts[i, j]
    expected = {
        "none": losses, "sum": losses.sum(), "mean": losses.sum() / counts.sum()
    }[reduction]  # fmt: skip
    call = f'negative_log_likelihood(p, c, w, ignore=9, reduction="{reduction}")'
    close(on_both(f"f = fn (p, c, w) {{ {call} }};", p, classes, weights), expected)


def test_norms_over_several_axes() -> None:
    x, scale = floats(2, 3, 4), floats(3, 4)
    away = x - x.mean((1, 2), keepdims=True)
    expected = away / np.sqrt(x.var((1, 2), keepdims=True) + 1e-5) * scale
    close(on_both("f = fn (x, g) { layer_norm(x, g, axes=2) };", x, scale), expected)
    expected = x / np.sqrt((x * x).mean((1, 2), keepdims=True) + 1e-6) * scale
    close(on_both("f = fn (x, g) { rms_norm(x, g, axes=2) };", x, scale), expected)


@pytest.mark.parametrize("size", [1, 2, 3, 9])
def test_local_response_norm(size: int) -> None:
    x = floats(2, 5, 3)
    expected = np.zeros_like(x)
    for c in range(5):
        around = x[:, max(0, c - (size - 1) // 2) : c + size // 2 + 1]
        expected[:, c] = x[:, c] / (2 + 0.5 / size * (around**2).sum(1)) ** 0.75
    program = f"f = fn (x) {{ local_response_norm(x, size={size}, alpha=0.5, bias=2.0) }};"
    close(on_both(program, x), expected)


# --- what makes no sense ---------------------------------------------------------------------

PROBLEMS: list[tuple[str, int, dict[str, object], str]] = [
    ("dot_product_attention", 2, {}, "2 arguments"),
    ("dot_product_attention", 3, {"groups": 0}, "groups"),
    ("dot_product_attention", 3, {"before": -1}, "at least 0"),
    ("dot_product_attention", 3, {"offset": -1}, "offset"),
    ("dot_product_attention", 3, {"softcap": float("nan")}, "softcap"),
    ("dot_product_attention", 3, {"give": "all"}, "give"),
    ("linear_attention", 3, {"heads": 3, "key_heads": 2}, "multiple"),
    ("linear_attention", 3, {"heads": 2, "key_heads": 2, "update": "gated"}, "4 tensors"),
    ("linear_attention", 3, {"heads": 2, "key_heads": 2, "update": "no"}, "update"),
    ("rotary_embedding", 3, {"heads": 0}, "heads"),
    ("lstm", 2, {}, "2 arguments"),
    ("lstm", 5, {}, "5 arguments"),
    ("gru", 3, {"direction": "up"}, "direction"),
    ("rnn", 3, {"activations": "sine"}, "no activation"),
    ("rnn", 3, {"activations": ""}, "1 activations"),
    ("rnn", 3, {"hidden": 0}, "hidden"),
    ("negative_log_likelihood", 2, {"reduction": "max"}, "reduction"),
    ("negative_log_likelihood", 1, {}, "1 arguments"),
    ("layer_norm", 1, {"axes": 0}, "axes"),
    ("local_response_norm", 1, {"size": 10**9}, "size"),
]


@pytest.mark.parametrize(("name", "arity", "attributes", "words"), PROBLEMS)
def test_a_problem_is_said(
    name: str, arity: int, attributes: dict[str, object], words: str
) -> None:
    rule = OPERATORS[name].signature(arity, attributes)
    assert isinstance(rule, Problem), rule
    assert words in rule.text
