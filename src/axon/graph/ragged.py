"""Which operands are taken row by row, where the rows of one of them vary in size."""

from __future__ import annotations

from axon.graph.graph import Operand, Value
from axon.ops import Operator
from axon.types.type import Fn, Tensor, Tuple, Type, type_variables
from axon.types.variables import DimVar, ShapeVar, is_ragged


def varies(type_: Type) -> bool:
    """Whether some size varies inside a tensor."""
    return any(is_ragged(v) for v in type_variables(type_))


def runtime(type_: Type) -> bool:
    """Whether the type has sizes that only the run knows."""
    return any(isinstance(v, DimVar | ShapeVar) and v.runtime for v in type_variables(type_))


NOT_A_BATCH = frozenset({"tril", "triu"})
"""What looks at the place of a row in the matrix: its rows are no batch."""


def row_operands(
    operator: Operator, operands: tuple[Operand, ...], type_: Fn, written: Type
) -> tuple[bool, ...] | None:
    """An operand goes row by row if its outermost dimensions are, in the operator's signature,
    those of the result: a batch. None where nothing can vary.
    """
    tensors = [o for o in operands if isinstance(o, Value)]
    if not any(runtime(o.type) for o in tensors) and not runtime(type_.result):
        return None
    assert isinstance(written, Fn)
    if operator.name in NOT_A_BATCH:
        return tuple(_batch(p, q) for p, q in zip(written.params, type_.params, strict=True))
    lead = _lead(_first(written.result), _first(type_.result))
    pairs = zip(written.params, type_.params, strict=True)
    return tuple(lead is not None and _lead(param, known) is lead for param, known in pairs)


def _first(type_: Type) -> Type:
    return type_.items[0] if isinstance(type_, Tuple) and type_.items else type_


def _lead(written: Type, known: Type) -> object:
    """What a signature calls the outermost dimension of a tensor, or the shape that it is in."""
    if not isinstance(written, Tensor) or not isinstance(known, Tensor) or not written.shape:
        return None
    first, *others = written.shape
    if isinstance(first, ShapeVar) and _is_empty(written, known):
        return others[0] if others else None
    return first


def _is_empty(written: Tensor, known: Tensor) -> bool:
    """Whether the shape that a signature begins with is `[]` here."""
    alone = sum(isinstance(item, ShapeVar) for item in written.shape) == 1
    return alone and len(known.shape) == len(written.shape) - 1


def _batch(written: Type, known: Type) -> bool:
    """Whether a tensor is a batch of matrices, and not one matrix."""
    if not isinstance(written, Tensor) or not isinstance(known, Tensor) or not written.shape:
        return False
    return isinstance(written.shape[0], ShapeVar) and not _is_empty(written, known)
