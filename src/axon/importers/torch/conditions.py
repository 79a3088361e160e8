"""What a program asserts of sizes: a comparison, and an operation that says that it holds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from axon.importers.operations import Attributes, Operand, Operation

COMPARISONS = frozenset({"ge", "gt", "le", "lt", "eq"})


def with_conditions(operations: Iterable[Operation]) -> list[Operation]:
    """The operations, in which an assertion says itself what it compares."""
    compared: dict[str, Operation] = {}
    found = []
    for operation in operations:
        if operation.domain == "python" and operation.operator in COMPARISONS:
            compared.update(dict.fromkeys(operation.outputs, operation))
        elif operation.operator == "_assert_scalar" and operation.inputs:
            test = compared.get(operation.inputs[0])
            operation = operation if test is None else _asserted(operation, test)
        found.append(operation)
    return found


def _asserted(operation: Operation, test: Operation) -> Operation:
    """An assertion with both sides of what it compares."""
    sides = list(test.attributes.values())
    if len(sides) != 2:
        return operation
    inputs = [*operation.inputs]
    attributes: Attributes = {"relation": test.operator}
    for name, side in zip(("left", "right"), sides, strict=True):
        found: Any = side
        if isinstance(side, Operand):
            inputs.append(test.inputs[side.index])
            found = Operand(len(inputs) - 1)
        attributes[name] = found
    return operation.changed(inputs=inputs, attributes=attributes)
