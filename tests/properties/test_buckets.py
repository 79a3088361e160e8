"""Random programs in buckets, and streams of sizes: the values of the exact program, and what is
derived, with NaN in all padding, or a large number.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import jax
import jax.numpy as jnp
import numpy
import pytest
from hypothesis import given, settings

import axon
from axon.backends.buckets import Buckets, Policy
from axon.driver import check_text
from tests.backends.padded import HUGE, NAN, poisoned
from tests.backends.padded_on_numpy import Padded
from tests.budget import share
from tests.properties.bucket_programs import CHOSEN, FLOAT, NAMES, program, streams
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


DEFAULT = settings.default
assert DEFAULT is not None
BLOCKS = 4
EACH = DEFAULT.max_examples // 12
"""How many programs are tried in each block; night has more."""

POLICIES = (None, Policy(multiple=4), Policy(listed=(3, 8)))


def alike(given: Any, expected: Any, exact: bool) -> None:
    """Bit for bit, or up to the order in which numbers are added up."""
    for a, b in zip(jax.tree.leaves(given), jax.tree.leaves(expected), strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        if exact:
            numpy.testing.assert_array_equal(a, b)
        else:
            large = numpy.max(numpy.abs(b), initial=1, where=numpy.isfinite(b))
            numpy.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-7 * large)


RANKS = ("[n,m]", "[n]", "[b,n,m]", "[b,d,n,m]", "")
"""Of the values in a step: what most operators take comes first."""


@pytest.mark.parametrize("step", [*FLOAT, *CHOSEN])
def test_every_step_is_one(step: str) -> None:
    """For some ranks; a mistake in it would keep it out of all programs."""
    body = step.format(x="x", y="y", z="y", c="c", i="i", w="w", a=-1, k=1, d="n")
    ranks = product(RANKS, RANKS, ("[n]", "[b,n]"), ("[2,2,3,3]", "[2,m,3]"))
    assert any(
        check_text(
            f"f = fn (x : f64 {x}, y : f64 {y}, c : bool {x}, i : i64 {i}, w : f64 {w},"
            f" key : u32 [2]) {{ {body} }};"
        ).ok
        for x, y, i, w in ranks
    )


@pytest.mark.parametrize("block", range(BLOCKS))
def test_streams_of_sizes(block: int) -> None:
    """Programs of operators in which sizes matter, on NumPy; the same one for calls of many sizes:
    on a bucket, one past it, equal by chance, 0, 1 and 2.
    """
    for seed in range(block * EACH, (block + 1) * EACH):
        made = program(seed)
        net = axon.compile(made.source())
        policy = POLICIES[seed % 3]
        named = None if policy is None else dict.fromkeys(NAMES, policy)
        harm = (NAN, HUGE)[seed // 3 % 2]
        bucketed = Padded(net, "f", Buckets(named, harm, harm))
        for number, sizes in enumerate(streams(made, 6, seed)):
            args = made.arguments(sizes, number)
            try:
                expected = net.f(*args)
            except axon.AxonError:
                continue
            for derived in (False, True):
                found = bucketed(*args, derived=derived)
                if found is not None:
                    alike(found, expected, made.exact)
