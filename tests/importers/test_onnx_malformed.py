"""Nodes that their operators cannot be: an error with the node's name, and never a bug of ours."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

from axon.importers.node import Node
from axon.importers.onnx.rules.registry import RULES
from tests.importers.onnx_agreement import disagreement
from tests.importers.onnx_models import (
    floats,
    import_model,
    infer_model,
    ints,
    model,
    node,
    save,
    value,
)
from tests.importers.test_onnx_node_cases import cases
from tests.shell import axon

IMAGE = {"x": ["n", 4, 8, 8]}
WEIGHTS = {"w": floats(8, 4, 3, 3), "s": ints(1, 2)}


def one(op: str, inputs: str = "x w", outputs: str = "y", **attributes: Any) -> Any:
    return model([node(op, inputs, outputs, **attributes)], IMAGE, {"y": None}, WEIGHTS)


def told(made: Any) -> list[tuple[str, str]]:
    return [(each.code, each.message) for each in infer_model(made, "m.onnx").diagnostics]


def referring() -> Any:
    made = one("Flatten", "x")
    attribute = made.graph.node[0].attribute.add()
    attribute.name, attribute.type, attribute.ref_attr_name = "axis", 2, "at"
    return made


MALFORMED: dict[str, tuple[Any, str]] = {
    "a text for a list": (
        one("Conv", strides="two"),
        "Conv `y`: its attribute `strides` is a text, not a list of whole numbers",
    ),
    "a number for a list": (
        one("Conv", pads=1),
        "Conv `y`: its attribute `pads` is a whole number, not a list of whole numbers",
    ),
    "fractions for whole numbers": (
        one("Transpose", "x", perm=[0.5, 1.5]),
        "Transpose `y`: its attribute `perm` is a list of numbers, not a list of whole numbers",
    ),
    "a number for a text": (
        one("Conv", auto_pad=3),
        "Conv `y`: its attribute `auto_pad` is a whole number, not a text",
    ),
    "a number for a tensor": (
        one("ConstantOfShape", "s", value=3),
        "ConstantOfShape `y`: its attribute `value` is a whole number, not a tensor",
    ),
    "a number for a graph": (
        one("If", "x", then_branch=1, else_branch=1),
        "If `y`: its attribute `else_branch` is a whole number, not a graph",
    ),
    "a reference outside a function": (
        referring(),
        "Flatten `y`: its attribute `axis` is a reference to an attribute that no function is "
        "called with, not a whole number",
    ),
    "no window": (
        one("MaxPool", "x"),
        "MaxPool `y`: it has no attribute `kernel_shape`, which it must have",
    ),
    "too few inputs": (one("Conv", "x"), "Conv `y`: it has 1 input, and must have at least 2"),
    "too many inputs": (one("Relu", "x w"), "Relu `y`: it has 2 inputs, and must have at most 1"),
    "an input left out": (
        one("Conv", "x - s"),
        "Conv `y`: it has no input `W`, which it must have",
    ),
    "too many outputs": (
        one("Relu", "x", "y z"),
        "Relu `y`: it has 2 outputs, and must have at most 1",
    ),
}  # fmt: skip


def test_lists_of_several_lengths_are_refused_by_the_operator() -> None:
    """Not by the rule: the program that the model becomes is refused in the same way."""
    made = one("Slice", "x s s one")
    made.graph.initializer.append(helper.make_tensor("one", TensorProto.INT64, [1], [0]))
    (code, message), *_ = told(made)
    assert (code, message.partition(",")[0]) == ("AX101", "Slice `y`: the sizes differ")
    assert not disagreement(made)


@pytest.mark.parametrize("kind", MALFORMED)
def test_what_is_malformed_is_told_of_the_node(kind: str, tmp_path: Path) -> None:
    made, sentence = MALFORMED[kind]
    assert told(made) == [("AX505", f"{sentence}; what it makes is not known")]
    save(made, tmp_path / "m.onnx")
    found = axon(["infer", "m.onnx"], tmp_path)
    assert (found.status, "error[AX505]" in found.stderr) == (1, True)


def test_the_rest_of_a_model_is_inferred() -> None:
    nodes = [node("MaxPool", "x", "p"), node("Relu", "x", "y")]
    report = infer_model(model(nodes, IMAGE, {"y": None}), "m.onnx")
    assert [each.code for each in report.diagnostics] == ["AX505"]
    assert report.tensors["y"].shape == ("n", 4, 8, 8)
    assert report.tensors["p"].shape is None


def test_a_malformed_node_in_a_branch_that_may_not_run() -> None:
    then = helper.make_graph([node("MaxPool", "x", "p")], "then", [], [value("p")])
    other = helper.make_graph([node("Relu", "x", "q")], "else", [], [value("q")])
    branch = node("If", "c", "y", then_branch=then, else_branch=other)
    made = model([branch], [value("x", [1, 2, 8]), value("c", [], TensorProto.BOOL)], {"y": None})
    assert [code for code, _ in told(made)] == ["AX505"]


def test_an_attribute_that_an_operator_has_not_is_left_out() -> None:
    assert told(one("Relu", "x", axis="text", equation=3)) == []


@pytest.mark.parametrize("version", [11, 18])
def test_the_operators_of_a_function_are_of_its_own_version(version: int) -> None:
    """The axes of Unsqueeze are an attribute until 12, and an input from 13 on."""
    inner = [node("Unsqueeze", "a", "b", axes=[0])]
    opsets = [helper.make_opsetid("", 11)]
    function = helper.make_function("local", "F", ["a"], ["b"], inner, opsets)
    call = helper.make_node("F", ["x"], ["y"], domain="local")
    made = model([call], {"x": [2, 3]}, {"y": None}, functions=[function], opset=version)
    report = infer_model(made, "m.onnx")
    assert report.diagnostics == ()
    assert report.tensors["y"].shape == (1, 2, 3)


def test_what_a_rule_trips_over_is_a_bug_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def trips(node: Node) -> None:
        raise KeyError("oops")

    monkeypatch.setitem(RULES, "Relu", trips)
    save(one("Relu", "x"), tmp_path / "m.onnx")
    found = axon(["infer", "m.onnx"], tmp_path)
    assert found.status == 3
    assert "a bug in Axon, please report it: KeyError: 'oops'" in found.stderr


# --- any attribute of any operator -------------------------------------------------------------

MOST = 2**63 - 1
VALUES: tuple[Any, ...] = (
    0, 1, -1, 7, MOST, -MOST - 1, 0.5, float("nan"), float("inf"), "", "text", "->", "a,b->c",
    [0], [-1], [0, 0], [1, 2, 3], [3, 2, 1, 0], [-5, 99], [MOST] * 4, [0.5], [float("nan")] * 2,
    ["a", "b"], helper.make_tensor("t", TensorProto.INT64, [2], [1, -3]), None,
)  # fmt: skip


def changed(given: Any, chance: random.Random) -> Any:
    """A model with other values of some attributes, most of them of the right kind."""
    made = onnx.ModelProto()
    made.CopyFrom(given)
    changed = chance.choice(made.graph.node)
    version = made.opset_import[0].version
    if not onnx.defs.has(changed.op_type, version, changed.domain):
        return made
    schema = onnx.defs.get_schema(changed.op_type, version, changed.domain)
    for name in chance.sample(sorted(schema.attributes), min(2, len(schema.attributes))):
        for old in [each for each in changed.attribute if each.name == name]:
            changed.attribute.remove(old)
        kind = schema.attributes[name].type.value
        made_of = [helper.make_attribute(name, each) for each in VALUES if each is not None]
        fitting = [each for each in made_of if each.type == kind]
        which = fitting if fitting and chance.random() < 0.8 else [*made_of, None]
        found = chance.choice(which)
        if found is not None:
            changed.attribute.append(found)
    return made


@pytest.mark.parametrize("part", range(8))
def test_no_attribute_is_a_bug_of_ours(part: int) -> None:
    chance = random.Random(part)
    for case in cases()[part::16]:
        made = changed(case.model, chance)
        infer_model(made, case.name)
        import_model(made, case.name)
