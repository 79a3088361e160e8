"""Attention in rows that are stored end to end, by the kernels that PyTorch has for that on a GPU:
flash attention for half precision, and the one that its nested tensors use.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from inspect import signature
from math import sqrt
from typing import Any, NamedTuple

import torch
from torch.nn import functional

from axon.backends.segments.frames import Segments
from axon.backends.torch_derived import is_derived
from axon.ops.arrays import Array

HALF = (torch.float16, torch.bfloat16)

MOST_FEATURES = 256
"""Of a head in flash attention."""


class _Spans(NamedTuple):
    """Where the rows of queries and of keys are, and how long the longest are."""

    first: Array
    other: Array
    queries: int
    keys: int


def attention_of_rows(
    xp: Any,
    q: Array,
    k: Array,
    v: Array,
    down: Segments,
    across: Segments,
    *,
    causal: bool,
    scale: float | None,
) -> Array | None:
    """Attention of queries `[m, …, k]` to keys `[n, …, k]` with values `[n, …, v]`, in rows of
    which the segments say where they are; None where no kernel does it.
    """
    heads, size, width = q.shape[1:-1], q.shape[-1], v.shape[-1]
    alike = q.dtype == k.dtype == v.dtype and heads == k.shape[1:-1] == v.shape[1:-1]
    if q.device.type != "cuda" or not alike or q.dtype not in (*HALF, torch.float32):
        return None
    if 0 in (*q.shape, *k.shape, *v.shape):
        return None
    full = down.lengths > 0
    if ((across.lengths > 0) != full).any():
        return None
    whole = full.all()
    first, other = (
        (each if whole else Segments.of_lengths(each.lengths[full])).placed(xp, "offsets")
        for each in (down, across)
    )
    spans = _Spans(first.to(torch.int32), other.to(torch.int32), down.longest, across.longest)
    scale = 1 / sqrt(size) if scale is None else scale
    multiple = 16 // q.dtype.itemsize
    given = [_filled(x.reshape(len(x), -1, x.shape[-1]), multiple) for x in (q, k, v)]
    try:
        made = None
        if q.dtype in HALF and (not causal or down.same(across)):
            made = _flash(given, spans, causal, scale)
        if made is None:
            made = _efficient(given, spans, causal, scale)
    except torch.OutOfMemoryError:
        raise
    except RuntimeError:  # it is not for this device, or for these sizes
        return None
    return made[..., :width].reshape(len(q), *heads, width)


def _filled(x: Array, multiple: int) -> Array:
    """With zeros behind the features, up to so many."""
    missing = -x.shape[-1] % multiple
    return functional.pad(x, (0, missing)) if missing else x


def _efficient(given: Sequence[Array], spans: _Spans, causal: bool, scale: float) -> Array:
    made: Array = torch.ops.aten._efficient_attention_forward(
        *(x[None] for x in given),
        None,
        *spans,
        0.0,
        int(causal),
        is_derived(*given),
        scale=scale,
    )[0][0]
    return made


def _flash(given: Sequence[Array], spans: _Spans, causal: bool, scale: float) -> Array | None:
    function, options = _varlen()
    q, _, v = given
    if function is None or q.shape[-1] != v.shape[-1] or q.shape[-1] > MOST_FEATURES:
        return None
    named: dict[str, Any] = {"scale": scale}
    if causal:
        named |= {"window_size": (-1, 0)} if "window_size" in options else {"is_causal": True}
    made: Array = function(*given, *spans, **named)
    return made


@cache
def _varlen() -> tuple[Any, frozenset[str]]:
    """PyTorch's function for sequences of many lengths, and its options."""
    try:
        from torch.nn.attention.varlen import varlen_attn
    except ImportError:
        return None, frozenset()
    options = frozenset(signature(varlen_attn).parameters)
    return (varlen_attn, options) if "scale" in options else (None, options)
