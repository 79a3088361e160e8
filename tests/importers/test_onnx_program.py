"""Models as programs: what is written, that it checks to the same signature, and that it runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import axon
from axon.cli import main
from axon.driver import check_text
from axon.importers.writing.program import write_program
from tests.importers.onnx_models import import_model, infer_model

RANDOM = np.random.default_rng(0)


def weight(name: str, *shape: int) -> Any:
    return numpy_helper.from_array(RANDOM.normal(size=shape).astype(np.float32), name)


def model(nodes: list[Any], inputs: list[Any], outputs: list[str], weights: list[Any]) -> Any:
    made = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
    graph = helper.make_graph(nodes, "g", inputs, made, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])


def given(name: str, *shape: int | str) -> Any:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def attention() -> Any:
    """Two heads, the way exporters write it: sizes are computed from shapes."""
    ints = {
        "zero": [0], "one": [1], "heads": [2, 4],
    }  # fmt: skip
    constants = [numpy_helper.from_array(np.array(v, np.int64), k) for k, v in ints.items()]
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["/attn/qkv/MatMul_output_0"]),
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Gather", ["s", "zero"], ["b"]),
        helper.make_node("Gather", ["s", "one"], ["n"]),
        helper.make_node("Concat", ["b", "n", "heads"], ["wanted"], axis=0),
        helper.make_node("Reshape", ["/attn/qkv/MatMul_output_0", "wanted"], ["split"]),
        helper.make_node("Transpose", ["split"], ["q"], perm=[0, 2, 1, 3]),
        helper.make_node("Transpose", ["split"], ["k"], perm=[0, 2, 3, 1]),
        helper.make_node("MatMul", ["q", "k"], ["scores"]),
        helper.make_node("Softmax", ["scores"], ["weights"], axis=-1),
        helper.make_node("MatMul", ["weights", "q"], ["y"]),
    ]
    return model(nodes, [given("x", "batch", "seq", 6)], ["y"], [weight("w", 6, 8), *constants])


def convolutions() -> Any:
    nodes = [
        helper.make_node("Conv", ["x", "f", "c"], ["a"], strides=[2, 2], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["r"]),
        helper.make_node("AveragePool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("GlobalAveragePool", ["p"], ["g"]),
        helper.make_node("Flatten", ["g"], ["flat"]),
        helper.make_node("Gemm", ["flat", "w", "b"], ["y"], transB=1, alpha=0.5),
    ]
    weights = [weight("f", 5, 3, 3, 3), weight("c", 5), weight("w", 4, 5), weight("b", 4)]
    return model(nodes, [given("x", "batch", 3, "h", "w_")], ["y"], weights)


def test_what_is_written() -> None:
    written = write_program(import_model(attention(), "attention.onnx")).text
    assert (
        written
        == """\
op w : () -> f32 [6,8];

