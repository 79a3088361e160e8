"""The session by plain lines: from a pipe, a file, or a terminal without more."""

from __future__ import annotations

import sys
from collections.abc import Callable

from axon.repl.interpreter import Interpreter
from axon.repl.reading import COMMAND, is_complete
from axon.repl.showing import Printer

PROMPT, CONTINUED = "axon> ", "  ... "

LONGEST = 1 << 20
"""How many characters an input may have that is not complete."""


def talk(interpreter: Interpreter, printer: Printer, read: Callable[[str], str]) -> None:
    """Answer inputs until there are no more. `read` gives the next line, and raises `EOFError` at
    the end. Two empty lines end an input that is not complete, and so does a command.
    """
    pending: list[str] = []
    empty = 0
    while True:
        try:
            try:
                line = read(CONTINUED if pending else PROMPT)
            except EOFError:
                if pending:
                    printer.show(interpreter.answer("\n".join(pending)))
                return
            if pending and COMMAND.match(line):
                if not printer.show(interpreter.answer("\n".join(pending))):
                    return
                pending = []
            pending.append(line)
            empty = empty + 1 if not line.strip() else 0
            text = "\n".join(pending)
            if is_complete(text) or empty > 1 or len(text) > LONGEST:
                pending, empty = [], 0
                if text.strip() and not printer.show(interpreter.answer(text)):
                    return
        except KeyboardInterrupt:
            pending, empty = [], 0
            printer.interrupted()


def from_pipe(_prompt: str) -> str:
    """The next line of standard input; bytes that are no text are shown as such."""
    if sys.stdin is None:
        raise EOFError
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.rstrip("\n")
