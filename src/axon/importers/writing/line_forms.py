"""Lines that are alike: those that differ in nothing but tensors."""

from __future__ import annotations

from typing import Any

from axon.importers.writing.writer import Line, Writer
from axon.syntax import ast, replaced
from axon.syntax.printer import print_expr
from axon.types.trees import NOWHERE

HOLE = "·"

Operand = str
"""A tensor by its name, or a weight as its call: `x`, `w()`."""

Place = tuple[int, int]
"""Which line of some makes a tensor, and as which of its parts."""


def form(writer: Writer, line: Line) -> tuple[int, str]:
    """What a line is but for the tensors in it."""
    found: tuple[int, str] = _look(writer, line)[0]
    return found


def operands(writer: Writer, line: Line) -> list[Operand]:
    """The tensors and weights that a line takes, in its order."""
    return _look(writer, line)[1]


def _look(writer: Writer, line: Line) -> tuple[Any, list[Operand]]:
    if line not in writer.looks:
        found: list[Operand] = []

        def take(operand: Operand) -> str:
            found.append(operand)
            return HOLE

        holes = with_operands(writer, line.expr, take)
        writer.looks[line] = (len(line.names), print_expr(holes)), found
    return writer.looks[line]


def tokens(writer: Writer, lines: list[Line]) -> list[int]:
    """The forms of lines as numbers, the same for equal ones."""
    numbers: dict[tuple[int, str], int] = {}
    return [numbers.setdefault(form(writer, line), len(numbers)) for line in lines]


def with_operands(writer: Writer, expr: ast.Expr, change: Any) -> ast.Expr:
    """The expression with its operands changed, from the first to the last."""

    def go(part: ast.Expr) -> ast.Expr:
        match part:
            case ast.Name(name, _) if name in writer.originals:
                return ast.Name(change(name), NOWHERE)
            case ast.Call(ast.Name(name, _), (), (), _) if name in writer.weights:
                return ast.Name(change(f"{name}()"), NOWHERE)
            case _:
                return part

    return replaced(expr, go)


# --- wiring ----------------------------------------------------------------------------------


def wiring(writer: Writer, copy: list[Line]) -> list[list[Place | None]]:
    """Where lines take their operands from: which of them makes each; None for those from
    outside.
    """
    made = makers(copy)
    return [[made.get(operand) for operand in operands(writer, line)] for line in copy]


def makers(copy: list[Line]) -> dict[str, Place]:
    """Which line makes each tensor."""
    found: dict[str, Place] = {}
    for o, line in enumerate(copy):
        found.update((name, (o, part)) for part, name in enumerate(line.names) if name)
    return found
