"""The command line, run in this process: as a user sees it, without the cost of a new Python."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from axon.cli import main


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command left behind; `terminal` is both streams in the order they were written."""

    status: int
    stdout: str
    stderr: str
    terminal: str


def axon(arguments: Sequence[str], directory: Path) -> Outcome:
    """Run `axon ARGUMENTS…` in a directory, with an empty standard input and no colours."""
    terminal = io.StringIO()
    stdout, stderr = _Tee(terminal), _Tee(terminal)
    with _surroundings(directory), _streams(stdout, stderr):
        try:
            status = main(list(arguments))
        except SystemExit as leaving:  # argparse leaves this way
            status = leaving.code if isinstance(leaving.code, int) else int(bool(leaving.code))
    return Outcome(status, stdout.getvalue(), stderr.getvalue(), terminal.getvalue())


class _Tee(io.StringIO):
    """A stream that also writes to another one."""

    def __init__(self, other: io.StringIO) -> None:
        super().__init__()
        self._other = other

    def write(self, text: str, /) -> int:
        self._other.write(text)
        return super().write(text)


@contextlib.contextmanager
def _surroundings(directory: Path) -> Iterator[None]:
    environment = {"NO_COLOR": "1", "COLUMNS": "100"}
    with contextlib.chdir(directory), mock.patch.dict("os.environ", environment):
        yield


@contextlib.contextmanager
def _streams(stdout: io.StringIO, stderr: io.StringIO) -> Iterator[None]:
    with (
        mock.patch.object(sys, "stdin", io.StringIO()),
        contextlib.redirect_stdout(stdout),
        contextlib.redirect_stderr(stderr),
    ):
        yield
