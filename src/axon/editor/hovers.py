"""What is under the cursor."""

from __future__ import annotations

from axon.diagnostics import Severity
from axon.editor.edited_file import EditedFile, Target
from axon.editor.names import Binder, Use
from axon.editor.reference import operator_signature, operator_text
from axon.editor.targets import target_of
from axon.editor.values import Hover, Place
from axon.editor.view import View
from axon.inference.report.signature import Signature
from axon.ops import OPERATORS, SIGNS
from axon.plain import reading_among
from axon.source import Span
from axon.syntax import ast
from axon.types.type import DimValue, Fn, ShapeValue, Type

LONGEST = 2_000


def hover(document: EditedFile, offset: int) -> Hover | None:
    found = document.use_at(offset)
    if found is None:
        return _of_expression(document, offset)
    view, use = found
    place = Place(document.name, use.start + view.start, use.end + view.start)
    target = target_of(document, view, use)
    if target is not None and target.document is None:
        return _operator(place, view, use)
    code, text = _described(document, view, use, target)
    return Hover(place, code, text) if code or text else None


def _described(
    document: EditedFile, view: View, use: Use, target: Target | None
) -> tuple[str, str]:
    """The line of code that says what a name is, and what else there is to say."""
    if use.kind == "argument" and (target is None or target.document is None):
        return _attribute(use)
    binder = target.binder if target is not None else None
    other = target.view if target is not None else None
    if binder is None or other is None:
        return _typed(view, use), ""
    match binder.kind:
        case "definition" | "operator":
            signature = next((s for s in other.signatures if s.name == binder.name), None)
            if binder.kind == "operator" or signature is None:
                found = _declared(other) or _typed(view, use)
                return (found, "") if found else _without_type(other, binder)
            return _definition(view, use, other, signature, target)
        case "alias":
            return _declared(other), ""
        case "import":
            item = other.item
            path = item.path if isinstance(item, ast.Import) else ""
            return f'import "{path}" as {binder.name}', ""
        case "size":
            return _size(other, binder)
        case "variable":
            return f"{binder.name} : a type" if use.kind == "type" else binder.name, ""
        case "field":
            return _typed(view, use) or _field_type(other, binder), ""
        case "parameter" | "local":
            return _local(other, binder)


def _definition(
    view: View, use: Use, other: View, signature: Signature, target: Target | None
) -> tuple[str, str]:
    """The signature of a definition, its plain reading, its checks, and its type at this place."""
    lines: list[str] = []
    plain = plain_reading(other, signature)
    if plain is not None:
        lines.append(f"plain: `{plain}`")
    if signature.guards:
        checks = ", ".join(f"`{guard}`" for guard in signature.guards[:8])
        lines.append(f"checked at the run: {checks}")
    here = _instance(view, use)
    if here and here != signature.signature and other is not view:
        lines.append(f"here: `{here}`")
    if target is not None and target.document is not None and target.document.name != "":
        name = target.document.name
        if name.startswith("std/"):
            lines.append(f"of the standard library, `{name}`")
    return signature.line(names=True)[:LONGEST], "\n\n".join(lines)


def _without_type(view: View, binder: Binder) -> tuple[str, str]:
    result = view.part.result
    if not result.failed:
        return "", ""
    its = any(d.severity == Severity.ERROR for d in result.diagnostics) or view.broken
    return binder.name, f"no type: {'it' if its else 'something that it uses'} has errors"


def _instance(view: View, use: Use) -> str:
    """The type of a function where it is called."""
    call = next((c for c in view.names.calls if c.function.span.end == use.end), None)
    if call is None:
        return ""
    type_ = view.noted.applied(call.span)
    return view.noted.text(type_)[:LONGEST] if type_ is not None else ""


def plain_reading(view: View, signature: Signature) -> str | None:
    """The confirmed reading of a signature, if it has one."""
    key = f"plain {signature.name}"
    noted = view.noted
    if key not in view.kept:
        item = view.item
        definition = next((d for d in noted.definitions if d.name == signature.name), None)
        alone = isinstance(item, ast.Binding) and isinstance(item.pattern, ast.NamePattern)
        reading = None
        if definition is not None and alone and isinstance(item, ast.Binding):
            reading = reading_among(item.value, definition, view.environment())
        view.kept[key] = None if reading is None else reading.text
    found = view.kept[key]
    return found if isinstance(found, str) else None


