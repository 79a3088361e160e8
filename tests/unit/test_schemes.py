"""Schemes are shared: using one leaves its variables as they are."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import axon
from axon.driver import check_text
from axon.ops import OPERATORS
from axon.ops import scheme as schemes
from axon.ops.examples import examples
from axon.ops.scheme import General
from axon.types.variables import DimVar, ElemVar, ShapeVar, TypeVar, Var

FACTS = (
    "level",
    "scope",
    "name",
    "user",
    "runtime",
    "over",
    "derived",
    "allowed",
    "literal",
    "wide",
    "row",
)
PARTS = (
    "inference",
    "solver",
    "types",
    "graph",
    "explain.py",
    "plain.py",
    "driver.py",
    "importers",
)
NARROW = {
    "inference/unify.py",
    "inference/generalise/schemes.py",
    "inference/generalise/existentials.py",
    "inference/generalise/choices.py",
    "solver/store.py",
}
"""Where the facts of a variable change while its definition is inferred (docs/architecture.md)."""
MAKE = {
    "inference/calls.py",
    "inference/constructs/records.py",
    "types/conditions.py",
    "types/reader.py",
}
"""Where variables that were just made get more facts."""


def facts(var: Var) -> dict[str, Any]:
    assert isinstance(var, DimVar | ShapeVar | ElemVar | TypeVar)
    return {name: getattr(var, name) for name in FACTS if hasattr(var, name)}


def known() -> dict[Var, dict[str, Any]]:
    found = [each for each in schemes._schemes.values() if isinstance(each, General)]
    return {var: facts(var) for each in found for var in each.scheme.variables}


@pytest.mark.parametrize("reasons", [False, True])
def test_no_use_of_an_operator_changes_its_scheme(reasons: bool) -> None:
    programs = [each.program for op in OPERATORS.values() for each in examples(op.doc)]
    for text in programs:
        check_text(text, reasons=reasons)
    before = known()
    assert len(before) > 500
    for text in programs:
        check_text(text, reasons=reasons)
    after = known()
    assert {var: after[var] for var in before} == before


def test_no_use_of_a_definition_changes_its_scheme() -> None:
    text = """layer = fn (x, w, b) { relu(x @ w + b) };
ints = fn (x : i32 [n,4], w, b) { layer(x, w, b) };
floats = fn (x : f32 [2,n,4], w : f32 [4,k], b) { layer(x, w, b) };
"""
    checked = check_text(text)
    layer = checked.find("layer")
    assert layer is not None
    alone = check_text(text.splitlines()[0]).signatures
    assert checked.signatures[:1] == alone


def changing() -> Iterator[str]:
    """The modules that assign to a fact of something other than `self` and the state."""
    root = Path(axon.__file__).parent
    for part in PARTS:
        for path in (root / part).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Store):
                    continue
                if node.attr == "name" or node.attr not in FACTS:
                    continue
                if not ast.unparse(node.value).endswith(("self", "state")):
                    yield path.relative_to(root).as_posix()


def test_variables_change_in_few_places() -> None:
    assert set(changing()) == NARROW | MAKE
