"""Where a name is bound, and where it is used."""

from __future__ import annotations

from collections.abc import Iterator

from axon.editor.edited_file import EditedFile, Target
from axon.editor.names import Use
from axon.editor.targets import target_of
from axon.editor.values import Place
from axon.editor.view import View
from axon.syntax import ast


def definition(document: EditedFile, offset: int) -> list[Place]:
    view = document.view_at(offset)
    if view is not None and isinstance(view.item, ast.Import):
        span = view.item.path_span
        if span.start <= offset - view.start <= span.end:
            return _file(document, view.item.path)
    found = document.use_at(offset)
    if found is None:
        return []
    target = target_of(document, *found)
    if target is not None and target.binder is not None and target.binder.kind == "import":
        item = target.view.item if target.view is not None else None
        if found[1].kind == "binder" and isinstance(item, ast.Import):
            return _file(document, item.path)
    place = target.place if target is not None else None
    return [place] if place is not None else []


def _file(document: EditedFile, path: str) -> list[Place]:
    name = document.workspace.resolve(path, document.name)
    return [Place(name, 0, 0)] if document.workspace.text(name) is not None else []


def references(document: EditedFile, offset: int, declaration: bool = True) -> list[Place]:
    return _uses_at(document, offset, declaration, None)


def highlights(document: EditedFile, offset: int) -> list[Place]:
    return _uses_at(document, offset, True, document)


def _uses_at(
    document: EditedFile, offset: int, declaration: bool, only: EditedFile | None
) -> list[Place]:
    found = document.use_at(offset)
    target = target_of(document, *found) if found is not None else None
    if target is None:
        return []
    return sorted(
        {
            Place(other.name, use.start + view.start, use.end + view.start)
            for other, view, use in uses_of(document, target, only)
            if declaration or use.kind != "binder"
        }
    )


def uses_of(
    document: EditedFile, target: Target, only: EditedFile | None = None
) -> Iterator[tuple[EditedFile, View, Use]]:
    """Every use of what a name stands for, the binder included, in all files or `only` one."""
    if target.document is None:
        for each in [only] if only is not None else document.workspace.all_documents():
            yield from _same_operator(each, target.name)
        return
    binder, view = target.binder, target.view
    if binder is None or view is None:
        return
    if binder.kind in ("local", "size", "variable", "field"):
        views = [(target.document, view)]
    else:
        readers = [only] if only is not None else [target.document]
        if only is None and binder.kind != "import":
            readers = _readers(document, target.document)
        views = [(other, each) for other in readers for each in other.views]
    for other, part in views:
        for use in part.names.uses:
            if use.name == binder.name and _is(other, part, use, target):
                yield other, part, use


def _readers(document: EditedFile, of: EditedFile) -> list[EditedFile]:
    """A file, and those that import it."""
    workspace = document.workspace
    found = [of]
    for other in workspace.all_documents():
        if other is not of and of.name in workspace.imports(other).values():
            found.append(other)
    if document not in found:
        found.append(document)
    return found


def _same_operator(document: EditedFile, name: str) -> Iterator[tuple[EditedFile, View, Use]]:
    for view in document.views:
        for use in view.names.uses:
            if use.name == name and use.kind == "value" and use.binder is None:
                found = target_of(document, view, use)
                if found is not None and found.document is None:
                    yield document, view, use


def _is(document: EditedFile, view: View, use: Use, target: Target) -> bool:
    found = target_of(document, view, use)
    return found is not None and same(found, target)


def same(one: Target, other: Target) -> bool:
    """Whether two names stand for the same."""
    if one.document is not other.document or one.view is not other.view:
        return False
    return one.binder is other.binder or (one.place == other.place and one.name == other.name)


def is_of_library(target: Target) -> bool:
    return target.document is not None and target.document.name.startswith("std/")
