"""Files: reading programs, writing pages, and messages for failures."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from axon.source import Source

LARGEST_FILE = 64 << 20


class Unreadable(Exception):
    """A file that cannot be read, with the reason as a sentence."""


class Unwritable(Exception):
    """The same for one that cannot be written."""


def read_program(path: str, empty: bool = False) -> Source:
    """The program in a file, or on standard input if that is `-`; may it be empty?"""
    if path == "-":
        return _source("<stdin>", _standard_input(), empty)
    return read_source(path, empty)


def read_source(path: str, empty: bool = False) -> Source:
    """The program in a file."""
    try:
        if os.path.isdir(path) and not os.access(path, os.R_OK):
            raise Unreadable(f"{path} may not be read: permission denied")
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
    return _source(path, data, empty)


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise Unreadable("there is no standard input")
    try:
        stream = getattr(sys.stdin, "buffer", None)
        data = sys.stdin.read().encode() if stream is None else stream.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as problem:
        raise Unreadable(f"standard input cannot be read: {problem}") from None
    if len(data) > LARGEST_FILE:
        raise Unreadable("standard input is larger than 64 MB")
    return bytes(data)


def _source(name: str, data: bytes, empty: bool) -> Source:
    if b"\0" in data:
        raise Unreadable(f"{name} is a binary file, not a program")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        raise Unreadable(f"{name} is not UTF-8: a wrong byte on line {line}") from None
    if not empty and not text.strip():
        raise Unreadable(f"{name} is empty")
    return Source(name, text)


def find_import(path: str, source: Source) -> Source | str:
    """An imported file: a path relative to the folder of the importing program."""
    folder = os.path.dirname(source.name)
    try:
        # the shortest way from here, so that one file has one name
        return read_source(os.path.relpath(os.path.join(folder, path)))
    except Unreadable as problem:
        return str(problem)


class Finder:
    """Finds imported files, and keeps what it has read: by the path as it is written and the file
    that it is written in.
    """

    def __init__(self, known: Mapping[tuple[str, str], Source] | None = None) -> None:
        self.known = dict(known or {})
        self.read: dict[str, None] = {found.name: None for found in self.known.values()}

    def __call__(self, path: str, source: Source) -> Source | str:
        found = self.known.get((path, source.name)) or find_import(path, source)
        if isinstance(found, Source):
            self.known[path, source.name] = found
            self.read[found.name] = None
        return found


def keep(path: str, taken: Mapping[str, str]) -> None:
    """Refuse to overwrite a file that is in use; `taken` describes each of them."""
    for other, what in taken.items():
        try:
            same = os.path.exists(path) and os.path.samefile(path, other)
        except (OSError, ValueError):
            same = False
        if same:
            raise Unwritable(f"{path} is {what}; name another file")


@contextmanager
def replacing(path: str, taken: Mapping[str, str]) -> Iterator[BinaryIO]:
    """A file to write to. It is written beside the one of that name and replaces it at the end of
    the block, so that a reader finds the old file or the new one. After a failure nothing is left
    behind. The permissions of a file stay. Anything but a regular file, such as a pipe, is written
    to directly.
    """
    keep(path, taken)
    try:
        target = os.path.realpath(path)
        if os.path.exists(target) and not os.path.isfile(target):
            with open(target, "wb") as file:
                yield file
            return
        folder, name = os.path.split(target)
        unfinished = os.path.join(folder, f".{name[:100]}.{os.urandom(4).hex()}.part")
        try:
            with open(unfinished, "xb") as file:
                if os.path.exists(target):
                    os.chmod(unfinished, os.stat(target).st_mode & 0o7777)
                yield file
            os.replace(unfinished, target)
        finally:
            if os.path.lexists(unfinished):
                os.unlink(unfinished)
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise Unwritable(f"{path!r} cannot be written: {reason}") from None


def write_page(path: str, text: str, taken: Mapping[str, str]) -> None:
    """Write a text; `taken` are the files that it must not overwrite."""
    with replacing(path, taken) as file:
        file.write(text.encode("utf-8"))
