"""The nature of an operator is stated on the operator, once, and agrees with its signature."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import axon
from axon.importers.onnx.rules.registry import RULES, rule
from axon.ops import FAMILIES, OPERATORS, Operator
from axon.ops.examples import examples
from axon.ops.operator import operator
from axon.ops.rows import core, pointwise
from axon.ops.traits import Calls, RowRule
from axon.source import Source
from axon.syntax import parse_signature
from axon.syntax.tokens import INFIX_LEVEL
from axon.types.read import read_signature
from axon.types.type import Broadcast, DimValue, Fn, Relation, Tensor, Type

ROOT = Path(axon.__file__).parent
DEFINED_IN = {Path(family.__file__ or "") for family in FAMILIES}

# --- no list of operators outside `ops` ------------------------------------------------------

PARTS = ("backends", "graph", "inference", "ops", "prove", "run")
"""What works with operators, and asks for their traits. (An importer names operators to call them;
in `syntax` and `types` such words are those of the language of dimensions.)"""

OTHER_MEANING = {
    "backends/externs.py": {"shape"},  # what an array has
    "backends/jax_arrays.py": {"max", "sum", "prod", "any", "all"},  # functions of arrays
    "backends/numpy_arrays.py": {"max", "min"},
    "backends/ragged_forms.py": {"stack"},
    "backends/ragged_rows.py": {"stack"},
    "backends/torch_arrays.py": {"floor"},  # functions of tensors
    "backends/torch_meanings.py": {"pad"},  # an attribute
    "backends/torch_moves.py": {"max", "min", "prod"},
    "backends/torch_windows.py": {"max"},
    "graph/sizes.py": {"shape"},  # kinds of values, of origins and of conflicts
    "inference/recording/by_place.py": {"transpose"},  # a member of a tensor elsewhere
    "inference/report/labels.py": {"size"},
    "inference/report/plain_sizes.py": {"min"},  # of sizes
    "inference/report/mismatch.py": {"size", "any"},
    "inference/report/conflict.py": {"size", "rank", "uniform"},
    "inference/constructs/size_values.py": {"size"},
    "inference/constructs/subscripts.py": {"size"},
    "inference/constructs/used_as_sizes.py": {"shape"},
    "ops/interpolate.py": {"floor", "ceil"},  # values of attributes
    "ops/traits.py": {"sum", "prod", "max", "min", "all", "any"},  # functions of arrays
    "prove/by_isl.py": {"min"},  # atoms of a formula
    "prove/by_z3.py": {"min"},
    "prove/formula.py": {"min"},
    "prove/question.py": {"min", "max"},
    "run/safetensors.py": {"shape"},  # what a file says of a tensor
    "run/values.py": {"shape", "size"},  # what an array has; a word in a message
}
"""Words that are names of operators too, in the modules where they mean something else."""

ELSEWHERE = {"inference/habits/foreign_calls.py", "inference/habits/foreign_names.py"}
"""Of the names of functions, members and attributes of other libraries, and of what they become."""

OF_ARRAYS = "backends/segments/"
"""Its rules are for the functions of the array namespace, by their names."""


def modules() -> Iterator[tuple[str, ast.Module]]:
    for part in PARTS:
        for path in sorted((ROOT / part).rglob("*.py")):
            if path not in DEFINED_IN:
                yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_text("utf-8"))


def names_in(tree: ast.AST) -> set[str]:
    """The strings that are names of operators; infix symbols are syntax."""
    strings = {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)}
    return {s for s in strings if isinstance(s, str) and s in OPERATORS and s not in INFIX_LEVEL}


def test_no_operator_is_known_by_its_name() -> None:
    found = {
        module: names
        for module, tree in modules()
        if module not in ELSEWHERE
        and not module.startswith(OF_ARRAYS)
        and (names := names_in(tree))
    }
    told = "state a trait on the operator (ops/traits.py) instead of naming it"
    assert found == OTHER_MEANING, told


def test_no_operator_is_known_by_its_family() -> None:
    asking = {
        module
        for module, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr == "family"
    }
    assert asking == {"ops/reference.py"}


def test_names_are_found() -> None:
    tree = ast.parse('A = {"map", "no operator"}\nif operator.name in ("tril", "+"): f"{x}sum"')
    assert names_in(tree) == {"map", "tril", "sum"}


# --- a name is entered once ------------------------------------------------------------------


def test_two_operators_of_one_name_are_an_error() -> None:
    before = OPERATORS["sum"]
    with pytest.raises(ValueError, match="two operators called sum"):
        operator(name="sum")(before.rule)
    assert OPERATORS["sum"] is before


def test_two_rules_for_one_operator_of_onnx_are_an_error() -> None:
    def first(node: object) -> None:
        pass

    def second(node: object) -> None:
        pass

    rule("OfThisTest")(first)
    try:
        with pytest.raises(ValueError, match="two rules for OfThisTest"):
            rule("OfThisTest")(second)
        assert RULES["OfThisTest"] is first
    finally:
        del RULES["OfThisTest"]


# --- types come from signatures ---------------------------------------------------------------

STATING = {"Tensor", "Tuple", "Fn", "ShapeValue", "DimValue", "TypeVar", "ElemVar"}


def stated(tree: ast.Module) -> set[str]:
    """The types that a module makes itself."""
    calls = (n.func for n in ast.walk(tree) if isinstance(n, ast.Call))
    return {f.id for f in calls if isinstance(f, ast.Name) and f.id in STATING}


def test_no_rule_states_a_type() -> None:
    """A rule names operators: the types of its outputs are those of their signatures."""
    rules = sorted((ROOT / "importers").glob("*/rules/**/*.py"))
    assert len(rules) > 20
    assert [path.name for path in rules if stated(ast.parse(path.read_text("utf-8")))] == []


def test_types_that_are_stated_are_found() -> None:
    assert stated(ast.parse('def rule(node):\n    return [Tensor("f32", ())], Tuple(())')) == {
        "Tensor",
        "Tuple",
    }


# --- traits agree with signatures ------------------------------------------------------------


def signatures(operator: Operator) -> Iterator[tuple[Fn, tuple[Relation, ...], str]]:
    """The types of the operator in its examples, with the conditions, and as text."""
    for example in examples(operator.doc):
        text = example.signature(operator)
        assert isinstance(text, str), text
        parsed, _ = parse_signature(Source(operator.name, text))
        assert parsed is not None, text
        scheme, _ = read_signature(parsed)
        assert isinstance(scheme.type, Fn), text
        yield scheme.type, scheme.relations, text


EVERY = pytest.mark.parametrize("operator", OPERATORS.values(), ids=list(OPERATORS))


def is_scalar(type_: Type) -> bool:
    return isinstance(type_, Tensor) and type_.shape == ()


@EVERY
def test_what_is_pointwise_has_the_shape_of_its_operands(operator: Operator) -> None:
    for type_, relations, text in signatures(operator):
        if not pointwise(operator, len(type_.params)):
            continue
        assert isinstance(type_.result, Tensor), text
        shapes = {p.shape for p in type_.params if isinstance(p, Tensor)}
        joined = [
            r for r in relations if isinstance(r, Broadcast) and r.result == type_.result.shape
        ]
        assert len(type_.params) == 1 or joined or len(shapes) == 1, text
        assert set(joined[0].parts) == shapes if joined else shapes == {type_.result.shape}, text


@EVERY
def test_functions_of_tensors_are_called_as_stated(operator: Operator) -> None:
    for type_, _, text in signatures(operator):
        functions = [p for p in type_.params if isinstance(p, Fn)]
        of_scalars = all(is_scalar(part) for f in functions for part in (*f.params, f.result))
        assert (operator.traits.calls is not None) == (not of_scalars), text


@EVERY
def test_attributes_that_traits_speak_of_are_there(operator: Operator) -> None:
    needed: dict[RowRule | Calls | None, set[str]] = {
        RowRule.REDUCTION: {"axis", "keep"},
        RowRule.JOINED: {"axis"},
        RowRule.STACKED: {"axis"},
        RowRule.AXES_INSERTED: {"axis"},
        RowRule.AXES_REMOVED: {"axis"},
        Calls.WHILE: {"outputs"},
    }
    for trait in (operator.traits.rows, operator.traits.calls):
        assert needed.get(trait, set()) <= set(operator.attributes)
    assert not operator.traits.counts_elements or "axis" in operator.attributes


@EVERY
def test_the_other_traits_are_those_of_the_signature(operator: Operator) -> None:
    traits = operator.traits
    for type_, _, text in signatures(operator):
        kept = text == "(t p, t q) -> t broadcast(p,q) where t : num"
        assert traits.arithmetic == kept, text
        assert traits.passes_through == (text == "a -> a"), text
        assert not traits.counts_elements or isinstance(type_.result, DimValue), text
        assert not traits.infers_size or "shape " in text, text
        if traits.array_reduction:
            assert pointwise(operator, 2)
    if traits.broadcasting_form:
        assert core(OPERATORS[traits.broadcasting_form], 2) == 0
