"""The table of rules: what each operator of ONNX is in Axon; and the signatures of operators that
Axon cannot choose before ranks are known.
"""

from __future__ import annotations

from collections.abc import Callable

from axon.importers.node import Rule
from axon.importers.operations import Operation

RULES: dict[str, Rule] = {}
DOMAINS = ("", "ai.onnx", "ai.onnx.preview", "ai.onnx.preview.training")
"""Whose operators the rules are for."""
SAME_RANK = "t p -> t ?r where rank(?r) = rank(p)"
ANY_SHAPE = "t p -> t ?r"
SLIDING = "(t p, t q) -> t ?r where rank(?r) = rank(p), rank(q) = rank(p)"

MOST_RANK = 64
"""The rank up to which a rule lists axes that an attribute only counts."""


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Enter a rule for the operators of these names, which have no other."""

    def enter(function: Rule) -> Rule:
        for name in names:
            if name in RULES:
                raise ValueError(f"there are two rules for {name}")
            RULES[name] = function
        return function

    return enter


def find(operation: Operation, version: int) -> Rule | None:
    """The rule for an operation; each of them takes all versions of its operator."""
    return RULES.get(operation.operator) if operation.domain in DOMAINS else None
