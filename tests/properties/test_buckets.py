"""Random programs in buckets: the values of the exact program, and what is derived, with NaN in all
padding.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy
from hypothesis import given

import axon
from tests.backends.padded import poisoned
from tests.budget import share
from tests.properties.programs import Program, Shape
from tests.properties.structured import structured_programs as programs
from tests.properties.test_running import arguments, outcome


def slopes(function: Any, shapes: tuple[Shape, ...]) -> Any:
    """What is derived with respect to all arguments; None where the program cannot be derived."""

    def loss(*args: Any) -> Any:
        return sum(jnp.sum(jnp.sin(out)) for out in jax.tree.leaves(function.jax(*args)))

    args = arguments(shapes)
    try:
        return jax.grad(loss, tuple(range(len(args))))(*args) if args else ()
    except (TypeError, ValueError, axon.AxonError):
        return None


def close(given: Any, expected: Any) -> None:
    for a, b in zip(jax.tree.leaves(given), jax.tree.leaves(expected), strict=True):
        numpy.testing.assert_allclose(a, b, rtol=2e-3, atol=2e-4)


@share(1 / 50)
@given(programs())
def test_random_programs_in_buckets(program: Program) -> None:
    net = axon.compile(program.definition())
    exact, bucketed = net.on("jax").f, net.on("jax", buckets=poisoned()).f
    for shapes in program.calls[:2]:
        made, value = outcome(exact, shapes)
        again, other = outcome(bucketed, shapes)
        assert again == made, shapes
        if made is None:
            continue
        close(other, value)
        derived = slopes(exact, shapes)
        if derived is not None:
            close(slopes(bucketed, shapes), derived)
