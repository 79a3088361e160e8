"""What is kept of where rows start, from one call to the next."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
import torch

import axon
from axon.backends.torch_arrays import TorchArrays

NET = axon.compile(
    "soft = fn (x : f32 [n,*]) { map(fn (r) { softmax(r) * sum(r) }, x) };", backend="torch"
)


def batch() -> Any:
    values = torch.arange(6, dtype=torch.float32, requires_grad=True)
    return axon.Ragged.from_packed(values, [0, 3, 3, 6])


@pytest.fixture
def placed(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The arrays of integers that come to the device."""
    found: list[Any] = []
    asarray = TorchArrays.asarray

    def watched(self: TorchArrays, x: Any, dtype: Any = None) -> Any:
        if getattr(x, "dtype", None) == "int64":
            found.append(x)
        return asarray(self, x, dtype)

    monkeypatch.setattr(TorchArrays, "asarray", watched)
    return found


def test_offsets_are_placed_once_for_a_batch_and_its_results(placed: list[Any]) -> None:
    x = batch()
    once = NET.soft(x)
    count = len(placed)
    assert count
    NET.soft(NET.soft(x))
    NET.soft(once)
    assert len(placed) == count
    NET.soft(batch())
    assert len(placed) == 2 * count


def test_nothing_is_kept_of_inference_and_of_a_transformed_call() -> None:
    x = batch()
    with torch.inference_mode():
        NET.soft(x)

    def total(values: torch.Tensor) -> torch.Tensor:
        x = axon.Ragged(values, offsets, facts=facts)
        made: torch.Tensor = NET.soft(x).values.square().sum()
        return made

    offsets, facts = x.offsets, x.facts
    transformed = torch.func.grad(total)(x.values.detach())
    NET.soft(x).values.square().sum().backward()
    assert torch.equal(x.values.grad, transformed)


def test_copies_find_out_anew() -> None:
    x = axon.Ragged.from_packed(torch.arange(6, dtype=torch.float32), [0, 3, 3, 6])
    expected = NET.soft(x)
    for other in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert other.facts is not x.facts
        assert other.facts._placed == {}
        assert torch.equal(NET.soft(other).values, expected.values)


def test_lengths_are_not_to_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        batch().lengths[0] = 5
