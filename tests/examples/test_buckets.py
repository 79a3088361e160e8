"""The networks of examples/models in buckets: the values of the exact ones, and what is derived,
with NaN in all padding, or a large number.
"""

from __future__ import annotations

import os
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.backends.padded import HUGE, NAN, is_float, poisoned
from tests.backends.padded_on_numpy import Padded
from tests.examples.test_models import (
    CASES,
    MIXTRAL,
    SEQ2SEQ,
    Sizes,
    empty_cache,
    network,
    tokens,
    weights,
)

NIGHT = os.environ.get("AXON_PROFILE", "ci") in ("night", "deep")

DERIVED = ("gpt2", "gcn") if not NIGHT else tuple(case[1] for case in CASES)

PADDED: dict[str, set[str]] = {
    "gpt2": {"b", "s"},
    "llama": {"m"},
    "experts": set(),
    "mixtral": set(),
    "mamba": {"b", "s"},
    "vit": {"b"},
    "bert": {"b", "s"},
    "t5": {"b", "m", "n"},
    "lenet": {"b"},
    "resnet18": {"b", "h", "w"},
    "resnet50": {"b", "h", "w"},
    "unet": {"b", "h", "w"},
    "gcn": {"n"},
    "noise_in": {"b", "h", "w"},
}
"""Which dimensions "auto" pads, by network: not those of records, and not those of images that are
cut into patches with places in a table.
"""


NETWORKS = [
    *CASES,
    ("mixtral", "mixtral", MIXTRAL, (tokens(11, 2, 7), empty_cache(3, 2, 2, 6)), (2, 7, 11)),
]

LONG = ("resnet50", "lenet", "experts", "mixtral", "bert")

BY_DAY = [case for case in NETWORKS if NIGHT or case[1] not in LONG]


@pytest.mark.parametrize(
    ("file", "name", "sizes", "arguments", "shape"), BY_DAY, ids=[case[1] for case in BY_DAY]
)
def test_networks_in_buckets(
    file: str, name: str, sizes: Sizes, arguments: tuple[Any, ...], shape: tuple[int, ...]
) -> None:
    p = weights(network(file)[name], sizes)
    exact = network(file)[name](p, *arguments)
    bucketed = network(file).on("jax", buckets=poisoned())[name]
    close(bucketed(p, *arguments), exact, 1e-3)
    for harm in (NAN, HUGE):  # on NumPy, which compiles nothing
        for derived in (False, True):
            padded = Padded(network(file), name, poisoned(None, harm))
            made = padded(p, *arguments, derived=derived)
            assert made is not None or not PADDED[name]
            if made is not None:
                close(made, exact, 1e-3)
    found = {each.name for each in bucketed.report().dimensions if each.bucketed}
    assert found == PADDED[name], str(bucketed.report())
    if name in DERIVED:
        other = network(file, "jax")[name]
        close(slope(bucketed, arguments)(p), slope(other, arguments)(p), 5e-3)


def test_texts_of_any_lengths_in_buckets() -> None:
    net = network("seq2seq")
    p, bucketed = weights(net.seq2seq, SEQ2SEQ), net.on("jax", buckets=poisoned())
    for length in (3, 5, 7, 6):
        source, target = tokens(11, length), tokens(13, length + 2)
        state = net.encode(p["encoder"], source)
        close(bucketed.encode(p["encoder"], source), state, 1e-4)
        scores = net.decode(p["decoder"], state, target)
        close(bucketed.decode(p["decoder"], state, target), scores, 1e-4)
    for name in ("encode", "decode"):
        report = bucketed[name].report()
        assert (report.compilations, report.exact) == (2, 0), str(report)
        assert [each.name for each in report.dimensions if each.bucketed] == ["s"]


def slope(function: Any, arguments: tuple[Any, ...]) -> Any:
    def loss(p: Any) -> Any:
        found = jax.tree.leaves(function.jax(p, *arguments))
        return sum(jnp.sum(jnp.sin(out)) for out in found if is_float(out))

    return jax.grad(loss, allow_int=True)


def close(given: Any, expected: Any, within: float) -> None:
    def check(a: Any, b: Any) -> None:
        if is_float(b):
            np.testing.assert_allclose(a, b, rtol=within, atol=within)

    jax.tree.map(check, given, expected)
