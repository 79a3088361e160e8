"""What the docstrings of the public names show is what happens."""

from __future__ import annotations

import doctest

import pytest

import axon
import axon.run.function
import axon.run.program


@pytest.mark.parametrize("module", [axon, axon.run.function, axon.run.program])
def test_examples(module: object) -> None:
    found = doctest.testmod(module)  # type: ignore[arg-type]
    assert found.attempted and not found.failed
