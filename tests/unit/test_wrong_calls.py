"""Calls of operators with too few arguments, too many, or odd attributes: types or messages."""

from __future__ import annotations

import pytest

from axon.driver import check_text
from axon.ops import OPERATORS

ARGUMENTS = ("x", "sin", "fn (a) { a }", "fn (a, b) { a, b }", "[2]", "3", "(x, x)", "{ w = x }")
VALUES = ("0", "1", "-1", "[0,1]", "true", '"same"', "f32", "1.5")
MOST_ARGUMENTS = 4


@pytest.mark.parametrize("name", sorted(name for name in OPERATORS if name.isidentifier()))
def test_any_number_of_any_arguments(name: str) -> None:
    for count in range(MOST_ARGUMENTS + 1):
        for shift in range(len(ARGUMENTS)):
            args = [ARGUMENTS[(shift * (i + 1) + i) % len(ARGUMENTS)] for i in range(count)]
            checked = check_text(f"f = fn (x) {{ {name}({', '.join(args)}) }};")
            assert checked.signatures or checked.diagnostics


@pytest.mark.parametrize("name", sorted(name for name in OPERATORS if name.isidentifier()))
def test_any_value_of_any_attribute(name: str) -> None:
    for attribute in OPERATORS[name].attributes:
        for at, value in enumerate(VALUES):
            for count in range(MOST_ARGUMENTS):
                args = [ARGUMENTS[(at + i) % len(ARGUMENTS)] for i in range(count)]
                given = ", ".join([*args, f"{attribute}={value}"])
                checked = check_text(f"f = fn (x) {{ {name}({given}) }};")
                assert checked.signatures or checked.diagnostics
