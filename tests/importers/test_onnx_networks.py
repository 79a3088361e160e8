"""Attention, recurrent networks, losses, norms and optimisers: symbolic sizes, what is found out
about inputs, and files that make no sense. Values are in the node tests of the onnx package.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

import axon
from axon.importers.writing.program import write_program
from tests.importers.onnx_models import INT64, floats, import_model, infer_model, model, node, value
from tests.run.support import floats as numbers


def shapes(made: Any, **options: Any) -> dict[str, Any]:
    report = infer_model(made, "m", **options)
    assert not [d for d in report.diagnostics if d.severity == "error"], report.diagnostics
    return {name: found.shape for name, found in report.tensors.items()}


def program(made: Any) -> str:
    return write_program(import_model(made, "m")).text


# --- attention -------------------------------------------------------------------------------

CACHED = model(
    [node("Attention", "q k v mask pk pv", "y nk nv", is_causal=1)],
    {
        "q": ["b", 8, "s", 64], "k": ["b", 2, "s", 64], "v": ["b", 2, "s", 32],
        "mask": ["b", 1, "s", "total"], "pk": ["b", 2, "p", 64], "pv": ["b", 2, "p", 32],
    },
    {"y": None, "nk": None, "nv": None},
    opset=24,
)  # fmt: skip


def test_attention_with_a_cache_of_any_length() -> None:
    found = shapes(CACHED)
    assert found["y"] == ("b", 8, "s", 32)
    assert found["nk"] == ("b", 2, "p + s", 64)
    assert found["nv"] == ("b", 2, "p + s", 32)
    text = program(CACHED)
    assert "dot_product_attention(" in text
    assert "offset=p" in text
    q, k, v = numbers(1, 8, 1, 64), numbers(1, 2, 1, 64), numbers(1, 2, 1, 32)
    past = numbers(1, 2, 4, 64), numbers(1, 2, 4, 32)
    y, keys, _ = axon.from_onnx(CACHED).model(q, k, v, np.zeros((1, 1, 1, 5), np.float32), *past)
    assert y.shape == (1, 8, 1, 32)
    np.testing.assert_array_equal(keys, np.concatenate([past[0], k], axis=2))


def test_packed_heads_of_a_size_that_is_not_known() -> None:
    packed = model(
        [node("Attention", "q k v", "y", q_num_heads=6, kv_num_heads=3)],
        {"q": ["b", "s", "e"], "k": ["b", "t", "f"], "v": ["b", "t", 12]},
        {"y": None},
        opset=24,
    )
    assert shapes(packed)["y"] == ("b", "s", 24)
    y = axon.from_onnx(packed).model(numbers(2, 3, 30), numbers(2, 4, 15), numbers(2, 4, 12))
    assert y.shape == (2, 3, 24)


@pytest.mark.parametrize(
    "attributes",
    [
        {"q_num_heads": 0, "kv_num_heads": 0},
        {"q_num_heads": 5, "kv_num_heads": 2},
        {"q_num_heads": 2.5, "kv_num_heads": 1},
        {"q_num_heads": 3, "kv_num_heads": 3, "softcap": float("nan")},
        {"q_num_heads": 3, "kv_num_heads": 3, "softcap": "a"},
        {"q_num_heads": 3, "kv_num_heads": 3, "left_window_size": -(2**60)},
        {"q_num_heads": 3, "kv_num_heads": 3, "left_window_size": 2**62},
        {"q_num_heads": 7, "kv_num_heads": 7},
        {},
    ],
)
def test_attributes_of_attention_that_make_no_sense(attributes: dict[str, Any]) -> None:
    sizes = ["b", "s", 12]
    nodes = [
        node("Attention", "x x x", "y", **attributes),
        node("LinearAttention", "x x x", "z t", **attributes),
        node("RotaryEmbedding", "x x x", "r", num_heads=-3),
    ]
    infer_model(model(nodes, {"x": sizes}, {"y": None, "z": None, "r": None}, opset=27), "m")


# --- recurrent networks ----------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "gates"), [("LSTM", 4), ("GRU", 3), ("RNN", 1)])
def test_the_rank_of_a_sequence_is_found_out(kind: str, gates: int) -> None:
    made = model(
        [node(kind, "x w r", "y h", hidden_size=5)],
        {"x": None},
        {"y": None, "h": None},
        {"w": floats(1, gates * 5, 4), "r": floats(1, gates * 5, 5)},
    )
    found = shapes(made, forget=True)
    s, b = found["x"][:2]
    assert found["x"][2] == 4
    assert found["y"] == (s, 1, b, 5)
    assert found["h"] == (1, b, 5)
    assert f"{kind.lower()}(x, w(), r())" in program(made)


def test_a_state_and_lengths_without_a_bias() -> None:
    w, r = numbers(1, 12, 4), numbers(1, 12, 3)
    made = model(
        [node("LSTM", "x w r - l h -", "y", hidden_size=3)],
        [
            value("x", ["s", "b", 4]),
            value("l", ["b"], TensorProto.INT32),
            value("h", [1, "b", 3]),
        ],
        {"y": None},
        {"w": w, "r": r},
    )
    assert shapes(made)["y"] == ("s", 1, "b", 3)
    x, h = numbers(5, 2, 4), numbers(1, 2, 3)
    y = axon.from_onnx(made).model(x, np.array([5, 2], np.int32), h)
    assert not y[2:, :, 1].any()
    alone = axon.from_onnx(made).model(x[:2, 1:], np.array([2], np.int32), h[:, 1:])
    np.testing.assert_allclose(y[:2, :, 1:], alone, rtol=1e-6)


@pytest.mark.parametrize(
    "attributes",
    [
        {"activations": ["Affine", "Tanh", "Tanh"]},
        {"activations": ["Tanh"] * 50},
        {"activation_alpha": [0.5]},
        {"hidden_size": -1},
        {"hidden_size": 2**60},
        {"layout": 1},
    ],
)
def test_the_shape_is_known_where_the_values_are_not(attributes: dict[str, Any]) -> None:
    made = model(
        [node("LSTM", "x w r", "y", **attributes)],
        {"x": ["s", "b", 4]},
        {"y": None},
        {"w": floats(1, 12, 4), "r": floats(1, 12, 3)},
    )
    assert len(shapes(made)["y"]) == 4
    axon.from_onnx(made)


def test_a_direction_that_there_is_not() -> None:
    made = model([node("GRU", "x w r", "y", direction="up")], {"x": None}, {"y": None})
    assert infer_model(made, "m").unsupported


# --- norms and losses ------------------------------------------------------------------------


def test_a_scale_that_broadcasts() -> None:
    made = model(
        [node("LayerNormalization", "x g b", "y m d", axis=1)],
        {"x": ["n", 3, "w"], "g": ["w"], "b": [3, 1]},
        {"y": None, "m": None, "d": None},
    )
    found = shapes(made)
    assert found["y"] == ("n", 3, "w")
    assert found["m"] == found["d"] == ("n", 1, 1)
    x, g, b = numbers(2, 3, 4), numbers(4), numbers(3, 1)
    y, mean, _ = axon.from_onnx(made).model(x, g, b)
    away = (x - x.mean((1, 2), keepdims=True)) / np.sqrt(x.var((1, 2), keepdims=True) + 1e-5)
    np.testing.assert_allclose(y, away * g + b, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(mean, x.mean((1, 2), keepdims=True), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("scale", [None, [4]])
def test_a_norm_keeps_a_shape_of_which_nothing_is_known(scale: Any) -> None:
    made = model(
        [node("LayerNormalization", "x g", "y"), node("Add", "y z", "sum")],
        {"x": None, "g": scale, "z": [2, 3, 4]},
        {"y": None, "sum": None},
    )
    imported = import_model(made, "m")
    assert imported.type("y") == imported.type("x")


@pytest.mark.parametrize("op", ["Softmax", "LogSoftmax", "Hardmax"])
def test_what_was_flattened_before_opset_13(op: str) -> None:
    made = model([node(op, "x", "y")], {"x": ["n", "c", 4]}, {"y": None}, opset=11)
    assert shapes(made)["y"] == ("n", "c", 4)
    x = numbers(2, 3, 4)
    y = np.asarray(axon.from_onnx(made).model(x))
    total = np.exp(y) if op == "LogSoftmax" else y
    np.testing.assert_allclose(total.sum((1, 2)), [1, 1], rtol=1e-5)


def test_a_loss_and_the_logarithms_that_it_is_of() -> None:
    made = model(
        [node("SoftmaxCrossEntropyLoss", "x c", "loss logs", ignore_index=-1)],
        [value("x", ["n", 3, "w"]), value("c", ["n", "w"], INT64)],
        {"loss": None, "logs": None},
    )
    assert shapes(made)["loss"] == ()
    assert shapes(made)["logs"] == ("n", 3, "w")
    x, classes = numbers(2, 3, 2), np.array([[0, -1], [2, 1]])
    loss, logs = axon.from_onnx(made).model(x, classes)
    picked = [logs[0, 0, 0], logs[1, 2, 0], logs[1, 1, 1]]
    np.testing.assert_allclose(loss, -np.mean(picked), rtol=1e-5)


@pytest.mark.parametrize(
    ("op", "attributes"),
    [
        ("LRN", {"size": 2**60}),
        ("LRN", {"size": 0}),
        ("LayerNormalization", {"axis": 99}),
        ("LayerNormalization", {"axis": -99}),
        ("GroupNormalization", {"num_groups": 0}),
        ("GroupNormalization", {}),
        ("Hardmax", {"axis": 9}),
        ("LpNormalization", {"p": -3}),
        ("Swish", {"alpha": float("inf")}),
    ],
)
def test_norms_that_make_no_sense(op: str, attributes: dict[str, Any]) -> None:
    made = model([node(op, "x x x", "y", **attributes)], {"x": ["n", 4]}, {"y": None}, opset=22)
    infer_model(made, "m")


# --- optimisers and functions of attention ---------------------------------------------------


def test_momentum_of_two_weights_at_once() -> None:
    names = "r t a b da db va vb", "na nb nva nvb"
    step = helper.make_node(
        "Momentum", names[0].split(), names[1].split(), domain="ai.onnx.preview.training",
        alpha=0.9, beta=0.5, norm_coefficient=0.0, mode="standard",
    )  # fmt: skip
    sizes = {"r": [], "a": ["n"], "b": [2], "da": ["n"], "db": [2], "va": ["n"], "vb": [2]}
    inputs = [value(name, shape) for name, shape in sizes.items()]
    inputs.insert(1, value("t", [], INT64))
    made = model([step], inputs, dict.fromkeys(names[1].split()))
    assert shapes(made)["nva"] == ("n",)
    r, a, b, d, v = np.float32(0.1), numbers(3), numbers(2), numbers(3) * 2, numbers(3) * 3
    for t, share in ((0, 1.0), (7, 0.5)):
        new, _, speed, _ = axon.from_onnx(made).model(r, np.int64(t), a, b, d, b, v, b)
        np.testing.assert_allclose(speed, 0.9 * v + share * d, rtol=1e-5)
        np.testing.assert_allclose(new, a - 0.1 * speed, rtol=1e-5)


def test_a_graph_that_changes_the_scores_must_be_on_its_own() -> None:
    """One that uses tensors from outside is left alone, and its result has its shape."""
    change = helper.make_graph(
        [node("Add", "s outside", "t")], "g", [value("s")], [value("t")]
    )  # fmt: skip
    flex = helper.make_node(
        "FlexAttention", ["q", "q", "q"], ["y"], domain="ai.onnx.preview", score_mod=change
    )
    made = model([flex], {"q": [1, 2, 3, 4], "outside": [3, 3]}, {"y": None}, opset=26)
    assert infer_model(made, "m").unsupported


def test_a_graph_that_changes_the_scores_is_written_out() -> None:
    change = helper.make_graph([node("Neg", "s", "t")], "g", [value("s")], [value("t")])
    flex = helper.make_node(
        "FlexAttention", ["q", "q", "q"], ["y"], domain="ai.onnx.preview", score_mod=change
    )
    made = model([flex], {"q": [1, 2, "n", 4]}, {"y": None}, opset=26)
    assert shapes(made)["y"] == (1, 2, "n", 4)
    q = numbers(1, 2, 3, 4)
    scores = -q @ q.swapaxes(2, 3) / 2
    weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    np.testing.assert_allclose(axon.from_onnx(made).model(q), weights @ q, rtol=1e-5)
