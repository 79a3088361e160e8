"""Attention and what goes with it: models whose sizes do not fit are errors, in `infer` and in the
program alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import axon
from axon.driver import check_text
from axon.importers.writing.program import write_program
from tests.importers.onnx_models import import_model, infer_model, model, node

Inputs = dict[str, list[Any] | None]

PACKED = {"q_num_heads": 6, "kv_num_heads": 3}
FOUR: Inputs = {
    "q": [2, 6, 4, 8], "kk": [2, 3, 5, 8], "vv": [2, 3, 5, 7], "mask": [2, 1, 4, 9],
    "pk": [2, 3, 4, 8], "pv": [2, 3, 4, 7],
}  # fmt: skip
THREE: Inputs = {"q": [2, 4, 48], "k": [2, 5, 24], "v": [2, 5, 21], "mask": [4, 5]}
LINEAR: Inputs = {
    "q": [2, 4, 32], "k": [2, 4, 16], "v": [2, 4, 12], "s": [2, 2, 8, 6],
    "d": [2, 4, 16], "r": [2, 4, 2],
}  # fmt: skip
ROTARY: Inputs = {"x": [2, 4, 16], "c": [2, 4, 4], "s": [2, 4, 4]}
CONV: Inputs = {"x": [2, 3, 9], "w": [3, 1, 4], "b": [3], "p": [2, 3, 3]}
FLEX: Inputs = {"q": [2, 6, 4, 8], "k": [2, 3, 5, 8], "v": [2, 3, 5, 7]}

NODES: dict[str, tuple[Any, Inputs, str]] = {
    "4-D": (node("Attention", "q kk vv mask pk pv", "y nk nv"), FOUR, "y nk nv"),
    "3-D": (node("Attention", "q k v mask", "y", **PACKED), THREE, "y"),
    "linear": (
        node("LinearAttention", "q k v s d r", "y t", q_num_heads=4, kv_num_heads=2),
        LINEAR,
        "y t",
    ),
    "rotary": (node("RotaryEmbedding", "x c s", "y", num_heads=2), ROTARY, "y"),
    "convolution": (
        node("CausalConvWithState", "x w b p", "y t", activation="silu"),
        CONV,
        "y t",
    ),
    "flexible": (node("FlexAttention", "q k v", "y", domain="ai.onnx.preview"), FLEX, "y"),
}

WRONG: list[tuple[str, str, list[Any]]] = [
    ("4-D", "q", [2, 7, 4, 8]),
    ("4-D", "kk", [2, 4, 5, 8]),
    ("4-D", "q", [6, 4, 8]),
    ("4-D", "kk", [1, 2, 3, 5, 8]),
    ("4-D", "vv", [3, 5, 7]),
    ("4-D", "mask", [2, 1, 4, 10]),
    ("4-D", "pk", [3, 4, 8]),
    ("4-D", "pv", [2, 3, 5, 7]),
    ("3-D", "q", [2, 4, 49]),
    ("3-D", "k", [2, 5, 25]),
    ("3-D", "v", [2, 5, 20]),
    ("3-D", "k", [5, 24]),
    ("3-D", "q", [1, 2, 4, 48]),
    ("linear", "d", [2, 4, 17]),
    ("linear", "d", [2, 4, 4]),
    ("linear", "r", [2, 4, 3]),
    ("rotary", "x", [4, 16]),
    ("rotary", "x", [1, 2, 4, 16]),
    ("rotary", "x", [2, 4, 20]),
    ("convolution", "x", [1, 2, 3, 9]),
    ("convolution", "w", [1, 4]),
    ("convolution", "w", [3, 2, 4]),
    ("convolution", "p", [2, 3, 4]),
    ("flexible", "q", [2, 7, 4, 8]),
    ("flexible", "v", [3, 5, 7]),
]


def made(kind: str, changes: Inputs | None = None) -> Any:
    one, inputs, outputs = NODES[kind]
    return model([one], inputs | (changes or {}), dict.fromkeys(outputs.split()), opset=27)


def errors(proto: Any) -> list[str]:
    found = infer_model(proto, "m").diagnostics
    return [d.message for d in found if d.severity == "error"]


def program_fits(proto: Any) -> bool:
    return check_text(write_program(import_model(proto, "m")).text).ok


@pytest.mark.parametrize("kind", NODES)
def test_sizes_that_fit(kind: str) -> None:
    assert infer_model(made(kind), "m").diagnostics == ()
    assert program_fits(made(kind))


@pytest.mark.parametrize(("kind", "name", "shape"), WRONG)
def test_sizes_that_do_not_fit(kind: str, name: str, shape: list[Any]) -> None:
    wrong = made(kind, {name: shape})
    assert errors(wrong)
    assert not program_fits(wrong)


@pytest.mark.parametrize("kind", NODES)
def test_nothing_is_known(kind: str) -> None:
    unknown = made(kind, dict.fromkeys(NODES[kind][1]))
    assert infer_model(unknown, "m").diagnostics == ()
    assert program_fits(unknown)


def test_the_rank_of_one_is_that_of_all() -> None:
    found = infer_model(made("3-D", {"q": None, "v": None}), "m").tensors
    assert found["q"].shape is not None
    assert found["q"].shape[2] == 48
    assert found["y"].shape is not None
    assert len(found["y"].shape) == 3


def test_numbers_of_heads_that_only_a_run_knows() -> None:
    sizes: Inputs = {
        "q": ["b", "h", "s", 8], "k": ["b", "g", "t", 8], "v": ["b", "g", "t", 7],
    }  # fmt: skip
    open_ = model([node("Attention", "q k v", "y")], sizes, {"y": None}, opset=24)
    report = infer_model(open_, "m")
    assert report.tensors["y"].shape == ("b", "h", "s", 7)
    assert report.where == ("h mod g = 0",)
    net = axon.from_onnx(open_).model

    def run(heads: int, key_heads: int) -> Any:
        q, k, v = (
            np.ones((1, n, 2, size), np.float32)
            for n, size in ((heads, 8), (key_heads, 8), (key_heads, 7))
        )
        return net(q, k, v)

    assert run(6, 3).shape == (1, 6, 2, 7)
    with pytest.raises(axon.AxonError):
        run(7, 3)
