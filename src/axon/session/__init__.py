"""Incremental checking of a program that is edited: what an edit does not affect is not inferred
again.

A text is cut into fragments, and each is parsed only if it is new (`fragments.py`). A definition is
inferred again only if its text, or the meaning of one of its names, has changed. One whose result
is the same as before keeps its identity, so its dependents are not inferred again either. This
holds across files: each imported file is looked up at every check, and is checked in the same way.
It holds for a text with mistakes as well: what is fine in it stays known.
"""

from __future__ import annotations

from dataclasses import replace

from axon.driver import FindFile, Imports, no_files
from axon.inference.environment import Environment
from axon.session.file import File, Snapshot
from axon.session.fragments import Fragment
from axon.session.parts import Part, Result
from axon.source import Source
from axon.workspace import workspace

__all__ = ["File", "Fragment", "Part", "Result", "Session", "Snapshot"]


class Session:
    """One file being edited, and those that it imports: `file` and `imported`, as they were checked
    last.
    """

    def __init__(self, name: str, find_file: FindFile | None = None) -> None:
        self.name = name
        self.file = File(name)
        self.imported: dict[str, File] = {}
        self._find_file = find_file or no_files
        self._inferred = 0

    def check(self, text: str) -> Snapshot:
        """The same as checking the entire text, at the cost of what has changed."""
        self._inferred = 0
        with workspace():
            imports = Imports(self._find_file, self._infer_import)
            found, _ = self.file.check(Source(self.name, text), imports)
        return replace(found, inferred=found.inferred + self._inferred)

    def _infer_import(self, source: Source, imports: Imports) -> Environment | None:
        file = self.imported.setdefault(source.name, File(source.name))
        found, environment = file.check(source, imports)
        self._inferred += found.inferred
        return environment if found.ok else None
