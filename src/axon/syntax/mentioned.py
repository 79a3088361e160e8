"""The names that a part of a tree mentions, bound there or not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from axon.syntax import ast


def sizes_mentioned(*nodes: ast.Expr) -> Iterator[str]:
    """Every name in the types of parameters of functions in the expressions."""
    todo: list[object] = [*nodes]
    while todo:
        match todo.pop():
            case ast.IndexName(name, _, _):
                yield name
            case ast.DimOp(_, left, right, _) | ast.Infix(_, left, right, _, _):
                todo.extend((left, right))
            case (
                ast.DimCall(_, items, _)
                | ast.Dims(items, _)
                | ast.Append(items, _)
                | ast.AliasType(_, items, _)
            ):
                todo.extend(items)
            case ast.TupleType(items, _) | ast.TupleExpr(items, _) | ast.ListExpr(items, _):
                todo.extend(items)
            case ast.ShapeMeasure(_, shape, _) | ast.TensorType(_, shape, _):
                todo.append(shape)
            case ast.FnType(params, result, _):
                todo.extend((*params, result))
            case ast.Fn(params, _, _, body, _):
                todo.extend((*(each.type for each in params), body.result))
                todo.extend(each.default for each in params)
                todo.extend(each.value for each in body.bindings)
            case ast.Call(function, args, attributes, _):
                todo.extend((function, *args, *(each.value for each in attributes)))
            case ast.Record(base, fields, _):
                todo.extend((base, *(each.value for each in fields)))
            case ast.RecordType(types, _, _):
                todo.extend(each.type for each in types)
            case ast.Negate(operand, _) | ast.Not(operand, _) | ast.Field(operand, _, _):
                todo.append(operand)
            case (ast.Subscript() | ast.If()) as whole:
                todo.extend(whole.parts)
            case _:
                pass


def mentioned(*nodes: ast.Item | ast.Expr | None) -> Iterator[str]:
    """Every name in the expressions, `file.name` as well as `file`, and those of types."""
    todo: list[object] = [*nodes]
    while todo:
        node = todo.pop()
        yield from _names(node)
        todo.extend(parts(node))


def free_names(expr: ast.Expr) -> Iterator[str]:
    """The names in an expression that it does not bind itself."""
    todo: list[tuple[object, frozenset[str]]] = [(expr, frozenset())]
    while todo:
        node, hidden = todo.pop()
        yield from (name for name in _names(node) if name.split(".")[0] not in hidden)
        if not isinstance(node, ast.Fn):
            todo.extend((part, hidden) for part in parts(node))
            continue
        todo.extend((param.default, hidden) for param in node.params)
        hidden |= {param.name for param in node.params}
        for binding in node.body.bindings:
            todo.append((binding.value, hidden))
            hidden |= set(_bound(binding.pattern))
        todo.append((node.body.result, hidden))


def _bound(pattern: ast.Pattern) -> Iterator[str]:
    if isinstance(pattern, ast.NamePattern):
        yield pattern.name
    else:
        for item in pattern.items:
            yield from _bound(item)


def _names(node: object) -> tuple[str, ...]:
    """The names that stand in a node itself."""
    match node:
        case ast.Name(name, _) | ast.NamedType(name) | ast.AliasType(name):
            return (name,)
        case ast.Field():
            return (node.dotted,)
        case _:
            return ()


def parts(node: object) -> Iterable[object]:
    """The nodes of which a node consists."""
    match node:
        case ast.Binding(_, value, _):
            return (value,)
        case ast.Field(record, _, _):
            return (record,)
        case ast.Record(base, fields, _):
            return (base, *(field.value for field in fields))
        case ast.Call(function, args, attributes, _):
            return (function, *args, *(a.value for a in attributes))
        case ast.Infix(_, left, right, _, _):
            return (left, right)
        case ast.Negate(operand, _) | ast.Not(operand, _):
            return (operand,)
        case ast.Subscript() | ast.If():
            return node.parts
        case ast.TupleExpr(items, _) | ast.ListExpr(items, _):
            return items
        case ast.Fn(params, result, _, body, _):
            types = (param.type for param in params)
            defaults = (param.default for param in params)
            return (*body.bindings, body.result, result, *types, *defaults)
        case ast.OpDecl(_, signature):
            return (signature.type,)
        case ast.TypeAlias(_, _, type_):
            return (type_,)
        case ast.TupleType(types):
            return types
        case ast.RecordType(members):
            return (member.type for member in members)
        case ast.FnType(types, made):
            return (*types, made)
        case _:
            return ()
