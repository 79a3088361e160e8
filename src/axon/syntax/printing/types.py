"""Types that may be broken over lines; a short one without comments is the text of `print_type`."""

from __future__ import annotations

from axon.syntax.ast import (
    AliasType,
    Append,
    BroadcastOf,
    Condition,
    DimCall,
    Dims,
    DimValueType,
    FnType,
    IndexExpr,
    NamedType,
    RecordType,
    ShapeMeasure,
    ShapeValueType,
    TensorType,
    TupleType,
    TypeExpr,
)
from axon.syntax.print_types import is_alone, print_condition, print_index, print_type
from axon.syntax.printing.comments import Comments, Items, remarks_and_lines
from axon.syntax.printing.layout import Doc, Line, group, indent, join

_SHORT = 40


def type_doc(type: TypeExpr, comments: Comments) -> Doc:
    """A type: lists in it are broken one item a line."""
    text = print_type(type)
    if len(text) <= _SHORT and not comments.any_before(type.span.end):
        return text
    start, until = type.span.start, type.span.end - 1
    match type:
        case TensorType(elem, shape) if text != elem:
            return join(f"{elem} ", index_doc(shape, comments))
        case ShapeValueType(shape):
            return join("shape ", index_doc(shape, comments))
        case DimValueType(dim):
            return join("dim ", index_doc(dim, comments))
        case TupleType(items):
            return _types(items, start, until, comments)
        case RecordType(fields):
            return _record(type, comments) if fields else text
        case AliasType(name, args) if args:
            return join(name, _indexes("(", args, ")", start, until, comments, " "))
        case FnType(params, result):
            if is_alone(params):
                head = type_doc(params[0], comments)
            else:
                last = params[-1].span.end if params else start + 1
                head = _types(params, start, comments.closer(last), comments)
            return join(head, " -> ", type_doc(result, comments))
        case TensorType() | NamedType() | AliasType():
            return text


def _types(types: tuple[TypeExpr, ...], start: int, until: int, comments: Comments) -> Doc:
    items = Items(comments, start)
    for each in types:
        items.before(each.span.start)
        items.add(type_doc(each, comments), each.span.end)
    return items.closed("(", ")", until)


def _record(type: RecordType, comments: Comments) -> Doc:
    items = Items(comments, type.span.start, edge=" ")
    for each in type.fields:
        items.before(each.span.start)
        doc = join(f"{each.name} : ", type_doc(each.type, comments))
        items.add(doc, each.span.end)
    return items.closed(f"{{ {type.row} |" if type.row else "{", "}", type.span.end - 1)


def index_doc(index: IndexExpr, comments: Comments) -> Doc:
    """A dimension or a shape; arithmetic is not broken."""
    text = print_index(index)
    if len(text) <= _SHORT and not comments.any_before(index.span.end):
        return text
    start, until = index.span.start, index.span.end - 1
    match index:
        case Dims(items):
            return _indexes("[", items, "]", start, until, comments)
        case Append(parts):
            docs: list[Doc] = []
            for part in parts:
                doc = index_doc(part, comments)
                docs += ["@"] if docs else []
                docs += ["(", doc, ")"] if isinstance(part, Append) else [doc]
            return join(*docs)
        case BroadcastOf(args):
            return join("broadcast", _indexes("(", args, ")", start, until, comments))
        case DimCall(function, args):
            return join(function, _indexes("(", args, ")", start, until, comments))
        case ShapeMeasure(function, shape):
            return join(function, "(", index_doc(shape, comments), ")")
        case _:
            return text


def _indexes(
    opener: str,
    indexes: tuple[IndexExpr, ...],
    closer: str,
    start: int,
    until: int,
    comments: Comments,
    between: str = "",
) -> Doc:
    items = Items(comments, start, between=between)
    for each in indexes:
        items.before(each.span.start)
        items.add(index_doc(each, comments), each.span.end)
    return items.closed(opener, closer, until)


def where_doc(conditions: tuple[Condition, ...], since: int, comments: Comments) -> Doc:
    """` where a, b`, on the line of what is before it or on the next."""
    if not conditions:
        return ""
    first = conditions[0]
    head = remarks_and_lines(comments, since, first.span.start, Line())[0]
    rest: list[Doc] = [print_condition(first)]
    end = first.span.end
    for each in conditions[1:]:
        rest.append(",")
        rest += remarks_and_lines(comments, end, each.span.start, Line())[0]
        rest.append(print_condition(each))
        end = each.span.end
    return group(indent(*head, "where ", group(indent(*rest))))
