"""Files: reading programs, writing pages, and what to say when that is not possible."""

from __future__ import annotations

import os
from pathlib import Path

from axon.source import Source

LARGEST_FILE = 64 << 20


class Unreadable(Exception):
    """A file that cannot be read, with the sentence that says why."""


class Unwritable(Exception):
    """The same for one that cannot be written."""


def read_source(path: str) -> Source:
    """The program in a file."""
    try:
        if os.path.isdir(path):
            raise Unreadable(f"{path} is a directory, not a program")
        if os.path.exists(path) and not os.path.isfile(path):
            raise Unreadable(f"{path} is not a regular file")
        if os.path.getsize(path) > LARGEST_FILE:
            raise Unreadable(f"{path} is larger than 64 MB")
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise Unreadable(f"{path}: there is no such file") from None
    except PermissionError:
        raise Unreadable(f"{path} may not be read: permission denied") from None
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise Unreadable(f"{path!r} cannot be read: {reason}") from None
    if b"\0" in data:
        raise Unreadable(f"{path} is a binary file, not a program")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        raise Unreadable(f"{path} is not UTF-8: a wrong byte on line {line}") from None
    if not text.strip():
        raise Unreadable(f"{path} is empty")
    return Source(path, text)


def find_import(path: str, source: Source) -> Source | str:
    """What a program imports: a path from the folder that the program is in."""
    folder = os.path.dirname(source.name)
    try:
        # the shortest way from here, so that one file has one name
        return read_source(os.path.relpath(os.path.join(folder, path)))
    except Unreadable as problem:
        return str(problem)


def write_page(path: str, program: str, text: str) -> None:
    """Write a page about a program, which it must not overwrite."""
    try:
        if os.path.exists(path) and os.path.samefile(path, program):
            raise Unwritable(f"{path} is the program itself; name another file for the page")
        Path(path).write_text(text, encoding="utf-8", newline="\n")
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise Unwritable(f"{path!r} cannot be written: {reason}") from None
