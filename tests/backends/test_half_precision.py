"""Programs in bf16 on JAX: no product is computed in f32, forwards or backwards."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import ml_dtypes
import numpy as np
import pytest

import axon

NET = axon.compile(
    """
block = fn (p : { g : t [d], qkv : t [d,3*d], out : t [d,d], up : t [d,f], down : t [f,d] },
            x : t [b,s,d]) {
  q, k, v = split(rms_norm(x, p.g) @ p.qkv, parts=3, axis=-1);
  y = x + merge_heads(attention(split_heads(q, heads=2), split_heads(k, heads=2),
                                split_heads(v, heads=2))) @ p.out;
  y + gelu(layer_norm(y, p.g, p.g) @ p.up) @ p.down / sqrt(d) * 0.5
};
images = fn (p : { f : t [k,c,3,3], w : t [k,o] }, x : t [b,c,h,w]) {
  mean(max_pool(relu(conv(x, p.f, pad=1)), window=2), axis=[2, 3]) @ p.w
};
heads = fn (p : { q : t [d,h,k], k : t [d,h,k], v : t [d,h,k], o : t [h,k,d] }, x : t [b,s,d]) {
  multi_head_attention(x, p.q, p.k, p.v, p.o)
};
layers = fn (p : { w : t [l,d,d] }, x : t [b,d]) {
  fold(x, fn (x, w) { x + tanh(project(x, w)) }, p.w)
};
""",
    backend="jax",
)
SIZES = {
    "block": ({"d": 8, "f": 16}, (2, 5, 8)),
    "images": ({"c": 3, "k": 4, "o": 5}, (2, 3, 6, 6)),
    "heads": ({"d": 8, "h": 2, "k": 4}, (2, 5, 8)),
    "layers": ({"l": 3, "d": 4}, (2, 4)),
}
PRODUCTS = {"dot_general", "conv_general_dilated"}


def products(jaxpr: Any) -> Iterator[Any]:
    """The products in a program of JAX, those in loops and functions too."""
    for step in jaxpr.eqns:
        if step.primitive.name in PRODUCTS:
            yield step
        for value in step.params.values():
            for part in value if isinstance(value, tuple | list) else (value,):
                inner = getattr(part, "jaxpr", part)
                if hasattr(inner, "eqns"):
                    yield from products(inner)


@pytest.mark.parametrize("name", SIZES)
def test_products_stay_in_half_precision(name: str) -> None:
    sizes, shape = SIZES[name]
    p = NET[name].init(0, t="bf16", **sizes)
    x = np.random.default_rng(0).normal(size=shape).astype(ml_dtypes.bfloat16)
    result = NET[name](p, x)
    assert result.dtype == ml_dtypes.bfloat16
    slope = jax.grad(lambda p, x: NET[name].jax(p, x).sum())
    assert all(leaf.dtype == ml_dtypes.bfloat16 for leaf in jax.tree.leaves(slope(p, x)))
    for function in (NET[name].jax, slope):
        found = [*products(jax.make_jaxpr(function)(p, x).jaxpr)]
        assert found
        for step in found:
            assert {str(v.aval.dtype) for v in (*step.invars, *step.outvars)} == {"bfloat16"}
