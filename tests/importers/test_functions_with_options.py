"""Functions of the library that have options: one function in the program for each choice."""

from __future__ import annotations

import ast as python
import re
from pathlib import Path

import numpy as np
import pytest

import axon
from axon.driver import check_text
from axon.importers.operations import Malformed
from axon.importers.options import chosen, functions, specialised
from axon.importers.writing.program import write_program
from tests.importers.onnx_models import import_model, infer_model, model, node

RULES = Path(axon.__file__).parent / "importers"


@pytest.mark.parametrize("name", functions())
def test_each_function_has_a_type_with_its_defaults(name: str) -> None:
    made = specialised(name, ())
    options = [param for param in made.function.params if param.default is not None]
    assert options == []
    assert made.scheme == specialised(name, ()).scheme


def test_each_function_is_called_by_some_rule() -> None:
    texts: set[str] = set()
    for path in RULES.rglob("rules/**/*.py"):
        tree = python.parse(path.read_text())
        found = [each.value for each in python.walk(tree) if isinstance(each, python.Constant)]
        texts.update(each for each in found if isinstance(each, str))
    assert functions().keys() <= texts


def test_one_and_one_point_zero_and_true_are_different_options() -> None:
    texts = {str(chosen({"p": value})) for value in (1, 1.0, True, -0.0, 0.0, [1], (1, 2))}
    assert len(texts) == 7


def test_an_option_that_no_operator_takes_is_malformed() -> None:
    with pytest.raises(Malformed, match="too far out"):
        specialised("normalise", chosen({"axis": 99}))
    step = node("LpNormalization", "x", "y", axis=99)
    made = model([step], {"x": ["n", 4]}, {"y": None}, opset=22)
    report = infer_model(made, "m")
    assert [each.code for each in report.diagnostics] == ["AX505"]


def test_each_choice_is_one_function_of_the_program() -> None:
    """The size of an input has the name of the function, and so does a tensor."""
    steps = [
        node("LpNormalization", "x", "normalise", axis=1, p=1),
        node("LpNormalization", "normalise", "b", axis=-1),
        node("LpNormalization", "b", "c", axis=1, p=1),
        node("MeanVarianceNormalization", "c", "y", axes=[0, 2]),
    ]
    made = model(steps, {"x": ["standardise", "normalise", 3]}, {"y": None}, opset=22)
    text = write_program(import_model(made, "m")).text
    checked = check_text(text)
    assert checked.ok, text
    names = [re.sub(r"_\d$", "", each.name) for each in checked.definitions]
    assert names == ["normalise", "normalise", "standardise", "model"]
    x = np.random.default_rng(0).standard_normal((2, 4, 3)).astype("f4")
    a = x / np.abs(x).sum(1, keepdims=True)
    b = a / np.sqrt((a * a).sum(-1, keepdims=True))
    c = b / np.abs(b).sum(1, keepdims=True)
    wanted = (c - c.mean((0, 2), keepdims=True)) / c.std((0, 2), keepdims=True)
    np.testing.assert_allclose(axon.from_onnx(made).model(x), wanted, rtol=1e-4, atol=1e-5)
