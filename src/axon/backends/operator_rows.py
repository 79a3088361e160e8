"""An operator on ragged tensors as a function of their rows, so that rows can be padded for it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from axon.backends.row_application import Lifted
from axon.backends.row_buckets import RowFunction
from axon.graph.graph import (
    Apply,
    Function,
    Graph,
    Operand,
    OperatorFunction,
    ShapeOf,
    SizeOf,
    Value,
)
from axon.graph.scope import operand_type
from axon.graph.sizes import SizeVar
from axon.ops.operator import Problem
from axon.ops.scheme import scheme_of
from axon.types.type import Fn, Tensor, Tuple, Type

Used = tuple[Sequence[Value], Sequence[SizeVar]]
"""The values and the sizes that a function uses from outside."""

MOST_KINDS = 16


@dataclass(slots=True, eq=False)
class OperatorRows:
    """An operator at its place in the program. `used` is what its functions use, by their places
    among the operands; `alone` makes code of a graph.
    """

    node: Apply
    used: dict[int, Used]
    alone: Callable[[Graph], Callable[..., Any]]
    made: dict[Hashable, RowFunction | None] = field(default_factory=dict)

    def lifted(
        self, args: Sequence[Any], rows: Sequence[bool], named: dict[str, Any], single: bool
    ) -> Lifted | None:
        """The function of the rows of some operands, each `single` one as a batch of one."""
        if any(_is_open(value) for value in (*named.values(), *args)):
            return None
        sizes = tuple(a for a in args if isinstance(a, int | tuple))
        key = (tuple(rows), sizes, tuple(named.items()), single)
        if key not in self.made:
            if len(self.made) >= MOST_KINDS:
                self.made.clear()
            self.made[key] = self._made(args, rows, named, single)
        padded = self.made[key]
        if padded is None:
            return None
        pairs = list(zip(args, rows, strict=True))
        functions = [a for a in args if isinstance(a, Lifted)]
        values = [a for a, by_row in pairs if not by_row and hasattr(a, "dtype")]
        values += [value for each in functions for value in each.values]
        known = tuple(size for each in functions for size in each.sizes)
        return Lifted(_called_alone, tuple(values), known, padded=padded)

    def _made(
        self, args: Sequence[Any], rows: Sequence[bool], named: dict[str, Any], single: bool
    ) -> RowFunction | None:
        node, depth = self.node, self.node.result.depth + 1
        operands: list[Operand] = []
        values: list[Value] = []
        params: list[Value] = []
        for operand, arg, by_row in zip(node.operands, args, rows, strict=True):
            if by_row:
                type_ = operand_type(operand)
                if not isinstance(type_, Tensor):
                    return None
                params.append(Value("row", _of_row(type_, single), depth))
                operands.append(params[-1])
            elif isinstance(operand, Function | OperatorFunction):
                operands.append(operand)
            elif hasattr(arg, "dtype"):
                values.append(Value("given", operand_type(operand)))
                operands.append(values[-1])
            elif isinstance(arg, int):
                operands.append(SizeOf(arg))
            else:
                operands.append(ShapeOf(tuple(arg)))
        result = Value("made", _of_row(node.result.type, single), depth)
        types = [
            t if isinstance(o, Function | OperatorFunction) else operand_type(o)
            for o, t in zip(operands, node.type.params, strict=True)
        ]
        written: Type = node.written
        if not single:
            scheme = scheme_of(node.operator, len(operands), named)
            if isinstance(scheme, Problem):
                return None
            written = scheme.type
        type_ = Fn(tuple(types), result.type)
        each = Apply(result, node.operator, tuple(operands), named, node.span, type_, written)
        values += [value for used, _ in self.used.values() for value in used]
        sizes = [size for _, known in self.used.values() for size in known]
        function = Function(tuple(params), (each,), result, depth)
        return RowFunction(function, values, sizes, self.alone)


def _called_alone(*_: Any) -> Any:
    raise AssertionError("rows go together")


def _is_open(value: Any) -> bool:
    """Whether a size is another one in each row."""
    if isinstance(value, tuple):
        return any(map(_is_open, value))
    known = value is None or isinstance(value, bool | int | float | str)
    return not (known or hasattr(value, "dtype") or callable(value))


def _of_row(type_: Type, single: bool) -> Type:
    if isinstance(type_, Tuple):
        return Tuple(tuple(_of_row(item, single) for item in type_.items))
    assert isinstance(type_, Tensor)
    inner = type_.shape[1:]
    return Tensor(type_.elem, (1, *inner) if single else inner)
