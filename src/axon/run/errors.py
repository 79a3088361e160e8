"""The exceptions of the Python API, each with a complete message."""

from __future__ import annotations

from collections.abc import Sequence

from axon.diagnostics import Diagnostic, Label, Severity
from axon.diagnostics.cells import shown
from axon.diagnostics.text import render
from axon.source import Span

MOST_SHOWN = 8
"""How many errors of a file are shown."""


class AxonError(Exception):
    """A program or a call that is wrong. `diagnostics` has the places in the program."""

    def __init__(self, message: str, diagnostics: Sequence[Diagnostic] = ()) -> None:
        self.message = message
        self.diagnostics = tuple(diagnostics)
        super().__init__(message)

    def __str__(self) -> str:
        return "\n\n".join([self.message, *(render(d) for d in self.diagnostics)]).strip()

    def _repr_html_(self) -> str:
        from axon.run.html import framed, problem_html

        return framed(problem_html(self.message, self.diagnostics))

    def _render_traceback_(self) -> list[str]:
        """What IPython shows: the message, since the way through our own code explains nothing."""
        diagnostics = [render(d, colour=True) for d in self.diagnostics]
        message = "\n".join(map(shown, self.message.split("\n")))
        return "\n\n".join([message, *diagnostics]).strip().split("\n")


class ProgramError(AxonError):
    """The program has errors."""


class ArgumentError(AxonError):
    """A call whose arguments do not fit."""


class RunError(AxonError):
    """Run-time sizes that do not fit."""


class Misfit(Exception):
    """A file that does not have what a type asks for; each problem is a sentence and a label."""

    def __init__(self, path: str, problems: list[tuple[str, str]]) -> None:
        super().__init__(path)
        self.path = path
        self.problems = problems

    def error(self, what: str, span: Span | None) -> ArgumentError:
        """The error of an argument, with the place where it is declared."""
        more = len(self.problems) - MOST_SHOWN
        others = f"; {more} more are wrong" if more > 0 else ""
        diagnostics = [
            Diagnostic(
                "AX405",
                Severity.ERROR,
                text,
                (Label(span, label, primary=True),) if span is not None else (),
            )
            for text, label in self.problems[:MOST_SHOWN]
        ]
        return ArgumentError(f"{self.path} does not fit {what}{others}", diagnostics)
