"""PyTorch's norms, distributions and attention."""

from __future__ import annotations

import math
from typing import Any

import numpy
import pytest

from tests.importers.torch_calls import Given, call, close, floats, run, types

ROWS = Given("f32 [n,m,4]")


def standard(x: Any, axes: Any, epsilon: float = 1e-5) -> Any:
    away = x - x.mean(axis=axes, keepdims=True)
    return away / numpy.sqrt((away**2).mean(axis=axes, keepdims=True) + epsilon)


def test_layers_as_exported_and_in_core() -> None:
    vectors = {"weight": Given("f32 [4]"), "bias": Given("f32 [4]")}
    p = call("aten.layer_norm.default", input=ROWS, normalized_shape=[4], **vectors)
    assert types(p) == "f32 [n,m,4]"
    x, w, b = floats(2, 3, 4), floats(4), floats(4, seed=1)
    expected = standard(x, -1) * w + b
    close(p, [x, w, b], expected)
    p = call("aten.native_layer_norm.default", 3, input=ROWS, normalized_shape=[4], **vectors,
             eps=1e-5)  # fmt: skip
    assert types(p) == "f32 [n,m,4], f32 [n,m,1], f32 [n,m,1]"
    mean = x.mean(axis=-1, keepdims=True)
    close(p, [x, w, b], expected, mean, 1 / numpy.sqrt(x.var(axis=-1, keepdims=True) + 1e-5))


def test_a_size_to_normalise_over_is_one_of_the_input() -> None:
    p = call("aten.layer_norm.default", input=Given("f32 [n,m,k]"), normalized_shape=[4])
    x = floats(2, 3, 4)
    close(p, [x], standard(x, -1))
    with pytest.raises(Exception, match="4"):
        run(p, floats(2, 3, 5))


def test_a_bias_without_a_scale() -> None:
    p = call("aten.layer_norm.default", input=ROWS, normalized_shape=[4], bias=Given("f32 [4]"))
    x, b = floats(2, 3, 4), floats(4)
    close(p, [x, b], standard(x, -1) + b)


def test_root_mean_squares() -> None:
    p = call("aten.rms_norm.default", input=ROWS, normalized_shape=[4], weight=Given("f32 [4]"))
    x, w = floats(2, 3, 4), floats(4)
    close(p, [x, w], x / numpy.sqrt((x**2).mean(-1, keepdims=True) + 2.0**-23) * w)


def test_batches_by_statistics_of_before() -> None:
    vectors = {name: Given("f32 [c]") for name in ("running_mean", "running_var")}
    p = call("aten.batch_norm.default", input=Given("f32 [n,c,h]"), **vectors, training=False,
             momentum=0.1, eps=1e-3, cudnn_enabled=False)  # fmt: skip
    assert types(p) == "f32 [n,c,h]"
    x, m, v = floats(2, 3, 4), floats(3), abs(floats(3, seed=1))
    expected = (x - m[:, None]) / numpy.sqrt(v[:, None] + 1e-3)
    close(p, [x, m, v], expected)
    core = call("aten._native_batch_norm_legit_no_training.default", 3, input=Given("f32 [n,c,h]"),
                **vectors, momentum=0.1, eps=1e-3)  # fmt: skip
    assert types(core) == "f32 [n,c,h], f32 [0], f32 [0]"


def test_batches_by_their_own_statistics() -> None:
    p = call("aten._native_batch_norm_legit.no_stats", 3, input=Given("f32 [n,c,h]"),
             training=True, momentum=0.1, eps=1e-5)  # fmt: skip
    assert types(p) == "f32 [n,c,h], f32 [c], f32 [c]"
    x = floats(2, 3, 4)
    found = run(p, x)
    numpy.testing.assert_allclose(found[0], standard(x, (0, 2)), rtol=1e-4, atol=1e-5)
    numpy.testing.assert_allclose(found[1], x.mean(axis=(0, 2)), rtol=1e-4, atol=1e-6)


def test_groups_and_instances() -> None:
    x = floats(2, 4, 3)
    p = call("aten.group_norm.default", input=Given("f32 [n,4,l]"), num_groups=2)
    assert types(p) == "f32 [n,4,l]"
    close(p, [x], standard(x.reshape(2, 2, 6), -1).reshape(x.shape))
    p = call("aten.native_group_norm.default", 3, input=Given("f32 [n,4,l]"), N=2, C=4, HxW=3,
             group=2, eps=1e-5)  # fmt: skip
    assert types(p) == "f32 [n,4,l], f32 [n,2], f32 [n,2]"
    p = call("aten.instance_norm.default", input=Given("f32 [n,4,l]"), use_input_stats=True,
             momentum=0.1, eps=1e-5, cudnn_enabled=False)  # fmt: skip
    close(p, [x], standard(x, -1))


