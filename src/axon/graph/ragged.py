"""Which operands are taken row by row, where the rows of one of them vary in size."""

from __future__ import annotations

from axon.graph.graph import Operand, Value
from axon.types.type import Fn, Tensor, Tuple, Type, type_variables
from axon.types.variables import DimVar, ShapeVar


def varies(type_: Type, depth: int) -> bool:
    """Whether some size varies inside a tensor that stands at this depth."""
    return any(
        isinstance(v, DimVar | ShapeVar) and v.runtime and v.scope > depth
        for v in type_variables(type_)
    )


def runtime(type_: Type) -> bool:
    """Whether the type has sizes that only the run knows."""
    return any(isinstance(v, DimVar | ShapeVar) and v.runtime for v in type_variables(type_))


def row_operands(
    operands: tuple[Operand, ...], type_: Fn, written: Type
) -> tuple[bool, ...] | None:
    """An operand goes row by row if its outermost dimensions are, in the operator's signature,
    those of the result: a batch. None where nothing can vary.
    """
    tensors = [o for o in operands if isinstance(o, Value)]
    if not any(runtime(o.type) for o in tensors) and not runtime(type_.result):
        return None
    assert isinstance(written, Fn)
    result = written.result
    lead = _lead(result.items[0] if isinstance(result, Tuple) and result.items else result)
    return tuple(lead is not None and _lead(param) is lead for param in written.params)


def _lead(type_: Type) -> object:
    return type_.shape[0] if isinstance(type_, Tensor) and type_.shape else None
