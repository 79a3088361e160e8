"""Properties of operators and functions: whether they are elementwise, whether they make sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy

from axon.graph.graph import (
    Alias,
    Apply,
    Bundle,
    Call,
    Check,
    Function,
    Measure,
    Node,
    Number,
    Operand,
    SizeOf,
    Value,
)
from axon.graph.ragged import runtime
from axon.graph.sizes import values_in
from axon.ops import Operator
from axon.ops.arrays import Arrays
from axon.ops.memory import Refused, shown
from axon.ops.rows import pointwise
from axon.types.type import Tensor, Tuple, Type, type_variables
from axon.types.variables import DimVar, ShapeVar, Var


class DoesNotFit(Exception):
    """A number in the program is out of the range of its element type."""

    def __init__(self, number: float, elem: str) -> None:
        self.number = number
        self.elem = elem


def scalar(value: float, elem: str, arrays: Arrays) -> Any:
    """A constant; NumPy's arrays are constants for every backend."""
    try:
        constant = numpy.asarray(value, arrays.host_element(elem))
    except OverflowError:
        raise DoesNotFit(value, elem) from None
    constant.flags.writeable = False  # all calls share it
    return constant


def sizes_as(xp: Arrays, sizes: Any, elem: str) -> Any:
    """A size, or a shape, as a tensor of an element type, for which it may be too large."""
    try:
        return xp.sizes(sizes, elem)
    except OverflowError:
        parts = sizes if isinstance(sizes, tuple) else (sizes,)
        largest = shown(max(parts, key=abs))
        raise Refused(f"the size {largest} does not fit into {elem}") from None


def operator_function(operator: Operator, arrays: Arrays) -> Callable[..., Any]:
    """An operator as a function value that carries its properties."""
    meaning, defaults = arrays.meaning_of(operator, frozenset(), None), operator.defaults

    def function(*args: Any) -> Any:
        return meaning(arrays, *args, **defaults)

    function.array_reduction = operator.traits.array_reduction  # type: ignore[attr-defined]
    function.elementwise = pointwise(operator, 2)  # type: ignore[attr-defined]
    return function


def made_of(type_: Type) -> Any:
    """The element types of a result: of a tensor its name, of a tuple theirs."""
    if isinstance(type_, Tuple):
        return tuple(made_of(item) for item in type_.items)
    return str(type_.elem) if isinstance(type_, Tensor) else ""


def elements_of(node: Apply) -> frozenset[str]:
    """The element types of an operator's operands and results."""
    found = set[str]()
    todo: list[Any] = [node.result, *node.operands]
    while todo:
        match todo.pop():
            case Value(type=type_) | Number(type=type_):
                todo.append(type_)
            case Tuple(items) | Bundle(items):
                todo.extend(items)
            case Tensor(elem, _):
                found.add(str(elem))
            case _:
                pass
    return frozenset(found)


def elementwise(function: Function) -> bool:
    """Whether arrays can replace the scalars that the function takes."""
    return all(
        (
            isinstance(n, Apply)
            and pointwise(n.operator, len(n.operands))
            and not runtime(n.result.type)
        )
        or isinstance(n, Alias)
        for n in function.nodes
    ) and all(isinstance(p.type, Tensor) and p.type.shape == () for p in function.params)


def makes_sizes(operand: Operand) -> bool:
    """Whether a function's own values have run-time sizes: it cannot be traced. An operator that
    makes such sizes is written out as a function (`graph/lower.py`).
    """
    if not isinstance(operand, Function):
        return False
    given = {v for p in operand.params for v in _variables(p)}
    return any(node_makes_sizes(n, given) for n in operand.nodes)


def node_makes_sizes(node: Node, given: set[Var]) -> bool:
    match node:
        case Measure():
            return True
        case Check():
            return False  # of sizes that are known when it is traced
        case Call(_, graph, _, _):
            inner = {v for p in graph.params for v in _variables(p)}
            return any(node_makes_sizes(n, inner) for n in graph.nodes)
        case Apply() if any(makes_sizes(o) for o in node.operands):
            return True
        case _:
            return any(
                isinstance(v, DimVar | ShapeVar) and v.runtime and v not in given
                for v in _variables(node.result)
            )


def makes_own_sizes(node: Apply) -> bool:
    """Whether an operator makes run-time sizes that its operands do not have."""
    given = {v for o in node.operands for value in values_in(o) for v in _variables(value)}
    return node_makes_sizes(node, given)


def _variables(value: Value) -> Iterator[Var]:
    """The variables of a value's type, including those that it was made with."""
    yield from type_variables(value.type)
    if value.made is not None:
        yield from type_variables(value.made)


def is_open(attribute: object) -> bool:
    if isinstance(attribute, tuple):
        return any(is_open(item) for item in attribute)
    return isinstance(attribute, SizeOf)
