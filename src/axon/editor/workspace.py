"""The files of an editor: those that are open, and those that they import."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator

from axon import stdlib
from axon.editor.document import Document
from axon.editor.edited_file import EditedFile, line_place
from axon.editor.values import Place, Symbol
from axon.source import Source, Span
from axon.syntax import ast

ReadFile = Callable[[str], str | Exception]
"""The text of a file by its name, or why there is none."""


def no_files(name: str) -> str | Exception:
    return FileNotFoundError(f"{name}: there is no such file")


class Workspace:
    """Files by name. A name is a path with `/`; what a file imports is looked up beside it, among
    the open files first, then with `read`. Nothing here touches a disk.
    """

    def __init__(self, read: ReadFile = no_files) -> None:
        self.version = 0
        self._read = read
        self._open: dict[str, Document] = {}
        self._others: dict[str, Document] = {}
        self._known: dict[str, None] = {}

    # --- files ---

    def open(self, name: str, text: str) -> Document:
        """A file that is edited from now on, whatever is on the disk."""
        self.version += 1
        self._others.pop(name, None)
        self._known[name] = None
        found = self._open[name] = Document(self, name, text)
        return found

    def change(self, name: str, text: str) -> Document:
        document = self._open[name]
        if document.text != text:
            self.version += 1
            document.text = text
        return document

    def close(self, name: str) -> None:
        if self._open.pop(name, None) is not None:
            self.version += 1

    def touch(self, *names: str) -> None:
        """Files that are not open have changed, or come, or gone."""
        self.version += 1
        for name in names:
            self._others.pop(name, None)
            self._known[name] = None

    def is_open(self, name: str) -> bool:
        return name in self._open

    @property
    def documents(self) -> list[Document]:
        """The open files."""
        return list(self._open.values())

    def document(self, name: str) -> Document | None:
        """A file, open or not; `std/…` is the standard library's."""
        found = self._open.get(name) or self._others.get(name)
        if found is None:
            text = self.text(name)
            if text is None:
                return None
            found = self._others[name] = Document(self, name, text)
        return found

    def text(self, name: str) -> str | None:
        found = self._open.get(name)
        if found is not None:
            return found.text
        of_library = stdlib.find(name)
        if of_library is not None:
            return of_library
        text = self._read(name)
        return text if isinstance(text, str) else None

    def all_documents(self) -> Iterator[Document]:
        """The open files, and the others that are known."""
        yield from self.documents
        for name in list(self._known):
            if name not in self._open:
                document = self.document(name)
                if document is not None:
                    yield document

    # --- imports ---

    def resolve(self, path: str, name: str) -> str:
        """The name of a file that is imported, as it is written in another one."""
        if stdlib.find(path) is not None:
            return path
        return posixpath.normpath(posixpath.join(posixpath.dirname(name), path))

    def find(self, path: str, source: Source) -> Source | str:
        """What a file imports, for the checker."""
        name = self.resolve(path, source.name)
        found = self._open.get(name)
        if found is not None:
            return Source(name, found.text)
        text = self._read(name)
        if isinstance(text, str):
            self._known[name] = None
            return Source(name, text)
        return str(text)

    def imports(self, document: EditedFile) -> dict[str, str]:
        """The names of the files that a document imports, by what they are called in it."""
        return {
            view.item.alias: self.resolve(view.item.path, document.name)
            for view in document.views
            if isinstance(view.item, ast.Import)
        }

    def dependents(self, name: str) -> list[Document]:
        """The open files that import a file, directly or through others."""
        found: list[Document] = []
        for document in self.documents:
            if document.name != name and name in self._reached(document):
                found.append(document)
        return found

    def _reached(self, document: Document) -> set[str]:
        reached: set[str] = set()
        todo = [document]
        while todo:
            for other in self.imports(todo.pop()).values():
                if other not in reached:
                    reached.add(other)
                    next_ = self._open.get(other) or self._others.get(other)
                    if next_ is None and not other.startswith(stdlib.PREFIX):
                        next_ = self.document(other)
                    if next_ is not None:
                        todo.append(next_)
        return reached

    def place_of(self, span: Span) -> Place:
        """The place of a span in a file, which may have been read in pieces."""
        name = span.source.name
        text = self.text(name)
        if text is None or text == span.source.text:
            return Place(name, span.start, span.end)
        return line_place(span, text)

    def symbols(self, query: str, most: int = 200) -> list[Symbol]:
        """The definitions of all known files whose name has the letters of a query, in order."""
        from axon.editor.outline import matches

        found: list[Symbol] = []
        for document in self.all_documents():
            for symbol in document.symbols():
                if symbol.kind != "import" and matches(query, symbol.name):
                    found.append(symbol)
                    if len(found) >= most:
                        return found
        return found
