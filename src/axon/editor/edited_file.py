"""What is known of one file that is edited: its definitions, and the names that they bind."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from axon.diagnostics import Diagnostic
from axon.editor.names import Binder, Use
from axon.editor.values import Place
from axon.editor.view import View
from axon.inference.report.signature import Signature
from axon.session import Part, Session
from axon.source import Source, Span
from axon.syntax import ast


class Around(Protocol):
    """The files that a file is among."""

    version: int

    def find(self, path: str, source: Source) -> Source | str: ...
    def place_of(self, span: Span) -> Place: ...
    def resolve(self, path: str, name: str) -> str: ...
    def text(self, name: str) -> str | None: ...
    def document(self, name: str) -> EditedFile | None: ...
    def all_documents(self) -> Iterable[EditedFile]: ...
    def imports(self, document: EditedFile) -> dict[str, str]: ...


@dataclass(frozen=True, slots=True)
class Target:
    """What a name stands for: a binder in a definition of a document, an operator (no document), or
    an entire file (no binder).
    """

    name: str
    document: EditedFile | None = None
    view: View | None = None
    binder: Binder | None = None

    @property
    def place(self) -> Place | None:
        if self.document is None:
            return None
        if self.binder is None or self.view is None:
            return Place(self.document.name, 0, 0)
        start = self.view.start
        return Place(self.document.name, self.binder.start + start, self.binder.end + start)


class EditedFile:
    """A file, brought up to date with its text before anything is read off it; offsets count its
    characters.
    """

    def __init__(self, workspace: Around, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self.workspace = workspace
        self._session = Session(name, workspace.find)
        self._checked: tuple[str, int] | None = None
        self._views: dict[Part, View] = {}
        self._ordered: list[View] = []
        self._starts: list[int] = []
        self.has_imports = False
        self._bound: dict[str, list[tuple[View, Binder]]] = {}
        self._diagnostics: tuple[Diagnostic, ...] = ()

    # --- what is known ---

    def update(self) -> None:
        """Check the text, if it or what it imports has changed."""
        state = self.text, self.workspace.version
        known = self._checked
        same = known is not None and known[0] == self.text
        if known is not None and same and (known[1] == state[1] or not self.has_imports):
            return
        self._diagnostics = self._session.check(self.text).diagnostics
        self._checked = state
        file = self._session.file
        views: dict[Part, View] = {}
        self._bound = {}
        at = 0
        for fragment in file.fragments:
            for part in fragment.parts:
                view = self._views.get(part)
                if view is None:
                    view = View(part, fragment.start, at, fragment.broken, file)
                view.start, view.at = fragment.start, at
                views[part] = view
                at += 1
        self._views = views
        self._ordered = list(views.values())
        self._starts = [view.extent[0] for view in self._ordered]
        self.has_imports = any(isinstance(view.item, ast.Import) for view in self._ordered)

    @property
    def views(self) -> list[View]:
        self.update()
        return self._ordered

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The messages about the text; the labels that are not in it are in another file."""
        self.update()
        return self._diagnostics

    @property
    def signatures(self) -> tuple[Signature, ...]:
        return tuple(s for view in self.views for s in view.part.result.signatures)

    def view_at(self, offset: int) -> View | None:
        """The definition around an offset, or the last one before it."""
        views = self.views
        at = bisect_right(self._starts, offset) - 1
        return views[max(at, 0)] if views else None

    def place_of(self, span: Span) -> Place:
        """The place of a span, in this file or another one."""
        source = span.source
        if source.name != self.name:
            return self.workspace.place_of(span)
        for view in self._views.values():
            if view.part.program.source is source:
                return Place(self.name, span.start + view.start, span.end + view.start)
        if len(source.text) == len(self.text):
            return Place(self.name, span.start, span.end)
        return line_place(span, self.text)

    # --- what a name stands for ---

    def use_at(self, offset: int) -> tuple[View, Use] | None:
        """The name at an offset."""
        view = self.view_at(offset)
        use = view.names.at(offset - view.start) if view is not None else None
        return (view, use) if view is not None and use is not None else None

    def bound(self, name: str, kind: str = "") -> list[tuple[View, Binder]]:
        """Where a name of the file is bound, in order: an `alias` of a type, or a value."""
        views = self.views
        if not self._bound:
            for view in views:
                for each in outer_binders(view.item, view.names.binders):
                    key = f"type {each.name}" if each.kind == "alias" else each.name
                    self._bound.setdefault(key, []).append((view, each))
        return self._bound.get(f"type {name}" if kind == "alias" else name, [])

    def outer_names(self) -> list[tuple[View, Binder]]:
        """All names that the file binds."""
        self.bound("")
        return [pair for pairs in self._bound.values() for pair in pairs]

    def find(self, name: str, before: int, kind: str = "") -> Target | None:
        """A name of the file, seen from the definition with a number."""
        known = [pair for pair in self.bound(name, kind) if pair[0].at < before]
        if not known:
            return None
        view, binder = known[-1]
        return Target(name, self, view, binder)


def outer_binders(item: ast.Item, binders: list[Binder]) -> list[Binder]:
    """The names that an item gives to its file."""
    return [b for b in binders if b.kind in ("definition", "operator", "alias", "import")]


def line_place(span: Span, text: str) -> Place:
    """The place of a span that was read from a piece of a text, by its line."""
    line, column = span.source.position(span.start)
    at = 0
    for _ in range(line - 1):
        at = text.find("\n", at) + 1
        if at == 0:
            at = len(text)
            break
    start = min(at + column - 1, len(text))
    return Place(span.source.name, start, min(start + span.end - span.start, len(text)))
