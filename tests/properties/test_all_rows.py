"""Random functions of rows compute for all rows at once what they compute row by row."""

from __future__ import annotations

from random import Random

import numpy
import pytest

import axon
from tests.budget import QUARTER
from tests.properties.rows_programs import draw_lengths, draw_program
from tests.run.all_rows import alike, outcome, row_by_row

BLOCKS = 5
EACH = QUARTER.max_examples // BLOCKS
"""How many functions a block tries."""

CALLS = 2


def arguments(random: Random, seed: int) -> tuple[object, ...]:
    lengths = draw_lengths(random)
    numbers = numpy.random.default_rng(seed)
    offsets = numpy.concatenate([[0], numpy.cumsum(lengths)]).astype(int)
    vectors = numbers.uniform(-1, 1, offsets[-1]).astype(numpy.float32)
    matrices = numbers.uniform(-1, 1, (offsets[-1], 3)).astype(numpy.float32)
    return (
        axon.Ragged.from_packed(vectors, offsets),
        axon.Ragged.from_packed(matrices, offsets),
        numbers.uniform(-1, 1, len(lengths)).astype(numpy.float32),
        numbers.uniform(-1, 1, (len(lengths), 3)).astype(numpy.float32),
        numbers.uniform(-1, 1, (3, 3)).astype(numpy.float32),
    )


@pytest.mark.parametrize("block", range(BLOCKS))
def test_all_rows_at_once(block: int) -> None:
    random = Random(f"rows:{block}")
    text = draw_program(random, EACH)
    net = axon.compile(text)
    for i in range(EACH):
        for call in range(CALLS):
            args = arguments(random, 100 * i + call)
            function = getattr(net, f"f{i}")
            found = outcome(function, *args)
            with row_by_row():
                expected = outcome(function, *args)
            where = f"{text.splitlines()[i]}\nof rows {getattr(args[0], 'lengths', None)}"
            if isinstance(found, str) or isinstance(expected, str):
                assert found == expected, where
            else:
                assert found[1] == expected[1], where
                assert alike(found[0], expected[0], rtol=1e-3, atol=1e-4), where
