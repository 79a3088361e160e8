"""The table of rules: what each operator of ONNX is in Axon."""

from __future__ import annotations

from collections.abc import Callable

from axon.importers.onnx.node import Rule

RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Enter a rule for the operators of these names, which have no other."""

    def enter(function: Rule) -> Rule:
        for name in names:
            if name in RULES:
                raise ValueError(f"there are two rules for {name}")
            RULES[name] = function
        return function

    return enter
