"""Every example of every operator in buckets: the values of the exact program, and what is derived,
with NaN in all padding.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy
import pytest

import axon
from axon.ops import OPERATORS
from axon.ops.examples import Example, examples
from tests.backends.padded import HUGE, NAN, agree, gradients, poisoned, same
from tests.backends.test_every_operator import argument, params, sizes, smaller

NIGHT = os.environ.get("AXON_PROFILE", "ci") in ("night", "deep")

UNDEFINED = {"distinct", "non_max_suppression", "unique"}
"""Of these JAX derives nothing."""


CALLS = Path(__file__).parent / "padded_calls.txt"
"""What the examples do not reach: attributes, and operators whose examples have no open sizes. All
sizes in them are padded.
"""

EXACT = {
    "argmax_pool": "chw", "conv": "rs", "deform_conv": "c", "det": "n", "grid_sample": "hw",
    "reshaped_sizes": "n", "roi_align": "chnrw", "roi_pool": "chnrw", "space_to_depth": "c",
}  # fmt: skip
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
        try:
            exact = gradients(net.on("jax").example, args)
        except (TypeError, ValueError, NotImplementedError, axon.ArgumentError):
            return  # JAX does not derive it either
        same(gradients(bucketed, args), exact)


def test_nan_is_in_the_padding() -> None:
    """The tests above would find a mask that is missing."""
    net = axon.compile("f = fn (x : f32 [n]) { sum(x) };")
    buckets = poisoned(["n"], NAN)
    bucketed = net.on("jax", buckets=buckets).f
    assert float(bucketed(numpy.ones(5, "f4"))) == 5
    (report,) = bucketed.report().dimensions
    assert report.bucketed and 0 < report.waste < 1
