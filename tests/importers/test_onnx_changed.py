"""Models with one shape that does not fit are refused, and those that runtimes take are not."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pytest
from onnx import TensorProto, helper

import axon
from tests.importers.onnx_models import infer_model

from .onnx_models import ints, model, value

Given = Any
"""The shape of a float; an array that the file holds; or an element type and a shape."""

I64, U8 = TensorProto.INT64, TensorProto.UINT8


class Case(NamedTuple):
    """A node that is fine, and what makes it wrong if it is given instead."""

    operator: str
    given: dict[str, Given]
    wrong: list[tuple[str, Given]]
    attributes: Mapping[str, Any] = MappingProxyType({})
    outputs: int = 1
    opset: int = 22

    def made(self, **other: Given) -> Any:
        inputs, weights = [], {}
        for name, held in {**self.given, **other}.items():
            if isinstance(held, np.ndarray):
                weights[name] = held
            elif held and isinstance(held[-1], tuple):
                inputs.append(value(name, held[1], held[0]))
            else:
                inputs.append(value(name, held))
        made = [f"y{i}" for i in range(self.outputs)]
        node = helper.make_node(self.operator, list(self.given), made, **self.attributes)
        return model([node], inputs, [value(name) for name in made], weights, opset=self.opset)


def whole(*shape: int, elem: int = I64) -> tuple[int, tuple[int, ...]]:
    return elem, shape


QUANTISED: dict[str, Given] = {
    "a": whole(2, 4, elem=U8),
    "a_scale": (1,),
    "a_zero": whole(1, elem=U8),
    "b": whole(4, 3, elem=U8),
    "b_scale": (1,),
    "b_zero": whole(1, elem=U8),
    "y_scale": (1,),
    "y_zero": whole(1, elem=U8),
}

CASES = [
    Case(
        "AffineGrid",
        {"theta": (2, 2, 3), "size": ints(2, 3, 5, 6)},
        [("theta", (3, 2, 3)), ("size", whole(3)), ("size", whole(1, 4)), ("size", whole())],
    ),
    Case(
        "CenterCropPad",
        {"x": (20, 10, 3), "shape": ints(10, 7, 3)},
        [("shape", whole(1, 3)), ("x", (20, 10))],
    ),
    Case(
        "CenterCropPad",
        {"x": (20, 8, 3), "shape": ints(10, 9)},
        [("x", (8, 3))],
        {"axes": [0, 2]},
    ),
    Case(
        "Col2Im",
        {"x": (1, 5, 5), "image": ints(5, 5), "block": ints(1, 5)},
        [("x", (1, 6, 5)), ("image", whole(1, 2)), ("image", whole()), ("block", whole(3))],
    ),
    Case(
        "ConstantOfShape",
        {"shape": whole(3)},
        [("shape", whole(1, 3)), ("shape", whole())],
    ),
    Case(
        "Conv",
        {"x": (1, 1, 5, 5), "w": (1, 1, 3, 3)},
        [("w", (1, 1, 4, 3)), ("w", (1, 3, 3))],
        {"kernel_shape": [3, 3]},
    ),
    Case(
        "ConvTranspose",
        {"x": (1, 1, 3, 3), "w": (1, 2, 3, 3)},
        [("x", (1, 1, 2, 3)), ("x", (1, 3, 3)), ("w", (2, 3, 3))],
        {"strides": [3, 2], "output_shape": [10, 8]},
    ),
    Case(
        "DFT",
        {"x": (1, 10, 10, 1)},
        [("x", (10, 10, 1))],
        {"axis": 2},
        opset=19,
    ),
    Case(
        "DeformConv",
        {"x": (1, 1, 3, 3), "w": (1, 1, 2, 2), "offset": (1, 8, 2, 2)},
        [("w", (1, 2, 2)), ("x", (1, 3, 3)), ("offset", (1, 7, 2, 2))],
    ),
    Case("Expand", {"x": (3, 1), "shape": whole(2)}, [("shape", whole(1, 2))]),
    Case("EyeLike", {"x": (4, 4)}, [("x", (1, 4, 4)), ("x", (4,))]),
    Case(
        "GatherElements",
        {"x": (2, 2), "i": whole(2, 2)},
        [("x", (1, 2, 2)), ("i", whole(2)), ("i", whole(2, 3))],
    ),
    Case(
        "GatherND",
        {"x": (2, 2, 2), "i": whole(2, 1, 2)},
        [("x", (2,)), ("i", whole(2, 1, 4))],
    ),
    Case(
        "GridSample",
        {"x": (1, 1, 4, 4), "grid": (1, 6, 6, 2)},
        [("x", (1, 4, 4)), ("x", (2, 1, 4, 4)), ("grid", (1, 6, 6, 3))],
    ),
    Case(
        "LayerNormalization",
        {"x": (2, 3, 5), "w": (2, 3, 5)},
        [("x", (3, 5))],
        {"axis": -3},
    ),
    Case(
        "MatMulInteger",
        {"a": whole(4, 3, elem=U8), "b": whole(3, 2, elem=U8)},
        [("b", whole(2, elem=U8)), ("b", whole(4, 2, elem=U8))],
    ),
    Case(
        "MaxUnpool",
        {"x": (1, 1, 2, 2), "i": whole(1, 1, 2, 2), "shape": ints(1, 1, 5, 5)},
        [("x", (1, 2, 2)), ("shape", whole(5)), ("shape", whole(1, 4)), ("i", whole(1, 1, 3, 2))],
        {"kernel_shape": [2, 2], "strides": [2, 2]},
    ),
    Case(
        "NonMaxSuppression",
        {"boxes": (1, 6, 4), "scores": (1, 1, 6)},
        [("boxes", (1, 6, 5)), ("boxes", (1, 5, 4)), ("scores", (1, 6))],
    ),
    Case(
        "Pad",
        {"x": (1, 3, 4), "pads": ints(0, 0, 1, 0, 0, 2)},
        [("x", (3, 4)), ("pads", whole(5)), ("pads", whole(1, 6))],
    ),
    Case(
        "Pad",
        {"x": (1, 3, 4), "pads": ints(0, 1), "value": (), "axes": ints(2)},
        [("x", (3, 4))],
    ),
    Case(
        "QLinearMatMul",
        QUANTISED,
        [("b", whole(3, elem=U8)), ("b", whole(5, 3, elem=U8)), ("y_scale", (4,))],
    ),
    Case("Reshape", {"x": (2, 3), "shape": whole(2)}, [("shape", whole(1, 2)), ("shape", whole())]),
    Case(
        "Resize",
        {"x": (1, 1, 2, 2), "roi": np.zeros(0, np.float32), "scales": (4,)},
        [("scales", (3,)), ("scales", ()), ("x", (1, 2, 2))],
    ),
    Case(
        "Resize",
        {
            "x": (1, 1, 2, 2),
            "roi": np.zeros(0, np.float32),
            "scales": np.zeros(0, np.float32),
            "sizes": ints(7, 8),
        },
        [("sizes", whole(1)), ("sizes", whole(1, 2)), ("sizes", whole()), ("x", (1, 2, 2))],
        {"axes": [2, 3]},
    ),
    Case(
        "ScatterElements",
        {"x": (3, 3), "i": whole(2, 3), "new": (2, 3)},
        [("x", (3,)), ("i", whole(3, 3)), ("new", (1, 2, 3))],
    ),
    Case(
        "ScatterND",
        {"x": (4, 4, 4), "i": whole(2, 1), "new": (2, 4, 4)},
        [("x", (5, 4)), ("i", whole(3, 1)), ("new", (2, 4, 5))],
    ),
    Case(
        "Slice",
        {"x": (20, 10), "starts": whole(2), "ends": ints(3, 10)},
        [("starts", whole(1, 2)), ("starts", whole(3)), ("x", (20,))],
    ),
    Case("Softmax", {"x": (3, 4)}, [("x", (4,))], {"axis": 1}),
    Case(
        "Split",
        {"x": (2, 6), "sizes": whole(2)},
        [("sizes", whole(3)), ("sizes", whole(1, 2)), ("sizes", whole()), ("x", (6,))],
        {"axis": 1},
        outputs=2,
    ),
    Case(
        "TensorScatter",
        {"cache": (3, 4, 5), "new": (3, 2, 5), "first": ints(1, 2, 0)},
        [("cache", (2, 4, 5)), ("new", (3, 2, 4)), ("new", (3, 3, 5)), ("first", whole(2))],
        opset=24,
    ),
    Case("TopK", {"x": (3, 4), "k": whole(1)}, [("k", whole()), ("k", whole(2))], outputs=2),
]

TAKEN = [
    Case(
        "GroupNormalization",
        {"x": (3, 4, 2, 2), "scale": (4,), "bias": (4,)},
        [("scale", (1, 4)), ("scale", ()), ("scale", (1,)), ("bias", (4, 1)), ("bias", ())],
        {"num_groups": 2},
    ),
    Case(
        "NegativeLogLikelihoodLoss",
        {"x": (3, 5, 6), "classes": whole(3, 6), "weights": (5,)},
        [("x", (3, 6, 6)), ("x", (3, 4, 6)), ("weights", (6,)), ("weights", (4,))],
    ),
    Case(
        "SoftmaxCrossEntropyLoss",
        {"x": (3, 5), "classes": whole(3), "weights": (5,)},
        [("x", (3, 6)), ("x", (3, 4)), ("weights", (6,)), ("weights", (4,))],
        outputs=2,
    ),
    Case(
        "CenterCropPad",
        {"x": (20, 8, 3), "shape": ints(10, 9)},
        [("shape", whole(1))],
        {"axes": [0, 1]},
    ),
    Case("Unsqueeze", {"x": (3, 4), "axes": whole(1)}, [("axes", whole())]),
]
"""What the runtimes take, though the sizes are not those that the operator is described with."""


def errors(made: Any) -> list[str]:
    return [d.message for d in infer_model(made, "m").diagnostics if str(d.severity) == "error"]


def refused(made: Any) -> bool:
    """Whether the program that the model becomes has errors."""
    try:
        axon.from_onnx(made)
    except axon.AxonError:
        return True
    return False


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.operator)
def test_a_shape_that_does_not_fit_is_an_error(case: Case) -> None:
    assert not errors(case.made())
    assert not refused(case.made())
    for name, held in case.wrong:
        assert errors(case.made(**{name: held})), (name, held)


@pytest.mark.parametrize("case", TAKEN, ids=lambda case: case.operator)
def test_what_runtimes_take_is_no_error(case: Case) -> None:
    for other in ({}, *({name: held} for name, held in case.wrong)):
        assert not errors(case.made(**other)), other
        assert not refused(case.made(**other)), other


def test_classes_without_a_weight_are_not_looked_up() -> None:
    made = TAKEN[1].made(weights=(6,))
    x = np.arange(90, dtype=np.float32).reshape(3, 5, 6)
    classes = np.arange(18).reshape(3, 6) % 5
    weights = np.arange(1, 7, dtype=np.float32)
    found = axon.from_onnx(made).model(x, classes, weights)
    each = weights[classes]
    picked = np.take_along_axis(x, classes[:, None], axis=1)[:, 0]
    assert np.allclose(found, -(each * picked).sum() / each.sum())


def test_one_scale_is_that_of_all_channels() -> None:
    x = np.random.default_rng(0).normal(size=(3, 4, 2, 2)).astype(np.float32)
    one = axon.from_onnx(TAKEN[0].made(scale=())).model(x, np.float32(2), np.zeros(4, np.float32))
    all_ = axon.from_onnx(TAKEN[0].made()).model(
        x, np.full(4, 2, np.float32), np.zeros(4, np.float32)
    )
    assert np.allclose(one, all_)


def test_suppression_takes_the_first_of_more_numbers() -> None:
    case = Case(
        "NonMaxSuppression",
        {"boxes": (1, 6, 4), "scores": (1, 1, 6), "most": whole(1), "iou": (1,), "score": (1,)},
        [],
    )
    for other in ({}, {"most": whole(2)}, {"iou": (2,), "score": (3,)}):
        assert not errors(case.made(**other)) and not refused(case.made(**other))
