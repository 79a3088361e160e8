"""The canonical form of a program's text.

Laws: what is formatted is the same program, with the same comments in the same order; formatting
it again changes nothing; apart from comments and single empty lines, the form depends on nothing
but the syntax tree. `axon.syntax.printer` is what writes it.
"""

from __future__ import annotations

from dataclasses import dataclass

from axon.diagnostics.value import Diagnostic, error
from axon.format.same import same
from axon.source import Source, Span
from axon.syntax import parse_program
from axon.syntax.ast import Program
from axon.syntax.printer import print_program
from axon.workspace import workspace


@dataclass(frozen=True, slots=True)
class Formatted:
    """A text by its name, as it was and as it should be."""

    name: str
    before: str
    text: str

    @property
    def changed(self) -> bool:
        return self.text != self.before

    def diff(self) -> str:
        """What changes, as a unified diff; nothing if nothing does."""
        from difflib import unified_diff

        before, after = (text.splitlines(keepends=True) for text in (self.before, self.text))
        pieces = unified_diff(before, after, self.name, f"{self.name} (formatted)")
        return "".join(
            piece if piece.endswith("\n") else f"{piece}\n\\ No newline at end of file\n"
            for piece in pieces
        )


class NotTheSame(Exception):
    """What was formatted is another program: a bug."""


def format_text(text: str, name: str) -> Formatted | tuple[Diagnostic, ...]:
    """A program in its canonical form, or the mistakes in its syntax; other mistakes do not matter.

    The result is read again and compared, so that a bug of ours never changes a program.
    """
    with workspace():
        program, problems = parse_program(Source(name, text))
        if any(problem.severity == "error" for problem in problems):
            return problems
        formatted = print_program(program)
        if formatted != text:
            again, problems = parse_program(Source(name, formatted))
            if problems and all(problem.code == "AX003" for problem in problems):
                return (_too_deep(program, again, problems[0].labels[0].span.start),)
            if problems or not same(program, again):
                raise NotTheSame(f"{name} would be another program when formatted")
        return Formatted(name, text, formatted)


def _too_deep(program: Program, again: Program, place: int) -> Diagnostic:
    """A program close to the limit of nesting: the form has parentheses around a function that is
    an operand, and around a tuple of several lines.
    """
    pairs = zip(program.items, again.items, strict=False)
    found = [item.span for item, other in pairs if other.span.start <= place <= other.span.end]
    last = program.result or program.items[-1]
    start = (found[0] if found else last.span).start
    message = "this is nested so deep that it cannot be formatted"
    help = "give inner parts a name of their own"
    return error("AX003", message, Span(program.source, start, start + 1), "in this", help)
