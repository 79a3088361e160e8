"""Files that are no models, or models that make no sense: never a traceback, never a file."""

from __future__ import annotations

import builtins
import importlib
import os
import random
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import onnx
import pytest
from onnx import TensorProto, helper

from axon.importers.onnx.rules.registry import RULES
from tests.importers.onnx_models import (
    FLOAT,
    INT64,
    floats,
    ints,
    model,
    node,
    save,
    scalar,
    value,
)
from tests.shell import Outcome, axon

importlib.import_module("axon.importers.onnx.model")  # it enters the rules
SLOWEST = 30.0
"""Seconds of the processor, so that it does not count what else the machine does."""


def survives(folder: Path, name: str = "m.onnx") -> Outcome:
    """Run on a file: as text with the inputs' shapes, and as JSON without."""
    before = sorted(str(path) for path in folder.rglob("*"))
    found = axon(["infer", name], folder)
    for outcome in (found, axon(["infer", name, "--json", "--forget-inputs"], folder)):
        assert outcome.status in (0, 1, 2)
        assert "Traceback" not in outcome.terminal
        assert "a bug in Axon" not in outcome.terminal
        if outcome.status == 2:
            assert outcome.stdout == ""
            assert outcome.stderr.startswith("axon: ")
    assert sorted(str(path) for path in folder.rglob("*")) == before
    return found


def good() -> Any:
    nodes = [node("MatMul", "x w", "y"), node("Relu", "y", "z")]
    return model(nodes, {"x": ["n", 4]}, {"z": ["n", 5]}, {"w": floats(4, 5)})


# --- no models ---------------------------------------------------------------------------------


def noise(size: int) -> bytes:
    return random.Random(size).randbytes(size)


BYTES: dict[str, bytes] = {
    "empty": b"",
    "text": b"this is not a model\n",
    "python": b"import onnx\n" * 100,
    "json": b'{"graph": {}}',
    "zeros": bytes(1000),
    "ones": b"\xff" * 1000,
    "pickle": b"\x80\x04\x95\x00",
    "hdf5": b"\x89HDF\r\n\x1a\n" + bytes(64),
    "open length": b"\x3a\xff\xff\xff\xff\x0f",
    "empty graph": b"\x3a\x00",
    **{f"noise {n}": noise(n) for n in (1, 2, 3, 7, 64, 1000, 65_536)},
}


