"""A session as text: what is typed, and what it says."""

from __future__ import annotations

from axon.diagnostics.text import render_all
from axon.repl.interpreter import Interpreter
from axon.repl.reports import Diagnosed, Quit, Report


def text_of(report: Report) -> str:
    match report:
        case Diagnosed(diagnostics):
            return render_all(diagnostics)
        case Quit():
            return "(quit)"
        case said:
            return said.text


def say(session: Interpreter, line: str) -> str:
    return "\n".join(map(text_of, session.answer(line)))


def session(*lines: str) -> Interpreter:
    """A session in which these lines were typed, without complaints."""
    made = Interpreter()
    for line in lines:
        said = say(made, line)
        assert "error" not in said and "bug" not in said, said
    return made
