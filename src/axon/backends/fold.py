"""Constant folding: nodes that depend on no argument are computed when the code is made."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy

from axon.backends.failures import is_expected
from axon.backends.nature import is_open, scalar
from axon.backends.numpy_arrays import ARRAYS as NUMPY
from axon.graph.graph import Apply, Number, Operand, ShapeOf, SizeOf, Value
from axon.ops.arrays import Arrays
from axon.types.type import Tensor

MOST_FOLDED = 1 << 16
"""How many elements a constant may have that is kept in place of what makes it."""

Held = Mapping[Value, Any]
"""What the values are that are known when the code is made, as arrays of NumPy."""


def folded(node: Apply, held: Held, arrays: Arrays) -> Any | None:
    """The result of the node, if it is known at compile time and small."""
    if not isinstance(node.result.type, Tensor):
        return None
    operands = [_fixed(operand, held, arrays) for operand in node.operands]
    if None in operands or any(is_open(v) for v in node.attributes.values()):
        return None
    sizes = [item for item in node.result.type.shape if isinstance(item, int)]
    if len(sizes) < len(node.result.type.shape) or prod(sizes) > MOST_FOLDED:
        return None
    assert node.operator.meaning is not None
    given = [fixed[0] for fixed in operands if fixed is not None]
    try:
        with numpy.errstate(all="ignore"):
            constant = numpy.array(node.operator.meaning(NUMPY, *given, **node.attributes))
    except ValueError:
        return None  # sizes that do not fit: a check says so when the code runs
    except Exception as problem:
        if not is_expected(problem, NUMPY):
            raise
        return None  # it fails again when the code runs, and is reported then
    constant.flags.writeable = False  # all calls share it
    return constant


def _fixed(operand: Operand, held: Held, arrays: Arrays) -> tuple[Any] | None:
    """The value of an operand that is known at compile time."""
    match operand:
        case Number(value, Tensor(elem, _)):
            return (scalar(value, str(elem), arrays),)
        case SizeOf(int() as size, elem):
            return (scalar(size, elem, arrays) if elem else size,)
        case ShapeOf(shape, "") if all(isinstance(item, int) for item in shape):
            return (shape,)
        case Value() if operand in held:
            return (held[operand],)
        case _:
            return None
