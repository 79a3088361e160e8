"""What a gradient on JAX keeps of each layer: operands, and nothing in a wider type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import axon

LAYERS = """
layers = fn (p : { w : t [n,d,d], scale : t [n,d], bias : t [n,d] }, x : t [b,d]) {
  fold(x, fn (x, p) { ACTIVATION(layer_norm(x, p.scale, p.bias) @ p.w) }, p)
};
"""


def scans(jaxpr: Any) -> Iterator[Any]:
    for equation in jaxpr.eqns:
        if equation.primitive.name == "scan":
            yield equation
        else:
            for inner in equation.params.values():
                inside = getattr(inner, "jaxpr", inner)
                if hasattr(inside, "eqns"):
                    yield from scans(inside)


@pytest.mark.parametrize("activation", ["gelu", "silu", "softplus"])
def test_a_layer_keeps_its_operands(activation: str) -> None:
    net = axon.compile(LAYERS.replace("ACTIVATION", activation), backend="jax")
    x = jnp.ones((2, 4), jnp.bfloat16)
    p = {
        "w": jnp.full((3, 4, 4), 0.1, jnp.bfloat16),
        "scale": jnp.ones((3, 4), jnp.bfloat16),
        "bias": jnp.zeros((3, 4), jnp.bfloat16),
    }

    def loss(p: Any, x: Any) -> Any:
        return net.layers.jax(p, x).sum()

    forward, backward = scans(jax.make_jaxpr(jax.grad(loss))(p, x).jaxpr)
    kept = [v.aval for v in forward.outvars[forward.params["num_carry"] :]]
    assert {str(aval.dtype) for aval in kept} == {"bfloat16"}
    assert sum(aval.shape == (3, 2, 4) for aval in kept) == len(kept) <= 3
    assert backward.params["reverse"]
