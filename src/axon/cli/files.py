"""What commands that take several files share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from axon.cli.out import complain
from axon.cli.status import FINE, WRONG_USAGE
from axon.files import Unreadable

FILES = "a program, - for standard input, or an ONNX model (.onnx)"


def for_each(paths: Sequence[str], command: Callable[[str], int]) -> int:
    """Apply a command to each file, also behind one that cannot be read; the worst status."""
    status = FINE
    for path in paths:
        try:
            status = max(status, command(path))
        except Unreadable as problem:
            complain(str(problem))
            status = WRONG_USAGE
    return status


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
