"""The softmax of rows by the kernel that a GPU has for it, here on the processor."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import axon
from axon.backends import torch_softmax

PROGRAM = """
soft = fn (x : f [n,*]) { map(fn (r) { softmax(r) }, x) };
shifted = fn (x : f [n,*]) { map(fn (r) { softmax(r * 2 - max(r), axis=0) + 1 }, x) };
wide = fn (x : f [n,*,d]) { map(fn (r) { softmax(r, axis=0) }, x) };
"""
LENGTHS = (3, 1, 0, 17, 2)


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The results of the kernel."""
    calls: list[Any] = []
    monkeypatch.setattr(torch_softmax, "DEVICES", ("cpu",))
    packed = torch_softmax.PACKED

    def counted(*args: Any) -> Any:
        calls.append(packed(*args))
        return calls[-1]

    monkeypatch.setattr(torch_softmax, "PACKED", counted)
    return calls


def rows(dtype: torch.dtype = torch.float32, *sizes: int) -> list[torch.Tensor]:
    made = torch.Generator().manual_seed(0)
    return [(torch.randn(n, *sizes, generator=made) * 9).to(dtype) for n in LENGTHS]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_values_are_those_of_the_rows(dtype: torch.dtype, used: list[Any]) -> None:
    x = rows(dtype)
    x[0][1], x[3][2], x[4][:] = -torch.inf, torch.nan, -torch.inf
    found = axon.compile(PROGRAM, backend="torch").soft(x)
    close = 1e-6 if dtype.itemsize > 2 else 1e-2
    for given, made in zip(x, found, strict=True):
        expected = torch.softmax(given, 0)
        torch.testing.assert_close(made, expected, rtol=close, atol=close, equal_nan=True)
    assert len(used) == 1


def test_inside_a_function(used: list[Any]) -> None:
    x = [r for r in rows() if len(r)]
    found = axon.compile(PROGRAM, backend="torch").shifted(x)
    for given, made in zip(x, found, strict=True):
        torch.testing.assert_close(made, torch.softmax(given * 2, 0) + 1)
    assert len(used) == 1


def test_what_has_derivatives_and_other_rows_take_the_other_way(used: list[Any]) -> None:
    net = axon.compile(PROGRAM, backend="torch")
    x = [r.requires_grad_() for r in rows()]
    sum((r**2).sum() for r in net.soft(x)).backward()
    for given in x:
        other = given.detach().requires_grad_()
        (torch.softmax(other, 0) ** 2).sum().backward()
        torch.testing.assert_close(given.grad, other.grad)
    matrices = rows(torch.float32, 4)
    for given, made in zip(matrices, net.wide(matrices), strict=True):
        torch.testing.assert_close(made, torch.softmax(given, 0))
    assert not used


def test_rows_that_would_be_too_large_padded(
    used: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from axon.backends import bounded

    monkeypatch.setattr(bounded, "AT_ONCE", 300)
    x = rows()
    for given, made in zip(x, axon.compile(PROGRAM, backend="torch").soft(x), strict=True):
        torch.testing.assert_close(made, torch.softmax(given, 0))
    assert not used
