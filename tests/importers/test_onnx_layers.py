"""Layers that come again: inferred once, written once."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

import axon
from axon.driver import check_text
from axon.importers.writing.program import write_program
from tests.importers.onnx_models import import_model, infer_model, ints, model

EXAMPLES = Path(__file__).parents[2] / "examples" / "onnx"


def encoder(layers: int) -> Any:
    spec = importlib.util.spec_from_file_location("make", EXAMPLES / "make.py")
    assert spec is not None and spec.loader is not None
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    make.LAYERS = layers  # type: ignore[attr-defined]
    return make.encoder()


def test_a_layer_is_inferred_once() -> None:
    few, many = (import_model(encoder(n), "m").importer for n in (6, 21))
    assert len(few.memo.seen) == len(many.memo.seen)
    assert len(few.spans) == len(many.spans)
    assert len(many.types) > 3 * len(few.types)


@pytest.mark.parametrize("layers", [2, 3, 7])
def test_a_layer_is_written_once(layers: int) -> None:
    made = encoder(layers)
    text = write_program(import_model(made, "m")).text
    assert re.findall(r"^(\w+) = fn", text, re.MULTILINE) == ["layer", "model"]
    assert len(re.findall(r"= layer\(", text)) == layers
    assert text.count("softmax(") == 1
    checked = check_text(text)
    assert checked.ok
    assert checked.signatures[-1].signature == infer_model(made, "m").signature


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_it_computes_what_the_model_does(backend: str) -> None:
    made = encoder(3)
    ids = np.random.default_rng(0).integers(0, 50, (2, 5))
    (expected,) = ReferenceEvaluator(made).run(None, {"ids": ids})
    found = axon.from_onnx(made, backend=backend).model(ids)
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-3, atol=1e-4)


def test_the_files_are_what_the_script_makes() -> None:
    import onnx

    assert onnx.load(EXAMPLES / "encoder.onnx") == encoder(2)


def test_an_output_that_nobody_uses_has_a_name_in_every_layer() -> None:
    nodes, last = [], "x"
    for i in range(3):
        nodes += [
            helper.make_node("Relu", [last], [f"a{i}"]),
            helper.make_node("TopK", [f"a{i}", "k"], [f"values.{i}", f"places.{i}"]),
            helper.make_node("Cast", [f"places.{i}"], [f"c{i}"], to=1),
            helper.make_node("Add", [f"a{i}", f"c{i}"], [f"d{i}"]),
        ]
        last = f"d{i}"
    made = model(nodes, {"x": ["n", 3]}, {last: None}, {"k": ints(3)})
    text = write_program(import_model(made, "m")).text
    assert text.count("= fn") == 2 and text.count("top_k(") == 1
    assert check_text(text).ok
