"""The archive that `torch.export.save` writes: a zip file of JSON and of the bytes of tensors.

Nothing in it is believed before it is checked, nothing is extracted, and no pickle is opened.
"""

from __future__ import annotations

import gc
import json
import os
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from axon.importers.operations import NoModel
from axon.importers.torch.document import Document, WrongDocument

LARGEST_PROGRAM = 512 << 20
"""Bytes of a program, or of a table of weights, that are read."""
LARGEST_COMPRESSED = 64 << 20
"""The same for those that are compressed: the exporter compresses none."""
LARGEST_RATIO = 200
"""How many times as large as its compressed form an entry may be."""
MOST_ENTRIES = 1 << 20
HALF = re.compile(r"\\u[dD][89a-fA-F]")
"""Half of a letter, as JSON may have it."""
UNREADABLE = (OSError, ValueError, NotImplementedError, RuntimeError, EOFError, zlib.error)
"""What reading an entry may raise, whatever is in the file."""
PROGRAM = "models/"
WEIGHTS = "data/weights/", "model_weights_config.json"
CONSTANTS = "data/constants/", "model_constants_config.json"


@dataclass(slots=True)
class Archive:
    """An archive on the disk, or in memory. `root` is the folder that all entries are in."""

    name: str
    zip: zipfile.ZipFile
    root: str
    sizes: dict[str, int]
    packed: frozenset[str] = frozenset()
    """The entries that are compressed."""
    program: Document = field(default_factory=lambda: Document({}, ""))

    def refused(self, wrong: WrongDocument) -> NoModel:
        """The error that its document is not that of a program."""
        return NoModel(f"{self.name} is not a program of torch.export: {wrong}")

    def json(self, entry: str) -> Document:
        """The document that an entry holds."""
        most = LARGEST_COMPRESSED if entry in self.packed else LARGEST_PROGRAM
        if self.sizes[entry] > most:
            raise NoModel(f"{self.name}: {entry} is larger than {most >> 20} MB")
        try:
            text = self.bytes(entry).decode()
            with _uncollected():
                found = json.loads(text)
            if HALF.search(text):  # which no terminal and no file takes
                json.dumps(found, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            raise NoModel(f"{self.name}: {entry} is not JSON that can be read") from None
        return Document(found, entry)

    def bytes(self, entry: str, start: int = 0, count: int | None = None) -> bytes:
        """What an entry holds, or a part of it."""
        size = self.sizes.get(entry)
        if size is None:
            raise NoModel(f"{self.name} has no {entry}")
        wanted = size - start if count is None else count
        try:
            with self.zip.open(self.root + entry) as file:
                file.seek(start)
                found = file.read(wanted)
        except UNREADABLE as problem:
            raise NoModel(f"{self.name}: {entry} cannot be read: {problem}") from None
        except zipfile.BadZipFile as problem:
            raise NoModel(f"{self.name} is damaged: {problem}") from None
        if len(found) != wanted:
            raise NoModel(f"{self.name} is damaged: {entry} is shorter than the archive states")
        return found


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without the cycle collector, which would look at all of a document again and again. It is not
    `workspace()`: a document may not be nested as deep as a program.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def open_archive(file: Any, name: str) -> Archive:
    """The archive in a file, by its path or as a binary file, if it is one of `torch.export`."""
    try:
        if isinstance(file, str) and not os.path.isfile(file):
            raise NoModel(f"there is no file {file}")
        archive = zipfile.ZipFile(file)
    except OSError as problem:
        raise NoModel(f"{name} cannot be read: {problem.strerror or problem}") from None
    except (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError):
        raise NoModel(f"{name} is not a .pt2 archive: it is no zip file that can be read") from None
    entries = archive.infolist()
    if len(entries) > MOST_ENTRIES:
        raise NoModel(f"{name} has more than {MOST_ENTRIES:,} entries")
    root = entries[0].filename.split("/")[0] + "/" if entries else ""
    sizes: dict[str, int] = {}
    packed: set[str] = set()
    for entry in entries:
        if not entry.filename.startswith(root):
            continue
        short = entry.filename[len(root) :]
        if short in sizes:
            raise NoModel(f"{name} has two entries {short}")
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise NoModel(f"{name}: {short} is compressed in a way that Axon does not read")
        if entry.compress_type != zipfile.ZIP_STORED:
            packed.add(short)
        if entry.file_size > LARGEST_RATIO * max(entry.compress_size, 64):
            raise NoModel(f"{name}: {short} is compressed so much that it is not read")
        sizes[short] = entry.file_size
    opened = Archive(name, archive, root, sizes, frozenset(packed))
    if "archive_format" not in sizes or opened.bytes("archive_format")[:3] != b"pt2":
        saved = ": it looks like what torch.save writes" if "data.pkl" in sizes else ""
        raise NoModel(f"{name} is not what torch.export.save writes{saved}")
    if "byteorder" in sizes and opened.bytes("byteorder")[:6] != b"little":
        raise NoModel(f"{name} was written on a machine with another order of bytes")
    opened.program = _program(opened)
    return opened


def _program(archive: Archive) -> Document:
    """The document of the program; an archive has one."""
    found = [e for e in archive.sizes if e.startswith(PROGRAM) and e.endswith(".json")]
    if len(found) != 1:
        many = "no program" if not found else f"{len(found)} programs, and Axon reads one"
        raise NoModel(f"{archive.name} has {many}")
    return archive.json(found[0])
