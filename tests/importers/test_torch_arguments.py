"""Arguments that no program of PyTorch has: a message, and no exception, whatever they are."""

from __future__ import annotations

from typing import Any

import pytest

from tests.importers.torch_archives import infer
from tests.importers.torch_calls import Given, call

X = Given("f32 [n,4,6,6]")
ODD: list[tuple[str, dict[str, Any]]] = [
    ("aten.diff.default", {"self": X, "n": 1 << 40}),
    ("aten.diag_embed.default", {"self": X, "dim1": 2, "dim2": 2}),
    ("aten.conv2d.padding", {"input": X, "weight": X, "padding": "some"}),
    ("aten.conv2d.default", {"input": X, "weight": X, "stride": [1, 2, 3]}),
    ("aten.max_pool2d.default", {"self": X, "kernel_size": [0, -1]}),
    ("aten.upsample_bilinear2d.vec", {"input": X, "align_corners": False}),
    ("aten.upsample_bilinear2d.vec", {"input": X, "scale_factors": [float("nan")] * 2}),
    ("aten.pixel_shuffle.default", {"self": X, "upscale_factor": 0}),
    ("aten.group_norm.default", {"input": X, "num_groups": -2}),
    ("aten.layer_norm.default", {"input": X, "normalized_shape": 3.5}),
    ("aten.einsum.default", {"equation": "ij,->", "tensors": [X]}),
    ("aten.tensordot.default", {"self": X, "other": X, "dims_self": [9], "dims_other": [0]}),
    ("aten.mse_loss.default", {"self": X, "target": X, "reduction": 7}),
    ("aten.fft_fft.default", {"self": X, "norm": "none"}),
    ("aten.lstm.input", {"input": X, "hx": [X], "params": [X, X, X], "num_layers": 2}),
    ("aten.scaled_dot_product_attention.default", {"query": X, "key": 3, "value": X}),
]


@pytest.mark.parametrize(("target", "arguments"), ODD, ids=lambda v: str(v)[:50])
def test_an_odd_argument_is_a_message(target: str, arguments: dict[str, Any]) -> None:
    assert infer(call(target, **arguments)).diagnostics


@pytest.mark.parametrize(("target", "arguments"), ODD, ids=lambda v: str(v)[:50])
def test_it_is_no_exception_where_ranks_are_not_known(
    target: str, arguments: dict[str, Any]
) -> None:
    made = infer(call(target, **arguments), forget=True).tensors
    assert all(each.shape is None or -1 not in each.shape for each in made.values())


def test_many_places_of_a_triangle_are_counted_at_once() -> None:
    p = call("aten.tril_indices.default", row=1 << 40, col=2)
    report = infer(p)
    assert not report.diagnostics
    found = next(iter(report.tensors.values())).shape
    assert found == (2, (1 << 41) - 1)
