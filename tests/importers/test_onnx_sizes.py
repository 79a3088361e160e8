"""Sizes, axes and bounds that only the run knows, quotients of sizes, and quantised layers."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

import axon
from axon.types import dim as dims
from tests.importers.onnx_models import (
    INT64,
    floats,
    import_model,
    infer_model,
    ints,
    model,
    node,
    scalar,
    value,
)


def runs(
    nodes: list[Any], inputs: list[Any], *args: Any, weights: Any = None, opset: int = 18
) -> Any:
    """What a model gives in `y`, by the program that it becomes."""
    built = model(nodes, inputs, [value("y", None)], weights, opset=opset)
    return axon.from_onnx(built).model(*args)


X = numpy.arange(24, dtype="f4").reshape(2, 3, 4)
GIVEN = value("x", ["a", "b", "c"])


def vector(name: str, size: int | None) -> Any:
    return value(name, [size], INT64)


# --- what the run says -----------------------------------------------------------------------


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(("sizes", "shape"), [((0, -1), (2, 12)), ((6, 4), (6, 4))])
def test_reshape_by_a_vector(known: bool, sizes: Any, shape: Any) -> None:
    """The rank is known where the length of the vector is."""
    inputs = [GIVEN, vector("s", 2 if known else None)]
    made = runs([node("Reshape", "x s", "y")], inputs, X, ints(*sizes))
    assert numpy.array_equal(made, X.reshape(shape))


def test_a_shape_that_rests_on_values() -> None:
    """How many elements are not zero is known at run time, and so is what is computed with it."""
    nodes = [
        node("NonZero", "x", "where"),
        node("Shape", "where", "sizes"),
        node("ConstantOfShape", "sizes", "filled"),
        node("Reshape", "filled flat", "y"),
    ]
    x = numpy.array([[0, 1], [2, 3]], "f4")
    weights = {"flat": ints(-1)}
    assert runs(nodes, [value("x", ["a", "b"])], x, weights=weights).shape == (6,)


@pytest.mark.parametrize("keep", [0, 1])
@pytest.mark.parametrize("axes", [(1,), (0, -1)])
def test_reduce_along_axes_of_the_run(axes: Any, keep: int) -> None:
    inputs = [GIVEN, vector("axes", len(axes))]
    for kind, true in (
        ("ReduceSum", numpy.sum),
        ("ReduceMax", numpy.max),
        ("ReduceMean", numpy.mean),
    ):
        made = runs([node(kind, "x axes", "y", keepdims=keep)], inputs, X, ints(*axes))
        numpy.testing.assert_allclose(made, true(X, axis=axes, keepdims=bool(keep)), rtol=1e-6)


def test_nothing_reduced_is_still_squared() -> None:
    for kind, true in (("ReduceSumSquare", X * X), ("ReduceL1", X), ("ReduceSum", X)):
        nodes = [node(kind, "x axes", "y", noop_with_empty_axes=1)]
        made = runs(nodes, [GIVEN, vector("axes", 0)], X, ints())
        assert numpy.array_equal(made, true)
        assert numpy.array_equal(
            runs([node(kind, "x", "y", noop_with_empty_axes=1)], [GIVEN], X), true
        )


def test_split_and_tile_by_vectors() -> None:
    built = model(
        [node("Split", "x s", "p q", axis=1), node("Tile", "p t", "r")],
        [GIVEN, vector("s", 2), vector("t", 3)],
        [value("q", None), value("r", None)],
        opset=18,
    )
    q, r = axon.from_onnx(built).model(X, ints(1, 2), ints(1, 4, 2))
    assert numpy.array_equal(q, X[:, 1:])
    assert numpy.array_equal(r, numpy.tile(X[:, :1], (1, 4, 2)))


def test_slices_that_go_backwards_have_sizes() -> None:
    weights = {"s": ints(-1, 2), "e": ints(-(2**62), 0), "a": ints(2, 1), "t": ints(-3, -1)}
    nodes = [node("Slice", "x s e a t", "y")]
    report = infer_model(model(nodes, [value("x", [2, 3, 4])], [value("y", None)], weights), "m")
    assert tuple(report.tensors["y"].shape or ()) == (2, 2, 2)
    made = runs(nodes, [GIVEN], X, weights=weights)
    assert numpy.array_equal(made, X[:, 2:0:-1, ::-3])


def test_what_is_known_is_not_lost_where_a_part_is_not() -> None:
    nodes = [node("Slice", "x s e a", "y")]
    inputs = [GIVEN, vector("s", 1), vector("e", 1)]
    report = infer_model(model(nodes, inputs, [value("y", None)], {"a": ints(1)}), "m")
    first, _, last = report.tensors["y"].shape or ()
    assert (first, last) == ("a", "c")
    made = runs(nodes, inputs, X, ints(-2), ints(1000), weights={"a": ints(1)})
    assert numpy.array_equal(made, X[:, -2:])


# --- quotients -------------------------------------------------------------------------------


@pytest.mark.parametrize(("less", "by"), [(1, 4), (5, 2), (3, 7), (0, 2), (20, 3)])
def test_quotients_of_sizes_are_rounded_towards_zero(less: int, by: int) -> None:
    """As ONNX does, for every size: a range of 10 + (n - less) / by numbers."""
    nodes = [
        node("Shape", "x", "n"),
        node("Sub", "n less", "d"),
        node("Div", "d by", "q"),
        node("Add", "q ten", "s"),
        node("ConstantOfShape", "s", "y"),
    ]
    weights = {"less": ints(less), "by": ints(by), "ten": ints(10)}
    net = axon.from_onnx(model(nodes, {"x": ["n"]}, {"y": None}, weights))
    for n in range(12):
        assert net.model(floats(n)).shape == (10 + int((n - less) / by),), n


# --- constants -------------------------------------------------------------------------------


def test_constants_of_every_kind_and_inside_functions() -> None:
    body = [
        helper.make_node("Constant", [], ["k"], value_float=2.5),
        helper.make_node("Constant", [], ["m"], value_floats=[1.0, 2.0]),
        helper.make_node("Mul", ["a", "k"], ["b"]),
        helper.make_node("Add", ["b", "m"], ["c"]),
    ]
    opsets = [helper.make_opsetid("", 17)]
    twice = helper.make_function("local", "Twice", ["a"], ["c"], body, opsets)
    calls = [
        helper.make_node("Twice", ["x"], ["h"], domain="local"),
        helper.make_node("Twice", ["h"], ["y"], domain="local"),
    ]
    built = model(calls, {"x": [2]}, {"y": None}, functions=[twice])
    x = numpy.array([1, 10], "f4")
    step = numpy.array([1, 2], "f4")
    numpy.testing.assert_allclose(axon.from_onnx(built).model(x), (x * 2.5 + step) * 2.5 + step)


# --- quantised -------------------------------------------------------------------------------


def test_quantised_weights_by_channel() -> None:
    weights = {
        "w": numpy.arange(-12, 12, dtype="i1").reshape(4, 3, 2),
        "s": numpy.array([0.5, 1, 2], "f4"),
        "z": numpy.array([0, 1, -1], "i1"),
    }
    nodes = [node("DequantizeLinear", "w s z", "v", axis=1), node("Add", "x v", "y")]
    made = runs(nodes, [value("x", [])], numpy.float32(1), weights=weights)
    scale, zero = weights["s"][:, None], weights["z"][:, None].astype("f4")
    assert numpy.array_equal(made, 1 + (weights["w"] - zero) * scale)


def test_a_quantised_convolution_with_a_bias() -> None:
    random = numpy.random.default_rng(0)
    x = random.integers(0, 255, (1, 2, 5, 5)).astype("u1")
    w = random.integers(-9, 9, (3, 2, 3, 3)).astype("i1")
    weights: dict[str, Any] = {
        "xs": numpy.float32(0.5), "xz": numpy.uint8(7), "w": w,
        "b": numpy.array([5, -900, 0], "i4"),
        "ws": numpy.array([0.1, 0.2, 0.3], "f4"), "wz": numpy.zeros(3, "i1"),
        "ys": numpy.float32(3), "yz": numpy.uint8(100),
    }  # fmt: skip
    given = {name: numpy.asarray(item) for name, item in weights.items()}
    nodes = [node("QLinearConv", "x xs xz w ws wz ys yz b", "y", pads=[1, 1, 1, 1])]
    made = runs(nodes, [value("x", ["n", 2, "h", "w"], TensorProto.UINT8)], x, weights=given)
    wide = numpy.pad(x.astype("i8") - 7, ((0, 0), (0, 0), (1, 1), (1, 1)))
    seen = numpy.lib.stride_tricks.sliding_window_view(wide, (3, 3), axis=(2, 3))
    total = numpy.einsum("nchwij,kcij->nkhw", seen, w.astype("i8")) + given["b"][:, None, None]
    true = numpy.rint(total * (0.5 * given["ws"][:, None, None]) / 3) + 100
    assert numpy.abs(made.astype(int) - true.clip(0, 255)).max() <= 1
    assert (made == true.clip(0, 255)).mean() > 0.97


# --- files can say anything ------------------------------------------------------------------

ODD = [
    (node("Slice", "x s s s z", "y"), {"s": ints(0), "z": ints(0)}),
    (node("Slice", "x s s s", "y"), {"s": ints(99)}),
    (node("Reshape", "x s", "y"), {"s": ints(-1, -1)}),
    (node("Reshape", "x s", "y"), {"s": ints(-7, 2**62, 2**62)}),
    (node("Tile", "x s", "y"), {"s": ints(2**62, -1, 5)}),
    (node("Tile", "x s", "y"), {"s": scalar(3)}),
    (node("Expand", "x s", "y"), {"s": ints(-1, 2**62)}),
    (node("Unsqueeze", "x s", "y"), {"s": ints(10**6)}),
    (node("Unsqueeze", "x s", "y"), {"s": ints(0, 0)}),
    (node("Squeeze", "x s", "y"), {"s": ints(-9)}),
    (node("ReduceSum", "x s", "y"), {"s": ints(7, 7)}),
    (node("Split", "x s", "y q", axis=9), {"s": ints(-1, 2)}),
    (node("Range", "s s s", "y"), {"s": scalar(0)}),
    (node("ConstantOfShape", "s", "y"), {"s": ints(-4)}),
    (node("Flatten", "x", "y", axis=-(10**9)), {}),
    (node("Flatten", "u", "y", axis=10**9), {}),
    (node("BitShift", "x x", "y", direction="UP"), {}),
    (node("BitCast", "x", "y", to=99), {}),
    (node("QuantizeLinear", "x s z", "y", axis=77), {"s": floats(3), "z": ints(1, 2)}),
    (node("DequantizeLinear", "x s", "y", axis=1, block_size=-3), {"s": floats(2, 3, 4)}),
    (node("QLinearMatMul", "x s s x s s s s", "y"), {"s": scalar(1)}),
    (node("QLinearConv", "x s s x s s s s", "y", strides=[0, -1]), {"s": scalar(1)}),
    (node("ConvInteger", "x x", "y", group=-2, pads=[-5]), {}),
    (node("DFT", "x - a", "y"), {"a": scalar(-1)}),
    (node("DFT", "x a", "y", axis=10**12), {"a": scalar(-3)}),
    (node("STFT", "x a", "y"), {"a": scalar(0)}),
    (node("STFT", "x a - a", "y"), {"a": scalar(-1)}),
    (node("HannWindow", "a", "y", output_datatype=99), {"a": scalar(-5)}),
    (node("MelWeightMatrix", "a a a a a", "y"), {"a": scalar(-5)}),
    (node("Einsum", "x x", "y", equation="..ij,,"), {}),
    (node("Celu", "x", "y", alpha=0.0), {}),
    (node("Shape", "x", "y", start=10**12, end=-(10**12)), {}),
]


@pytest.mark.parametrize(
    ("odd", "weights"), ODD, ids=[f"{n.op_type} {i}" for i, (n, _) in enumerate(ODD)]
)
def test_nonsense_is_no_crash(odd: Any, weights: Any) -> None:
    inputs = [value("x", ["a", 3, 4]), value("u", None)]
    built = model([odd], inputs, [value("y", None)], weights, opset=20)
    infer_model(built, "m")
    with suppress(axon.AxonError):
        axon.from_onnx(built)


# --- counted ---------------------------------------------------------------------------------


def ones(value_: int) -> list[Any]:
    """As many of a number as a tensor has rows, and the places of those that are not zero."""
    filling = helper.make_tensor("v", TensorProto.INT64, [1], [value_])
    return [
        node("Shape", "x", "rows", end=1),
        helper.make_node("ConstantOfShape", ["rows"], ["filled"], value=filling),
        node("NonZero", "filled", "y"),
    ]


@pytest.mark.parametrize(("number", "count"), [(1, "a"), (-2, "a"), (0, 0)])
def test_exporters_count_with_ones(number: int, count: Any) -> None:
    made = model(ones(number), [GIVEN], [value("y", None)])
    assert infer_model(made, "m").tensors["y"].shape == (1, count)
    places = axon.from_onnx(made).model(X)
    assert numpy.array_equal(places, numpy.nonzero(numpy.full(2, number)))


def test_others_of_that_type_may_hold_anything() -> None:
    """Also where nodes come so often that they are remembered."""
    nodes = ones(1)
    for i in range(8):
        nodes += [node("NonZero", "given", f"b{i}"), node("NonZero", "filled", f"c{i}")]
    made = model(nodes, [GIVEN, value("given", ["a"], INT64)], [value("y", None)])
    tensors = infer_model(made, "m").tensors
    assert {tensors[f"c{i}"].shape for i in range(8)} == {(1, "a")}
    assert len({tensors[f"b{i}"].shape for i in range(8)} - {(1, "a")}) == 8


def test_what_is_not_zero_in_a_weight_is_counted() -> None:
    weights = {"w": numpy.array([[1, 0], [2, 3]])}
    made = model([node("NonZero", "w", "y")], [GIVEN], [value("y", None)], weights)
    assert infer_model(made, "m").tensors["y"].shape == (2, 3)


@pytest.mark.parametrize("step", [1.0, 2.0, 0.5, 3.0, 0.1, -1.0])
@pytest.mark.parametrize("start", [0.0, 0.5, 2.0])
def test_floats_are_counted_as_they_are_made(start: float, step: float) -> None:
    nodes = [
        node("Shape", "x", "rows", end=1),
        node("Squeeze", "rows", "row"),
        node("Cast", "row", "stop", to=TensorProto.FLOAT),
        node("Range", "start stop step", "y"),
    ]
    weights = {"start": numpy.float32(start), "step": numpy.float32(step)}
    made = model(nodes, [value("x", ["n"])], [value("y", None)], weights)
    imported = import_model(made, "m")
    shapes: Any = [imported.type(name).shape for name in "xy"]  # type: ignore[union-attr]
    (x,), (size,) = shapes
    assert set(dims.variables(size)) <= {x} or step == 0.1
    for n in (*range(12), 100, 1000):
        (truth,) = ReferenceEvaluator(made).run(None, {"x": floats(n)})
        assert dims.evaluate(size, {x: n}) in (None, len(truth))


@pytest.mark.parametrize("op", ["ReduceMax", "ReduceMin", "ReduceSum", "ReduceProd"])
@pytest.mark.parametrize("keep", [0, 1])
@pytest.mark.parametrize("axis", [0, 1])
def test_sizes_that_are_reduced(op: str, keep: int, axis: int) -> None:
    """The sizes of two tensors, one below the other, reduced along rows or columns."""
    nodes = [
        *(node("Shape", name, f"s{name}", start=1) for name in "xz"),
        *(node("Unsqueeze", f"s{name} zero", f"u{name}") for name in "xz"),
        node("Concat", "ux uz", "both", axis=0),
        node(op, "both axis", "few", keepdims=keep)
        if op == "ReduceSum"
        else node(op, "both", "few", keepdims=keep, axes=[axis]),
        node("Reshape", "few flat", "sizes"),
        node("ConstantOfShape", "sizes", "y"),
    ]
    weights = {"zero": ints(0), "axis": ints(axis), "flat": ints(-1)}
    inputs = [value("x", [1, "a", "b"]), value("z", [1, "c", "d"])]
    made = model(nodes, inputs, [value("y", None)], weights)
    imported = import_model(made, "m")
    assert set(imported.names().given.values()) >= set("abcd")
    args = floats(1, 2, 3), floats(1, 3, 4)
    (truth,) = ReferenceEvaluator(made).run(None, dict(zip("xz", args, strict=True)))
    shapes: Any = [imported.type(name).shape for name in "xzy"]  # type: ignore[union-attr]
    known = dict(zip([*shapes[0][1:], *shapes[1][1:]], (2, 3, 3, 4), strict=True))
    assert tuple(dims.evaluate(size, known) for size in shapes[2]) == truth.shape


def test_a_size_of_a_tensor_is_not_minus_one() -> None:
    """Exporters ask whether a size is -1, which means that the tensor keeps its own."""
    nodes = [
        node("Conv", "x w", "c"),
        node("Shape", "c", "s", start=2),
        node("Equal", "s minus", "open"),
        node("Where", "open one s", "size"),
        node("ConstantOfShape", "size", "y"),
    ]
    weights = {"w": floats(1, 1, 3), "minus": ints(-1), "one": ints(1)}
    made = model(nodes, [value("x", [1, 1, "n"])], [value("y", None)], weights)
    assert infer_model(made, "m").tensors["y"].shape == ("n - 2",)


def test_remainders_are_written_in_plain_arithmetic_for_scripts() -> None:
    nodes = [
        node("Shape", "x", "s", end=1),
        node("Mod", "s four", "rest"),
        node("ConstantOfShape", "rest", "y"),
    ]
    made = model(nodes, [value("x", ["n"])], [value("y", None)], {"four": ints(4)})
    report = infer_model(made, "m")
    assert report.signature == "f32 [n] -> f32 [(n mod 4)]"
    assert report.tensors["y"].shape == ("n - 4*(n/4)",)


# --- what is not followed --------------------------------------------------------------------


@pytest.mark.parametrize("elem", [TensorProto.INT8, TensorProto.UINT8, TensorProto.INT16])
@pytest.mark.parametrize("size", [3, 200, 300])
def test_narrow_integers_go_round(elem: int, size: int) -> None:
    nodes = [
        node("Shape", "x", "s"),
        node("Cast", "s", "narrow", to=elem),
        node("Abs", "narrow", "there"),
        node("Cast", "there", "back", to=INT64),
        node("ConstantOfShape", "back", "y"),
    ]
    made = model(nodes, [value("x", ["n"])], [value("y", None)])
    assert infer_model(made, "m").tensors["y"].shape != ("n",)
    (truth,) = ReferenceEvaluator(made).run(None, {"x": floats(size)})
    assert axon.from_onnx(made).model(floats(size)).shape == truth.shape


@pytest.mark.parametrize("size", [1, 3, 7])
def test_a_divisor_may_be_negative(size: int) -> None:
    nodes = [
        node("Shape", "x", "s"),
        node("Sub", "s five", "less"),
        node("Div", "ten less", "part"),
        node("Add", "part ten", "size"),
        node("ConstantOfShape", "size", "y"),
    ]
    weights = {"five": ints(5), "ten": ints(10)}
    made = model(nodes, [value("x", ["n"])], [value("y", None)], weights)
    (truth,) = ReferenceEvaluator(made).run(None, {"x": floats(size)})
    assert axon.from_onnx(made).model(floats(size)).shape == truth.shape


def test_a_float_that_may_not_be_exact_asks_for_nothing_absurd() -> None:
    nodes = [
        *(node("Shape", name, f"s{name}") for name in "xz"),
        node("Sub", "sx sz", "gap"),
        node("Squeeze", "gap", "one"),
        node("Cast", "one", "float", to=TensorProto.FLOAT),
        node("Add", "float start", "stop"),
        node("Range", "start stop step", "y"),
    ]
    weights = {"start": numpy.float32(0.3), "step": numpy.float32(1)}
    made = model(nodes, [value("x", ["n"]), value("z", ["m"])], [value("y", None)], weights)
    assert infer_model(made, "m").guards == ()
    assert axon.from_onnx(made).model(floats(3), floats(1)).shape == (2,)


def test_a_tensor_may_be_filled_with_what_is_no_number() -> None:
    filling = helper.make_tensor("v", TensorProto.FLOAT, [1], [float("nan")])
    nodes = [
        node("Shape", "x", "s"),
        helper.make_node("ConstantOfShape", ["s"], ["y"], value=filling),
    ]
    made = model(nodes, [value("x", ["n"])], [value("y", None)])
    assert numpy.isnan(axon.from_onnx(made).model(floats(3))).all()


def test_axes_of_a_slice_may_count_from_both_ends() -> None:
    nodes = [node("Slice", "x from to axes", "y")]
    inputs = [value("x", ["a", "b"]), vector("from", 2), vector("to", 2)]
    built = model(nodes, inputs, [value("y", None)], {"axes": ints(-2, 1)}, opset=18)
    found = axon.from_onnx(built).model(X[0], ints(1, 0), ints(3, 2))
    assert numpy.array_equal(found, X[0][1:3, 0:2])


# --- ranks -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "made",
    [
        node("Pad", "x by", "y"),
        node("Resize", "x - - by", "y"),
        node("Slice", "x by by", "y"),
    ],
    ids=lambda each: each.op_type,
)
def test_a_rank_goes_through_what_keeps_it(made: Any) -> None:
    """A convolution tells it, though the run says how much is padded or cut."""
    nodes = [made, node("Conv", "y w", "z")]
    inputs = [value("x", None), value("by", None, INT64)]
    weights = {"w": floats(4, 3, 3, 3)}
    found = infer_model(model(nodes, inputs, [value("z", None)], weights), "m").tensors["x"]
    assert found.shape is not None and len(found.shape) == 4


def test_a_grid_tells_the_rank_of_what_is_sampled() -> None:
    nodes = [node("GridSample", "x grid", "y")]
    inputs = [value("x", None), value("grid", ["n", "h", "w", 2])]
    tensors = infer_model(model(nodes, inputs, [value("y", None)]), "m").tensors
    assert len(tensors["x"].shape or ()) == 4
    assert (tensors["y"].shape or ())[2:] == ("h", "w")
