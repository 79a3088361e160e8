"""What a name stands for, across the files."""

from __future__ import annotations

from axon import stdlib
from axon.editor.edited_file import EditedFile, Target
from axon.editor.names import Binder, Use
from axon.editor.view import View
from axon.ops import OPERATORS
from axon.syntax import ast
from axon.types.elements import CLASSES

MOST_STEPS = 20


def target_of(document: EditedFile, view: View, use: Use) -> Target | None:
    """What a use stands for; None for what is nowhere written."""
    if use.binder is not None:
        return Target(use.name, document, view, use.binder)
    match use.kind:
        case "value":
            return outside(document, view, use.name)
        case "type":
            return document.find(use.name, view.at, "alias") or _variable(document, view, use)
        case "member":
            return _member(document, view, use)
        case "argument":
            return _parameter(document, view, use)
        case "field":
            return _field(document, view, use)
        case _:
            return None


def outside(document: EditedFile, view: View, name: str) -> Target | None:
    """A name that a definition does not bind itself."""
    found = document.find(name, view.at)
    if found is not None:
        return found
    if name in OPERATORS:
        return Target(name)
    return in_library(document, name)


def in_library(document: EditedFile, name: str) -> Target | None:
    """A name of the standard library."""
    path = stdlib.files().get(name)
    library = document.workspace.document(path) if path is not None else None
    return last_of(library, name) if library is not None else None


def last_of(document: EditedFile, name: str, kind: str = "") -> Target | None:
    """A name of a file, seen from outside."""
    return document.find(name, len(document.views), kind)


def imported_file(document: EditedFile, view: View, alias: str) -> EditedFile | None:
    """The file that has a name here."""
    found = document.find(alias, view.at)
    item = found.view.item if found is not None and found.view is not None else None
    if not isinstance(item, ast.Import):
        return None
    workspace = document.workspace
    return workspace.document(workspace.resolve(item.path, document.name))


def _member(document: EditedFile, view: View, use: Use) -> Target | None:
    """A name of an imported file, or a field of a value of the file."""
    assert isinstance(use.of, str)
    found = document.find(use.of, view.at)
    if found is not None and found.binder is not None and found.binder.kind != "import":
        return _field(document, view, use)
    other = imported_file(document, view, use.of)
    if other is None:
        return None
    return last_of(other, use.name, "alias" if use.node == "type" else "")


def _variable(document: EditedFile, view: View, use: Use) -> Target | None:
    """A variable for a whole type is bound where it is first written."""
    if use.name in CLASSES:
        return None
    first = next(u for u in view.names.uses if u.name == use.name and u.kind == "type")
    whole = view.item.span.start, view.item.span.end
    return Target(
        use.name, document, view, Binder(use.name, first.start, first.end, "variable", whole)
    )


# --- parameters of functions -----------------------------------------------------------------


def called(document: EditedFile, view: View, function: object) -> Target | None:
    """What an expression stands for that is called or taken apart: a name, here or elsewhere."""
    match function:
        case ast.Name(name, span):
            binder = next(
                (u.binder for u in view.names.uses if u.start == span.start and u.kind == "value"),
                None,
            )
            if binder is not None:
                return Target(name, document, view, binder)
            return outside(document, view, name)
        case ast.Field(ast.Name(), _, span):
            use = next(
                (u for u in view.names.uses if u.end == span.end and u.kind == "member"), None
            )
            return _member(document, view, use) if use is not None else None
        case _:
            return None


def function_of(found: Target | None) -> tuple[EditedFile, View, ast.Fn] | None:
    """The function that a name stands for, through other names for it."""
    for _ in range(MOST_STEPS):
        if found is None or found.document is None or found.view is None or found.binder is None:
            return None
        value = found.binder.value
        if isinstance(value, ast.Fn):
            return found.document, found.view, value
        if found.binder.kind == "parameter":
            return None
        found = called(found.document, found.view, value)
    return None


def _parameter(document: EditedFile, view: View, use: Use) -> Target | None:
    """A parameter, by the name that an argument is given by."""
    found = function_of(called(document, view, use.of))
    return None if found is None else parameter_of(*found, use.name)


def parameter_of(document: EditedFile, view: View, fn: ast.Fn, name: str) -> Target | None:
    for binder in view.names.binders:
        if binder.function is fn and binder.name == name:
            return Target(name, document, view, binder)
    return None


# --- fields ----------------------------------------------------------------------------------


def _field(document: EditedFile, view: View, use: Use) -> Target | None:
    """Where a field of a record is written, if the record or its type is."""
    if isinstance(use.node, ast.Attribute | ast.FieldType):
        binder = Binder(use.name, use.start, use.end, "field", (0, 0))
        return Target(use.name, document, view, binder)
    record = use.node.record if isinstance(use.node, ast.Field) else None
    found = _shape_of(document, view, record, MOST_STEPS)
    if found is None:
        return None
    document, view, fields = found
    span = fields.get(use.name)
    if span is None:
        return None
    return Target(use.name, document, view, Binder(use.name, *span, "field", (0, 0)))


Fields = dict[str, tuple[int, int]]


def _shape_of(
    document: EditedFile, view: View, node: object, steps: int
) -> tuple[EditedFile, View, Fields] | None:
    """The fields of a record with the places where they are written."""
    while steps:
        steps -= 1
        match node:
            case ast.Record(base, given):
                fields = {a.name: (a.span.start, a.span.start + len(a.name)) for a in given}
                if base is not None:
                    below = _shape_of(document, view, base, steps)
                    if below is not None and below[1] is view:
                        fields = {**below[2], **fields}
                return document, view, fields
            case ast.RecordType(given):
                fields = {f.name: (f.span.start, f.span.start + len(f.name)) for f in given}
                return document, view, fields
            case ast.NamedType(name) | ast.AliasType(name):
                found = document.find(name, view.at, "alias")
                if found is None or found.view is None:
                    return None
                view = found.view
                node = view.item.type if isinstance(view.item, ast.TypeAlias) else None
            case ast.Name():
                found = called(document, view, node)
                if found is None or found.document is None or found.view is None:
                    return None
                document, view = found.document, found.view
                node = found.binder.value if found.binder is not None else None
            case ast.Field(record, name, _):
                inner = _member_value(document, view, record, name, steps)
                if inner is None:
                    return None
                document, view, node = inner
            case _:
                return None
    return None


def _member_value(
    document: EditedFile, view: View, record: object, name: str, steps: int
) -> tuple[EditedFile, View, object] | None:
    """What a field is bound to, or the type that is written for it."""
    found = _shape_of(document, view, record, steps)
    if found is None or name not in found[2]:
        return None
    document, view, fields = found
    start = fields[name][0]
    use = next((u for u in view.names.uses if u.start == start and u.kind == "field"), None)
    match use.node if use is not None else None:
        case ast.Attribute(_, value, _):
            return document, view, value
        case ast.FieldType(_, type_, _):
            return document, view, type_
        case _:
            return None
