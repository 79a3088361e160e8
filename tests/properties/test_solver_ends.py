"""The solver ends: ten thousand word systems, each within a number of steps that is the law."""

from __future__ import annotations

import pytest
from hypothesis import settings

from tests.properties.word_systems import broken_laws

assert settings.default is not None
BLOCKS = 20
EACH = settings.default.max_examples * 5 // BLOCKS


@pytest.mark.parametrize("block", range(BLOCKS))
def test_word_systems(block: int) -> None:
    """Each ends; the order of its relations does not change the verdict; no solution that was
    planted, or that a search finds, is lost; with all values known everything is decided.
    """
    for seed in range(block * EACH, (block + 1) * EACH):
        assert not list(broken_laws(seed)), seed
