"""What the nature of an operator or a function is: whether it goes element by element, whether it
makes sizes, which of its results vary.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from axon.backends.ragged import Varying
from axon.graph.graph import (
    Alias,
    Apply,
    Call,
    Check,
    Function,
    Measure,
    Node,
    Operand,
    OperatorFunction,
    SizeOf,
)
from axon.graph.ragged import runtime, varies
from axon.ops import Operator
from axon.ops.arrays import Arrays
from axon.ops.room import Refused, shown
from axon.types.type import Tensor, Tuple, Type, type_variables
from axon.types.variables import DimVar, ShapeVar, Var

MAKE_SIZES = frozenset(
    {"nonzero", "unique", "compress", "argwhere", "distinct", "rescale", "non_max_suppression"}
)
POINTWISE = frozenset({"pointwise", "bits", "elementary", "activations"})
ALSO_POINTWISE = frozenset({"where", "cast", "quantise", "dequantise"})


class DoesNotFit(Exception):
    """A number in the program is none of its element type."""

    def __init__(self, number: float, elem: str) -> None:
        self.number = number
        self.elem = elem


def scalar(value: float, elem: str, arrays: Arrays) -> Any:
    """A constant; NumPy's arrays are constants for every backend."""
    try:
        return numpy.asarray(value, arrays.element(elem))
    except OverflowError:
        raise DoesNotFit(value, elem) from None


def sizes_as(xp: Arrays, sizes: Any, dtype: Any, elem: str) -> Any:
    """A size, or a shape, as a tensor of an element type, which it may be too large for."""
    try:
        return xp.asarray(numpy.asarray(sizes, dtype))
    except OverflowError:
        parts = sizes if isinstance(sizes, tuple) else (sizes,)
        told = shown(max(parts, key=abs))
        raise Refused(f"the size {told} does not fit into {elem}") from None


def operator_function(operator: Operator, arrays: Arrays) -> Callable[..., Any]:
    """An operator as a function value, which says what it is."""
    meaning, defaults = operator.meaning, operator.defaults
    assert meaning is not None

    def function(*args: Any) -> Any:
        return meaning(arrays, *args, **defaults)

    function.operator = operator.name  # type: ignore[attr-defined]
    function.elementwise = pointwise(operator, 2)  # type: ignore[attr-defined]
    return function


def elementwise(function: Function) -> bool:
    """Whether arrays can stand in the place of the scalars that the function takes."""
    return all(
        (isinstance(n, Apply) and pointwise(n.operator, len(n.operands)) and n.rows is None)
        or isinstance(n, Alias)
        for n in function.nodes
    ) and all(isinstance(p.type, Tensor) and p.type.shape == () for p in function.params)


def makes_sizes(operand: Operand) -> bool:
    """Whether a function's own values have sizes that only the run knows: it cannot be traced."""
    match operand:
        case OperatorFunction(operator):
            return operator.name in MAKE_SIZES
        case Function(params, nodes, _, _):
            given = {v for p in params for v in type_variables(p.type)}
            return any(node_makes_sizes(n, given) for n in nodes)
        case _:
            return False


def node_makes_sizes(node: Node, given: set[Var]) -> bool:
    match node:
        case Measure() | Check():
            return True
        case Call(_, graph, _, _):
            inner = {v for p in graph.params for v in type_variables(p.type)}
            return any(node_makes_sizes(n, inner) for n in graph.nodes)
        case Apply() if any(makes_sizes(o) for o in node.operands):
            return True
        case _:
            return any(
                isinstance(v, DimVar | ShapeVar) and v.runtime and v not in given
                for v in type_variables(node.result.type)
            )


def is_open(attribute: object) -> bool:
    if isinstance(attribute, tuple):
        return any(is_open(item) for item in attribute)
    return isinstance(attribute, SizeOf)


def pointwise(operator: Operator, arity: int) -> bool:
    """Whether it goes element by element; `max` and `min` of one tensor reduce it."""
    return (
        operator.family in POINTWISE
        or operator.name in ALSO_POINTWISE
        or (operator.name in ("max", "min") and arity == 2)
    )


def rows_vary(type_: Type) -> Varying | None:
    """Which sizes of a row only the run knows, if there are any."""
    if not isinstance(type_, Tensor):
        return None
    sizes = tuple(runtime(Tensor(type_.elem, (item,))) for item in type_.shape[1:])
    return Varying(sizes) if any(sizes) else None


def varying(type_: Type, depth: int) -> Any:
    """Which results vary in size."""
    if isinstance(type_, Tuple):
        return tuple(varying(item, depth) for item in type_.items)
    return rows_vary(type_) if varies(type_, depth) else None
