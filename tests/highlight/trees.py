"""Axon's tree and tree-sitter's tree of a program, both as nested tuples of the same form.

Parentheses that only group are in neither form, and what the parser rewrites (`x |> f`, `-2` as a
size, `//` between sizes) is rewritten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from axon.syntax import ast
from axon.syntax.tokens import DIM_SPELLINGS

Form = tuple[Any, ...] | str | None


def of_ast(node: Any) -> Form:
    """The form of a node, or of a tuple of nodes."""
    match node:
        case None | str():
            return node
        case tuple():
            return tuple(of_ast(each) for each in node)
        case ast.Program(items, result):
            return ("program", of_ast(items), of_ast(result))
        case ast.Import(_, alias, _, path_span):
            return ("import", path_span.text, alias)
        case ast.OpDecl(name, signature):
            return ("op", name, of_ast(signature.type), of_ast(signature.where))
        case ast.TypeAlias(name, params, type_):
            return ("alias", name, params, of_ast(type_))
        case ast.Binding(pattern, value):
            return ("binding", of_ast(pattern), of_ast(value))
        case ast.NamePattern(name) | ast.Name(name) | ast.NamedType(name):
            return ("name", name)
        case ast.TuplePattern(items) | ast.TupleExpr(items) | ast.TupleType(items):
            return ("tuple", of_ast(items))
        case ast.RecordPattern(items):
            return ("fields", of_ast(items))
        case ast.Number(_, _, text):
            return ("number", text)
        case ast.String(_, span):
            return ("string", span.text)
        case ast.OperatorName(op):
            return ("operator", op)
        case ast.Attribute(name, value):
            return (name, of_ast(value))
        case ast.Call(function, args, attributes):
            return ("call", of_ast(function), of_ast(args), of_ast(attributes))
        case ast.Infix(op, left, right):
            return ("infix", op, of_ast(left), of_ast(right))
        case ast.Negate(operand):
            return ("-", of_ast(operand))
        case ast.Not(operand):
            return ("not", of_ast(operand))
        case ast.ListExpr(items) | ast.Dims(items):
            return ("list", of_ast(items))
        case ast.Slice(start, stop, step):
            return ("slice", of_ast(start), of_ast(stop), of_ast(step))
        case ast.Rest():
            return ("...",)
        case ast.NewAxis():
            return ("None",)
        case ast.Subscript(value, items):
            return ("subscript", of_ast(value), of_ast(items))
        case ast.Record(base, fields):
            return ("record", of_ast(base), of_ast(fields))
        case ast.Field(record, name):
            return ("field", of_ast(record), name)
        case ast.Param(name, type_, _, _, default):
            return (name, of_ast(type_), of_ast(default))
        case ast.Block(bindings, result):
            return ("block", of_ast(bindings), of_ast(result))
        case ast.Fn(params, result, where, body):
            return ("fn", of_ast(params), of_ast(result), of_ast(where), of_ast(body))
        case ast.If(condition, then, ast.Fn(body=ast.Block((), ast.If() as nested, span))) if (
            span == nested.span
        ):
            return ("if", of_ast(condition), of_ast(then.body), of_ast(nested))
        case ast.If(condition, then, otherwise):
            return ("if", of_ast(condition), of_ast(then.body), of_ast(otherwise.body))
        case _:
            return _type_of_ast(node)


def _type_of_ast(node: Any) -> Form:
    match node:
        case ast.TensorType(elem, ast.Dims((), span)) if not span.text:
            return ("tensor", elem, None)
        case ast.TensorType(elem, shape):
            return ("tensor", elem, of_ast(shape))
        case ast.AliasType(name, args):
            return ("alias", name, of_ast(args))
        case ast.FnType(params, result):
            return ("function", of_ast(params), of_ast(result))
        case ast.ShapeValueType(shape):
            return ("shape", of_ast(shape))
        case ast.DimValueType(dim):
            return ("dim", of_ast(dim))
        case ast.FieldType(name, type_):
            return (name, of_ast(type_))
        case ast.RecordType(fields, row):
            return ("record type", of_ast(fields), row)
        case ast.IndexName(name, runtime):
            return ("runtime" if runtime else "name", name)
        case ast.DimConst(value):
            return ("number", str(value))
        case ast.Star(_, name):
            return ("*", name)
        case ast.DimOp(op, left, right):
            return ("infix", op, of_ast(left), of_ast(right))
        case ast.DimCall(function, args):
            return ("index call", function, of_ast(args))
        case ast.BroadcastOf(args):
            return ("index call", "broadcast", of_ast(args))
        case ast.ShapeMeasure(function, shape):
            return ("index call", function, (of_ast(shape),))
        case ast.Append(parts):
            return ("append", of_ast(parts))
        case ast.Relation(op, left, right):
            return ("relation", op, of_ast(left), of_ast(right))
        case ast.Compatible(args):
            return ("index call", "broadcast", of_ast(args))
        case ast.ElementClass(name, class_name):
            return ("class", name, class_name)
        case _:
            raise AssertionError(node)


# --- tree-sitter -----------------------------------------------------------------------------


def of_tree(node: Any) -> Form:
    """The form of a node of tree-sitter."""
    return None if node is None else _FORMS[node.type](node)


def _named(node: Any) -> list[Any]:
    return [each for each in node.named_children if each.type != "comment"]


def _text(node: Any) -> str:
    return "" if node is None else node.text.decode()


def _all(nodes: Iterable[Any]) -> Form:
    return tuple(of_tree(each) for each in nodes)


def _sub(node: Any, name: str) -> Form:
    return of_tree(node.child_by_field_name(name))


def _where(node: Any) -> Form:
    found = [each for each in _named(node) if each.type == "where"]
    return _all(_named(found[0])) if found else ()


def _program(node: Any) -> Form:
    result = node.child_by_field_name("result")
    return ("program", _all(each for each in _named(node) if each != result), of_tree(result))


def _alias_definition(node: Any) -> Form:
    name, type_ = (node.child_by_field_name(each) for each in ("name", "type"))
    params = tuple(_text(each) for each in _named(node) if each not in (name, type_))
    return ("alias", _text(name), params, of_tree(type_))


def _call(node: Any) -> Form:
    inside = _named(node.child_by_field_name("arguments"))
    args = [each for each in inside if each.type != "attribute"]
    return ("call", _sub(node, "function"), _all(args), _all(_pick(inside, "attribute")))


def _pick(nodes: Iterable[Any], kind: str) -> list[Any]:
    return [each for each in nodes if each.type == kind]


def _pipe(node: Any) -> Form:
    left, right = _sub(node, "left"), node.child_by_field_name("right")
    if right.type != "call":
        return ("call", of_tree(right), (left,), ())
    made: Any = _call(right)
    _, function, args, attributes = made
    return ("call", function, (left, *args), attributes)


def _infix(node: Any) -> Form:
    op = _text(node.child_by_field_name("operator"))
    if node.type == "dim_infix":
        op = DIM_SPELLINGS.get(op, op)
    return ("infix", op, _sub(node, "left"), _sub(node, "right"))


def _path(node: Any) -> Form:
    first, *fields = _named(node)
    found = of_tree(first)
    for each in fields:
        found = ("field", found, _text(each)[1:])
    return found


def _record(node: Any) -> Form:
    return ("record", _sub(node, "base"), _all(_pick(_named(node), "record_field")))


def _function(node: Any) -> Form:
    params = _all(_named(node.child_by_field_name("parameters")))
    return ("fn", params, _sub(node, "result"), _where(node), _sub(node, "body"))


def _param(node: Any) -> Form:
    return (_text(node.child_by_field_name("name")), _sub(node, "type"), _sub(node, "default"))


def _subscript(node: Any) -> Form:
    value, *items = _named(node)
    return ("subscript", of_tree(value), _all(items))


def _tensor(node: Any) -> Form:
    return ("tensor", _text(node.child_by_field_name("element")), _sub(node, "shape"))


def _named_type(node: Any) -> Form:
    name, *rest = _named(node)
    text = _text(name)
    if rest and rest[0].type == "field_name":
        text += _text(rest.pop(0))
    elif node.child_count == 1:
        return ("name", text)
    return ("alias", text, _all(rest))


def _group(node: Any) -> Form:
    items = _all(_named(node))
    assert isinstance(items, tuple)
    return items[0] if len(items) == 1 else ("tuple", items)


def _function_type(node: Any) -> Form:
    param = node.child_by_field_name("parameter")
    params = _all(_named(param)) if param.type == "tuple_type" else (of_tree(param),)
    return ("function", params, _sub(node, "result"))


def _record_type(node: Any) -> Form:
    fields = _pick(_named(node), "field_type")
    return ("record type", _all(fields), _text(node.child_by_field_name("row")))


def _star(node: Any) -> Form:
    return ("*", "".join(_text(each) for each in _named(node)))


def _negative(node: Any) -> Form:
    operand = of_tree(_named(node)[0])
    match operand:
        case ("number", str(text)):
            return ("number", str(-int(text)))
        case _:
            return ("infix", "-", ("number", "0"), operand)


def _prefix(node: Any) -> Form:
    op = _text(node.child_by_field_name("operator"))
    first, *rest = (of_tree(each) for each in _named(node))
    if op in ("min", "max"):
        return ("index call", op, (first, *rest))
    for each in rest:
        first = ("infix", op, first, each)
    return first


def _append(node: Any) -> Form:
    parts: list[Any] = []
    while node.type == "append":
        node, right = _named(node)
        parts.append(right)
    return ("append", _all([node, *reversed(parts)]))


def _index_call(node: Any) -> Form:
    function, *args = _named(node)
    return ("index call", _text(function), _all(args))


def _relation(node: Any) -> Form:
    op = _text(node.child_by_field_name("operator"))
    return ("relation", op, _sub(node, "left"), _sub(node, "right"))


def _only(node: Any) -> Form:
    return of_tree(_named(node)[0])


def _leaf(kind: str) -> Callable[[Any], Form]:
    return lambda node: (kind, _text(node))


def _items(kind: str) -> Callable[[Any], Form]:
    return lambda node: (kind, _all(_named(node)))


def _pair(node: Any) -> Form:
    value = node.child_by_field_name("value") or node.child_by_field_name("type")
    return (_text(node.child_by_field_name("name")), of_tree(value))


_FORMS: dict[str, Callable[[Any], Form]] = {
    "source_file": _program,
    "import": lambda node: ("import", *(_text(each) for each in _named(node))),
    "operator_declaration": lambda node: (
        "op",
        _text(node.child_by_field_name("name")),
        _sub(node, "type"),
        _where(node),
    ),
    "type_alias": _alias_definition,
    "binding": lambda node: ("binding", _sub(node, "pattern"), _sub(node, "value")),
    "identifier": _leaf("name"),
    "tuple_pattern": _group,
    "record_pattern": _items("fields"),
    "integer": _leaf("number"),
    "float": _leaf("number"),
    "constant": _leaf("number"),
    "string": _leaf("string"),
    "operator": _leaf("operator"),
    "parenthesized": _only,
    "tuple": _items("tuple"),
    "list": _items("list"),
    "record": _record,
    "path": _path,
    "record_field": _pair,
    "attribute": _pair,
    "infix": _infix,
    "dim_infix": _infix,
    "pipe": _pipe,
    "negation": lambda node: ("-", _only(node)),
    "not": lambda node: ("not", _only(node)),
    "call": _call,
    "field": lambda node: ("field", _sub(node, "record"), _text(_named(node)[1])[1:]),
    "subscript": _subscript,
    "slice": lambda node: ("slice", _sub(node, "start"), _sub(node, "stop"), _sub(node, "step")),
    "rest": lambda node: ("...",),
    "new_axis": lambda node: ("None",),
    "function": _function,
    "parameter": _param,
    "block": lambda node: ("block", _all(_pick(_named(node), "binding")), _sub(node, "result")),
    "if": lambda node: ("if", _sub(node, "condition"), _sub(node, "then"), _sub(node, "else")),
    "tensor_type": _tensor,
    "named_type": _named_type,
    "tuple_type": _group,
    "function_type": _function_type,
    "shape_type": lambda node: ("shape", _only(node)),
    "dim_type": lambda node: ("dim", _only(node)),
    "record_type": _record_type,
    "field_type": _pair,
    "runtime": lambda node: ("runtime", _text(node)[1:]),
    "star": _star,
    "dims": _items("list"),
    "negative": _negative,
    "parenthesized_index": _only,
    "prefix_operation": _prefix,
    "append": _append,
    "index_call": _index_call,
    "relation": _relation,
    "compatible": _only,
    "element_class": lambda node: (
        "class",
        _text(node.child_by_field_name("name")),
        _text(node.child_by_field_name("class")),
    ),
}
