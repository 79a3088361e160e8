"""Every example of every operator in buckets: the values of the exact program, and what is derived,
forwards and backwards, with NaN in all padding, or a large number.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from random import Random

import numpy
import pytest

import axon
from axon.backends.buckets import Buckets, Policy
from axon.driver import check_text
from axon.ops import OPERATORS
from axon.ops.examples import Example, examples
from tests.backends.padded import HUGE, NAN, agree, forward, gradients, poisoned, same
from tests.backends.padded_on_numpy import Padded
from tests.backends.test_every_operator import argument, params, sizes, smaller

NIGHT = os.environ.get("AXON_PROFILE", "ci") in ("night", "deep")

UNDEFINED = {"distinct", "non_max_suppression", "unique"}
"""Of these JAX derives nothing."""


CALLS = Path(__file__).parent / "padded_calls.txt"
"""What the examples do not reach: attributes, and operators whose examples have no open sizes. All
sizes in them are padded.
"""

EXACT = {"conv": "rs", "deform_conv": "c", "reshaped_sizes": "n", "space_to_depth": "c"}
"""The sizes in examples that are not padded, by operator."""


def cases() -> list[tuple[str, Example]]:
    """Those with sizes that can be any; by day half of them, of what is more than pointwise."""
    found = [(call.partition("(")[0], Example(call, "")) for call in CALLS.read_text().splitlines()]
    documented = []
    for name, operator in OPERATORS.items():
        for example in examples(operator.rule.__doc__ or ""):
            small = smaller(example)
            open_ = any(not d.isdigit() for p in params(small) for d in p.dims)
            if open_ and (NIGHT or not operator.traits.pointwise):
                documented.append((name, small))
    return found + documented[:: 1 if NIGHT else 2]


CASES = cases()


@pytest.mark.parametrize(("name", "example"), CASES, ids=[f"{n}-{e.call}" for n, e in CASES])
def test_operators_in_buckets(name: str, example: Example) -> None:
    found = params(example)
    names = list(dict.fromkeys(d for p in found for d in p.dims if not d.isdigit()))
    random = numpy.random.default_rng(0)
    args = [argument(p, p.shape(sizes(found)), random, 1) for p in found]
    net = axon.compile(example.program)
    if NIGHT:
        bucketed = agree(net, "example", poisoned(names), args)
    else:  # NumPy compiles nothing
        bucketed = net.on("jax", buckets=poisoned(names)).example
        same(bucketed(*args), net.example(*args))
    report = bucketed.report()
    exact_ones = {each.name for each in report.dimensions if not each.bucketed}
    assert report.reason or exact_ones <= set(EXACT.get(name, "")), str(report)
    if NIGHT:
        agree(net, "example", poisoned(names, HUGE), args)
    if name not in UNDEFINED and (NIGHT or CASES.index((name, example)) % 6 == 0):
        other = net.on("jax").example
        ways = (gradients, forward)
        for derived in ways if NIGHT else ways[len(names) % 2 :][:1]:
            try:
                exact = derived(other, args)
            except (TypeError, ValueError, NotImplementedError, axon.ArgumentError):
                continue  # JAX does not derive it either
            same(derived(bucketed, args), exact)


def test_nan_is_in_the_padding() -> None:
    """The tests above would find a mask that is missing."""
    net = axon.compile("f = fn (x : f32 [n]) { sum(x) };")
    buckets = poisoned(["n"], NAN)
    bucketed = net.on("jax", buckets=buckets).f
    assert float(bucketed(numpy.ones(5, "f4"))) == 5
    (report,) = bucketed.report().dimensions
    assert report.bucketed and 0 < report.waste < 1


OPENED = re.compile(r"([\w']+) : (\w+) \[([\w,]*)\]")


def opened(call: str) -> str:
    """The call, in which sizes that are numbers have names."""

    def renamed(found: re.Match[str]) -> str:
        dims = [f"q{d}" if d.isdigit() and int(d) > 1 else d for d in found[3].split(",")]
        return f"{found[1]} : {found[2]} [{','.join(dims)}]"

    return OPENED.sub(renamed, call)


CALLED = list(
    dict.fromkeys(
        call.replace(" f32", " f64")
        for name, operator in OPERATORS.items()
        for example in examples(operator.rule.__doc__ or "")
        for whole in [smaller(example).call]
        for call in (whole, opened(whole))
    )
) + [line.replace(" f32", " f64") for line in CALLS.read_text().splitlines()]

SIZES = (0, 1, 2, 2, 3, 4, 5, 5, 6, 7, 8, 9, 11, 12, 16, 17)
BLOCKS = 8


@pytest.mark.parametrize("block", range(BLOCKS))
def test_operators_in_streams_of_sizes(block: int) -> None:
    """Every operator, for calls of many sizes; on NumPy, which compiles nothing."""
    for number, call in enumerate(CALLED[block::BLOCKS]):
        example = Example(call, "")
        found = params(example)
        names = list(dict.fromkeys(d for p in found for d in p.dims if not d.isdigit()))
        if not names or not check_text(example.program).ok:
            continue
        harm, policy = ((NAN, Policy()), (HUGE, Policy(multiple=4)))[number % 2]
        net = axon.compile(example.program)
        bucketed = Padded(net, "example", Buckets(dict.fromkeys(names, policy), harm, harm))
        choose = Random(number)
        for seed in range(40 if NIGHT else 6):
            few = [choose.choice(SIZES) for _ in range(choose.choice((1, 2, 5)))]
            chosen = {
                name: int(name[1:])
                if name[1:].isdigit() and choose.random() < 0.7
                else choose.choice(few)
                for name in names
            }
            random = numpy.random.default_rng(seed)
            args = [argument(p, p.shape(chosen), random, 1) for p in found]
            try:
                expected = net.example(*args)
            except axon.AxonError:
                continue
            for derived in (False, True):
                made = bucketed(*args, derived=derived)
                if made is not None:
                    same(made, expected)
