"""The reader without native code reads what ONNX's own does, and says so of what is no model."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from axon.importers.onnx.load import checked, read_bytes
from axon.importers.onnx.wire import WireError, WireMessage
from axon.importers.operations import NoModel
from axon.importers.plain_array import PlainArray
from tests.importers.onnx_models import floats, infer_model, ints, model, node
from tests.importers.test_onnx_node_cases import cases, with_weights

ROOT = Path(__file__).parents[2]
STRIDE = 29
"""One of so many of ONNX's own cases."""


def said(proto: Any) -> object:
    """What there is to say about a model, without the schemas."""
    try:
        report = infer_model(checked(proto, "m"), "m", suggesting=False)
    except NoModel as problem:
        return str(problem)
    return report.signature, report.where, [d.message for d in report.diagnostics]


def test_models_are_inferred_alike() -> None:
    for case in cases()[::STRIDE]:
        data = with_weights(case).SerializeToString()
        own = said(onnx.load_model_from_string(data))
        assert said(read_bytes(data, "m")) == own, case.name


def test_the_examples_are_inferred_alike() -> None:
    for path in sorted((ROOT / "examples").rglob("*.onnx")):
        data = path.read_bytes()
        assert said(read_bytes(data, "m")) == said(onnx.load_model_from_string(data)), path.name


ELEMENTS = (
    (TensorProto.FLOAT, [1.5, -2.0]),
    (TensorProto.DOUBLE, [1.5, -2.0]),
    (TensorProto.FLOAT16, [1.5, -2.0]),
    (TensorProto.INT64, [-1, 1 << 62]),
    (TensorProto.INT32, [-1, 7]),
    (TensorProto.INT8, [-1, 7]),
    (TensorProto.UINT8, [255, 7]),
    (TensorProto.UINT64, [1 << 63, 7]),
    (TensorProto.BOOL, [True, False]),
)


@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize(("kind", "values"), ELEMENTS)
def test_elements_are_those_of_the_file(kind: int, values: list[Any], raw: bool) -> None:
    tensor = helper.make_tensor("w", kind, [2], values)
    if raw:
        tensor = numpy_helper.from_array(numpy_helper.to_array(tensor), "w")
    proto = model([node("Identity", "w", "y")], {}, {"y": [2]})
    proto.graph.initializer.append(tensor)
    read = read_bytes(proto.SerializeToString(), "m")
    from axon.importers.onnx.read import constant_of

    found = constant_of(read.graph.initializer[0]).array()
    assert isinstance(found, PlainArray) and found.tolist() == values


def test_messages_in_parts_are_joined() -> None:
    """Files may be put together by writing one after the other."""
    first = model([node("Relu", "x", "h")], {"x": [2, 3]}, {})
    second = onnx.ModelProto()
    second.graph.node.append(helper.make_node("Neg", ["h"], ["y"]))
    second.graph.output.append(helper.make_empty_tensor_value_info("y"))
    data = first.SerializeToString() + second.SerializeToString()
    assert said(read_bytes(data, "m")) == said(onnx.load_model_from_string(data))


def bytes_of_a_model() -> bytes:
    nodes = [node("Reshape", "x shape", "h"), node("MatMul", "h w", "y")]
    made = model(nodes, {"x": ["n", 12]}, {"y": None}, {"shape": ints(-1, 4), "w": floats(4, 5)})
    return bytes(made.SerializeToString())


def test_what_is_cut_off_is_no_model() -> None:
    """It is a model with less in it, or none: never an exception of another kind."""
    data = bytes_of_a_model()
    for end in range(len(data)):
        _read_or_refused(data[:end])


def test_what_is_damaged_is_read_or_refused() -> None:
    data, chance = bytes_of_a_model(), random.Random(5)
    for _ in range(300):
        damaged = bytearray(data)
        for _ in range(chance.randint(1, 6)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        _read_or_refused(bytes(damaged))


def _read_or_refused(data: bytes) -> None:
    try:
        found = read_bytes(data, "m")
    except NoModel:
        return
    infer_model(found, "m", suggesting=False)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"\x80" * 12, "does not end"),
        (b"\x3a\x7f\x00", "longer than the file"),
        (b"\x3b", "unknown kind"),
        (b"\x02\x00", "no number"),
        (b"\x38\x01", "another kind"),
        (b"\x3a\x03\x12\x01\xff", "not UTF-8"),
    ],
)
def test_malformed_bytes_are_told_apart(data: bytes, problem: str) -> None:
    with pytest.raises(WireError, match=problem):
        WireMessage("Model", memoryview(data)).read_all()
    with pytest.raises(NoModel, match="m is not an ONNX model"):
        read_bytes(data, "m")


def test_graphs_nested_without_end_are_refused() -> None:
    data = b""
    for _ in range(100):  # a node with an attribute with a graph with a node …
        for key in (b"\x32", b"\x2a", b"\x0a"):
            data = key + _length(len(data)) + data
    with pytest.raises(NoModel):
        read_bytes(b"\x3a" + _length(len(data)) + data, "m")


def _length(size: int) -> bytes:
    found = bytearray()
    while size > 127:
        found.append(size & 127 | 128)
        size >>= 7
    return bytes((*found, size))


WITHOUT = """
import sys
for name in ("numpy", "onnx", "google"):
    sys.modules[name] = None
from axon.importers.formats import read_bytes
data = open(sys.argv[1], "rb").read()
print(read_bytes(data, "encoder").report().signature)
"""


def test_a_model_is_inferred_without_packages() -> None:
    path = str(ROOT / "examples" / "onnx" / "encoder.onnx")
    command = [sys.executable, "-c", WITHOUT, path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with open(path, "rb") as file:
        assert done.stdout.strip() == infer_model(onnx.load(file), "encoder").signature
