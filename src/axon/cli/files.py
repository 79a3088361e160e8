"""What commands that take several files share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence

from axon.cli.out import complain
from axon.cli.status import FINE, WRONG_USAGE
from axon.files import Unreadable

FILES = "a program, - for standard input, an ONNX model (.onnx), or a PyTorch program (.pt2)"


def no_programs(paths: Sequence[str]) -> str:
    return f"no programs (*.axon) in directory {', '.join(paths)}"


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


def programs(paths: Sequence[str], endings: tuple[str, ...] = (".axon",)) -> Iterator[str]:
    """Files as they are; of folders, the files in them with these endings, folder by folder, by
    their names. A folder that cannot be read is given as a file, so that somebody says so; links
    to folders are not followed.
    """
    for path in paths:
        if not os.path.isdir(path):
            yield path
            continue
        unread: list[OSError] = []
        for folder, folders, names in os.walk(path, onerror=unread.append):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                if name.lower().endswith(endings) and not name.startswith("."):
                    yield os.path.join(folder, name)
        yield from (problem.filename for problem in unread)


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