model = fn (x : f32 [batch,seq,6]) {
  qkv_MatMul = project(x, w());
  split_2 = reshape(qkv_MatMul, [batch, seq, 2, 4]);
  q = transpose(split_2, perm=[0, 2, 1, 3]);
  k = transpose(split_2, perm=[0, 2, 3, 1]);
  scores = q @ k;
  weights = softmax(scores);
  y = weights @ q;
  y
};
"""
    )


@pytest.mark.parametrize("make", [attention, convolutions])
@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_it_runs_as_the_model_does(make: Any, backend: str) -> None:
    proto = make()
    net = axon.from_onnx(proto, backend=backend)
    shapes = [(2, 3, 6), (1, 1, 6)] if make is attention else [(2, 3, 9, 11), (1, 3, 8, 8)]
    for shape in shapes:
        x = RANDOM.normal(size=shape).astype(np.float32)
        (expected,) = ReferenceEvaluator(proto).run(None, {"x": x})
        np.testing.assert_allclose(net.model(x), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("make", [attention, convolutions])
def test_the_program_has_the_signature_of_the_model(make: Any, tmp_path: Any) -> None:
    path = tmp_path / "m.onnx"
    onnx.save(make(), path)
    assert main(["import", str(path), "-o", str(tmp_path / "m.axon")]) == 0
    checked = check_text((tmp_path / "m.axon").read_text(encoding="utf-8"))
    assert checked.ok
    assert checked.signatures[-1].signature == infer_model(make(), "m.onnx").signature


def test_the_inputs_are_found_from_the_weights() -> None:
    report = infer_model(convolutions(), "m.onnx", forget=True)
    assert report.signature == "f32 [a,3,b,c] -> f32 [a,4]"


def test_what_has_no_operator_is_declared() -> None:
    local = helper.make_node("LRN", ["x"], ["y"], size=5000)  # over too many channels
    nodes = [local, helper.make_node("Relu", ["y"], ["z"])]
    proto = model(nodes, [given("x", "n", 4, 5, 5)], ["z"], [])
    net = axon.from_onnx(proto)
    x = np.ones((1, 4, 5, 5), np.float32)
    with pytest.raises(axon.ArgumentError, match="only declares"):
        net.model(x)
    net.implement("lrn_1", lambda x: -x)
    assert (net.model(x) == 0).all()


@pytest.mark.parametrize(
    ("tensor", "size"), [("k", "k"), ("a", None), ("n", "n"), ("b", "a")], ids=str
)
@pytest.mark.parametrize("where", ["an input", "a result", "a weight"])
def test_a_size_and_a_tensor_of_one_name(tensor: str, size: str | None, where: str) -> None:
    """A size without a name gets a letter, which may be the name of a tensor."""
    x, other = (tensor, "r") if where == "an input" else ("x", tensor)
    nodes = [
        helper.make_node("Shape", [x], ["s"]),
        helper.make_node("Expand", ["y", "s"], ["z"]),
        helper.make_node("Add", [x, "w"], ["h"]) if where == "a weight" else None,
        helper.make_node("Relu", ["h" if where == "a weight" else x], [other]),
        helper.make_node("Add", ["z", other], ["o"]),
    ]
    if where == "a weight":
        nodes[2].input[1], nodes[3].output[0], nodes[4].input[1] = tensor, "r", "r"
    shapes = {x: [size, 4], "y": [1]}
    inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in shapes.items()]
    weights = [weight(tensor, 4)] if where == "a weight" else []
    made = model([each for each in nodes if each is not None], inputs, ["o"], weights)
    imported = import_model(made, "m.onnx")
    text = write_program(imported).text
    assert check_text(text).diagnostics == (), text
    assert write_program(imported).text == text
    values = np.arange(8, dtype=np.float32).reshape(2, 4)
    net = axon.from_onnx(made)
    found = net.model(values, np.ones(1, np.float32))
    np.testing.assert_allclose(found, _run(made, {x: values, "y": np.ones(1, np.float32)})[0])


def _run(made: Any, inputs: dict[str, Any]) -> Any:
    return ReferenceEvaluator(made).run(None, inputs)


def test_external_data_stays_in_the_folder(tmp_path: Any) -> None:
    proto = convolutions()
    stored = onnx.ModelProto()
    stored.CopyFrom(proto)
    onnx.save(stored, tmp_path / "m.onnx", save_as_external_data=True, location="m.bin",
              size_threshold=0)  # fmt: skip
    x = RANDOM.normal(size=(1, 3, 8, 8)).astype(np.float32)
    expected = ReferenceEvaluator(proto).run(None, {"x": x})[0]
    np.testing.assert_allclose(
        axon.from_onnx(tmp_path / "m.onnx").model(x), expected, rtol=1e-4, atol=1e-4
    )
    stored = onnx.load(tmp_path / "m.onnx", load_external_data=False)
    for place in ("../m.bin", str(tmp_path / "m.bin"), "gone.bin", "m.bin\0", "link.bin", ""):
        (tmp_path / "link.bin").unlink(missing_ok=True)
        (tmp_path / "link.bin").symlink_to(tmp_path / "m.bin")
        for tensor in stored.graph.initializer:
            for entry in tensor.external_data:
                if entry.key == "location":
                    entry.value = place
        (tmp_path / "bad.onnx").write_bytes(stored.SerializeToString())
        with pytest.raises((axon.ProgramError, axon.RunError)):
            axon.from_onnx(tmp_path / "bad.onnx").model(x)
