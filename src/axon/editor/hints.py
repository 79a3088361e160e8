"""The types that are not written in a text, and where they could stand."""

from __future__ import annotations

from axon.editor.edited_file import EditedFile
from axon.editor.names import Binder
from axon.editor.values import Hint
from axon.editor.view import View
from axon.source import Span
from axon.syntax import ast
from axon.types.type import UNKNOWN, Fn, Type

LONGEST = 60
"""How many characters of a type are shown."""


def hints(document: EditedFile, start: int, end: int) -> list[Hint]:
    """The hints between two offsets, in order."""
    found: list[Hint] = []
    for view in document.views:
        first, last = view.extent
        if last < start or first > end:
            continue
        for hint in _hints(view):
            at = hint.at + view.start
            if start <= at <= end:
                found.append(Hint(at, hint.text, hint.kind, hint.name, hint.full))
    return sorted(found, key=lambda hint: hint.at)


def _hints(view: View) -> list[Hint]:
    """Those of a definition, at offsets in it."""
    if isinstance(view.item, ast.Import | ast.OpDecl | ast.TypeAlias):
        return []
    noted = view.noted
    known = view.kept.get("hints")
    if isinstance(known, list):
        return known
    found: list[Hint] = []
    source = view.item.span.source
    for binder in view.names.binders:
        if binder.name.startswith("_") or not _wanted(binder):
            continue
        type_ = noted.named(Span(source, binder.start, binder.end))
        if type_ is not None:
            found.append(_hint(view, binder.end, type_, binder.kind, binder.name))
    if view.part.program.result is not None:
        found += _main(view)
    for fn in view.names.fns:
        whole = noted.function(fn)
        if whole is None or whole.result is UNKNOWN:
            continue
        if fn.result is None and (fn.params or _is_bound(view, fn)):
            at = _after_parameters(fn)
            if at is not None:
                found.append(_hint(view, at, whole.result, "result", ""))
    view.kept["hints"] = found
    return found


def _wanted(binder: Binder) -> bool:
    """A parameter that has a type says it already; a function has its parameters and its result."""
    match binder.kind:
        case "parameter":
            return binder.value is None
        case "local" | "definition":
            return not isinstance(binder.value, ast.Fn | ast.Number)
        case _:
            return False


def _main(view: View) -> list[Hint]:
    result = view.part.program.result
    type_ = view.noted.type_of(result) if result is not None else None
    if result is None or type_ is None or isinstance(result, ast.Number | ast.Fn):
        return []
    return [_hint(view, result.span.end, type_, "result", "main")]


def _hint(view: View, at: int, type_: Type, kind: str, name: str) -> Hint:
    full = view.noted.text(type_)
    if isinstance(type_, Fn) and kind == "result":
        full = f"({full})"
    text = full if len(full) <= LONGEST else f"{full[: LONGEST - 1]}…"
    return Hint(at, text, "binding" if kind in ("local", "definition") else kind, name, full)


def _is_bound(view: View, fn: ast.Fn) -> bool:
    return any(b.value is fn for b in view.names.binders)


def _after_parameters(fn: ast.Fn) -> int | None:
    """The offset behind the `)` of the parameters."""
    text, end = fn.span.source.text, fn.body.span.start
    first = fn.params[-1].span.end if fn.params else fn.span.start
    at = text.find(")", first, end)
    return at + 1 if at >= 0 else None
