"""Whatever is called with whatever: a value, or an error that is the caller's (`calls.py`)."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.properties.calls import mutated, seeds, try_call

COUNT = 75
ROUNDS = 4


@pytest.mark.parametrize("number", range(ROUNDS))
def test_calls_end_in_values_or_errors(number: int) -> None:
    found, chance = seeds(), random.Random(number)
    outcomes: Counter[bool | None] = Counter()
    for _ in range(COUNT):
        data = mutated(chance.choice(found), chance)
        try:
            outcomes[try_call(data)] += 1
        except Exception as bug:
            raise AssertionError(f"{data!r}") from bug
    assert all(outcomes[kind] > COUNT / 20 for kind in (True, False)), outcomes