def test_weights_by_length_and_direction() -> None:
    p = call("aten._weight_norm.default", v=Given("f32 [k,c,r]"), g=Given("f32 [k,1,1]"))
    assert types(p) == "f32 [k,c,r]"
    v, g = floats(4, 3, 2), floats(4, 1, 1)
    close(p, [v, g], v * g / numpy.sqrt((v**2).sum(axis=(1, 2), keepdims=True)))


def test_softmax_of_a_number_and_of_another_type() -> None:
    p = call("aten.softmax.int", self=Given("f32 []"), dim=0)
    assert types(p) == "f32 []"
    close(p, [numpy.float32(3)], numpy.float32(1))
    p = call("aten._softmax.default", self=Given("f16 [n,4]"), dim=-1, half_to_float=True)
    assert types(p) == "f32 [n,4]"


def test_a_row_that_is_all_closed() -> None:
    p = call("aten._safe_softmax.default", self=Given("f32 [n,2]"), dim=-1)
    x = numpy.array([[-math.inf, -math.inf], [0, 0]], "f4")
    close(p, [x], numpy.array([[0, 0], [0.5, 0.5]], "f4"))


def attention(*qkv: Any, scores: Any = 0, scale: float | None = None) -> Any:
    q, k, v = qkv
    found = q @ numpy.swapaxes(k, -1, -2) * (scale or q.shape[-1] ** -0.5) + scores
    powers = numpy.exp(found - found.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True) @ v


SDPA = "aten.scaled_dot_product_attention.default"


@pytest.mark.parametrize("lead", ["b,h,", "b,", "", "a,b,h,"])
def test_attention_of_any_rank(lead: str) -> None:
    q, k, v = (Given(f"f32 [{lead}{rest}]") for rest in ("m,4", "n,4", "n,5"))
    p = call(SDPA, query=q, key=k, value=v, scale=0.3)
    assert types(p) == f"f32 [{lead}m,5]"
    sizes = [2] * lead.count(",")
    arrays = [floats(*sizes, *rest) for rest in ((3, 4), (6, 4), (6, 5))]
    close(p, arrays, attention(*arrays, scale=0.3))


@pytest.mark.parametrize("mask", ["[m,n]", "[b,1,1,n]", "[b,1,m,1]"])
def test_a_mask_that_is_added(mask: str) -> None:
    q, k, v = (Given(f"f32 [b,2,{rest}]") for rest in ("m,4", "n,4", "n,5"))
    p = call(SDPA, query=q, key=k, value=v, attn_mask=Given(f"f32 {mask}"))
    assert types(p) == "f32 [b,2,m,5]"
    sizes = {"b": 3, "1": 1, "m": 4, "n": 6}
    arrays = [floats(3, 2, *rest) for rest in ((4, 4), (6, 4), (6, 5))]
    added = floats(*(sizes[name] for name in mask.strip("[]").split(",")))
    close(p, [*arrays, added], attention(*arrays, scores=added))


def test_no_query_looks_ahead_and_heads_are_shared() -> None:
    q, k = Given("f32 [b,4,m,8]"), Given("f32 [b,2,m,8]")
    p = call(SDPA, query=q, key=k, value=k, is_causal=True, enable_gqa=True)
    assert types(p) == "f32 [b,4,m,8]"
    x, y, z = floats(2, 4, 5, 8), floats(2, 2, 5, 8), floats(2, 2, 5, 8, seed=1)
    ahead = numpy.where(numpy.tri(5) > 0, 0, -1e9)
    wide = [each.repeat(2, axis=1) for each in (y, z)]
    close(p, [x, y, z], attention(x, *wide, scores=ahead))


def test_keys_of_one_for_all_of_a_batch() -> None:
    p = call(SDPA, query=Given("f32 [b,h,m,4]"), key=Given("f32 [1,h,n,4]"),
             value=Given("f32 [1,h,n,5]"))  # fmt: skip
    assert types(p) == "f32 [b,h,m,5]"


def test_the_way_of_core() -> None:
    tensors = {name: Given("f32 [b,h,m,8]") for name in ("query", "key", "value")}
    p = call("aten._scaled_dot_product_flash_attention_for_cpu.default", 2, **tensors)
    assert types(p) == "f32 [b,h,m,8], f32 [b,h,m]"