@pytest.mark.parametrize("kind", BYTES)
def test_bytes_that_are_no_model(kind: str, tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(BYTES[kind])
    assert survives(tmp_path).status == 2


@pytest.mark.parametrize("part", range(20))
def test_a_model_that_is_cut_off(part: int, tmp_path: Path) -> None:
    whole = good().SerializeToString()
    (tmp_path / "m.onnx").write_bytes(whole[: len(whole) * part // 20])
    survives(tmp_path)


@pytest.mark.parametrize("seed", range(40))
def test_a_model_with_wrong_bytes(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    whole = bytearray(good().SerializeToString())
    for _ in range(chance.randint(1, 8)):
        whole[chance.randrange(len(whole))] = chance.randrange(256)
    (tmp_path / "m.onnx").write_bytes(bytes(whole))
    survives(tmp_path)


def test_a_zip_file(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "m.onnx", "w") as archive:
        archive.writestr("a.npy", b"1")
    assert "zip file" in survives(tmp_path).stderr


def test_a_folder(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").mkdir()
    assert survives(tmp_path).status == 2


@pytest.mark.parametrize("name", ["m.onnx", "no/such/m.onnx", "\0.onnx", "x" * 5000 + ".onnx"])
def test_a_file_that_is_not_there(name: str, tmp_path: Path) -> None:
    assert survives(tmp_path, name).status == 2


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "m.onnx")
    assert survives(tmp_path).status == 2


# --- graphs that make no sense -----------------------------------------------------------------


def no_graph() -> Any:
    made = good()
    made.ClearField("graph")
    return made


def no_nodes() -> Any:
    return model([], {"x": ["n"]}, {"x": ["n"]})


def nothing_made() -> Any:
    return model([], {}, {"y": ["n"]})


def cycle() -> Any:
    nodes = [node("Add", "x b", "a"), node("Relu", "a", "b")]
    return model(nodes, {"x": ["n"]}, {"b": ["n"]})


def own_input() -> Any:
    return model([node("Relu", "a", "a")], {}, {"a": None})


def undefined() -> Any:
    return model([node("MatMul", "x nowhere", "y")], {"x": ["n", 4]}, {"y": None})


def twice_made() -> Any:
    nodes = [node("Relu", "x", "y"), node("MatMul", "x w", "y"), node("Relu", "y", "z")]
    return model(nodes, {"x": ["n", 4]}, {"z": None}, {"w": floats(4, 5)})


def same_output_twice() -> Any:
    return model([node("Split", "x", "y y y", axis=0)], {"x": [6]}, {"y": None})


def input_made_again() -> Any:
    return model([node("Shape", "x", "x")], {"x": ["n"]}, {"x": None})


def twice_a_weight() -> Any:
    made = good()
    made.graph.initializer.append(helper.make_tensor("w", FLOAT, [2], [1, 2]))
    return made


def weights_without_names() -> Any:
    made = good()
    for initialiser in made.graph.initializer:
        initialiser.ClearField("name")
    return made


def twice_an_input() -> Any:
    return model([node("Relu", "x", "y")], [value("x", ["n"]), value("x", [3, 4])], {"y": None})


def twice_an_output() -> Any:
    return model([node("Relu", "x", "y")], {"x": [3]}, [value("y", [3]), value("y", [4])])


def names_missing() -> Any:
    made = model([helper.make_node("Relu", [""], [""])], [value("", [3])], [value("", [3])])
    made.graph.node.append(helper.make_node("", ["x"], ["y"]))
    return made


def weight(dims: list[int], elem: int = FLOAT, raw: bytes | None = None) -> Any:
    made = good()
    tensor = made.graph.initializer[0]
    tensor.ClearField("dims")
    tensor.dims.extend(dims)
    tensor.data_type = elem
    if raw is not None:
        tensor.raw_data = raw
    return made


def size_weight(dims: list[int], raw: bytes, elem: int = INT64) -> Any:
    made = model([node("Reshape", "x s", "y")], {"x": ["n", 4]}, {"y": None}, {"s": ints(2, -1)})
    tensor = made.graph.initializer[0]
    tensor.ClearField("dims")
    tensor.dims.extend(dims)
    tensor.data_type = elem
    tensor.raw_data = raw
    return made


def listed_weight(*numbers: int) -> Any:
    """A weight of u8 as a list, in which any number can stand."""
    made = size_weight([len(numbers)], b"", onnx.TensorProto.UINT8)
    made.graph.initializer[0].ClearField("raw_data")
    made.graph.initializer[0].int32_data.extend(numbers)
    return made


def sized(*shape: int) -> Any:
    made = good()
    made.graph.input[0].CopyFrom(value("x", list(shape)))
    return made


def wide_input(op: str, size: int) -> Any:
    inputs = [value("x", ["n", 4]), value("s", [size], INT64)]
    return model([node(op, "x s", "y")], inputs, {"y": None})


def shape_of_a_shape(op: str, size: int) -> Any:
    return model([node(op, "s", "y")], [value("s", [size], INT64)], {"y": None})


def nested(depth: int) -> Any:
    inner = helper.make_graph([node("Relu", "x", "y")], "inner", [], [value("y")])
    for level in range(depth):
        branch = node("If", "c", "y", then_branch=inner, else_branch=inner)
        if level > 6:  # two branches a level would be 2 ** depth nodes
            branch = node("If", "c", "y", then_branch=inner)
        inner = helper.make_graph([branch], "inner", [], [value("y")])
    condition = value("c", [], TensorProto.BOOL)
    return model(list(inner.node), [value("x", ["n"]), condition], {"y": None})


def one(op: str, inputs: str = "x", outputs: str = "y", **attributes: Any) -> Any:
    weights = {"w": floats(8, 4, 3, 3), "i": ints(0, 99), "s": ints(2, -5), "z": scalar(0)}
    return model([node(op, inputs, outputs, **attributes)], {"x": ["n", 4, 8, 8]}, {}, weights)


def untyped_attribute() -> Any:
    made = one("Conv", "x w", strides=[1, 1])
    made.graph.node[0].attribute[0].ClearField("type")
    return made


def twice_an_attribute() -> Any:
    made = one("Conv", "x w", strides=[1, 1])
    made.graph.node[0].attribute.append(helper.make_attribute("strides", "no"))
    return made


def bomb(op: str, count: int = 200) -> Any:
    """A size that is squared, again and again."""
    nodes = [node("Shape", "x", "a0"), node("Add", "a0 one", "b0")]
    nodes += [node(op, f"b{i} b{i}", f"b{i + 1}") for i in range(count)]
    nodes.append(node("Reshape", f"x b{count}", "y"))
    return model(nodes, {"x": ["n", "m"]}, {"y": None}, {"one": ints(1)})


def number_bomb(op: str) -> Any:
    nodes = [node(op, f"b{i} b{i}", f"b{i + 1}") for i in range(200)]
    nodes.append(node("ConstantOfShape", "b200", "y"))
    return model(nodes, {}, {"y": None}, {"b0": ints(3)})


def tile_bomb(first: list[Any]) -> Any:
    nodes = []
    for i in range(100):
        nodes += [node("Shape", f"x{i}", f"s{i}"), node("Tile", f"x{i} s{i}", f"x{i + 1}")]
    return model(nodes, {"x0": first}, {"x100": None})


def concat_bomb() -> Any:
    nodes = [node("Concat", f"x{i} x{i}", f"x{i + 1}", axis=0) for i in range(200)]
    return model(nodes, {"x0": ["n"]}, {"x200": None})


def contents_bomb() -> Any:
    nodes = [node("Concat", f"x{i} x{i}", f"x{i + 1}", axis=0) for i in range(60)]
    return model(nodes, {}, {"x60": None}, {"x0": ints(1, 2)})


def product_bomb() -> Any:
    """(a0 + 1) * (a1 + 1) * …"""
    made = [node("Pad", "x p", "y"), node("Flatten", "y", "z", axis=0)]
    shape = [f"a{i}" for i in range(30)]
    return model(made, {"x": shape}, {"z": None}, {"p": ints(*([1] * 60))})


def functions(calls: int) -> Any:
    """Two functions that call each other, several times each."""
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
    made = []
    for name, other in (("F", "G"), ("G", "F")):
        inner = [
            helper.make_node(other, ["a"], ["b" if i == 0 else f"c{i}"], domain="local")
            for i in range(calls)
        ]
        made.append(helper.make_function("local", name, ["a"], ["b"], inner, opsets))
    call = helper.make_node("F", ["x"], ["y"], domain="local")
    return model([call], {"x": ["n"]}, {"y": None}, functions=made)


def function_of_itself() -> Any:
    opsets = [helper.make_opsetid("", 17)]
    inner = [helper.make_node("F", ["a"], ["b"], domain="local")]
    made = helper.make_function("local", "F", ["a"], ["b"], inner, opsets)
    call = helper.make_node("F", [], [], domain="local")
    return model([call], {"x": ["n"]}, {"y": None}, functions=[made])


def named(name: str) -> Any:
    nodes = [node("MatMul", "x w", "y"), helper.make_node("Relu", ["y"], [name], name=name)]
    made = model(nodes, [value("x", [name, 4])], [value(name, [name, 5])], {"w": floats(4, 5)})
    made.graph.node.append(helper.make_node(name or "Op", [name], ["last"]))
    return made


def bad_text(field: str) -> Any:
    """A name that is no UTF-8: written as `@@@@`, replaced in the bytes."""
    made = good()
    match field:
        case "node":
            made.graph.node[0].name = "@@@@"
        case "op":
            made.graph.node[0].op_type = "@@@@"
        case "tensor":
            made.graph.node[0].output[0] = "@@@@"
        case "domain":
            made.opset_import[0].domain = "@@@@"
        case "function":
            opsets = [helper.make_opsetid("", 17)]
            made.functions.append(helper.make_function("local", "@@@@", [], [], [], opsets))
        case "param":
            made.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "@@@@"
        case "attribute":
            made.graph.node[0].attribute.append(helper.make_attribute("@@@@", 1))
        case "weight":
            made.graph.initializer[0].name = "@@@@"
        case _:
            made.graph.output[0].name = "@@@@"
    return made.SerializeToString().replace(b"@@@@", b"\xff\xfe\xc0\x80")


HUGE = 2**63 - 1
MAKERS: dict[str, Callable[[], Any]] = {
    "no graph": no_graph,
    "no nodes": no_nodes,
    "nothing made": nothing_made,
    "cycle": cycle,
    "own input": own_input,
    "undefined": undefined,
    "twice made": twice_made,
    "same output twice": same_output_twice,
    "input made again": input_made_again,
    "twice a weight": twice_a_weight,
    "weights without names": weights_without_names,
    "twice an input": twice_an_input,
    "twice an output": twice_an_output,
    "names missing": names_missing,
    "weight of other size": lambda: weight([4, 500]),
    "weight of negative size": lambda: weight([-4, 5]),
    "weight of huge size": lambda: weight([HUGE, HUGE]),
    "weight of many dims": lambda: weight([1] * 5000),
    "weight of no dims": lambda: weight([]),
    "weight of no type": lambda: weight([4, 5], 0),
    "weight of type 999": lambda: weight([4, 5], 999),
    "weight of strings": lambda: weight([4, 5], TensorProto.STRING),
    "weight without data": lambda: weight([4, 5], raw=b""),
    "weight with other data": lambda: weight([4, 5], raw=b"abc"),
    "sizes of other count": lambda: size_weight([3], ints(2, 2).tobytes()),
    "sizes without data": lambda: size_weight([2], b""),
    "sizes of part of a number": lambda: size_weight([2], b"abc"),
    "sizes of many dims": lambda: size_weight([1] * 100, ints(1).tobytes()),
    "sizes of none by huge": lambda: size_weight([0, HUGE], b""),
    "sizes that no u8 is": lambda: listed_weight(300, -1),
    "sizes as floats": lambda: size_weight([2], floats(2).tobytes(), FLOAT),
    "sizes as a matrix": lambda: size_weight([1, 2], ints(2, 2).tobytes()),
    "input -1": lambda: sized(-1, 4),
    "input minimum": lambda: sized(-(2**63), 4),
    "input 2**62": lambda: sized(2**62, 4),
    "input 2**62 twice": lambda: sized(2**62, 2**62),
    "input maximum": lambda: sized(HUGE, 4),
    "input of many dims": lambda: sized(*([1] * 3000)),
    "input of many big dims": lambda: sized(*([HUGE // 2] * 200)),
    "reshape to a huge rank": lambda: wide_input("Reshape", 2**40),
    "expand to a huge rank": lambda: wide_input("Expand", 2**40),
    "tile of a huge rank": lambda: wide_input("Tile", 2**40),
    "fill of a huge rank": lambda: shape_of_a_shape("ConstantOfShape", 2**40),
    "fill of rank 2**61": lambda: shape_of_a_shape("ConstantOfShape", 2**61),
    "nested 5": lambda: nested(5),
    "nested 20": lambda: nested(20),
    "nested 30": lambda: nested(30),
    "strides as a string": lambda: one("Conv", "x w", strides="two"),
    "strides as strings": lambda: one("Conv", "x w", strides=["a", "b"]),
    "strides as a number": lambda: one("Conv", "x w", strides=2),
    "strides as floats": lambda: one("Conv", "x w", strides=[1.5, 2.5]),
    "strides of zero": lambda: one("Conv", "x w", strides=[0, 0]),
    "strides below zero": lambda: one("Conv", "x w", strides=[-1, -(2**63)]),
    "too many strides": lambda: one("Conv", "x w", strides=[1] * 100_000),
    "huge pads": lambda: one("Conv", "x w", pads=[HUGE] * 4),
    "odd pads": lambda: one("Conv", "x w", pads=[1, 2, 3]),
    "no groups": lambda: one("Conv", "x w", group=0),
    "groups as a string": lambda: one("Conv", "x w", group="x"),
    "auto_pad as a number": lambda: one("Conv", "x w", auto_pad=3),
    "conv of a scalar": lambda: one("Conv", "x z"),
    "perm out of range": lambda: one("Transpose", perm=[9, 8, 7, 6]),
    "perm twice": lambda: one("Transpose", perm=[0, 0, 0, 0]),
    "perm too short": lambda: one("Transpose", perm=[0]),
    "perm of floats": lambda: one("Transpose", perm=[0.5, 1.5]),
    "huge perm": lambda: one("Transpose", perm=list(range(20_000))),
    "gather axis 99": lambda: one("Gather", "x i", axis=99),
    "gather axis string": lambda: one("Gather", "x i", axis="a"),
    "gather index 99": lambda: one("Gather", "i i"),
    "split into none": lambda: one("Split", "x", "", axis=1),
    "split axis 9": lambda: one("Split", "x", "a b", axis=9),
    "split of other sizes": lambda: one("Split", "x s", "a b", axis=1),
    "split of a scalar": lambda: one("Split", "z", "a b"),
    "reshape -5": lambda: one("Reshape", "x s"),
    "reshape by a scalar": lambda: one("Reshape", "x z"),
    "reshape by floats": lambda: one("Reshape", "x w"),
    "expand -5": lambda: one("Expand", "x s"),
    "expand by a scalar": lambda: one("Expand", "x z"),
    "tile -5": lambda: one("Tile", "i z"),
    "fill -5": lambda: one("ConstantOfShape", "s"),
    "fill with floats": lambda: one("ConstantOfShape", "w"),
    "fill with nothing": lambda: one("ConstantOfShape", "s", value=TensorProto()),
    "unsqueeze 99": lambda: one("Unsqueeze", "x i"),
    "squeeze 99": lambda: one("Squeeze", "x i"),
    "squeeze of more": lambda: one("Squeeze", "z i"),
    "slice of other counts": lambda: one("Slice", "x i z z"),
    "slice axis 99": lambda: one("Slice", "x i i i"),
    "slice by step 0": lambda: one("Slice", "x z z z z"),
    "pool without window": lambda: one("MaxPool"),
    "pool of one window": lambda: one("MaxPool", kernel_shape=[1]),
    "pool of a string": lambda: one("MaxPool", kernel_shape="3x3"),
    "pool of zero": lambda: one("MaxPool", kernel_shape=[0, 0]),
    "pool of huge": lambda: one("MaxPool", kernel_shape=[HUGE, HUGE]),
    "einsum of nothing": lambda: one("Einsum", equation="->"),
    "einsum of nonsense": lambda: one("Einsum", "x x", equation="a😀b,...,->z..."),
    "einsum of a number": lambda: one("Einsum", "x", equation=3),
    "cast to nothing": lambda: one("Cast", to=0),
    "cast to 999": lambda: one("Cast", to=999),
    "cast to a string": lambda: one("Cast", to="f32"),
    "flatten 99": lambda: one("Flatten", axis=99),
    "flatten -99": lambda: one("Flatten", axis=-99),
    "softmax 99": lambda: one("Softmax", axis=99),
    "concat 99": lambda: one("Concat", "i i", axis=99),
    "concat of a scalar": lambda: one("Concat", "z i", axis=0),
    "onehot 99": lambda: one("OneHot", "x z z", axis=99),
    "shape from a string": lambda: one("Shape", start="a"),
    "depth to space by 0": lambda: one("DepthToSpace", blocksize=0),
    "depth to space by -1": lambda: one("DepthToSpace", blocksize=-1),
    "space to depth by 0": lambda: one("SpaceToDepth", blocksize=0),
    "resize to nothing": lambda: one("Resize", "x - - i"),
    "resize by sizes": lambda: one("Resize", "x - i"),
    "resize by infinity": lambda: one("Upsample", scales=[float("inf"), float("nan")] * 2),
    "top k -5": lambda: one("TopK", "x s", "a b", axis=77),
    "range of lists": lambda: one("Range", "s s s"),
    "pad by one": lambda: one("Pad", "x z"),
    "constant of nothing": lambda: one("Constant", ""),
    "constant of strings": lambda: one("Constant", "", value_strings=["a"]),
    "constant of a string": lambda: one("Constant", "", value_ints="a"),
    "constant of a number": lambda: one("Constant", "", value=3),
    "reduce over 99": lambda: one("ReduceSum", "x i"),
    "attention of maps": lambda: one("Attention", "x x z"),
    "lstm of an image": lambda: one("LSTM", "x w w", "a b c"),
    "lstm of a scalar": lambda: one("LSTM", "z z z", "a b c"),
    "hidden size as text": lambda: one("LSTM", "x w w", "a", hidden_size="big"),
    "huge hidden size": lambda: one("GRU", "x w w", "a", hidden_size=-HUGE),
    "untyped attribute": untyped_attribute,
    "twice an attribute": twice_an_attribute,
    "bomb of products": lambda: bomb("Mul"),
    "bomb of sums": lambda: bomb("Add"),
    "bomb of maxima": lambda: bomb("Max"),
    "bomb of quotients": lambda: bomb("Div"),
    "bomb of rests": lambda: bomb("Mod"),
    "bomb of numbers": lambda: number_bomb("Mul"),
    "bomb of tiles": lambda: tile_bomb(["n"]),
    "bomb of tiles of numbers": lambda: tile_bomb([3]),
    "bomb of concat": concat_bomb,
    "bomb of factors": product_bomb,
    "bomb of contents": contents_bomb,
    "functions in a cycle": lambda: functions(1),
    "functions in cycles": lambda: functions(30),
    "function of itself": function_of_itself,
    "opset of -1": lambda: model([node("Softmax", "x", "y")], {"x": [3]}, {"y": None}, opset=-1),
    "opset maximum": lambda: model([node("Relu", "x", "y")], {"x": [3]}, {"y": None}, opset=HUGE),
    "name empty": lambda: named(""),
    "name of control characters": lambda: named("a\x00\x07\x1b[31m\r\n\tb"),
    "name of line ends": lambda: named("a\u2028b\u2029c\x85d\x0be"),
    "name very long": lambda: named("long" * 50_000),
    "name in other letters": lambda: named("名前 😀 é\u202e"),
    "name of a keyword": lambda: named("where"),
    "name of an operator": lambda: named("matmul"),
    "name of digits": lambda: named("123"),
    "name of a size": lambda: named("size 3"),
    **{
        f"bad text in {field}": lambda field=field: bad_text(field)  # type: ignore[misc]
        for field in (
            "node", "op", "function", "tensor", "domain", "param", "attribute", "weight", "output",
        )
    },
}  # fmt: skip


@pytest.mark.parametrize("kind", MAKERS)
def test_a_graph_that_makes_no_sense(kind: str, tmp_path: Path) -> None:
    made = MAKERS[kind]()
    content = made if isinstance(made, bytes) else made.SerializeToString()
    (tmp_path / "m.onnx").write_bytes(content)
    start = time.process_time()
    with mock.patch("axon.importers.importer.MOST_WRITTEN_OUT", 5000):
        survives(tmp_path)
    assert time.process_time() - start < SLOWEST


# --- every operator ----------------------------------------------------------------------------

GIVEN = ["", "x", "x x", "x x x", "c", "c c", "c c c", "u", "u u", "s", "s s s", "c s", "c s s s s"]


@pytest.mark.parametrize("op", sorted([*RULES, "If", "Loop", "Scan", "NoSuchOperator"]))
def test_every_operator_without_what_it_needs(op: str, tmp_path: Path) -> None:
    """Scalars, images, nothing known, small integers: too few of them, too many, all the same."""
    nodes = [
        helper.make_node(op, inputs.split(), [f"y{i} {k}" for k in range(count)])
        for i, inputs in enumerate(GIVEN)
        for count in (0, 1, 3)
    ]
    inputs = [value("x", []), value("c", ["n", 3, "h", "w"]), value("u")]
    save(model(nodes, inputs, {"y1 0": None}, {"s": ints(1, 2)}), tmp_path / "m.onnx")
    survives(tmp_path)


ATTRIBUTES = (
    "axis", "axes", "perm", "kernel_shape", "strides", "pads", "dilations", "group", "auto_pad",
    "keepdims", "to", "blocksize", "hidden_size", "direction", "layout", "start", "end",
    "equation", "value", "value_ints", "shape", "scales", "dtype", "batch_dims", "num_outputs",
    "split", "transA", "transB", "allowzero", "output_shape", "epsilon",
)  # fmt: skip


@pytest.mark.parametrize("op", sorted(RULES))
def test_every_operator_with_wrong_attributes(op: str, tmp_path: Path) -> None:
    nodes = []
    for i, wrong in enumerate(["text", 1.5, [0.5], -7, [99, -99], ["a"], HUGE]):
        made = helper.make_node(op, ["c", "w", "s"], [f"y{i}", f"z{i}"])
        made.attribute.extend(helper.make_attribute(name, wrong) for name in ATTRIBUTES)
        nodes.append(made)
    weights = {"s": ints(1, 2), "w": floats(8, 3, 3, 3)}
    save(model(nodes, {"c": ["n", 3, "h", "w"]}, {"y0": None}, weights), tmp_path / "m.onnx")
    survives(tmp_path)


# --- data that is kept elsewhere ---------------------------------------------------------------

ELSEWHERE = ["../secret", "/etc/passwd", "a\0b", "", ".", "m.onnx", "//x/y", "secret", "\\\\x\\y"]


@pytest.mark.parametrize("location", ELSEWHERE)
@pytest.mark.parametrize("offset", ["0", "-1", "99999999999999999999", "x"])
def test_data_elsewhere_is_never_read(location: str, offset: str, tmp_path: Path) -> None:
    folder = tmp_path / "inner"
    folder.mkdir()
    (tmp_path / "secret").write_bytes(bytes(16))
    (folder / "secret").write_bytes(bytes(16))
    made = model([node("Reshape", "x s", "y")], {"x": ["n", 4]}, {"y": None}, {"s": ints(2, -1)})
    tensor = made.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, text in (("location", location), ("offset", offset), ("length", "16")):
        entry = tensor.external_data.add()
        entry.key, entry.value = key, text
    held = made.graph.node.add()
    held.op_type = "Constant"
    held.output.append("k")
    held.attribute.append(helper.make_attribute("value", tensor))
    (folder / "m.onnx").write_bytes(made.SerializeToString())
    opened: list[str] = []
    real = builtins.open

    def watched(file: Any, *args: Any, **more: Any) -> Any:
        opened.append(str(file))
        return real(file, *args, **more)

    with (
        mock.patch("builtins.open", watched),
        mock.patch("os.open", side_effect=AssertionError("os.open")),
        mock.patch.object(onnx, "load_external_data_for_model", side_effect=AssertionError),
    ):
        survives(folder)
    assert {name for name in opened if not name.endswith(".py")} <= {"m.onnx"}


# --- large ones --------------------------------------------------------------------------------


def test_a_long_chain_takes_bounded_time(tmp_path: Path) -> None:
    nodes = [node(("Relu", "Tanh")[i % 2], f"x{i}", f"x{i + 1}") for i in range(10_000)]
    save(model(nodes, {"x0": ["n", 4]}, {"x10000": None}), tmp_path / "m.onnx")
    start = time.process_time()
    found = axon(["infer", "m.onnx"], tmp_path)
    assert time.process_time() - start < 2 * SLOWEST
    assert found.stdout == "model : f32 [n,4] -> f32 [n,4]\n"


def test_a_long_chain_of_undefined_tensors(tmp_path: Path) -> None:
    nodes = [node("Add", f"x{i} u{i}", f"x{i + 1}") for i in range(1000)]
    save(model(nodes, {}, {"x1000": None}), tmp_path / "m.onnx")
    start = time.process_time()
    survives(tmp_path)
    assert time.process_time() - start < SLOWEST
