"""A vector where a matrix is expected: the ways to make it one."""

from __future__ import annotations

from dataclasses import dataclass

from axon.diagnostics import Fix
from axon.ops import OPERATORS, SIGNS
from axon.solver.constraints import Constraint
from axon.source import Span
from axon.types import dim as dims
from axon.types.dim import Poly, Size
from axon.types.type import Shape
from axon.types.variables import ShapeVar

HELP = "a vector is a column of a matrix with `x[:, None]`, and a row with `x[None]`"
FLATTENED = "`flatten(x)` has one dimension; `flatten(x, axis=1)` keeps the first one"
MOST_TEXT = 60


@dataclass(frozen=True, slots=True)
class Vector:
    """The call that is given a vector, a sentence about it, and changes to try."""

    call: Span
    help: str
    fixes: tuple[Fix, ...]


def of_vector(main: Constraint, here: Shape, around: list[Constraint]) -> Vector | None:
    """How `w @ x` is written if `x`, or `w`, is a vector."""
    origin = main.origin
    operator = SIGNS.get(origin.operator) or OPERATORS.get(origin.operator)
    if operator is None or not operator.traits.often_transposed or len(here) != 1:
        return None
    if isinstance(here[0], ShapeVar) or origin.call is None or origin.kind != "argument":
        return None
    spans = {
        c.origin.position: c.origin.span
        for c in around
        if c.origin.call == origin.call and c.origin.kind == "argument" and not c.origin.part
    }
    left, right = spans.get(1), spans.get(2)
    help = FLATTENED if isinstance(here[0], Poly) and _is_product(here[0]) else HELP
    if left is None or right is None:
        return Vector(origin.call, help, ())
    a, b = _operand(left), _operand(right)
    forms = [f"dot({left.text}, {right.text})"]
    if origin.position == 2:
        forms.insert(0, f"({left.text} @ {b}[:, None])[..., 0]")
    else:
        forms.insert(0, f"({a}[None] @ {right.text})[0]")
    fixes = [Fix(f"write `{new}`", origin.call, new) for new in forms if _shown(new)]
    return Vector(origin.call, help, tuple(fixes))


def _is_product(size: Poly) -> bool:
    """Whether a size may be that of a tensor with all its elements in one dimension."""
    return any(len(mono) > 1 or isinstance(mono[0], Size) for mono in dims.terms_of(size) if mono)


def _operand(span: Span) -> str:
    text = span.text
    plain = text.replace("_", "").replace(".", "").replace("'", "").isalnum()
    return text if plain or (text.endswith((")", "]")) and "(" in text[:40]) else f"({text})"


def _shown(text: str) -> bool:
    return len(text) <= MOST_TEXT and "\n" not in text
