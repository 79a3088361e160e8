"""The parts of the networks in plain NumPy, one position at a time where that is easy.

Nothing here comes from Axon.
"""

from __future__ import annotations

from math import erf, sqrt
from typing import Any

import numpy as np


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def gelu(x: Any) -> Any:
    return x * np.vectorize(lambda v: (1 + erf(v / sqrt(2))) / 2, otypes=[np.float64])(x)


def softmax(row: Any) -> Any:
    e = np.exp(row - row.max())
    return e / e.sum()


def layer_norm(x: Any, scale: Any) -> Any:
    mean = x.mean(axis=-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + 1e-5) * scale


# --- recurrent ------------------------------------------------------------------------------------


def lstm(xs: Any, state: tuple[Any, Any], w: Any, r: Any, b: Any) -> Any:
    h, c = state
    n = h.shape[-1]
    outputs = np.zeros((len(xs), *h.shape))
    for step, x in enumerate(xs):
        gates = x @ w + h @ r + b
        i, f, g, o = (gates[..., k * n : (k + 1) * n] for k in range(4))
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        outputs[step] = h
    return (h, c), outputs


def gru(xs: Any, h: Any, w: Any, r: Any, b: Any, b2: Any) -> Any:
    n = h.shape[-1]
    outputs = np.zeros((len(xs), *h.shape))
    for step, x in enumerate(xs):
        of_x, of_h = x @ w + b, h @ r + b2
        reset = sigmoid(of_x[..., :n] + of_h[..., :n])
        update = sigmoid(of_x[..., n : 2 * n] + of_h[..., n : 2 * n])
        new = np.tanh(of_x[..., 2 * n :] + reset * of_h[..., 2 * n :])
        h = (1 - update) * new + update * h
        outputs[step] = h
    return h, outputs


# --- attention ------------------------------------------------------------------------------------


def one_head(q: Any, k: Any, v: Any, mask: Any) -> Any:
    """[m,d], [n,d], [n,e] and a mask [m,n]."""
    result = np.zeros((len(q), v.shape[1]))
    for i in range(len(q)):
        seen = [j for j in range(len(k)) if mask[i, j]]
        weights = softmax(np.array([q[i] @ k[j] for j in seen]) / sqrt(q.shape[1]))
        for j, weight in zip(seen, weights, strict=True):
            result[i] += weight * v[j]
    return result


def multi_head(x: Any, y: Any, mask: Any, heads: int, wq: Any, wk: Any, wv: Any, wo: Any) -> Any:
    """One sequence after another, one head after another."""
    d, e = wq.shape[1] // heads, wv.shape[1] // heads
    joined = np.zeros((*x.shape[:2], heads * e))
    for b in range(len(x)):
        for h in range(heads):
            of_q, of_v = slice(h * d, (h + 1) * d), slice(h * e, (h + 1) * e)
            q, k, v = x[b] @ wq[:, of_q], y[b] @ wk[:, of_q], y[b] @ wv[:, of_v]
            joined[b, :, of_v] = one_head(q, k, v, mask[b])
    return joined @ wo


def layer(x: Any, mask: Any, heads: int, weights: tuple[Any, ...]) -> Any:
    g1, wqkv, wo, g2, w1, w2 = weights
    wq, wk, wv = np.split(wqkv, 3, axis=1)
    y = layer_norm(x, g1)
    x = x + multi_head(y, y, mask, heads, wq, wk, wv, wo)
    return x + gelu(layer_norm(x, g2) @ w1) @ w2


# --- images ---------------------------------------------------------------------------------------


def conv(x: Any, f: Any, stride: int = 1, pad: int = 0) -> Any:
    """[b,c,h,w] and [k,c,r,s]."""
    k, _, r, s = f.shape
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    height, width = (x.shape[2] - r) // stride + 1, (x.shape[3] - s) // stride + 1
    result = np.zeros((len(x), k, height, width))
    for i in range(height):
        for j in range(width):
            window = x[:, :, i * stride : i * stride + r, j * stride : j * stride + s]
            for o in range(k):
                result[:, o, i, j] = (window * f[o]).sum(axis=(1, 2, 3))
    return result


def batch_norm(x: Any, norm: tuple[Any, ...]) -> Any:
    result = np.zeros_like(x)
    for c, (scale, bias, mean, variance) in enumerate(zip(*norm, strict=True)):
        result[:, c] = (x[:, c] - mean) / np.sqrt(variance + 1e-5) * scale + bias
    return result


def relu(x: Any) -> Any:
    return np.where(x > 0, x, 0)


def halved(x: Any) -> Any:
    """The largest of each two by two; an odd row or column at the end is left out."""
    b, c, h, w = x.shape
    result = np.zeros((b, c, h // 2, w // 2))
    for i in range(h // 2):
        for j in range(w // 2):
            result[:, :, i, j] = x[:, :, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2].max(axis=(2, 3))
    return result


def doubled(x: Any) -> Any:
    b, c, h, w = x.shape
    result = np.zeros((b, c, 2 * h, 2 * w))
    for i in range(2 * h):
        for j in range(2 * w):
            result[:, :, i, j] = x[:, :, i // 2, j // 2]
    return result
