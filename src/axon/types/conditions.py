"""From the syntax of conditions to relations."""

from __future__ import annotations

from axon.source import Span
from axon.syntax import ast
from axon.types import dim as dims
from axon.types.elements import BIT, CLASSES
from axon.types.reader import Reader
from axon.types.type import (
    AtLeast,
    Broadcast,
    DimBroadcast,
    DimEq,
    Either,
    ShapeEq,
    Stacked,
    relation_variables,
)
from axon.types.variables import DimVar, ShapeVar, TypeVar, Var, made_at


def read_conditions(reader: Reader, conditions: tuple[ast.Condition, ...]) -> None:
    known = set(reader.scope.index)
    todo = list(conditions)
    while todo:
        # the rows of a type are a type, and a bare name that is new is defined by a later one
        of_types = next((c for c in todo if _is_of_types(reader, c)), None)
        condition = of_types or next((c for c in todo if _is_evident(reader, c)), todo[0])
        todo.remove(condition)
        before = len(reader.relations)
        _condition(reader, condition)
        for i in range(before, len(reader.relations)):
            reader.places[i] = condition.span
    if reader.user:
        _check_connected(reader, known)


def _check_connected(reader: Reader, known: set[str]) -> None:
    """A condition on names that nothing connects to the types has no effect: it is a
    mistake.
    """
    named = {
        i: {v.name for v in relation_variables(reader.relations[i]) if v.user}
        for i in reader.places
    }
    unnamed = {  # results of broadcasts tie as well
        i: {v for v in relation_variables(reader.relations[i]) if not v.user} for i in reader.places
    }
    met: set[Var] = set()
    while True:
        tied = [i for i, n in named.items() if not n or n & known or unnamed[i] & met]
        if not tied:
            break
        for i in tied:
            known |= named.pop(i)
            met |= unnamed[i]
    for i, names in named.items():
        message = f"`{min(names)}` is in none of the types"
        reader.error("AX201", message, reader.places[i], "not bound")


def _is_of_types(reader: Reader, condition: ast.Condition) -> bool:
    """Whether a condition is of a structure and its rows."""
    match condition:
        case ast.Relation("=", ast.IndexName(name), _, _):
            return name in reader.scope.types
        case _:
            return False


def _is_evident(reader: Reader, condition: ast.Condition) -> bool:
    """Whether a condition shows by itself if it is between shapes or between dimensions."""
    match condition:
        case ast.Compatible(args, _):
            sides = args
        case ast.Relation("=", left, right, _):
            sides = (left, right)
        case _:
            return True
    names = [a for s in sides for a in (s.args if isinstance(s, ast.BroadcastOf) else (s,))]
    known = reader.scope.index
    return any(not isinstance(n, ast.IndexName) or n.name in known for n in names)


def _condition(reader: Reader, condition: ast.Condition) -> None:
    match condition:
        case ast.ElementClass(name, class_name, span):
            _element_class(reader, name, class_name, span)
        case ast.Compatible(args, _):
            if _is_shape(reader, *args):
                parts = tuple(reader.as_shape(a) for a in args)
                result = ShapeVar("", reader.level, scope=made_at(reader.depth))
                reader.relations.append(Broadcast((result,), parts))
            else:
                dim = DimVar("", reader.level, scope=made_at(reader.depth))
                reader.relations.append(DimBroadcast(dim, tuple(reader.as_dim(a) for a in args)))
        case ast.Relation("=", ast.IndexName(), ast.DimCall("either", (left, right)), _):
            size = reader.dim(condition.left)  # type: ignore[arg-type]
            sides = reader.dim(left), reader.dim(right)
            if isinstance(size, DimVar) and size.runtime:
                reader.choices.append(Either(size, *sides))
        case ast.Relation("=", ast.IndexName(name), right, span) if _is_of_types(reader, condition):
            _stacked(reader, reader.scope.types[name], right, span)
        case ast.Relation(op, left, right, span):
            _relation(reader, op, left, right, span)


def _stacked(reader: Reader, whole: TypeVar, right: ast.IndexExpr, span: Span) -> None:
    """`a = [n]@b`, where `a` and `b` are types."""
    types = reader.scope.types
    match right:
        case ast.Append((ast.Dims((size,), _), ast.IndexName(name)), _):
            if name not in types:
                types[name] = TypeVar(name, reader.level, reader.user, reader.here, row=whole.row)
            found = Stacked(whole, types[name], reader.dim(size), reader.call)
            reader.stacked.append((found, span))
        case _:
            help = "write `a = [n]@b` where `b` is a type as well"
            reader.error("AX109", f"`{whole.name}` is a type", span, "", help)


def _element_class(reader: Reader, name: str, class_name: str, span: Span) -> None:
    mask = CLASSES.get(class_name, BIT.get(class_name))
    elem = reader.elem(name)
    if mask is None or isinstance(elem, str):
        wrong = class_name if mask is None else name
        reader.error(
            "AX005",
            f"`{wrong}` is not {'a class of element types' if mask is None else 'a variable'}",
            span,
            help="the classes are num, float, int, any, and bits8 to bits64"
            if mask is None
            else None,
        )
    else:
        elem.allowed &= mask
        elem.stated = reader.user


def _relation(
    reader: Reader, op: str, left: ast.IndexExpr, right: ast.IndexExpr, span: Span
) -> None:
    if op == "=" and _is_shape(reader, left, right):
        reader.relations.append(ShapeEq(reader.as_shape(left), reader.as_shape(right)))
        return
    a, b = reader.as_dim(left), reader.as_dim(right)
    match op:
        case "=":
            reader.relations.append(DimEq(a, b))
        case ">=":
            reader.relations.append(AtLeast(dims.sub(a, b), silent=False))
        case "<=":
            reader.relations.append(AtLeast(dims.sub(b, a), silent=False))
        case ">":
            reader.relations.append(AtLeast(dims.sub(dims.sub(a, b), 1), silent=False))
        case _:
            reader.relations.append(AtLeast(dims.sub(dims.sub(b, a), 1), silent=False))


def _is_shape(reader: Reader, *sides: ast.IndexExpr) -> bool:
    """Whether a condition is between shapes, by the use of its names elsewhere in the
    signature.
    """
    for side in sides:
        match side:
            case ast.Dims() | ast.Append():
                return True
            case ast.IndexName(name, _, _):
                if isinstance(reader.scope.index.get(name), ShapeVar):
                    return True
            case ast.BroadcastOf(args, _):
                if _is_shape(reader, *args):
                    return True
            case _:
                pass
    return False
