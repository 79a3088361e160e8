"""What can be done about a place: write down what is inferred, follow a suggestion, ask why."""

from __future__ import annotations

from axon.diagnostics import Severity
from axon.editor.edited_file import EditedFile
from axon.editor.hints import _after_parameters
from axon.editor.names import Binder
from axon.editor.targets import target_of
from axon.editor.values import Action, Edit, Place
from axon.editor.view import View
from axon.source import Source, Span
from axon.syntax import ast, parse_program
from axon.types.type import DimValue, Tensor
from axon.types.variables import ShapeVar

MOST_QUESTIONS = 4


def actions(document: EditedFile, start: int, end: int) -> list[Action]:
    found = list(_fixes(document, start, end))
    view = document.view_at(start)
    if view is None or start > view.extent[1] + 1:
        return found
    found += _signatures(document, view, start - view.start)
    found += _questions(document, view, start)
    return found


def _fixes(document: EditedFile, start: int, end: int) -> list[Action]:
    """The suggestions of the diagnostics that touch a place."""
    found: list[Action] = []
    for diagnostic in document.diagnostics:
        fix, span = diagnostic.fix, diagnostic.span
        if fix is None or span is None:
            continue
        place, at = document.place_of(fix.span), document.place_of(span)
        if at.file == document.name and at.start <= end and start <= at.end:
            title = _title(fix.text)
            found.append(
                Action(title, "quickfix", (Edit(place, fix.replacement),), fixes=diagnostic.code)
            )
    return found


def _title(text: str) -> str:
    """`did you mean `x`?` as something to do."""
    if text.startswith("did you mean "):
        return f"Write {text.removeprefix('did you mean ').rstrip('?')}"
    return text[:1].upper() + text[1:]


# --- annotations -----------------------------------------------------------------------------


def _signatures(document: EditedFile, view: View, at: int) -> list[Action]:
    """Annotations for the innermost function around a place, or the one that is bound here; only
    those with which it still has the same type.
    """
    if any(d.severity == Severity.ERROR for d in view.part.result.diagnostics) or view.broken:
        return []
    found: list[Action] = []
    for fn, title in _functions(view, at):
        edits = _annotations(view, fn)
        if edits and _still_checks(view, edits):
            placed = tuple(
                Edit(Place(document.name, at + view.start, at + view.start), text)
                for at, text in edits
            )
            found.append(Action(title, "refactor", placed))
    return found


def _functions(view: View, at: int) -> list[tuple[ast.Fn, str]]:
    around = [f for f in view.names.fns if f.span.start <= at <= f.span.end]
    inner = min(around, key=lambda f: f.span.end - f.span.start, default=None)
    item = view.item
    bound = item.value if isinstance(item, ast.Binding) else None
    found: list[tuple[ast.Fn, str]] = []
    if isinstance(bound, ast.Fn):
        found.append((bound, "Write the inferred signature here"))
    if inner is not None and inner is not bound:
        found.append((inner, "Write the inferred types of this function"))
    return found


def _annotations(view: View, fn: ast.Fn) -> list[tuple[int, str]]:
    """What to write after the parameters that have no type, and after the last."""
    noted = view.noted
    edits: list[tuple[int, str]] = []
    known = noted.function(fn)
    if known is None:
        return []
    signature = None
    if isinstance(view.item, ast.Binding) and view.item.value is fn:
        signature = next(iter(view.signatures), None)
    types = [noted.text(p) for p in known.params]
    result = noted.text(known.result)
    if signature is not None and len(signature.params) == len(types):
        types, result = [text for _, text in signature.params], signature.result
    for param, text in zip(fn.params, types, strict=True):
        if param.type is None:
            edits.append((param.name_span.end, f" : {text}"))
    at = _after_parameters(fn)
    if fn.result is None and at is not None:
        where = f" where {', '.join(signature.where)}" if signature and signature.where else ""
        if fn.where:
            where = ""
        edits.append((at, f" : {result}{where}"))
    return edits


def _still_checks(view: View, edits: list[tuple[int, str]]) -> bool:
    """Whether the definition, with the annotations, has the signature that it has now."""
    span = view.item.span
    text, moved = span.text, 0
    for at, new in sorted(edits):
        at += moved - span.start
        text = text[:at] + new + text[at:]
        moved += len(new)
    program, problems = parse_program(Source(span.source.name, text))
    if problems or len(program.items) != 1:
        return False
    noted = view.note(program.items[0])
    if any(d.severity == Severity.ERROR for d in noted.diagnostics):
        return False
    before = [s.line() for s in view.signatures]
    return bool(before) and [s.line() for s in noted.signatures] == before


# --- questions -------------------------------------------------------------------------------


def _questions(document: EditedFile, view: View, start: int) -> list[Action]:
    """Why the sizes of the name at a place are what they are."""
    use = view.names.at(start - view.start)
    if use is None:
        return []
    target = target_of(document, view, use)
    binder = target.binder if target is not None else None
    if binder is None or target is None or target.view is not view:
        return []
    return [
        Action(title, "question", question=question, at=start)
        for question, title in _asked(view, binder)
    ]


def _asked(view: View, binder: Binder) -> list[tuple[str, str]]:
    noted, name = view.noted, binder.name
    if binder.kind == "size":
        size = noted.size(name)
        text = noted.size_text(size) if size is not None else name
        return [(name, f"Why is `{name}` {text}?")] if text != name else []
    if binder.kind not in ("local", "parameter", "definition"):
        return []
    type_ = noted.named(Span(view.item.span.source, binder.start, binder.end))
    if isinstance(type_, DimValue):
        return []
    if not isinstance(type_, Tensor):
        return []
    if any(isinstance(item, ShapeVar) for item in type_.shape):
        return [(name, f"Why is `{name}` {noted.size_text(type_.shape)}?")]
    found: list[tuple[str, str]] = []
    for at, item in enumerate(type_.shape[:MOST_QUESTIONS]):
        assert not isinstance(item, ShapeVar)
        text = noted.size_text(item)
        found.append((f"{name}[{at}]", f"Why is `{name}[{at}]` {text}?"))
    return found
