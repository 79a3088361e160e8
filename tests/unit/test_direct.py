"""What is put in at once is what inference finds; where it would not be, inference is asked."""

from __future__ import annotations

import pytest

from axon.inference.direct import applied
from axon.inference.state import State
from axon.source import Source, Span
from axon.types.type import DimValue, Tensor, Type

SPAN = Span(Source("m", ""), 0, 0)


def result(name: str, *args: Type, **attributes: object) -> Type | None:
    return applied(State(level=1, depth=1, direct=True), name, list(args), attributes, SPAN)


def test_a_size_makes_a_tensor() -> None:
    assert result("hann_window", DimValue(4)) == Tensor("f32", (4,))


@pytest.mark.parametrize("operator", ["hann_window", "range"])
def test_a_negative_number_is_no_size(operator: str) -> None:
    assert result(operator, DimValue(-1)) is None


def test_a_whole_number_is_not_only_a_size() -> None:
    assert result("identity", DimValue(2)) is None
