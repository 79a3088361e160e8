"""Programs in buckets beside the exact ones: what the tests of padding share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy

import axon
from axon.backends.buckets import Buckets, Policy

NAN = float("nan")
HUGE = 1e30

CLOSE = {"f2": 2e-2, "V2": 6e-2, "f4": 1e-4, "f8": 1e-10}
"""Sums over longer axes are added up in another order."""


def poisoned(names: Sequence[str] | None = None, fill: float = NAN) -> Buckets:
    """Multiples of eight of these dimensions, or powers of two of all that can be. The padding of
    arguments and of every other value is filled with a number that does harm.
    """
    named = None if names is None else dict.fromkeys(names, Policy(multiple=8))
    return Buckets(named, fill, fill)


def same(given: Any, expected: Any) -> None:
    """Bit for bit where nothing is rounded."""
    found, wanted = jax.tree.leaves(given), jax.tree.leaves(expected)
    assert len(found) == len(wanted)
    for a, b in zip(map(numpy.asarray, found), map(numpy.asarray, wanted), strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        within = CLOSE.get(a.dtype.str[1:])
        if within is None:
            numpy.testing.assert_array_equal(a, b)
        else:
            wide = a.astype(numpy.float64), b.astype(numpy.float64)
            numpy.testing.assert_allclose(*wide, rtol=within, atol=within)


def is_float(array: Any) -> bool:
    return bool(jnp.issubdtype(jnp.asarray(array).dtype, jnp.floating))


def loss(function: Any, args: Sequence[Any], places: Sequence[int]) -> Callable[..., Any]:
    """A number that depends on all of the result, of some arguments."""

    def run(*given: Any) -> Any:
        whole = list(args)
        for place, value in zip(places, given, strict=True):
            whole[place] = value
        found = [out for out in jax.tree.leaves(function.jax(*whole)) if is_float(out)]
        return sum((jnp.sum(jnp.sin(out.astype(jnp.float32))) for out in found), jnp.zeros(()))

    return run


def gradients(function: Any, args: Sequence[Any]) -> Any:
    """What is derived with respect to the arguments that are floats."""
    places = [place for place, arg in enumerate(args) if is_float(arg)]
    if not places:
        return ()
    slopes = jax.grad(loss(function, args, places), tuple(range(len(places))))
    return slopes(*[args[place] for place in places])


def forward(function: Any, args: Sequence[Any]) -> Any:
    """What is derived in some direction, forwards."""
    places = [place for place, arg in enumerate(args) if is_float(arg)]
    given = [jnp.asarray(args[place]) for place in places]
    towards = [jnp.cos(jnp.arange(x.size).reshape(x.shape) + 1.0).astype(x.dtype) for x in given]
    return jax.jvp(loss(function, args, places), given, towards) if places else ()


def agree(net: axon.Program, name: str, buckets: Buckets, args: Sequence[Any]) -> Any:
    """The function in buckets, which has the values of the exact one."""
    exact, bucketed = net.on("jax")[name], net.on("jax", buckets=buckets)[name]
    same(bucketed(*args), exact(*args))
    return bucketed
