"""Canonical source from the tree.

Laws: `parse(print(tree))` is the tree again, apart from spans; no comment is lost, and they keep
their order; printing what was printed changes nothing. Of the text that the tree was read from, the
result depends only on where comments and empty lines are.
"""

from __future__ import annotations

from axon.syntax.ast import Expr, Program
from axon.syntax.printing.comments import BEGINNING, Comments, Lines
from axon.syntax.printing.expressions import build, expression, leaf
from axon.syntax.printing.functions import statement
from axon.syntax.printing.layout import join, render
from axon.syntax.printing.lists import bare


def print_program(program: Program) -> str:
    """The text of a file, with a newline at its end."""
    comments = Comments(program.comments)
    lines = Lines(comments, BEGINNING)
    for item in program.items:
        lines.before(item.span)
        lines.add(join(build(statement(item, comments), comments), ";"), item.span.end)
    if program.result is not None:
        lines.before(program.result.span)
        lines.add(build(bare(program.result, comments), comments), program.result.span.end)
    lines.finish(len(program.source.text) + 1)
    text = render(join(*lines.parts))
    return text + "\n" if text else ""


def print_expr(expr: Expr) -> str:
    """The text of an expression; a tuple has its parentheses."""
    comments = Comments(())
    return leaf(expr) or render(build(expression(expr, comments), comments))
