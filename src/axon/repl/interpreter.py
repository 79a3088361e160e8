"""The session: a text in, reports out.

Whatever the text, there is an answer: mistakes, failed runs and memory that runs out are reports,
and what was known before is still known. `KeyboardInterrupt` alone comes through; nothing of the
statement that it interrupts is kept.
"""

from __future__ import annotations

from collections.abc import Iterator

from axon.files import Unreadable, Unwritable
from axon.repl.commands import command
from axon.repl.programs import MAIN
from axon.repl.reading import COMMAND
from axon.repl.reports import Complaint, Diagnosed, Refusal, Report
from axon.repl.statements import State, expression, statement
from axon.run.errors import AxonError
from axon.source import Source
from axon.syntax import parse_program

NAME = "session"
"""The name of what is typed, in messages."""
ELSEWHERE = {"help": ":help", "?": ":help", "exit": ":quit", "quit": ":quit"}
"""What other sessions call a command."""


class Interpreter:
    """A session. Its lines are numbered from one, as those of a file."""

    def __init__(self, backend_name: str = "numpy") -> None:
        from axon.run.backend import backend

        self.state = State(backend=backend(backend_name))

    def answer(self, text: str) -> Iterator[Report]:
        """What there is to say to an input: statements, or a command that begins with `:`."""
        word = text.strip().removesuffix("()")
        if word not in self.state.table.known:
            text = ELSEWHERE.get(word, text)
        try:
            if COMMAND.match(text) or text.lstrip().startswith(":"):
                yield from command(self.state, text.strip(), self._source)
            else:
                yield from self._statements(text)
        except Refusal as refused:
            yield from refused.reports
        except AxonError as problem:
            yield Complaint(problem.message.removeprefix(f"{MAIN}: ") or "this failed")
            if problem.diagnostics:
                yield Diagnosed(problem.diagnostics)
        except (Unreadable, Unwritable) as problem:
            yield Complaint(str(problem))
        except MemoryError:
            yield Complaint("there is not enough memory")
        except RecursionError:
            yield Complaint("this is nested too deeply")
        except OSError as problem:
            yield Complaint(problem.strerror or str(problem))
        except Exception as bug:
            yield Complaint(f"a bug in Axon, please report it: {type(bug).__name__}: {bug}")

    def _source(self, text: str) -> Source:
        """A text of the session; its lines count on from those before."""
        source = Source(NAME, text, self.state.lines)
        self.state.lines += text.count("\n") + 1
        return source

    def _statements(self, text: str) -> Iterator[Report]:
        source = self._source(text)
        program, problems = parse_program(source)
        if problems:
            raise Refusal(Diagnosed(problems))
        for item in program.items:
            yield from statement(self.state, item, source)
        if program.result is not None:
            yield from expression(self.state, program.result, source)
