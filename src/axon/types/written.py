"""Arithmetic on dimensions as users write it: it may overflow the bounds, or divide by zero."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.type import AtLeast, Relation

EXTREMA: Final[dict[str, Callable[..., Dim]]] = {"min": dims.minimum, "max": dims.maximum}
"""The functions of the language of dimensions, in an annotation and in a shape literal."""

SIZE_SIGNS: Final = frozenset({"+", "-", "*", "/", "//", "%"})
"""The infix operators whose operands are sizes where the result is one."""


@dataclass(frozen=True, slots=True)
class Written:
    """The result of a written operation: a dimension, its error (a code and a sentence), and the
    conditions under which it is a dimension.
    """

    dim: Dim
    problem: tuple[str, str] | None = None
    guard: Relation | None = None


def apply_written(op: str, left: Dim, right: Dim) -> Written:
    """`left op right` for + - * / // mod %, in an annotation or in a shape literal."""
    match op:
        case "+":
            return Written(dims.add(left, right))
        case "-":
            return Written(dims.sub(left, right))
        case "*":
            product = dims.mul(left, right)
            large = ("AX005", "this dimension is too large to keep")
            first = not dims.is_vast(left) and not dims.is_vast(right)
            return Written(product, large if first and dims.is_vast(product) else None)
        case _ if right == 0:
            return Written(0, ("AX107", "a dimension is divided by zero"))
        case _:
            guard = (
                None
                if isinstance(right, int)
                else AtLeast(dims.sub(right, 1), silent=True, why="divisor")
            )
            quotient = dims.mod(left, right) if op in ("mod", "%") else dims.floordiv(left, right)
            return Written(quotient, None, guard)
