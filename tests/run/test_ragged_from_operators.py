"""Operators of the caller that return ragged tensors: what they return is checked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import axon

PROGRAM = """
op rows : () -> f32 [2,*];
op matrices : () -> f32 [2,*,*];
totals = map(fn (row) { sum(row) }, rows());
sums = map(fn (m) { sum(m) }, matrices());
kept = matrices();
"""


def _net(**ops: Any) -> axon.Program:
    return axon.compile(
        PROGRAM, ops={name: (lambda value=value: value) for name, value in ops.items()}
    )


def _ones(*shape: int) -> Any:
    return np.ones(shape, "float32")


def test_rows_that_vary() -> None:
    net = _net(
        rows=axon.Ragged.from_rows([_ones(2), _ones(3)]),
        matrices=axon.Ragged.from_rows([_ones(2, 3), _ones(3, 1)]),
    )
    assert net.totals.tolist() == [2.0, 3.0]
    assert net.sums.tolist() == [6.0, 3.0]
    assert net.kept.to_list() == [[[1.0] * 3] * 2, [[1.0]] * 3]


def test_rows_of_an_array_may_be_ragged_rows() -> None:
    assert _net(rows=_ones(2, 4)).totals.tolist() == [4.0, 4.0]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (_ones(3, 2), "returns shape [3, *], which is not the declared [2,*]"),
        (_ones(2), "should return a Ragged"),
        (3.0, "should return a Ragged"),
        (np.ones((2, 2)), "returns float64, and f32 is declared"),
        (
            axon.Ragged.from_rows([_ones(2, 3), _ones(3, 2)]),
            "returns shape [2, *, *], which is not the declared [2,*]",
        ),
    ],
)
def test_what_is_not_as_declared(value: Any, said: str) -> None:
    with pytest.raises(axon.RunError) as caught:
        _ = _net(rows=value).totals
    assert f"the function for `rows` {said}" in str(caught.value)
