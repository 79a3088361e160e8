"""The names that a part of a tree mentions, bound there or not."""

from __future__ import annotations

from collections.abc import Iterator

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
        match node:
            case ast.Name(name, _):
                yield name
            case ast.Binding(_, value, _):
                todo.append(value)
            case ast.Field(record, _, _):
                yield node.dotted
                todo.append(record)
            case ast.Record(base, fields, _):
                todo.extend((base, *(field.value for field in fields)))
            case ast.Call(function, args, attributes, _):
                todo.extend((function, *args, *(a.value for a in attributes)))
            case ast.Infix(_, left, right, _, _):
                todo.extend((left, right))
            case ast.Negate(operand, _) | ast.Not(operand, _):
                todo.append(operand)
            case (ast.Subscript() | ast.If()) as whole:
                todo.extend(whole.parts)
            case ast.TupleExpr(items, _) | ast.ListExpr(items, _):
                todo.extend(items)
            case ast.Fn(params, result, _, body, _):
                todo.extend((*body.bindings, body.result, result))
                todo.extend(param.type for param in params)
                todo.extend(param.default for param in params)
            case ast.OpDecl(_, signature):
                todo.append(signature.type)
            case ast.TypeAlias(_, _, type_):
                todo.append(type_)
            case ast.NamedType(name) | ast.AliasType(name):
                yield name
            case ast.TupleType(types):
                todo.extend(types)
            case ast.RecordType(members):
                todo.extend(member.type for member in members)
            case ast.FnType(types, made):
                todo.extend((*types, made))
            case _:
                pass
