"""Dimensions, shapes, conditions and types as text: compact, infix, and read back as they were."""

from __future__ import annotations

from axon.syntax.ast import (
    AliasType,
    Append,
    BroadcastOf,
    Compatible,
    Condition,
    DimCall,
    DimConst,
    DimExpr,
    DimOp,
    Dims,
    DimValueType,
    ElementClass,
    FnType,
    IndexExpr,
    IndexName,
    NamedType,
    RecordType,
    Relation,
    ShapeMeasure,
    ShapeValueType,
    Signature,
    Star,
    TensorType,
    TupleType,
    TypeExpr,
)
from axon.syntax.tokens import DIM_LEVEL, ELEMENT_TYPES, SUM


def print_index(index: IndexExpr, level: int = 0) -> str:
    """A dimension or shape, in parentheses where it stands next to something that binds tighter."""
    match index:
        case IndexName(name, runtime):
            return "?" + name if runtime else name
        case DimConst(value):
            return f"({value})" if value < 0 and level > SUM else str(value)
        case Star(_, name):
            return f"*{name}"
        case DimOp():
            return _sum(index, level)
        case DimCall(function, args):
            return f"{function}({_list(args)})"
        case BroadcastOf(args):
            return f"broadcast({_list(args)})"
        case ShapeMeasure(function, shape):
            return f"{function}({print_index(shape)})"
        case Dims(items):
            return f"[{_list(items)}]"
        case Append(parts):
            return "@".join(
                f"({print_index(part)})" if isinstance(part, Append) else print_index(part)
                for part in parts
            )


def _list(items: tuple[IndexExpr, ...], comma: str = ",") -> str:
    return comma.join(print_index(item) for item in items)


def _sum(dim: DimOp, level: int) -> str:
    """A chain of operators: its left spine is walked in a loop, the rest is not deep."""
    pieces: list[str] = []
    opened = 0
    here: DimExpr = dim
    while isinstance(here, DimOp):
        own = DIM_LEVEL[here.op]
        if own < level:
            opened += 1
            pieces.append(")")
        pieces.append(print_index(here.right, own + 1))
        pieces.append(" mod " if here.op == "mod" else here.op)
        level = own
        here = here.left
    pieces.append(print_index(here, SUM))
    pieces.append("(" * opened)
    pieces.reverse()
    return "".join(pieces)


def print_condition(condition: Condition) -> str:
    match condition:
        case Relation(op, left, right):
            return f"{_side(left)} {op} {_side(right)}"
        case Compatible(args):
            return f"broadcast({_list(args, ', ')})"
        case ElementClass(name, class_name):
            return f"{name} : {class_name}"


def _side(index: IndexExpr) -> str:
    """Room for the eye in a condition: `broadcast(p, q)`, where a shape would be tight."""
    match index:
        case BroadcastOf(args):
            return f"broadcast({_list(args, ', ')})"
        case DimCall(function, args):
            return f"{function}({_list(args, ', ')})"
        case _:
            return print_index(index)


def print_type(type: TypeExpr) -> str:
    """A type on one line."""
    match type:
        case TensorType(elem, Dims(())) if elem in ELEMENT_TYPES:
            return elem
        case TensorType(elem, shape):
            return f"{elem} {print_index(shape)}"
        case NamedType(name):
            return name
        case ShapeValueType(shape):
            return f"shape {print_index(shape)}"
        case DimValueType(dim):
            return f"dim {print_index(dim)}"
        case TupleType(items):
            return f"({', '.join([print_type(item) for item in items])})"
        case RecordType(fields, row):
            return print_record([(each.name, print_type(each.type)) for each in fields], row)
        case AliasType(name, args):
            return f"{name}({_list(args, ', ')})" if args else name
        case FnType(params, result):
            return f"{print_params(params)} -> {print_type(result)}"


def print_record(fields: list[tuple[str, str]], row: str) -> str:
    """`{ r | a : T, b : U }`, fields in the order that they have here."""
    inside = ", ".join([f"{name} : {text}" for name, text in fields])
    parts = [*([f"{row} |"] if row else []), *([inside] if inside else [])]
    return f"{{ {' '.join(parts)} }}" if parts else "{}"


def is_alone(params: tuple[TypeExpr, ...]) -> bool:
    """Whether the parameter of a function type needs no parentheses: it is one, and simple."""
    return len(params) == 1 and not isinstance(params[0], TupleType | FnType)


def print_params(params: tuple[TypeExpr, ...]) -> str:
    """The parameters of a function type."""
    if is_alone(params):
        return print_type(params[0])
    return f"({', '.join([print_type(param) for param in params])})"


def print_signature(signature: Signature) -> str:
    """A type and its conditions on one line; `parse_signature` reads it back."""
    text = print_type(signature.type)
    if not signature.where:
        return text
    return f"{text} where {', '.join([print_condition(each) for each in signature.where])}"
