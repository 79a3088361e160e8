"""The table of rules: what each operator of PyTorch is in Axon."""

from __future__ import annotations

from collections.abc import Callable

from axon.importers.node import Made, Rule
from axon.importers.operations import Operation
from axon.importers.torch.node import TorchNode
from axon.importers.torch.rules.ranks import limited

TorchRule = Callable[[TorchNode], Made]
RULES: dict[tuple[str, str], Rule] = {}
SAME_SHAPE = "t p -> t p"
SAME_RANK = "t p -> t ?r where rank(?r) = rank(p)"
ANY_SHAPE = "t p -> t ?r"


def rule(*names: str, domain: str = "aten") -> Callable[[TorchRule], TorchRule]:
    """Enter a rule for the operators of these names, which have no other. It holds for all
    overloads of an operator: they differ in their arguments, which have names.
    """

    def enter(function: TorchRule) -> TorchRule:
        for name in names:
            if (domain, name) in RULES:
                raise ValueError(f"there are two rules for {domain}.{name}")
            made: Rule = function  # type: ignore[assignment]
            RULES[domain, name] = limited(name, made) if domain == "aten" else made
        return function

    return enter


def find(operation: Operation, version: int) -> Rule | None:
    """The rule for an operation. One that works in place gives what the other gives."""
    domain, name = operation.domain, operation.operator
    found = RULES.get((domain, name))
    if found is None and name.endswith("_") and not name.endswith("__"):
        found = RULES.get((domain, name[:-1]))
    return found
