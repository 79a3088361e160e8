"""The table of rules: what each operator of ONNX is in Axon."""

from __future__ import annotations

from collections.abc import Callable

from axon.importers.onnx.node import Rule

RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Enter a rule for the operators of these names."""

    def enter(function: Rule) -> Rule:
        for name in names:
            RULES[name] = function
        return function

    return enter
