"""Operators for which JAX has a better way than their definition. Where it does not apply, the
definition does.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from axon.ops import Operator
from axon.ops.arrays import Array, Meaning
from axon.ops.families import attention
from axon.ops.padding import Place, rewritten

BETTER: dict[int, Meaning] = {}
"""By the identity of the operator."""

MOST_FEATURES = 128
"""Of a head in cuDNN's attention, on every GPU that has it."""


def better(operator: Operator) -> Callable[[Meaning], Meaning]:
    def register(meaning: Meaning) -> Meaning:
        BETTER[id(operator)] = meaning
        return meaning

    return register


@better(attention.dot_product_attention)
def _(xp: Any, q: Array, k: Array, v: Array, *rest: Array, **options: Any) -> Array:
    """By cuDNN where it has that attention and the arrays are on a GPU, which is known when the
    program is compiled for it.
    """
    assert attention.dot_product_attention.meaning is not None
    usual = partial(attention.dot_product_attention.meaning, xp, **options)
    causal, scale = options["causal"], options["scale"]
    mask = rest[0] if rest else None
    taken = len(rest) < 2 and _is_plain(options) and taken_by_cudnn(q, k, v, mask, causal)
    if not taken or not has_cudnn():
        return usual(q, k, v, *rest)
    found: Array = lax.platform_dependent(
        q, k, v, *rest, cuda=partial(by_cudnn, causal, scale), default=usual
    )
    return found


@better(rewritten(attention.dot_product_attention))
def _(xp: Any, *args: Array, places: tuple[Place, ...], **options: Any) -> Array:
    """The same where queries and keys are padded: cuDNN takes the true number of keys."""
    padded = rewritten(attention.dot_product_attention)
    assert padded.meaning is not None
    usual = partial(padded.meaning, xp, places=places, **options)
    (q, k, v), numbers = args[:3], dict(zip(places, args[-len(places) :], strict=True))
    masked = len(args) > 3 + len(places)
    narrower = any(axis == 3 for _, axis in places)
    taken = _is_plain(options) and taken_by_cudnn(q, k, v, None, options["causal"])
    if masked or narrower or not taken or not has_cudnn():
        return usual(*args)
    count = jnp.maximum(jnp.asarray(numbers.get((1, 2), k.shape[2])), 1)
    counts = jnp.full((len(k),), count, jnp.int32)

    def fused(counts: Array, q: Array, k: Array, v: Array, *_: Array) -> Array:
        return by_cudnn(options["causal"], options["scale"], q, k, v, counts=counts)

    found: Array = lax.platform_dependent(
        counts, *args, cuda=fused, default=lambda _, *args: usual(*args)
    )
    return found


def by_cudnn(
    causal: bool,
    scale: float | None,
    q: Array,
    k: Array,
    v: Array,
    mask: Array | None = None,
    *,
    counts: Array | None = None,
    closed: float = 0.0,
) -> Array:
    """Attention in heads, `[b,h,m,k]`. `counts`: how many keys count, for each of the batch;
    `closed`: the result for a query that the mask closes to all keys.
    """
    if mask is not None:
        mask = mask.reshape((1,) * (4 - mask.ndim) + mask.shape)
        mask = jnp.broadcast_to(mask, (*mask.shape[:2], q.shape[2], k.shape[2]))
    q, k, v = (jnp.swapaxes(x, 1, 2) for x in (q, k, v))
    made = jax.nn.dot_product_attention(
        q,
        k,
        v,
        mask=mask,
        scale=scale,
        is_causal=causal,
        key_value_seq_lengths=counts,
        implementation="cudnn",
    )
    made = jnp.swapaxes(made, 1, 2)
    if mask is None:
        return made
    return jnp.where(jnp.any(mask, axis=-1, keepdims=True), made, closed)


def _is_plain(options: dict[str, Any]) -> bool:
    """Whether there is nothing between the products but softmax, and perhaps a triangle of it."""
    plain = options["before"] is None and options["after"] is None and not options["offset"]
    return plain and not options["softcap"] and options["give"] == "values"


def taken_by_cudnn(q: Array, k: Array, v: Array, mask: Array | None, causal: bool) -> bool:
    """Whether cuDNN has this attention: in half precision."""
    if q.dtype not in (jnp.bfloat16, jnp.float16) or 0 in (*q.shape, *k.shape):
        return False
    size = q.shape[3]
    if size % 8 or size > MOST_FEATURES or v.shape[3] != size:
        return False
    if mask is not None and (mask.dtype != bool or mask.shape[-1:] != (k.shape[2],) or causal):
        return False
    return not causal or q.shape[2] == k.shape[2]


@cache
def has_cudnn() -> bool:
    """Whether there is a GPU whose cuDNN has attention: JAX raises an error where it does not."""
    if not any(device.platform == "gpu" for device in jax.devices()):
        return False
    x = jnp.zeros((1, 1, 8, 64), jnp.bfloat16)
    try:
        jax.jit(partial(by_cudnn, True, None)).trace(x, x, x).lower()
    except (RuntimeError, ValueError, NotImplementedError):  # no cuDNN, or one that is too old
        return False
    return True


@cache
def recomputed(meaning: Meaning) -> Meaning:
    """The same; of what it computes on the way nothing is kept for a gradient, which computes it
    again. That is less to write to memory and to read, also where XLA cannot see both sides, as in
    the loop over the layers of a network.
    """

    def run(xp: Any, *arrays: Array, **attributes: Any) -> Array:
        if not any(isinstance(array, jax.core.Tracer) for array in arrays):
            return meaning(xp, *arrays, **attributes)
        once = jax.checkpoint(partial(meaning, xp, **attributes), prevent_cse=False)
        found: Array = once(*arrays)
        return found

    run.__name__ = meaning.__name__
    return run
