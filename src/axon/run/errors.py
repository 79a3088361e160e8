"""The exceptions of the Python API, each with a complete message."""

from __future__ import annotations

from collections.abc import Sequence

from axon.diagnostics import Diagnostic
from axon.diagnostics.text import render


class AxonError(Exception):
    """A program or a call that is wrong. `diagnostics` has the places in the program."""

    def __init__(self, message: str, diagnostics: Sequence[Diagnostic] = ()) -> None:
        self.message = message
        self.diagnostics = tuple(diagnostics)
        super().__init__(message)

    def __str__(self) -> str:
        return "\n\n".join([self.message, *(render(d) for d in self.diagnostics)]).strip()


class ProgramError(AxonError):
    """The program has errors."""


class ArgumentError(AxonError):
    """A call whose arguments do not fit."""


class RunError(AxonError):
    """Run-time sizes that do not fit."""
