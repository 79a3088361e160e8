"""Results that may be larger than their operands: for these the code checks the memory first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import prod

from axon.backends.sizes import Read, write_dim
from axon.graph.graph import Apply, Function, Node, Value
from axon.graph.ragged import varies
from axon.graph.sizes import SizeVar, operands_of
from axon.ops import memory
from axon.types.type import Shape, Tensor, Tuple, Type, shape_variables
from axon.types.variables import ShapeVar, owner


def grown(node: Apply) -> Iterator[Tensor]:
    """The tensors of a result whose dimensions are not those of one operand. Rows that vary in size
    are checked one by one, where they are made.
    """
    given = [
        Counter(tensor.shape)
        for operand in node.operands
        if isinstance(operand, Value)
        for tensor in _tensors(operand.type)
    ]
    for tensor in _tensors(node.result.type):
        sizes = Counter(tensor.shape)
        new = sizes and not any(sizes <= other for other in given)
        if new and not varies(tensor):
            yield tensor


def grown_needs(node: Node) -> set[SizeVar]:
    """The sizes that memory checks need, in a node and in the functions that it takes."""
    found: set[SizeVar] = set()
    if isinstance(node, Apply):
        for tensor in grown(node):
            found |= {owner(var) for var in shape_variables(tensor.shape)}
    for operand in operands_of(node):
        if isinstance(operand, Function):
            found = found.union(*map(grown_needs, operand.nodes))
    return found


def _tensors(type_: Type) -> Iterator[Tensor]:
    match type_:
        case Tensor():
            yield type_
        case Tuple(items):
            for item in items:
                yield from _tensors(item)
        case _:
            return


def write_large(shape: Shape, itemsize: int, read: Read) -> str:
    """An expression for whether the memory may not suffice: cheap, since it runs at each call."""
    if len(shape) > memory.MOST_DIMENSIONS or any(isinstance(item, ShapeVar) for item in shape):
        return "True"
    sizes = [item for item in shape if not isinstance(item, ShapeVar)]
    known = prod(size or 1 for size in sizes if isinstance(size, int))
    others = [f"({write_dim(size, read)} or 1)" for size in sizes if not isinstance(size, int)]
    return f"{'*'.join(others) or 1} > {memory.LARGEST // itemsize // known}"


def fits_now(shape: Shape, itemsize: int) -> bool:
    """Whether the sizes are known to be small enough when the code is made."""
    known = [size for size in shape if isinstance(size, int)]
    try:
        return len(known) == len(shape) and fits(known, itemsize)
    except memory.Refused:
        return False


def fits(shape: Sequence[int], itemsize: int) -> bool:
    """Check the memory for an array."""
    memory.check_fits(shape, itemsize)
    return True
