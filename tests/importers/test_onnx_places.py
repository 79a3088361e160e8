"""What puts things in places, and what samples images, with sizes that have names: the types that
are inferred, and the values, against the reference evaluator of the onnx package.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto
from onnx.reference import ReferenceEvaluator

import axon
from tests.importers.onnx_models import infer_model, ints, model, node, scalar, value

RANDOM = np.random.default_rng(0)


def floats(*shape: int) -> Any:
    return RANDOM.normal(size=shape).astype(np.float32)


def shape(made: Any, name: str = "y") -> Any:
    report = infer_model(made, "m")
    assert report.ok, report.diagnostics
    return report.tensors[name].shape


def same(made: Any, *args: Any) -> None:
    """The program gives what the reference gives."""
    names = [info.name for info in made.graph.input]
    expected = ReferenceEvaluator(made).run(None, dict(zip(names, args, strict=True)))
    found = axon.from_onnx(made).model(*args)
    found = found if isinstance(found, tuple) else (found,)
    for a, b in zip(found, expected, strict=True):
        assert np.asarray(a).shape == np.asarray(b).shape
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-4, atol=1e-5)


IMAGE = {"x": ["n", 3, "h", "w"]}


# --- Resize ----------------------------------------------------------------------------------


def resized(*scales: float, **attributes: Any) -> Any:
    weights = {"s": np.array(scales, np.float32)}
    return model([node("Resize", "x - s", "y", **attributes)], IMAGE, {"y": None}, weights)


def test_scales_that_floats_have_exactly() -> None:
    assert shape(resized(1, 1, 2, 2)) == ("n", 3, "2*h", "2*w")
    assert shape(resized(1, 1, 0.5, 1.5)) == ("n", 3, "h/2", "w + w/2")
    same(resized(1, 1, 0.5, 1.5, mode="linear"), floats(2, 3, 5, 7))


def test_scales_that_floats_do_not_have() -> None:
    """Of a number they make one, unless that depends on the rounding; a name stays open."""
    made = resized(1, 1, 0.7, 0.7)
    found = shape(made)
    assert found[:2] == ("n", 3) and found[2] not in ("h", "7*h/10")
    known = model([node("Resize", "x - s", "y")], {"x": [1, 1, 10, 9]}, {"y": None},
                  {"s": np.array([1, 1, 0.7, 0.7], np.float32)})  # fmt: skip
    assert not isinstance(shape(known)[2], int)
    assert shape(known)[3] == 6
    same(made, floats(2, 3, 9, 9))


def test_the_size_of_another_tensor() -> None:
    nodes = [
        node("Shape", "z", "s"),
        node("Slice", "s two four", "hw"),
        node("Shape", "x", "t"),
        node("Slice", "t zero two", "nc"),
        node("Concat", "nc hw", "sizes", axis=0),
        node("Resize", "x - - sizes", "y", mode="linear"),
        node("Add", "y z", "sum"),
    ]
    weights = {"zero": ints(0), "two": ints(2), "four": ints(4)}
    given = {"x": ["n", 3, "h", "w"], "z": ["n", 3, "a", "b"]}
    made = model(nodes, given, {"sum": None}, weights)
    assert shape(made) == ("n", 3, "a", "b")
    text = str(axon.from_onnx(made).model)
    assert text.endswith("-> f32 [n,3,a,b]")
    same(made, floats(1, 3, 4, 4), floats(1, 3, 7, 9))


def test_scales_at_run_time() -> None:
    made = model(
        [node("Resize", "x - s", "y", mode="linear")], {"x": [1, 1, 4, 6], "s": [4]}, {"y": None}
    )
    same(made, floats(1, 1, 4, 6), np.array([1, 1, 2, 0.5], np.float32))


def test_an_empty_tensor_of_sizes() -> None:
    weights = {"s": np.array([1, 1, 2, 3], np.float32), "none": ints()}
    made = model([node("Resize", "x - s none", "y")], IMAGE, {"y": None}, weights)
    assert shape(made) == ("n", 3, "2*h", "3*w")


# --- Pad -------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
def test_pads_of_an_image(mode: str) -> None:
    made = model([node("Pad", "x p", "y", mode=mode)], IMAGE, {"y": None},
                 {"p": ints(0, 0, 1, 2, 0, 0, 3, 0)}, opset=19)  # fmt: skip
    assert shape(made) == ("n", 3, "h + 4", "w + 2")
    same(made, floats(2, 3, 5, 6))


def test_negative_pads_cut_off() -> None:
    made = model(
        [node("Pad", "x p", "y")], IMAGE, {"y": None}, {"p": ints(0, 0, -1, 0, 0, 0, 2, -3)}
    )
    assert shape(made) == ("n", 3, "h + 1", "w - 3")
    x = floats(2, 3, 5, 6)
    expected = np.pad(x[:, :, 1:, :-3], ((0, 0), (0, 0), (0, 2), (0, 0)))
    np.testing.assert_array_equal(axon.from_onnx(made).model(x), expected)


def test_pads_up_to_a_multiple() -> None:
    """What many exporters write: as many as are missing, computed from the size."""
    nodes = [
        node("Shape", "x", "s"),
        node("Gather", "s one", "n"),
        node("Neg", "n", "less"),
        node("Mod", "less four", "more"),
        node("Concat", "nothing more", "pads", axis=0),
        node("Pad", "x pads", "y"),
    ]
    weights = {"one": ints(1), "four": ints(4), "nothing": ints(0, 0, 0)}
    made = model(nodes, {"x": ["b", "n"]}, {"y": None}, weights)
    assert len(shape(made)) == 2 and shape(made)[0] == "b"
    same(made, floats(2, 5))


# --- indices ---------------------------------------------------------------------------------


def test_gather_elements_of_a_part() -> None:
    given = [value("x", ["n", "m"]), value("i", ["k", "m"], TensorProto.INT64)]
    made = model([node("GatherElements", "x i", "y", axis=1)], given, {"y": None})
    assert shape(made) == ("k", "m")
    x, i = floats(4, 5), RANDOM.integers(-5, 5, (2, 5))
    found = axon.from_onnx(made).model(x, i)
    np.testing.assert_array_equal(found, np.take_along_axis(x[:2], i, axis=1))


def test_the_largest_as_many_as_the_run_says() -> None:
    given = [value("x", ["n", 7]), value("k", [1], TensorProto.INT64)]
    made = model(
        [node("TopK", "x k", "y i"), node("Relu", "y", "z")], given, {"z": None, "i": None}
    )
    assert shape(made)[0] == "n"
    same(made, floats(3, 7), ints(4))


def test_scatter_of_unknown_sizes() -> None:
    given = [
        value("x", ["n", "m"]),
        value("i", ["k", 1], TensorProto.INT64),
        value("u", ["k", "m"]),
    ]
    made = model([node("ScatterND", "x i u", "y", reduction="add")], given, {"y": None}, opset=18)
    assert shape(made) == ("n", "m")
    same(made, floats(4, 3), np.array([[1], [1], [-1]]), floats(3, 3))


def test_where_something_is_and_what() -> None:
    """NonZero, then GatherND: as masks are written."""
    nodes = [
        node("NonZero", "x", "where"),
        node("Transpose", "where", "rows", perm=[1, 0]),
        node("GatherND", "x rows", "y"),
    ]
    made = model(nodes, {"x": ["n", "m"]}, {"y": None})
    assert len(shape(made)) == 1
    same(made, floats(4, 3) * (RANDOM.random((4, 3)) < 0.5))


def test_one_hot_of_negative_numbers() -> None:
    given = [value("i", ["n"], TensorProto.INT64)]
    weights = {"depth": scalar(4), "values": np.array([-1, 5], np.float32)}
    made = model([node("OneHot", "i depth values", "y", axis=0)], given, {"y": None}, weights)
    assert shape(made) == (4, "n")
    found = axon.from_onnx(made).model(np.array([0, -1, 4, -5, 2]))
    expected = np.full((4, 5), -1, np.float32)
    expected[[0, 3, 2], [0, 1, 4]] = 5
    np.testing.assert_array_equal(found, expected)


# --- images ----------------------------------------------------------------------------------


def test_blocks_of_a_named_size() -> None:
    made = model([node("SpaceToDepth", "x", "y", blocksize=2)], IMAGE, {"y": None})
    assert shape(made) == ("n", 12, "h/2", "w/2")
    same(made, floats(1, 3, 4, 6))
    with pytest.raises(axon.ArgumentError):
        axon.from_onnx(made).model(floats(1, 3, 5, 6))


def test_a_grid_of_any_size() -> None:
    given = {"x": ["n", "c", "h", "w"], "g": ["n", "a", "b", 2]}
    made = model([node("GridSample", "x g", "y", mode="cubic")], given, {"y": None}, opset=20)
    assert shape(made) == ("n", "c", "a", "b")
    same(made, floats(2, 3, 5, 4), floats(2, 3, 3, 2))


def test_a_pool_and_where_it_looked() -> None:
    nodes = [node("MaxPool", "x", "y i", kernel_shape=[2, 2], strides=[2, 2])]
    nodes += [node("MaxUnpool", "y i", "z", kernel_shape=[2, 2], strides=[2, 2])]
    made = model(nodes, {"x": [1, 2, 4, 6]}, {"z": None})
    assert shape(made, "z") == (1, 2, 4, 6)
    same(made, floats(1, 2, 4, 6))


def test_a_transposed_convolution_to_a_size() -> None:
    weights = {"w": floats(2, 3, 3, 3)}
    attributes = {"strides": [2, 2], "output_shape": [9, 10]}
    nodes = [node("ConvTranspose", "x w", "y", **attributes)]
    made = model(nodes, {"x": ["n", 2, 5, 5]}, {"y": None}, weights)
    assert shape(made) == ("n", 3, 9, 10)
    assert axon.from_onnx(made).model(floats(2, 2, 5, 5)).shape == (2, 3, 9, 10)
    open_ = model(nodes, {"x": ["n", 2, "h", "w"]}, {"y": None}, weights)
    assert shape(open_) == ("n", 3, 9, 10)
