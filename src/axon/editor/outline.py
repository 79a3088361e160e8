"""The structure of a file: what it defines, what can be folded, what is around a place."""

from __future__ import annotations

from collections.abc import Iterator

from axon.editor.edited_file import EditedFile, outer_binders
from axon.editor.names import Binder
from axon.editor.values import Place, Symbol
from axon.editor.view import View
from axon.source import Span
from axon.syntax import ast

MOST_NODES = 50_000


def symbols(document: EditedFile) -> list[Symbol]:
    found: list[Symbol] = []
    for view in document.views:
        for binder in outer_binders(view.item, view.names.binders):
            found.append(_symbol(document, view, binder))
    return found


def _symbol(document: EditedFile, view: View, binder: Binder) -> Symbol:
    detail = next((s.signature for s in view.signatures if s.name == binder.name), "")
    place = Place(document.name, binder.start + view.start, binder.end + view.start)
    return Symbol(
        binder.name,
        _kind(view, binder),
        detail if len(detail) <= 120 else f"{detail[:119]}…",
        place,
        Place(document.name, *view.extent),
        tuple(_locals(document, view, binder)),
    )


def _kind(view: View, binder: Binder) -> str:
    match binder.kind:
        case "operator":
            return "operator"
        case "alias":
            return "type"
        case "import":
            return "import"
        case _:
            signature = next((s for s in view.signatures if s.name == binder.name), None)
            arrow = signature is not None and (
                bool(signature.params) or "->" in signature.signature
            )
            return "function" if isinstance(binder.value, ast.Fn) or arrow else "value"


def _locals(document: EditedFile, view: View, outer: Binder) -> Iterator[Symbol]:
    if not isinstance(outer.value, ast.Fn):
        return
    body = {b.pattern.span.start: b for b in outer.value.body.bindings}
    for binder in view.names.binders:
        binding = body.get(binder.start) if binder.kind == "local" else None
        if binding is not None:
            start = view.start
            place = Place(document.name, binder.start + start, binder.end + start)
            span = binding.span
            whole = Place(document.name, span.start + start, max(span.end, binder.end) + start)
            yield Symbol(binder.name, "local", "", place, whole)


def matches(query: str, name: str) -> bool:
    """Whether the letters of a query stand in a name, in order."""
    letters = iter(name.lower())
    return all(letter in letters for letter in query.lower())


def folds(document: EditedFile) -> list[tuple[int, int]]:
    """Definitions and functions of several lines, and comments of several lines."""
    text = document.text
    found: set[tuple[int, int]] = set()
    for view in document.views:
        for node in nodes(view.item):
            if isinstance(node, ast.Binding | ast.Block | ast.Record | ast.TypeAlias):
                start, end = node.span.start + view.start, node.span.end + view.start
                if "\n" in text[start:end]:
                    found.add((start, end))
    at = 0
    first = -1
    last = 0
    for line in text.splitlines(keepends=True):
        if line.lstrip().startswith("#"):
            first = at if first < 0 else first
            last = at + len(line.rstrip("\r\n"))
        else:
            if first >= 0 and "\n" in text[first:last]:
                found.add((first, last))
            first = -1
        at += len(line)
    if first >= 0 and "\n" in text[first:last]:
        found.add((first, last))
    return sorted(found)


def selections(document: EditedFile, offset: int) -> list[tuple[int, int]]:
    view = document.view_at(offset)
    ranges: list[tuple[int, int]] = []
    if view is not None:
        for node in nodes_around(view.item, offset - view.start):
            place = node.span.start + view.start, node.span.end + view.start
            if not ranges or place != ranges[-1]:
                ranges.append(place)
    whole = (0, len(document.text))
    if not ranges or ranges[-1] != whole:
        ranges.append(whole)
    return ranges


def nodes(root: object) -> Iterator[ast.Expr]:
    """A node of the tree and all in it that have a place."""
    todo: list[object] = [root]
    for _ in range(MOST_NODES):
        if not todo:
            return
        node = todo.pop()
        if isinstance(node, tuple):
            todo.extend(node)
        elif type(node).__module__ == ast.__name__:
            if isinstance(getattr(node, "span", None), Span):
                yield node  # type: ignore[misc]
            for name in type(node).__match_args__:  # type: ignore[attr-defined]
                part = getattr(node, name)
                if not isinstance(part, str | int | float | Span):
                    todo.append(part)


def nodes_around(root: object, offset: int) -> list[ast.Expr]:
    """The nodes around an offset, the smallest first. Only those around are walked through."""
    found: list[ast.Expr] = []
    todo: list[object] = [root]
    while todo:
        node = todo.pop()
        if isinstance(node, tuple):
            todo.extend(node)
        elif type(node).__module__ == ast.__name__:
            span = getattr(node, "span", None)
            if isinstance(span, Span):
                if not span.start <= offset <= span.end:
                    continue
                found.append(node)  # type: ignore[arg-type]
            for name in type(node).__match_args__:  # type: ignore[attr-defined]
                part = getattr(node, name)
                if not isinstance(part, str | int | float | Span):
                    todo.append(part)
    found.sort(key=lambda node: (node.span.end - node.span.start, -node.span.start))
    return found
