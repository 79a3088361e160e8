"""Loops that the exporter wrote out: one line takes the first, the second … of a tensor."""

from __future__ import annotations

from collections import defaultdict

from axon.importers.operations import Operation, Place
from axon.importers.torch.dynamic.input_sizes import InputSize
from axon.importers.torch.dynamic.search import Found
from axon.types.type import Tensor

SELECTING = frozenset({"select", "select_copy"})


def unrolled_over(found: Found, size: InputSize) -> list[Place]:
    """The lines that take one slice after another along a size of an input, all that there are."""
    taken: dict[Place, set[int]] = defaultdict(set)
    for operation in found.imported.model.graph.operations:
        place = operation.place
        if place is None or operation.operator not in SELECTING:
            continue
        index = operation.attributes.get("index")
        if isinstance(index, int) and _along(found, operation) == found.value(size.var):
            taken[place].add(index)
    every = set(range(size.example))
    return [place for place, indices in taken.items() if size.example > 1 and indices >= every]


def _along(found: Found, operation: Operation) -> object:
    """The size of the axis that an operation takes one slice of."""
    axis = operation.attributes.get("dim", 0)
    type_ = found.imported.type(operation.inputs[0]) if operation.inputs else None
    if not isinstance(type_, Tensor) or not isinstance(axis, int):
        return None
    shape = type_.shape
    return shape[axis] if -len(shape) <= axis < len(shape) else None