def _local(view: View, binder: Binder) -> tuple[str, str]:
    type_ = view.noted.named(Span(view.item.span.source, binder.start, binder.end))
    if type_ is None:
        return "", ""
    what = "a parameter" if binder.kind == "parameter" else ""
    return f"{binder.name} : {view.noted.text(type_)}"[:LONGEST], what or _value(view, type_)


def _value(view: View, type_: Type) -> str:
    match type_:
        case DimValue(dim):
            return f"a size: {view.noted.size_text(dim)}"
        case ShapeValue(shape):
            return f"a shape: {view.noted.size_text(shape)}"
        case _:
            return ""


def _size(view: View, binder: Binder) -> tuple[str, str]:
    """A name of a size or a shape, and what it turns out to be."""
    size = view.noted.size(binder.name)
    if size is None:
        return binder.name, ""
    text = view.noted.size_text(size)
    what = "shape" if isinstance(size, tuple) else "size"
    if text == binder.name:
        return f"{binder.name} : a {what}", f"any {what}"
    return f"{binder.name} = {text}", f"a {what}"


def _declared(view: View) -> str:
    """A declaration as it is written."""
    item = view.item
    if isinstance(item, ast.OpDecl | ast.TypeAlias):
        return " ".join(item.span.text.split()).rstrip(";")[:LONGEST]
    return ""


def _typed(view: View, use: Use) -> str:
    """The type of an expression."""
    type_ = view.noted.type_of(use.node) if isinstance(use.node, ast.Name | ast.Field) else None
    return f"{use.name} : {view.noted.text(type_)}"[:LONGEST] if type_ is not None else ""


def _field_type(view: View, binder: Binder) -> str:
    use = next((u for u in view.names.uses if u.start == binder.start and u.kind == "field"), None)
    match use.node if use is not None else None:
        case ast.Attribute(name, value, _):
            type_ = view.noted.type_of(value)
            return f"{name} : {view.noted.text(type_)}" if type_ is not None else ""
        case ast.FieldType(name, type_expr, _):
            return f"{name} : {' '.join(type_expr.span.text.split())}"
        case _:
            return ""


# --- operators -------------------------------------------------------------------------------


def _operator(place: Place, view: View, use: Use) -> Hover:
    operator = OPERATORS[use.name]
    here = _instance(view, use)
    text = operator_text(operator)
    if here:
        text = f"here: `{here}`\n\n{text}"
    return Hover(place, f"{use.name} : {operator_signature(operator)}", text)


def _attribute(use: Use) -> tuple[str, str]:
    name = use.of.name if isinstance(use.of, ast.Name) else ""
    operator = OPERATORS.get(name)
    if operator is None or use.name not in operator.attributes:
        return "", ""
    kind = operator.attributes[use.name]
    default = operator.defaults.get(use.name)
    line = f"{use.name} : {kind}" + ("" if use.name in operator.required else f" = {default}")
    return line, f"an attribute of `{name}`"


def _of_expression(document: EditedFile, offset: int) -> Hover | None:
    """The smallest expression with a type around an offset, or a sign between two."""
    from axon.editor.outline import nodes_around

    view = document.view_at(offset)
    if view is None:
        return None
    for node in nodes_around(view.item, offset - view.start):
        if isinstance(node, ast.Number | ast.Fn | ast.Block | ast.Binding | ast.Param):
            if isinstance(node, ast.Number):
                continue
            return None
        type_ = view.noted.type_of(node)
        if type_ is None or isinstance(type_, Fn):
            continue
        span = node.span
        place = Place(document.name, span.start + view.start, span.end + view.start)
        text = ""
        if isinstance(node, ast.Infix) and node.op_span.start <= offset - view.start <= (
            node.op_span.end
        ):
            operator = SIGNS.get(node.op)
            text = operator_text(operator) if operator is not None else ""
        return Hover(place, view.noted.text(type_)[:LONGEST], text)
    return None
