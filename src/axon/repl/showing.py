"""Reports on a terminal or in a pipe: nothing in them moves the cursor."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass

from axon.diagnostics import Severity
from axon.diagnostics.cells import shown
from axon.diagnostics.text import render_all
from axon.repl.reports import Complaint, Diagnosed, Quit, Report, Said


@dataclass(slots=True)
class Printer:
    """Prints reports; `failed` once one of them was an error. In a pipe errors go to standard
    error.
    """

    colour: bool = False
    to_terminal: bool = False
    failed: bool = False

    def show(self, reports: Iterable[Report]) -> bool:
        """Print each as it comes; whether the session goes on."""
        for report in reports:
            match report:
                case Said(text):
                    print(_safe(text))
                case Complaint(text):
                    self.failed = True
                    self._complain(self._red(_safe(text)))
                case Diagnosed(diagnostics):
                    bad = any(d.severity == Severity.ERROR for d in diagnostics)
                    self.failed = self.failed or bad
                    self._complain(render_all(diagnostics, self.colour))
                case Quit():
                    return False
        sys.stdout.flush()
        return True

    def interrupted(self) -> None:
        self._complain(self._red("interrupted; what was known before is still known"))

    def _complain(self, text: str) -> None:
        if self.to_terminal:
            print(text)
            return
        sys.stdout.flush()
        print(text, file=sys.stderr, flush=True)

    def _red(self, text: str) -> str:
        return f"\x1b[31m{text}\x1b[0m" if self.colour else text


def _safe(text: str) -> str:
    return "\n".join(map(shown, text.split("\n")))
