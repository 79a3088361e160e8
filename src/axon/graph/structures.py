"""Structures that an operator passes to a function row by row: in the graph their tensors are
operands of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from axon.graph.graph import Bundle, Item, Operand, Value
from axon.graph.state import State
from axon.types.type import Fn, Record, Tuple, Type

Prune = Callable[[Type], Type]


def is_structured(type_: Fn, first: int) -> bool:
    """Whether one of the operands from the `first` on is a structure."""
    return any(isinstance(param, Tuple) for param in type_.params[first:])


def flat_type(type_: Fn, first: int, prune: Prune) -> Fn:
    """The type of an operator with the tensors of its last operands as operands, and those of a
    row as arguments of its function.
    """
    function = prune(type_.params[first - 1])
    assert isinstance(function, Fn)
    count = len(type_.params) - first
    own = function.params[: len(function.params) - count]
    rows = [leaf for row in function.params[len(own) :] for leaf in leaf_types(row, prune)]
    tensors = [leaf for param in type_.params[first:] for leaf in leaf_types(param, prune)]
    flat = Fn((*own, *rows), function.result)
    return Fn((*type_.params[: first - 1], flat, *tensors), type_.result)


def leaf_types(type_: Type, prune: Prune) -> Iterator[Type]:
    """The types in a structure that are no structures."""
    type_ = prune(type_)
    if isinstance(type_, Tuple):
        for item in type_.items:
            yield from leaf_types(item, prune)
    else:
        yield type_


def leaves(state: State, operand: Operand) -> Iterator[Operand]:
    """The values in a structure that are no structures."""
    if isinstance(operand, Bundle):
        for item in operand.items:
            yield from leaves(state, item)
    elif isinstance(operand, Value) and isinstance(operand.type, Tuple):
        for i, type_ in enumerate(operand.type.items):
            name = operand.type.names[i] if isinstance(operand.type, Record) else ""
            part = Value(name, type_, operand.depth, None, operand.foreign)
            state.emit(Item(part, operand, i))
            yield from leaves(state, part)
    else:
        yield operand


def grouped(types: Sequence[Type], values: Sequence[Operand]) -> list[Operand]:
    """Values of these types, made of the values of their leaves."""
    rest = iter(values)
    return [_group(type_, rest) for type_ in types]


def _group(type_: Type, rest: Iterator[Operand]) -> Operand:
    if not isinstance(type_, Tuple):
        return next(rest)
    names = type_.names if isinstance(type_, Record) else None
    return Bundle(tuple([_group(item, rest) for item in type_.items]), names)
