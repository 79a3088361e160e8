"""How hard Hypothesis tries: `ci` in `make test`, `night` in `make stress`, `deep` for other
examples in each run, `quick` for a first look; and what every test that runs a program tests
besides.

`max_examples` is for a cheap property; a slow one takes a share of it (`tests/budget.py`).
"""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, settings

from axon.backends import code
from axon.graph.graph import Graph
from axon.graph.verify import verify

PROFILES = {"quick": 100, "ci": 250, "night": 2_000, "deep": 20_000}

for name, examples in PROFILES.items():
    settings.register_profile(
        name,
        max_examples=examples,
        derandomize=name != "deep",
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )
settings.load_profile(os.environ.get("AXON_PROFILE", "ci"))

# What a shell starts in the background ignores interrupts, and so does all that it starts itself.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# XLA compiles a program three times as fast; what it computes is the same. It ends the process at
# a flag that it does not know, and has others in each version.
if find_spec("jaxlib") and version("jaxlib").startswith("0.10."):
    os.environ.setdefault(
        "XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false"
    )


# Most objects live as long as a test: looked through often, few of them are found to be garbage.
gc.set_threshold(20_000, 20, 20)


@pytest.fixture(autouse=True, scope="module")
def _nothing_old_is_looked_through() -> None:
    """The collector leaves alone what the tests of other files have left: after thousands of them
    it would look through millions of objects, mostly programs that JAX keeps.
    """
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def _verified_graphs() -> Iterator[None]:
    """Every graph that any test runs is verified."""
    real = code.compile_graph

    def verified(graph: Graph, *args: Any, **named: Any) -> Any:
        made = real(graph, *args, **named)  # which says so itself if a size is not known
        assert verify(graph) == []
        return made

    with (
        mock.patch("axon.backends.numpy_backend.compile_graph", verified),
        mock.patch("axon.backends.jax_backend.compile_graph", verified),
    ):
        yield
