"""Attention that a program writes out, in half precision, by cuDNN on a GPU."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import jax.numpy as jnp
from jax import lax

from axon.backends import jax_meanings
from axon.backends.attention_pattern import Attention, attentions
from axon.backends.fusion import Body, Fusion
from axon.graph.graph import Function, Graph
from axon.ops.arrays import Array, Meaning

HALF = frozenset({"f16", "bf16"})


def fused_attention(whole: Graph | Function) -> Iterator[Fusion]:
    """The attention that a body writes out, where there is a GPU that has a kernel for it."""
    if not jax_meanings.has_cudnn():
        return
    for found in attentions(Body(whole)):
        if found.elem in HALF:
            rest = [x for x in (found.mask, found.factor) if x is not None]
            yield Fusion(found.result, _meaning(found), (*found.operands, *rest), found.inner)


def _meaning(pattern: Attention) -> Meaning:
    def fused(*operands: Array) -> Array:
        (q, k, v), mask = _in_heads(pattern, *operands)
        scale, causal = pattern.scale, pattern.causal
        made = jax_meanings.by_cudnn(causal, scale, q, k, v, mask, closed=math.nan)
        return made.reshape(*operands[0].shape[:-1], v.shape[-1])

    def attention(xp: Any, *operands: Array) -> Array:
        usual = partial(pattern.written_out, xp)
        if 0 in operands[0].shape:
            return usual(*operands)
        (q, k, v), mask = _in_heads(pattern, *operands)
        if not jax_meanings.taken_by_cudnn(q, k, v, mask, pattern.causal):
            return usual(*operands)
        found: Array = lax.platform_dependent(*operands, cuda=fused, default=usual)
        return found

    return attention


def _in_heads(
    pattern: Attention, q: Array, k: Array, v: Array, *rest: Array
) -> tuple[list[Array], Array | None]:
    """The operands with two dimensions before those of a matrix, and the mask."""
    if pattern.turned:
        k = jnp.swapaxes(k, -1, -2)
    if pattern.factor is not None:
        q = q / rest[-1] if pattern.divided else q * rest[-1]
    batch = q.shape[:-2]

    def in_heads(x: Array) -> Array:
        return x if len(batch) == 2 else x.reshape(-1, 1, *x.shape[-2:])

    mask = rest[0] if pattern.mask is not None else None
    if mask is not None and mask.ndim > 2:
        mask = in_heads(jnp.broadcast_to(mask, (*batch, *mask.shape[-2:])))
    return [in_heads(x) for x in (q, k, v)], mask
