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
    if rest or not _fused(q, k, v, options) or not has_cudnn():
        return usual(q, k, v, *rest)
    found: Array = lax.platform_dependent(
        q, k, v, cuda=partial(by_cudnn, options["causal"], options["scale"]), default=usual
    )
    return found


def by_cudnn(causal: bool, scale: float | None, q: Array, k: Array, v: Array) -> Array:
    q, k, v = (jnp.swapaxes(x, 1, 2) for x in (q, k, v))
    made = jax.nn.dot_product_attention(
        q, k, v, scale=scale, is_causal=causal, implementation="cudnn"
    )
    return jnp.swapaxes(made, 1, 2)


def _fused(q: Array, k: Array, v: Array, options: dict[str, Any]) -> bool:
    """Whether cuDNN has this attention: in half precision, with nothing between the products but
    softmax, and perhaps a triangle of it.
    """
    if q.dtype not in (jnp.bfloat16, jnp.float16) or 0 in (*q.shape, *k.shape):
        return False
    size = q.shape[3]
    if size % 8 or size > MOST_FEATURES or v.shape[3] != size:
        return False
    if options["causal"] and q.shape[2] != k.shape[2]:
        return False
    plain = options["before"] is None and options["after"] is None and not options["offset"]
    return plain and not options["softcap"] and options["give"] == "values"


@cache
def has_cudnn() -> bool:
    """Whether there is a GPU whose cuDNN has attention: JAX raises an error where it does not."""
    if not any(device.platform == "gpu" for device in jax.devices()):
        return False
    x = jnp.zeros((1, 1, 8, 64), jnp.bfloat16)
    try:
        jax.jit(partial(by_cudnn, True, None)).trace(x, x, x).lower()
    except Exception:
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
